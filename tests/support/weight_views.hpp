// Sets the pointers of a weights struct (ladon/weights.hpp) to the tensors of a Call (subject.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "subject.hpp"

namespace ladon_test {

// The layout without biases and norms, and with float32 weights.
template <class Layout>
struct Plain;
template <class Tensors, ladon::Bias P, ladon::Bias O, class Precision, class Norms>
struct Plain<ladon::layout::Layout<Tensors, P, O, Precision, Norms>> {
  using Type = ladon::layout::WithoutBias<ladon::layout::Layout<Tensors>>;
};
template <class Layout, class Other>
constexpr bool same_but_for_biases = std::is_same_v<typename Plain<Layout>::Type, ladon::layout::WithoutBias<Other>>;
// The value of activation_bits that makes `quantise` (weights.hpp) prepare the weights for this precision and this
// target of the library. 0 means float32.
template <class Precision, class Vectors = ladon::detail::vec::NativeVectors>
constexpr int activation_bits = 0;
// Only the instruction BFDOT of 64-bit Arm rounds sums to odd. Targets with NativeVectors use BFDOT if
// LADON_ARM_BFLOAT16_DOT is 1. Targets with plain arrays do not use BFDOT.
template <class Vectors>
constexpr int activation_bits<ladon::precision::BFloat16, Vectors> =
    !Vectors::multiplies_bfloat16 ? bfloat16_weights
    : LADON_HAS_XSIMD && LADON_ARM_BFLOAT16_DOT && std::is_base_of_v<ladon::detail::vec::NativeVectors, Vectors>
        ? bfloat16_products_to_odd
        : bfloat16_products;
template <int Bits, bool Rotated, class Vectors>
constexpr int activation_bits<ladon::precision::Int8<Bits, Rotated>, Vectors> = Rotated ? Bits + rotated : Bits;

// Returns a pointer to the first of `count` elements that in_floats (weights.cpp) has copied into the array of floats
// `memory`. The last element ends where the array ends.
template <class Element>
const Element* elements_at(const float* memory, std::size_t count) {
  const std::size_t bytes = count * sizeof(Element), floats = (bytes + sizeof(float) - 1) / sizeof(float);
  return reinterpret_cast<const Element*>(reinterpret_cast<const char*>(memory) + floats * sizeof(float) - bytes);
}

using ValuesFirst = ladon::layout::Layout<ladon::layout::PackedProjections<ladon::Order::out_in, 2, true>>;
template <std::size_t Blocks>
using InBlocks = ladon::layout::Layout<ladon::layout::PackedProjections<ladon::Order::out_in, Blocks>>;
template <class Layout>
constexpr bool in_blocks = false;
template <std::size_t Blocks, ladon::Bias P, ladon::Bias O>
constexpr bool in_blocks<ladon::layout::Layout<ladon::layout::PackedProjections<ladon::Order::out_in, Blocks>, P, O>> =
    Blocks > 1;
template <class Layout>
constexpr WeightLayout weight_layout =
    same_but_for_biases<Layout, ladon::layout::InProj>        ? WeightLayout::in_proj
    : same_but_for_biases<Layout, ladon::layout::SeparateQKV> ? WeightLayout::separate
    : same_but_for_biases<Layout, ladon::layout::InOut>       ? WeightLayout::in_out
    : same_but_for_biases<Layout, ladon::layout::InProjInOut> ? WeightLayout::in_proj_in_out
    : same_but_for_biases<Layout, ValuesFirst>                ? WeightLayout::values_first
    : in_blocks<typename Plain<Layout>::Type>                 ? WeightLayout::in_blocks
                                                              : WeightLayout::per_head;

// Sets the pointers of `view`, a linear map in a weights struct, to the tensors at `next`. Advances `next` behind these
// tensors.
template <class View>
  requires requires(View view) { view.weight; }
void point(View& view, const float* const*& next) {
  if constexpr (requires { view.row_sum; }) {
    view.weight = elements_at<std::int8_t>(*next++, view.weight.size);
    view.scale = *next++;
    view.row_sum = reinterpret_cast<const std::int32_t*>(*next++);
    if constexpr (requires { view.bias.data; }) view.bias = *next++;
  } else {
    if constexpr (std::is_same_v<decltype(view.weight.data), const ladon::BFloat16*>) {
      view.weight = elements_at<ladon::BFloat16>(*next++, view.weight.size);
    } else {
      view.weight = *next++;
    }
    if constexpr (requires { view.bias.data; }) view.bias = *next++;
  }
}
template <class View, std::size_t N>
void point(std::array<View, N>& views, const float* const*& next) {
  for (View& view : views) point(view, next);
}
template <class Weights>
  requires requires(Weights w) { w.out_proj; }
void point(Weights& w, const float* const*& next) {
  if constexpr (requires { w.in_proj; }) {
    point(w.in_proj, next);
  } else {
    point(w.query_proj, next);
    point(w.key_proj, next);
    point(w.value_proj, next);
  }
  point(w.out_proj, next);
  if constexpr (requires { w.query_norm.weight; }) {
    point(w.query_norm, next);
    point(w.key_norm, next);
  }
}
template <class Weights>
void set_norm_epsilon(Weights& attention, float epsilon) {
  if constexpr (requires { attention.query_norm.epsilon; })
    attention.query_norm.epsilon = attention.key_norm.epsilon = epsilon;
}
template <class Layer>
void point_feed_forward(Layer& layer, const float* const*& next) {
  if constexpr (requires { layer.gate.weight; }) point(layer.gate, next);
  point(layer.linear1, next);
  point(layer.linear2, next);
  point(layer.norm1, next);
  if constexpr (requires { layer.norm2.weight; }) point(layer.norm2, next);
  if constexpr (requires { layer.output_norm1.weight; }) {
    point(layer.output_norm1, next);
    point(layer.output_norm2, next);
  }
  if constexpr (requires { layer.scale1.data; }) {
    layer.scale1 = *next++;
    layer.scale2 = *next++;
  }
  if constexpr (requires { layer.activation.data; }) layer.activation = *next++;
  if constexpr (requires { layer.attention_bias.data; }) layer.attention_bias = *next++;
}
// Sets the epsilon of all norms of a layer.
template <class Layer>
void set_epsilon(Layer& layer, float epsilon) {
  if constexpr (requires { layer.attention; }) set_norm_epsilon(layer.attention, epsilon);
  if constexpr (requires { layer.cross_attention; }) {
    set_norm_epsilon(layer.self_attention, epsilon);
    set_norm_epsilon(layer.cross_attention, epsilon);
  }
  layer.norm1.epsilon = epsilon;
  if constexpr (requires { layer.norm2.weight; }) layer.norm2.epsilon = epsilon;
  if constexpr (requires { layer.norm3; }) layer.norm3.epsilon = epsilon;
  if constexpr (requires { layer.output_norm1.weight; }) {
    layer.output_norm1.epsilon = layer.output_norm2.epsilon = epsilon;
  }
  if constexpr (requires { layer.output_norm3.weight; }) layer.output_norm3.epsilon = epsilon;
}
template <class Layer>
  requires requires(Layer layer) { layer.attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.attention, next);
  point_feed_forward(layer, next);
}
template <class Layer>
  requires requires(Layer layer) { layer.cross_attention; }
void point(Layer& layer, const float* const*& next) {
  point(layer.self_attention, next);
  point(layer.cross_attention, next);
  point_feed_forward(layer, next);
  point(layer.norm3, next);
  if constexpr (requires { layer.output_norm3.weight; }) point(layer.output_norm3, next);
}

// Points the weights of the layers of a stack at the next tensors, and sets the epsilon of all norms.
template <class Layers>
void point_layers(Layers& layers, const float* const*& next, float epsilon) {
  for (auto& layer : layers) {
    point(layer, next);
    set_epsilon(layer, epsilon);
  }
}

}  // namespace ladon_test
