// Implements Ladon's encoder with the types that MiniLM needs, for one capacity. Only shared_stack.cpp and the files
// that CMake makes from stack.cpp.in include this file.
#pragma once

#include <cstddef>
#include <ladon/encoder.hpp>
#include <memory>
#include <type_traits>

#include "stack.hpp"

namespace minilm {

// Holds the workspace and the weights of an encoder. The weights point to the tensors in `layers`.
template <std::size_t Capacity, class Mask, class AnyDense>
class Wired {
 protected:
  explicit Wired(const LayersOf<AnyDense>& layers) : workspace_(std::make_unique<typename Encoder::Workspace>()) {
    for (std::size_t layer = 0; layer < layer_count; ++layer) weights_.layers[layer] = wire(layers[layer]);
  }

  static constexpr bool is_rotated = std::is_same_v<AnyDense, RotatedInt8Dense>;
  static constexpr bool is_int8 = is_rotated || std::is_same_v<AnyDense, Int8Dense>;
  static constexpr bool is_bfloat16 = std::is_same_v<AnyDense, BFloat16Dense>;
  using Floats = ladon::layout::SeparateQKV;
  using Precision =
      std::conditional_t<is_int8, ladon::precision::Int8<8, is_rotated>,
                         std::conditional_t<is_bfloat16, ladon::precision::BFloat16, ladon::precision::Float32>>;
  using Layout = Floats::With<Precision>;
  static constexpr ladon::Model model{.layers = layer_count,
                                      .tokens = Capacity,
                                      .model = model_width,
                                      .heads = head_count,
                                      .feed_forward = feed_forward_width,
                                      .activation = ladon::Activation::gelu};
  using Encoder = ladon::Encoder<model, Mask, Layout>;

  typename Encoder::Weights weights_;
  std::unique_ptr<typename Encoder::Workspace> workspace_;

 private:
  // Converts the tensors of a layer in BERT's checkpoint into the weights of a layer of Ladon.
  static typename Encoder::Layer::Weights wire(const LayerTensors<AnyDense>& tensors) {
    typename Encoder::Layer::Weights layer{};
    layer.norm1 = {tensors.attention_norm.weight, tensors.attention_norm.bias, layer_norm_epsilon};
    layer.norm2 = {tensors.output_norm.weight, tensors.output_norm.bias, layer_norm_epsilon};
    wire(tensors.query, layer.attention.query_proj);
    wire(tensors.key, layer.attention.key_proj);
    wire(tensors.value, layer.attention.value_proj);
    wire(tensors.output, layer.attention.out_proj);
    wire(tensors.intermediate, layer.linear1);
    wire(tensors.back, layer.linear2);
    return layer;
  }
  static void wire(const AnyDense& dense, auto& linear) {
    linear.weight = dense.weight;
    linear.bias = dense.bias;
    if constexpr (is_int8) {
      linear.scale = dense.scale;
      linear.row_sum = dense.row_sum;
    }
  }
};

template <std::size_t Capacity, class AnyDense>
class StackOf final : public Stack, Wired<Capacity, ladon::mask::Unmasked, AnyDense> {
  using Base = Wired<Capacity, ladon::mask::Unmasked, AnyDense>;

 public:
  explicit StackOf(const LayersOf<AnyDense>& layers) : Base(layers) {}

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
  using Base::weights_;
  using Base::workspace_;
  using typename Base::Encoder;
};

template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const Layers& layers) {
  return std::make_unique<StackOf<Capacity, Dense>>(layers);
}
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<BFloat16Dense>& layers) {
  return std::make_unique<StackOf<Capacity, BFloat16Dense>>(layers);
}
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<Int8Dense>& layers) {
  return std::make_unique<StackOf<Capacity, Int8Dense>>(layers);
}
template <std::size_t Capacity>
std::unique_ptr<Stack> make_stack(const LayersOf<RotatedInt8Dense>& layers) {
  return std::make_unique<StackOf<Capacity, RotatedInt8Dense>>(layers);
}

}  // namespace minilm
