// SPDX-License-Identifier: Apache-2.0
// All weights of a model in one block of memory, an image. A program maps an image from a file, or has it as an array
// in flash.
//     write_image(weights, memory)         on the build machine
//     Weights weights = from_image<Weights>(memory)    on the target: copies nothing but the epsilons of norms
//
// An image has a header of 64 bytes. A byte for each linear map of 4-bit type follows: 1 if the map has int8 weights
// (Linear::int8_weight), otherwise 0. Then come the tensors, in the order of `for_each_tensor`. These bytes and each
// tensor begin at multiples of 64 bytes.
//
// The header, with little-endian numbers:
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

// Calls visit(tensor) for each tensor of `weights`. A tensor is a view, or the epsilon of a norm. `weights` is a linear
// map, a norm, a view, the weights of an attention, of a layer or of a stack, an array, or a type with such members.
// Such a type has `for_each_part(f)`, which calls f(member) for each member.
template <class Weights, class Visit>
constexpr void for_each_tensor(Weights& weights, Visit&& visit) {
  detail::for_each_single_part(weights, [&]<class Part>(Part& part) {
    if constexpr (requires { part.weight; }) {
      if constexpr (detail::has_int4_weight<Part>) {
        part.int8_weight.data == nullptr ? visit(part.weight) : visit(part.int8_weight);
      } else {
        visit(part.weight);
      }
      if constexpr (requires { part.scale; }) visit(part.scale), visit(part.row_sum);
      if constexpr (requires { part.bias.data; }) visit(part.bias);
      if constexpr (requires { part.epsilon; }) visit(part.epsilon);
    } else {
      visit(part);
    }
  });
}

// Returns the size of the image of `weights` in bytes.
template <class Weights>
constexpr std::size_t image_bytes_of(Weights weights) noexcept {
  std::size_t bytes = image_alignment + detail::image_aligned(detail::int4_linears<Weights>);
  for_each_tensor(weights, [&]<class T>(T&) { bytes += detail::image_aligned(detail::ImageTensor<T>::bytes); });
  return bytes;
}

// The size of an image in bytes, if all linear maps of 4-bit type have 4-bit weights. If some have int8 weights instead
// (Linear::int8_weight), call image_bytes_of.
template <class Weights>
inline constexpr std::size_t image_bytes = image_bytes_of(Weights{});

// Returns the size that the header of an image states, or its lower half if std::size_t has 32 bits.
inline std::size_t stated_image_bytes(const void* image) noexcept {
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const std::byte*>(image) + 8, sizeof bytes);
  return bytes;
}

template <class Weights>
inline constexpr std::uint64_t layout_mark = [] {
  detail::LayoutMark mark;
  Weights weights{};
  for_each_tensor(weights, [&]<class T>(T&) {
    mark.add(detail::ImageTensor<T>::element_bytes), mark.add(detail::ImageTensor<T>::bytes);
  });
  return mark.mark;
}();

// Writes image_bytes_of(weights) bytes. The views of `weights` must not be null.
template <class Weights>
void write_image(const Weights& weights, std::byte* image) noexcept {
  static_assert(detail::is_little_endian<Weights>, "ladon: images are little-endian");
  const std::size_t bytes_of_image = image_bytes_of(weights);
  const std::uint64_t numbers[] = {bytes_of_image, layout_mark<Weights>};
  std::memset(image, 0, bytes_of_image);
  std::memcpy(image, "ladonimg", 8);
  std::memcpy(image + 8, numbers, sizeof numbers);
  std::byte* next = image + image_alignment;
  Weights copy = weights;
  std::byte* kind = next;
  detail::for_each_int4_linear(
      copy, [&](auto& linear) { *kind++ = linear.int8_weight.data == nullptr ? std::byte{0} : std::byte{1}; });
  next += detail::image_aligned(detail::int4_linears<Weights>);
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

// Whether `image` is an image of `Weights`, and has `bytes` bytes.
template <class Weights>
bool is_image(const void* image, std::size_t bytes) noexcept {
  std::uint64_t numbers[2];
  constexpr std::size_t least = image_alignment + detail::image_aligned(detail::int4_linears<Weights>);
  if (bytes < least || std::memcmp(image, "ladonimg", 8) != 0) return false;
  std::memcpy(numbers, static_cast<const std::byte*>(image) + 8, sizeof numbers);
  if (numbers[0] != bytes || numbers[1] != layout_mark<Weights>) return false;
  return bytes == image_bytes_of(detail::kinds_from_image<Weights>(image));
}

// Returns weights that point into an image. Preconditions: is_image, and `image` has the alignment of a float.
template <class Weights>
Weights from_image(const void* image) noexcept {
  static_assert(detail::is_little_endian<Weights>, "ladon: images are little-endian");
  Weights weights = detail::kinds_from_image<Weights>(image);
  const std::byte* next =
      static_cast<const std::byte*>(image) + image_alignment + detail::image_aligned(detail::int4_linears<Weights>);
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
