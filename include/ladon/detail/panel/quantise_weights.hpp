// SPDX-License-Identifier: Apache-2.0
// Quantises float weights to int8, for quantise.hpp and the tool ladon-weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Calls visit(i, weight) for each weight of a row, `stride` floats apart. With Rotated, the weights are rotated first.
template <bool Rotated, class Visit>
constexpr void for_each_weight(const float* weights, std::size_t size, std::size_t stride, Visit visit) noexcept {
  constexpr std::size_t block = Rotated ? rotated_block : 1;
  for (std::size_t i = 0; i < size; i += block) {
    float weight[block]{};
    for (std::size_t j = 0; j < block; ++j) weight[j] = weights[(i + j) * stride];
    if constexpr (Rotated) rotate_block(weight);
    for (std::size_t j = 0; j < block; ++j) visit(i + j, weight[j]);
  }
}

// Returns the largest magnitude, or NaN if a weight is infinite or NaN, or if a sum in the rotation is infinite.
template <bool Rotated>
constexpr float largest_magnitude(const float* weights, std::size_t size, std::size_t stride) noexcept {
  float largest = 0;
  for_each_weight<Rotated>(weights, size, stride, [&](std::size_t, float weight) {
    const float magnitude = weight < 0 ? -weight : weight;
    if (!(magnitude <= (std::numeric_limits<float>::max)())) largest = std::numeric_limits<float>::quiet_NaN();
    if (largest < magnitude) largest = magnitude;
  });
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
  return scale < (std::numeric_limits<float>::min)() ? 1.0f : scale;
}

// `scale` is the result of row_scale. A rotated weight gets the opposite sign, because the stored scale is negative.
template <bool Rotated>
constexpr std::int8_t quantised_weight(float weight, float scale) noexcept {
  const std::int32_t q = nearest_integer(weight / scale), limited = q > 127 ? 127 : q < -127 ? -127 : q;
  return static_cast<std::int8_t>(Rotated ? -limited : limited);
}
template <bool Rotated>
constexpr float stored_scale(float scale) noexcept {
  return Rotated ? scale * (-1.0f / rotated_block) : scale;
}

// Quantises a row of finite weights, `stride` floats apart. Returns the stored scale.
template <bool Rotated>
constexpr float quantise_row(const float* weights, std::size_t size, std::size_t stride, std::int8_t* to) noexcept {
  const float scale = row_scale(largest_magnitude<Rotated>(weights, size, stride));
  for_each_weight<Rotated>(weights, size, stride,
                           [&](std::size_t i, float weight) { to[i] = quantised_weight<Rotated>(weight, scale); });
  return stored_scale<Rotated>(scale);
}

template <bool Rotated, std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise_linear(const Linear<Out, In, O, B>& linear, std::int8_t* weight, float* scale) noexcept {
  constexpr std::size_t row_stride = O == Order::out_in ? In : 1, stride = O == Order::out_in ? 1 : Out;
  LADON_EXPECTS(linear.weight.data != nullptr && weight != nullptr && scale != nullptr,
                "ladon: quantise needs the float weight, the int8 weight and the scale", linear.caller);
  for (std::size_t r = 0; r < Out; ++r) {
    const float largest = largest_magnitude<Rotated>(linear.weight.data + r * row_stride, In, stride);
    if (!(largest <= (std::numeric_limits<float>::max)())) return false;
  }
  for (std::size_t r = 0; r < Out; ++r) {
    scale[r] = quantise_row<Rotated>(linear.weight.data + r * row_stride, In, stride, weight + r * In);
  }
  return true;
}

constexpr std::int32_t sum_of_row(const std::int8_t* row, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i];
  return sum;
}

// For kernels in C. Not inlined, and with sizes as arguments, so that a program contains each function once:
// NAME_quantise with two linear maps has 2 KB instead of 8.5 KB (g++ 12, x86-64, -O3).

template <bool Rotated>
LADON_NOINLINE constexpr bool all_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_magnitude<Rotated>(weights, count, 1) <= (std::numeric_limits<float>::max)();
}

// Quantises finite weights [rows][columns]. Each row gets a scale and a row sum.
template <bool Rotated>
LADON_NOINLINE constexpr void quantise_rows(const float* from, std::size_t rows, std::size_t columns,
                                            std::int8_t* weight, float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += columns) {
    scale[r] = quantise_row<Rotated>(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}

}  // namespace LADON_NAMESPACE::detail
