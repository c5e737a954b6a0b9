// SPDX-License-Identifier: Apache-2.0
// Rotates blocks of eight numbers: x becomes H x, with the Hadamard matrix H8 (entries 1 and -1, Sylvester's order) in
// each block. This spreads large numbers, which int8 represents better. W x = (W H) (H x) / 8. docs/tuning-log.md
// compares sizes.
#pragma once

#include <cstddef>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail {

inline constexpr std::size_t rotated_block = 8;

// In place. The order of the additions is fixed, so all targets compute the same bits.
template <class Number>
LADON_INLINE constexpr void rotate_block(Number* block) noexcept {
  LADON_UNROLL
  for (std::size_t half = 1; half < rotated_block; half *= 2) {
    LADON_UNROLL
    for (std::size_t i = 0; i < rotated_block / 2; ++i) {
      const std::size_t first = i / half * 2 * half + i % half;
      const Number a = block[first], b = block[first + half];
      block[first] = a + b;
      block[first + half] = a - b;
    }
  }
}

// The numbers are `stride` floats apart. `to` may equal `x`.
constexpr void rotate_blocks(const float* x, std::size_t size, std::size_t stride, float* to) noexcept {
  for (std::size_t i = 0; i < size; i += rotated_block) {
    float block[rotated_block]{};
    for (std::size_t j = 0; j < rotated_block; ++j) block[j] = x[(i + j) * stride];
    rotate_block(block);
    for (std::size_t j = 0; j < rotated_block; ++j) to[(i + j) * stride] = block[j];
  }
}

}  // namespace LADON_NAMESPACE::detail
