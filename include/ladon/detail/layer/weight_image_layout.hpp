// SPDX-License-Identifier: Apache-2.0
// The layout of weight images (model/weight_image.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <ladon/views.hpp>

namespace LADON_NAMESPACE::detail {

// A template, so that a static_assert fails only in programs that use images.
template <class>
inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

inline constexpr std::size_t image_line = 64;  // in bytes; tensors begin at multiples of this number

// The size of a tensor in an image, without the space up to the next multiple of 64 bytes.
template <class T>
struct ImageTensor;
template <>
struct ImageTensor<float> {  // the epsilon of a norm
  static constexpr std::size_t bytes = sizeof(float), element_bytes = sizeof(float);
};
template <class Element, std::size_t... Extents>
struct ImageTensor<TensorView<Element, Extents...>> {
  static constexpr std::size_t element_bytes = sizeof(Element), bytes = (sizeof(Element) * ... * Extents);
};

constexpr std::size_t image_aligned(std::size_t bytes) noexcept {
  return (bytes + image_line - 1) / image_line * image_line;
}

// An FNV-1a hash over 64-bit words: the sizes of an element and of the tensor, for each tensor of a layout.
struct LayoutMark {
  std::uint64_t mark = 0xcbf29ce484222325u;
  constexpr void add(std::uint64_t word) noexcept {
    for (int byte = 0; byte < 8; ++byte) mark = (mark ^ (word >> 8 * byte & 0xff)) * 0x100000001b3u;
  }
};

// Calls visit(part) for each linear map, norm and view of `weights`.
template <class Weights, class Visit>
constexpr void for_each_single_part(Weights& weights, Visit&& visit) {
  const auto inner = [&](auto& part) { for_each_single_part(part, visit); };
#define LADON_VISIT(part) \
  if constexpr (requires { weights.part; }) inner(weights.part);
  if constexpr (requires { weights.for_each_part(inner); }) {
    weights.for_each_part(inner);
  } else if constexpr (requires { weights.weight; } || requires { weights.data; }) {
    visit(weights);
  } else if constexpr (requires { weights.begin(); }) {
    for (auto& part : weights) inner(part);
  } else {
    // clang-format off
    LADON_VISIT(layers) LADON_VISIT(attention) LADON_VISIT(self_attention) LADON_VISIT(cross_attention)
    LADON_VISIT(in_proj) LADON_VISIT(query_proj) LADON_VISIT(key_proj) LADON_VISIT(value_proj)
    LADON_VISIT(query_norm) LADON_VISIT(key_norm) LADON_VISIT(out_proj)
    LADON_VISIT(gate) LADON_VISIT(linear1) LADON_VISIT(linear2) LADON_VISIT(activation)
    LADON_VISIT(norm) LADON_VISIT(norm1) LADON_VISIT(norm2) LADON_VISIT(norm3)
    LADON_VISIT(output_norm1) LADON_VISIT(output_norm2) LADON_VISIT(output_norm3)
    LADON_VISIT(scale1) LADON_VISIT(scale2) LADON_VISIT(attention_bias)
    // clang-format on
  }
#undef LADON_VISIT
}

template <class Part>
inline constexpr bool has_int4_weight = requires(Part part) { part.int8_weight.data; };

template <class Weights, class Visit>
constexpr void for_each_int4_linear(Weights& weights, Visit&& visit) {
  for_each_single_part(weights, [&]<class Part>(Part& part) {
    if constexpr (has_int4_weight<Part>) visit(part);
  });
}

template <class Weights>
inline constexpr std::size_t int4_linears = [] {
  std::size_t count = 0;
  Weights weights{};
  for_each_int4_linear(weights, [&](auto&) { ++count; });
  return count;
}();

// Returns weights whose tensors are null, except int8_weight of each linear map that has int8 weights in the image.
// This placeholder only marks the map.
template <class Weights>
Weights kinds_from_image(const void* image) noexcept {
  Weights weights{};
  const auto* kind = static_cast<const std::int8_t*>(image) + image_line;
  for_each_int4_linear(weights, [&](auto& linear) {
    if (*kind++ != 0) linear.int8_weight = static_cast<const std::int8_t*>(image);
  });
  return weights;
}

}  // namespace LADON_NAMESPACE::detail
