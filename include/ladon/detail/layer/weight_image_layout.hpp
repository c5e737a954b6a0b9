// SPDX-License-Identifier: Apache-2.0
// The layout of an image (model/weight_image.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <ladon/views.hpp>

namespace LADON_NAMESPACE::detail {

// Depends on a template argument, so that a program for a big-endian machine may include the header.
template <class>
inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

inline constexpr std::size_t image_line = 64;  // bytes; each tensor begins at a multiple

// The size of a tensor in an image, without the space up to the next multiple of 64 bytes.
template <class T>
struct ImageTensor;
template <>
struct ImageTensor<float> {  // an epsilon
  static constexpr std::size_t bytes = sizeof(float), element_bytes = sizeof(float);
};
template <class Element, std::size_t... Extents>
struct ImageTensor<TensorView<Element, Extents...>> {
  static constexpr std::size_t element_bytes = sizeof(Element), bytes = (sizeof(Element) * ... * Extents);
};

constexpr std::size_t image_aligned(std::size_t bytes) noexcept {
  return (bytes + image_line - 1) / image_line * image_line;
}

// FNV-1a over the 64-bit words of a layout: the size of an element, and the size of the tensor.
struct LayoutMark {
  std::uint64_t mark = 0xcbf29ce484222325u;
  constexpr void add(std::uint64_t word) noexcept {
    for (int byte = 0; byte < 8; ++byte) mark = (mark ^ (word >> 8 * byte & 0xff)) * 0x100000001b3u;
  }
};

}  // namespace LADON_NAMESPACE::detail
