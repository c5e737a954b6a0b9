// Implements Network for one precision. Each file network_*.cpp instantiates NetworkOf for one precision.
#pragma once

#include <algorithm>
#include <array>
#include <ladon/ladon.hpp>
#include <memory>
#include <span>
#include <type_traits>

#include "converted_weights.hpp"
#include "network.hpp"

namespace stories {

// The largest number of tokens of a prompt that one call of Prompt::extend takes; a longer prompt takes several calls.
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
  explicit NetworkOf(const Checkpoint& checkpoint) : embedding_(checkpoint.embedding) {
    for (std::size_t i = 0; i < layer_count; ++i) wire(checkpoint.layers[i], weights_.layers[i]);
    weights_.norm = {.weight = checkpoint.final_norm, .epsilon = norm_epsilon};
  }

  void clear() noexcept override {
    for (auto& cache : caches_) cache.clear();
  }
  [[nodiscard]] std::size_t length() const noexcept override { return caches_.front().length; }

  Logits extend(std::span<const TokenId> tokens) noexcept override {
    std::size_t count = 0;  // number of tokens of the last call
    for (; !tokens.empty(); tokens = tokens.subspan(count)) {
      count = std::min(tokens.size(), chunk);
      lookup(tokens.first(count));
      if (count == 1) {
        Step::extend(x_.data(), caches_, weights_, y_.data(), step_workspace_, {.position = {.table = &rotary_}});
      } else {
        Prompt::extend(x_.data(), caches_, weights_, y_.data(), prompt_workspace_,
                       {.tokens = count, .position = {.table = &rotary_}});
      }
    }
    ladon::linear(Classifier{embedding_}, y_.data() + (count - 1) * model_width, logits_);
    return logits_;
  }

 private:
  using Prompt = Stack<Layout, chunk>;
  using Step = Stack<Layout, 1>;
  static_assert(std::is_same_v<typename Prompt::Caches, typename Step::Caches> &&
                std::is_same_v<typename Prompt::Weights, typename Step::Weights>);
  using Classifier = ladon::Linear<vocabulary_size, model_width, ladon::Order::out_in, ladon::Bias::without>;

  // Sets the weights of Ladon's layer from the tensors of llama2.c's checkpoint.
  void wire(const LayerTensors& from, typename Step::Layer::Weights& to) {
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

  void lookup(std::span<const TokenId> tokens) noexcept {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      std::copy_n(embedding_ + tokens[i] * model_width, model_width, x_.data() + i * model_width);
  }

  const float* embedding_;  // [vocabulary_size][model_width]
  examples::ConvertedWeights memory_;
  typename Step::Weights weights_{};
  Position::Table rotary_ = ladon::rotary_table<max_positions, head_width>(rotary_base);
  typename Step::Caches caches_{};
  typename Prompt::CachedWorkspace prompt_workspace_{};
  typename Step::CachedWorkspace step_workspace_{};
  std::array<float, chunk * model_width> x_{};  // [tokens][model_width]
  std::array<float, chunk * model_width> y_{};
  std::array<float, vocabulary_size> logits_{};
};

}  // namespace stories
