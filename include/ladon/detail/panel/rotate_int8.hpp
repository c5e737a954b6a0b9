// SPDX-License-Identifier: Apache-2.0
// Rotates vectors in blocks of eight numbers. The rotation spreads the few large numbers of a block over all numbers of
// the block, so int8 numbers represent the vector more accurately.
//     H      the matrix of the rotation x -> H x: blocks H8 on the diagonal, and 0 elsewhere
//     H8     the Hadamard matrix of 8 x 8 entries 1 and -1, in Sylvester's order: H8 is symmetric, and H8 H8 = 8 I
//
// A product of weights W and an input x does not change: W x = (W H) (H x) / 8, because H H = 8 I. The division by 8 is
// exact.
//
// Larger blocks are more accurate but slower. The table is for all-MiniLM-L6-v2 with int8 weights. The cosine compares
// the sentence vectors with those of float32 weights, for 256 sentences (emulated in numpy). The time is the time of
// the six layers divided by the time without rotation, for 8 / 32 / 128 tokens (Zen 4):
//     block             none     4        8                       16
//     mean cosine       0.9986   0.9989   0.9993                  0.9995
//     smallest cosine   0.9918   0.9941   0.9959                  0.9970
//     time              1                 1.029 / 1.027 / 1.022   1.036 / 1.040 / 1.029
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail {

inline constexpr std::size_t rotated_block = 8;

// Multiplies a block of eight numbers by H8, in place. `Number` is float or a pack. The order of the additions is
// fixed, so all targets compute the same bits.
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

// Computes H x. The `size` numbers of `x` and of the result `to` are `stride` floats apart. Precondition: `size` is a
// multiple of rotated_block. `to` may be equal to `x`.
constexpr void rotate_blocks(const float* x, std::size_t size, std::size_t stride, float* to) noexcept {
  for (std::size_t i = 0; i < size; i += rotated_block) {
    float block[rotated_block]{};
    for (std::size_t j = 0; j < rotated_block; ++j) block[j] = x[(i + j) * stride];
    rotate_block(block);
    for (std::size_t j = 0; j < rotated_block; ++j) to[(i + j) * stride] = block[j];
  }
}

}  // namespace LADON_NAMESPACE::detail
