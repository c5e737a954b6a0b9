// SPDX-License-Identifier: Apache-2.0
// The numbers of a file are little-endian.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace ladon::files {

inline constexpr bool is_little_endian = std::endian::native == std::endian::little;

// Converts numbers of `width` bytes between the byte order of a file and that of this machine, in place.
inline void swap_if_big_endian(std::span<std::byte> numbers, std::size_t width) {
  if constexpr (!is_little_endian)
    for (std::size_t i = 0; i + width <= numbers.size(); i += width) std::ranges::reverse(numbers.subspan(i, width));
}

// Converts one number.
template <class T>
T swapped_if_big_endian(T number) {
  swap_if_big_endian(std::as_writable_bytes(std::span(&number, 1)), sizeof(T));
  return number;
}

}  // namespace ladon::files
