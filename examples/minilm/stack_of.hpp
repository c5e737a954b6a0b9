// Ladon's encoder as MiniLM needs it, for one capacity; only the files that stack.cpp.in becomes include this.
#pragma once

#include <cstddef>
#include <ladon/encoder.hpp>
#include <memory>

#include "stack.hpp"

namespace minilm {

// The encoder, the checkpoint's weights in it, and its workspace.
template <std::size_t Capacity, class Mask>
class Wired {
 protected:
  explicit Wired(const Checkpoint& checkpoint) : workspace_(std::make_unique<typename Encoder::Workspace>()) {
    for (std::size_t layer = 0; layer < layer_count; ++layer) weights_.layers[layer] = wire(checkpoint.layers[layer]);
  }

  static constexpr ladon::Shape shape{.queries = Capacity, .model = model_width, .heads = head_count};
  static constexpr ladon::LayerConfig layer_config{
      .feed_forward = feed_forward_width, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::post};
  using Encoder =
      ladon::Encoder<layer_count, shape, layer_config, Mask, ladon::FinalNorm::without, ladon::layout::SeparateQKV>;

  typename Encoder::Weights weights_;
  std::unique_ptr<typename Encoder::Workspace> workspace_;

 private:
  // The names of BERT's checkpoint on the right, the names of Ladon's layer on the left.
  static typename Encoder::Layer::Weights wire(const LayerTensors& tensors) {
    return {
        .attention = {.query_proj = {tensors.query.weight, tensors.query.bias},
                      .key_proj = {tensors.key.weight, tensors.key.bias},
                      .value_proj = {tensors.value.weight, tensors.value.bias},
                      .out_proj = {tensors.output.weight, tensors.output.bias}},
        .linear1 = {tensors.intermediate.weight, tensors.intermediate.bias},
        .linear2 = {tensors.back.weight, tensors.back.bias},
        .norm1 = {tensors.attention_norm.weight, tensors.attention_norm.bias, layer_norm_epsilon},
        .norm2 = {tensors.output_norm.weight, tensors.output_norm.bias, layer_norm_epsilon},
    };
  }
};

template <std::size_t Capacity>
class StackOf final : public Stack, Wired<Capacity, ladon::mask::None> {
 public:
  explicit StackOf(const Checkpoint& checkpoint) : Wired<Capacity, ladon::mask::None>(checkpoint) {}

  void run(const float* x, float* y, std::size_t tokens) noexcept override {
    Encoder::run(x, weights_, y, *workspace_, {.tokens = tokens});
  }

  void run(const float* x, float* y, std::size_t tokens, const AttentionPointers& attention) noexcept override {
    Encoder::run(x, weights_, y, *workspace_, {.tokens = tokens}, attention);
  }

  void run_layer(std::size_t layer, const float* x, float* y, std::size_t tokens) noexcept override {
    Encoder::Layer::run(x, weights_.layers[layer], y, *workspace_, {.tokens = tokens});
  }

 private:
  using typename Wired<Capacity, ladon::mask::None>::Encoder;
  using Wired<Capacity, ladon::mask::None>::weights_;
  using Wired<Capacity, ladon::mask::None>::workspace_;
};

template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const Checkpoint& checkpoint) {
  return std::make_unique<StackOf<Capacity>>(checkpoint);
}

}  // namespace minilm
