// SPDX-License-Identifier: Apache-2.0
// Quantises rows of float weights to int8, for quantise.hpp and the tool ladon-weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the largest magnitude of weights that are `stride` floats apart, or NaN if one is infinite or NaN.
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

// Rounds ties to even. Precondition: |x| < 2^22.
constexpr std::int32_t nearest_integer(float x) noexcept {
  const auto truncated = static_cast<std::int32_t>(x);
  const float fraction = x - static_cast<float>(truncated);
  const std::int32_t away = truncated + (x < 0 ? -1 : 1);
  const float distance = fraction < 0 ? -fraction : fraction;
  if (distance < 0.5f) return truncated;
  if (distance > 0.5f) return away;
  return truncated % 2 == 0 ? truncated : away;
}

// Returns largest / 127, or 1 if this quotient is 0 or subnormal: all weights of such a row become 0.
constexpr float row_scale(float largest) noexcept {
  const float scale = largest / 127;
  return scale < std::numeric_limits<float>::min() ? 1.0f : scale;
}

// `scale` is the result of row_scale.
constexpr std::int8_t quantised_weight(float weight, float scale) noexcept {
  const std::int32_t q = nearest_integer(weight / scale);
  return static_cast<std::int8_t>(q > 127 ? 127 : q < -127 ? -127 : q);
}

constexpr void load_rotated_block(const float* weights, std::size_t stride, float (&block)[rotated_block]) noexcept {
  for (std::size_t j = 0; j < rotated_block; ++j) block[j] = weights[j * stride];
  rotate_block(block);
}

// Like largest_magnitude, of rotated weights. Also NaN if a sum in the rotation exceeds the range of floats.
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

// A rotated weight gets the opposite sign, because the stored scale is negative.
constexpr std::int8_t rotated_weight(float rotated, float scale) noexcept {
  return static_cast<std::int8_t>(-quantised_weight(rotated, scale));
}
// Returns the scale that is stored for a row of rotated weights.
constexpr float rotated_scale(float scale) noexcept { return scale * (-1.0f / rotated_block); }

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

// Quantises a row of finite weights, `stride` floats apart. Returns the scale of the row.
constexpr float quantise_row(const float* weights, std::size_t size, std::size_t stride, std::int8_t* to) noexcept {
  const float scale = row_scale(largest_magnitude(weights, size, stride));
  for (std::size_t i = 0; i < size; ++i) to[i] = quantised_weight(weights[i * stride], scale);
  return scale;
}

constexpr std::int32_t sum_of_row(const std::int8_t* row, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i];
  return sum;
}

// For kernels in C. Not inlined, and with sizes as arguments, so that a program contains each function once:
// NAME_quantise with two linear maps has 2 KB instead of 8.5 KB (g++ 12, x86-64, -O3).

LADON_NOINLINE constexpr bool all_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_magnitude(weights, count, 1) <= std::numeric_limits<float>::max();
}
LADON_NOINLINE constexpr bool all_rotated_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_rotated_magnitude(weights, count, 1) <= std::numeric_limits<float>::max();
}

// Quantises finite weights [rows][columns]. Each row gets a scale and a row sum.
LADON_NOINLINE constexpr void quantise_rows(const float* from, std::size_t rows, std::size_t columns,
                                            std::int8_t* weight, float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += columns) {
    scale[r] = quantise_row(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}
LADON_NOINLINE constexpr void quantise_rotated_rows(const float* from, std::size_t rows, std::size_t columns,
                                                    std::int8_t* weight, float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += columns) {
    scale[r] = quantise_rotated_row(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}

}  // namespace LADON_NAMESPACE::detail
