// Implements Network for one precision. Each file network_*.cpp instantiates NetworkOf for one precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ladon/ladon.hpp>
#include <span>

#include "converted_weights.hpp"
#include "network.hpp"

namespace stories {

// The largest number of tokens of a prompt that one call takes; a longer prompt takes several calls.
// Few prompts have more than 32 tokens, and 32 is a multiple of the number of lanes of every vector register.
inline constexpr std::size_t chunk = 32;

// The model, for calls that take at most `tokens` tokens.
constexpr ladon::Model model_of(std::size_t tokens) {
  return {.layers = layer_count,
          .tokens = tokens,
          .keys = max_positions,
          .model = model_width,
          .heads = head_count,
          .kv_heads = kv_head_count,
          .feed_forward = feed_forward_width,
          .activation = ladon::Activation::silu,
          .norm = ladon::NormOrder::pre,
          .gated = true,
          .norm_kind = ladon::NormKind::rms,
          .bias = ladon::Bias::without,
          .final_norm = ladon::FinalNorm::with,
          .mask = {.causal = true},
          .position = {ladon::Pairing::neighbours, head_width, max_positions}};
}

using Position = ladon::PositionOf<model_of(1)>::Type;

// The layers of the model. `Layout` states how the weights of the linear maps are stored. `Tokens` is the largest
// number of tokens that one call takes.
template <class Layout, std::size_t Tokens>
using Stack = ladon::Encoder<model_of(Tokens), ladon::mask::Causal, Layout>;

// `Layout` states how the weights of the linear maps are stored: layout::WithoutBias<layout::SeparateQKV> for float32
// weights, or the same layout with bfloat16 or int8 weights.
template <class Layout>
class NetworkOf final : public Network {
 public:
  explicit NetworkOf(const Checkpoint& checkpoint) {
    for (std::size_t i = 0; i < layer_count; ++i) wire(checkpoint.layers[i], parts_.weights.layers[i]);
    parts_.weights.norm = {.weight = checkpoint.final_norm, .epsilon = norm_epsilon};
    parts_.embeddings.weight = checkpoint.embedding;
  }

  void clear() noexcept override { generator_.clear(); }
  [[nodiscard]] std::size_t length() const noexcept override { return generator_.length(); }

  Logits extend(std::span<const TokenId> tokens) noexcept override {
    generator_.read(parts_, reinterpret_cast<const std::int32_t*>(tokens.data()), tokens.size());
    return Logits(generator_.logits(), vocabulary_size);
  }

 private:
  struct Parts {
    template <std::size_t Tokens>
    using Stack = stories::Stack<Layout, Tokens>;
    static constexpr std::size_t vocabulary = vocabulary_size;
    typename Stack<1>::Weights weights{};
    ladon::EmbeddingTable<vocabulary_size, model_width> embeddings;  // also the weights of the classifier
    Position::Table rotary = ladon::rotary_table<max_positions, head_width>(rotary_base);

    void embed(const std::int32_t* ids, std::size_t /*first*/, std::size_t tokens, float* x) const noexcept {
      ladon::embed(embeddings, ids, tokens, x);
    }
    void head(const float* y, float* logits) const noexcept { ladon::linear(embeddings, y, logits); }
    template <class S>
    typename S::Options options() const noexcept {
      return {.position = {.table = &rotary}};
    }
  };

  // Sets the weights of Ladon's layer from the tensors of llama2.c's checkpoint.
  void wire(const LayerTensors& from, typename Stack<Layout, 1>::Layer::Weights& to) {
    convert(from.query, to.attention.query_proj);
    convert(from.key, to.attention.key_proj);
    convert(from.value, to.attention.value_proj);
    convert(from.output, to.attention.out_proj);
    convert(from.gate, to.gate);
    convert(from.up, to.linear1);
    convert(from.down, to.linear2);
    to.norm1 = {.weight = from.attention_norm, .epsilon = norm_epsilon};
    to.norm2 = {.weight = from.feed_forward_norm, .epsilon = norm_epsilon};
  }
  template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, class Precision>
  void convert(const float* from, ladon::Linear<Out, In, O, B, Precision>& to) {
    memory_.convert(ladon::Linear<Out, In, O, B>{.weight = from}, to);
  }

  examples::ConvertedWeights memory_;
  Parts parts_;
  ladon::TextGenerator<Parts, chunk, ladon::Likeliest<vocabulary_size>> generator_;  // `generate` chooses the tokens
};

}  // namespace stories
