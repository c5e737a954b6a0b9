// SPDX-License-Identifier: Apache-2.0
// All weights of a model in one block of memory, an image: a file that a program maps, or an array in flash.
//     write_image(weights, memory)         on the build machine
//     Weights weights = from_image<Weights>(memory)    on the target: copies nothing but the epsilons of norms
//
// An image has a header of 64 bytes, and then each tensor at a multiple of 64 bytes, in the order of `for_each_tensor`.
// Numbers are little-endian.
//     bytes 0 to 7     "ladonimg"
//     bytes 8 to 15    size of the image in bytes
//     bytes 16 to 23   layout_mark<Weights>, which differs for other types of weights
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/detail/layer/weight_image_layout.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

inline constexpr std::size_t image_alignment = detail::image_line;

// Calls visit(tensor) for each tensor of `weights`, a view or the epsilon of a norm. `weights` is a linear map, a norm,
// a view, the weights of an attention, of a layer or of a stack, an array, or a type with such members: then it has a
// function `for_each_part(f)`, which calls f(member) for each member.
template <class Weights, class Visit>
constexpr void for_each_tensor(Weights& weights, Visit&& visit) {
  const auto inner = [&](auto& part) { for_each_tensor(part, visit); };
#define LADON_VISIT(part) \
  if constexpr (requires { weights.part; }) inner(weights.part);
  if constexpr (requires { weights.for_each_part(inner); }) {
    weights.for_each_part(inner);
  } else if constexpr (requires { weights.weight; }) {
    visit(weights.weight);
    if constexpr (requires { weights.scale; }) visit(weights.scale), visit(weights.row_sum);
    if constexpr (requires { weights.bias.data; }) visit(weights.bias);
    if constexpr (requires { weights.epsilon; }) visit(weights.epsilon);
  } else if constexpr (requires { weights.data; }) {
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

// The size of an image in bytes.
template <class Weights>
inline constexpr std::size_t image_bytes = [] {
  std::size_t bytes = image_alignment;
  Weights weights{};
  for_each_tensor(weights, [&]<class T>(T&) { bytes += detail::image_aligned(detail::ImageTensor<T>::bytes); });
  return bytes;
}();

template <class Weights>
inline constexpr std::uint64_t layout_mark = [] {
  detail::LayoutMark mark;
  Weights weights{};
  for_each_tensor(weights, [&]<class T>(T&) {
    mark.add(detail::ImageTensor<T>::element_bytes), mark.add(detail::ImageTensor<T>::bytes);
  });
  return mark.mark;
}();

// Writes image_bytes<Weights> bytes. The views of `weights` must not be null.
template <class Weights>
void write_image(const Weights& weights, std::byte* image) noexcept {
  static_assert(detail::is_little_endian<Weights>, "ladon: images are little-endian");
  const std::uint64_t numbers[] = {image_bytes<Weights>, layout_mark<Weights>};
  std::memset(image, 0, image_bytes<Weights>);
  std::memcpy(image, "ladonimg", 8);
  std::memcpy(image + 8, numbers, sizeof numbers);
  std::byte* next = image + image_alignment;
  Weights copy = weights;
  for_each_tensor(copy, [&]<class T>(T& tensor) {
    constexpr std::size_t bytes = detail::ImageTensor<T>::bytes;
    if constexpr (std::is_same_v<T, float>) {
      std::memcpy(next, &tensor, bytes);
    } else {
      std::memcpy(next, tensor.data, bytes);
    }
    next += detail::image_aligned(bytes);
  });
}

// Whether `image` is the image of such weights, and `bytes` its size.
template <class Weights>
bool is_image(const void* image, std::size_t bytes) noexcept {
  std::uint64_t numbers[2];
  if (bytes != image_bytes<Weights> || std::memcmp(image, "ladonimg", 8) != 0) return false;
  std::memcpy(numbers, static_cast<const std::byte*>(image) + 8, sizeof numbers);
  return numbers[0] == image_bytes<Weights> && numbers[1] == layout_mark<Weights>;
}

// Returns weights that point into an image. Preconditions: is_image, and `image` has the alignment of a float.
template <class Weights>
Weights from_image(const void* image) noexcept {
  static_assert(detail::is_little_endian<Weights>, "ladon: images are little-endian");
  Weights weights{};
  const std::byte* next = static_cast<const std::byte*>(image) + image_alignment;
  for_each_tensor(weights, [&]<class T>(T& tensor) {
    if constexpr (std::is_same_v<T, float>) {
      std::memcpy(&tensor, next, sizeof tensor);
    } else {
      tensor = reinterpret_cast<decltype(tensor.data)>(next);
    }
    next += detail::image_aligned(detail::ImageTensor<T>::bytes);
  });
  return weights;
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
