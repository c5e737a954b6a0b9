// SPDX-License-Identifier: Apache-2.0
// Functions that quantise rows of float weights to int8. quantise.hpp and the tool ladon-weights call these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/panel/rotate_int8.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the largest magnitude of `size` weights, `stride` floats apart, or NaN if a weight is infinite or NaN.
constexpr float largest_magnitude(const float* weights, std::size_t size, std::size_t stride) noexcept {
  float largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const float weight = weights[i * stride];
    const float magnitude = weight < 0 ? -weight : weight;
    if (!(magnitude <= std::numeric_limits<float>::max())) return std::numeric_limits<float>::quiet_NaN();
    if (largest < magnitude) largest = magnitude;
  }
  return largest;
}

// Returns the integer nearest to x, ties to even. Precondition: |x| < 2^22.
constexpr std::int32_t nearest_integer(float x) noexcept {
  const auto truncated = static_cast<std::int32_t>(x);
  const float fraction = x - static_cast<float>(truncated);
  const std::int32_t away = truncated + (x < 0 ? -1 : 1);
  const float distance = fraction < 0 ? -fraction : fraction;
  if (distance < 0.5f) return truncated;
  if (distance > 0.5f) return away;
  return truncated % 2 == 0 ? truncated : away;
}

// Returns the scale of a row whose largest magnitude is `largest`: largest / 127, or 1 if this quotient is 0 or
// subnormal.
constexpr float row_scale(float largest) noexcept {
  const float scale = largest / 127;
  return scale < std::numeric_limits<float>::min() ? 1.0f : scale;
}

// Returns the int8 weight of a float weight. `scale` is the scale of the weight's row (row_scale). A row of tiny
// weights has the scale 1, so all weights of the row become 0.
constexpr std::int8_t quantised_weight(float weight, float scale) noexcept {
  const std::int32_t q = nearest_integer(weight / scale);
  return static_cast<std::int8_t>(q > 127 ? 127 : q < -127 ? -127 : q);
}

// Rotates one block of a row of weights (hadamard.hpp). `weights` points to the block's first weight, and the weights
// are `stride` floats apart.
constexpr void load_rotated_block(const float* weights, std::size_t stride, float (&block)[rotated_block]) noexcept {
  for (std::size_t j = 0; j < rotated_block; ++j) block[j] = weights[j * stride];
  rotate_block(block);
}

// Returns the largest magnitude in a row of rotated weights (hadamard.hpp). Returns NaN if a weight is infinite or NaN,
// or if a sum in the rotation exceeds the range of floats.
constexpr float largest_rotated_magnitude(const float* weights, std::size_t size, std::size_t stride) noexcept {
  float largest = 0;
  for (std::size_t i = 0; i < size; i += rotated_block) {
    float block[rotated_block]{};
    load_rotated_block(weights + i * stride, stride, block);
    const float of_block = largest_magnitude(block, rotated_block, 1);
    if (!(of_block <= largest)) largest = of_block;
    if (!(largest <= std::numeric_limits<float>::max())) return largest;
  }
  return largest;
}

// Quantises a rotated weight (hadamard.hpp) to an int8 weight of the opposite sign, because the stored scale is
// negative (rotated_scale).
constexpr std::int8_t rotated_weight(float rotated, float scale) noexcept {
  return static_cast<std::int8_t>(-quantised_weight(rotated, scale));
}
// Returns the scale that is stored for a row of rotated weights. `scale` is the result of row_scale.
constexpr float rotated_scale(float scale) noexcept { return scale * (-1.0f / rotated_block); }

// Like quantise_row, but rotates the weights first (hadamard.hpp).
constexpr float quantise_rotated_row(const float* weights, std::size_t size, std::size_t stride,
                                     std::int8_t* to) noexcept {
  const float scale = row_scale(largest_rotated_magnitude(weights, size, stride));
  for (std::size_t i = 0; i < size; i += rotated_block) {
    float block[rotated_block]{};
    load_rotated_block(weights + i * stride, stride, block);
    for (std::size_t j = 0; j < rotated_block; ++j) to[i + j] = rotated_weight(block[j], scale);
  }
  return rotated_scale(scale);
}

// Quantises a row of `size` finite weights, `stride` floats apart. Writes `size` integers to `to`, and returns the
// scale of the row.
constexpr float quantise_row(const float* weights, std::size_t size, std::size_t stride, std::int8_t* to) noexcept {
  const float scale = row_scale(largest_magnitude(weights, size, stride));
  for (std::size_t i = 0; i < size; ++i) to[i] = quantised_weight(weights[i * stride], scale);
  return scale;
}

// Returns the sum of a row of `size` int8 weights.
constexpr std::int32_t sum_of_row(const std::int8_t* row, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i];
  return sum;
}

// The next functions are for kernels in C. Sizes are arguments and the functions are not inlined, so that a program
// contains each function once. If the functions were inlined, NAME_quantise of a kernel with two linear maps would have
// 8.5 KB instead of 2 KB (g++ 12, x86-64, -O3).

// Returns whether all `count` weights are finite.
LADON_NOINLINE constexpr bool all_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_magnitude(weights, count, 1) <= std::numeric_limits<float>::max();
}
LADON_NOINLINE constexpr bool all_rotated_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_rotated_magnitude(weights, count, 1) <= std::numeric_limits<float>::max();
}

// Quantises finite weights [rows][columns]. Writes int8 weights [rows][columns], and a scale and a row sum for each
// row.
LADON_NOINLINE constexpr void quantise_rows(const float* from, std::size_t rows, std::size_t columns,
                                            std::int8_t* weight, float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += columns) {
    scale[r] = quantise_row(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}
// Like quantise_rows, but rotates the weights first (hadamard.hpp).
LADON_NOINLINE constexpr void quantise_rotated_rows(const float* from, std::size_t rows, std::size_t columns,
                                                    std::int8_t* weight, float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += columns) {
    scale[r] = quantise_rotated_row(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}

}  // namespace LADON_NAMESPACE::detail
