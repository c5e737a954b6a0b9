// SPDX-License-Identifier: Apache-2.0
// Quantises float weights to 8 or 4 bits, for quantise.hpp and the tool ladon-weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/detail/vec/int4.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the largest magnitude. If a weight is infinite or NaN, or if a sum in the rotation is infinite, the result is
// infinite or NaN, too. Compilers vectorise a maximum of integers, but not of floats.
template <bool Rotated>
constexpr float largest_magnitude(const float* weights, std::size_t size, std::size_t stride) noexcept {
  std::uint32_t largest = 0;
  for_each_number<Rotated>(weights, size, stride, [&](std::size_t, float weight) {
    const std::uint32_t magnitude = ladon::bit_cast<std::uint32_t>(weight) & 0x7fffffffu;
    largest = largest < magnitude ? magnitude : largest;
  });
  return ladon::bit_cast<float>(largest);
}

// Rounds ties to even. Precondition: |x| < 2^22.
constexpr std::int32_t nearest_integer(float x) noexcept {
  LADON_AS_WRITTEN
  return static_cast<std::int32_t>(vec::in_order(x + vec::round_to_low_bits) - vec::round_to_low_bits);
}

// Returns largest / 127. If this quotient is 0 or subnormal, returns 1, and all weights of the row become 0.
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
  for_each_number<Rotated>(weights, size, stride,
                           [&](std::size_t i, float weight) { to[i] = quantised_weight<Rotated>(weight, scale); });
  return stored_scale<Rotated>(scale);
}

// Every second table of int4_tables, in units of 1 / 64: `level` has ascending numbers, and `halfway` the points
// between neighbours.
inline constexpr std::int16_t int4_units = 64;
struct Int4Levels {
  std::int16_t level[int4_codes];
  std::int16_t halfway[int4_codes - 1];
};
inline constexpr auto int4_levels = [] {
  std::array<Int4Levels, int4_tables.size() / 2> result{};
  for (std::size_t n = 0; n < result.size(); ++n) {
    for (std::size_t i = 0; i < int4_codes; ++i) {
      result[n].level[i] = static_cast<std::int16_t>(int4_tables[2 * n][i] * int4_units);
      if (i > 0) {
        result[n].halfway[i - 1] = static_cast<std::int16_t>((result[n].level[i - 1] + result[n].level[i]) / 2);
      }
    }
  }
  return result;
}();

// A group of weights, in units of 1 / 64 of the row's scale, and the table with the least squared error. Tables 2 n and
// 2 n + 1 have opposite signs: the sign of the weight with the largest magnitude chooses one of the two.
struct Int4Group {
  std::int16_t weight[int4_group]{};
  std::size_t size = 0;
  std::size_t table = 0;
  std::int32_t error = 0;

  // Calls visit(i, code, difference) with the nearest code of each weight, and the error of this code. Weights are
  // integers here, because compilers do not vectorise this loop over floats.
  template <class Visit>
  constexpr void for_each_code(const Int4Levels& levels, Visit visit) const noexcept {
    std::int16_t code[int4_group]{}, value[int4_group]{};
    for (std::size_t c = 0; c + 1 < int4_codes; ++c) {
      const std::int16_t halfway = levels.halfway[c];
      const auto step = static_cast<std::int16_t>(levels.level[c + 1] - levels.level[c]);
      for (std::size_t i = 0; i < int4_group; ++i) {
        const auto above = static_cast<std::int16_t>(weight[i] > halfway ? -1 : 0);
        code[i] = static_cast<std::int16_t>(code[i] - above);
        value[i] = static_cast<std::int16_t>(value[i] + (above & step));
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      visit(i, static_cast<unsigned>(code[i]), levels.level[0] + value[i] - weight[i]);
    }
  }
  constexpr void choose_table() noexcept {
    int most = 0, least = 0;
    for (const int one : weight) {
      if (most < one) most = one;
      if (one < least) least = one;
    }
    const bool negated = most > -least;
    const int largest = negated ? most : -least;
    for (std::int16_t& one : weight) one = static_cast<std::int16_t>(negated ? -one : one);
    error = (std::numeric_limits<std::int32_t>::max)();
    for (std::size_t n = 0; n < int4_levels.size(); ++n) {
      const int end = -int4_levels[n].level[0];
      if (n > 0 && 4 * end < 3 * largest) break;                          // this and later tables clip too much
      if (n + 1 < int4_levels.size() && 3 * end > 4 * largest) continue;  // the next table has smaller steps
      std::int32_t sum = 0;
      for_each_code(int4_levels[n], [&](std::size_t, unsigned, int difference) { sum += difference * difference; });
      if (sum < error) error = sum, table = 2 * n + (negated ? 1 : 0);
    }
  }
};

// Calls visit(g, group) for each group of a row of finite weights, with the group's best table for this `scale`.
template <bool Rotated, class Visit>
constexpr void for_each_int4_group(const float* weights, std::size_t size, std::size_t stride, float scale,
                                   Visit visit) noexcept {
  for (std::size_t first = 0; first < size; first += int4_group) {
    Int4Group group;
    group.size = size - first < int4_group ? size - first : int4_group;
    for_each_number<Rotated>(weights + first * stride, group.size, stride, [&](std::size_t i, float weight) {
      group.weight[i] = static_cast<std::int16_t>(nearest_integer(weight / scale * int4_units));
    });
    group.choose_table();
    visit(first / int4_group, group);
  }
}

// Quantises a row to 4 bits. Tries six scales and takes the one with the least squared error: a smaller scale clips the
// largest weight, but rounds the other weights less. No code has the value 0, so a row of zeros, or of nearly subnormal
// numbers, gets the scale 0.
template <bool Rotated>
constexpr float quantise_row(const float* weights, std::size_t size, std::size_t stride, std::uint8_t* to) noexcept {
  const std::size_t groups = int4_groups(size);
  for (std::size_t i = 0; i < int4_row_bytes(size); ++i) to[i] = 0;
  const float largest = largest_magnitude<Rotated>(weights, size, stride) / 127;
  if (largest < 2 * (std::numeric_limits<float>::min)()) return 0;
  float scale = largest, least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 6; ++i) {
    const float candidate = largest * (0.7f + 0.06f * static_cast<float>(i));
    float error = 0;
    for_each_int4_group<Rotated>(weights, size, stride, candidate, [&](std::size_t, const Int4Group& group) {
      error += static_cast<float>(group.error);
    });
    error *= (candidate / largest) * (candidate / largest);
    if (error < least) least = error, scale = candidate;
  }
  for_each_int4_group<Rotated>(weights, size, stride, scale, [&](std::size_t g, const Int4Group& group) {
    group.for_each_code(int4_levels[group.table / 2], [&](std::size_t i, unsigned code, int) {
      std::uint8_t& byte = to[g * (int4_group / 2) + i % (int4_group / 2)];
      byte = static_cast<std::uint8_t>(byte | code << (i / (int4_group / 2) * 4));
    });
    const std::size_t table = group.table ^ (Rotated ? 1 : 0);  // the stored scale of a rotated row is negative
    std::uint8_t& byte = to[groups * (int4_group / 2) + g / 2];
    byte = static_cast<std::uint8_t>(byte | table << (g % 2 * 4));
  });
  return stored_scale<Rotated>(scale);
}

template <class Weight>
constexpr std::size_t quantised_row_bytes(std::size_t size) noexcept {
  return std::is_same_v<Weight, std::int8_t> ? size : int4_row_bytes(size);
}

template <bool Rotated, class Weight, std::size_t Out, std::size_t In, Order O, Bias B>
constexpr bool quantise_linear(const Linear<Out, In, O, B>& linear, Weight* weight, float* scale) noexcept {
  constexpr std::size_t row_stride = O == Order::out_in ? In : 1, stride = O == Order::out_in ? 1 : Out;
  LADON_EXPECTS(linear.weight.data != nullptr && weight != nullptr && scale != nullptr,
                "ladon: quantise needs the float weight, the int8 weight and the scale", linear.caller);
  for (std::size_t r = 0; r < Out; ++r) {
    const float largest = largest_magnitude<Rotated>(linear.weight.data + r * row_stride, In, stride);
    if (!(largest <= (std::numeric_limits<float>::max)())) return false;
  }
  for (std::size_t r = 0; r < Out; ++r) {
    scale[r] = quantise_row<Rotated>(linear.weight.data + r * row_stride, In, stride,
                                     weight + r * quantised_row_bytes<Weight>(In));
  }
  return true;
}

constexpr std::int32_t sum_of_row(const std::int8_t* row, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i];
  return sum;
}
constexpr std::int32_t sum_of_row(const std::uint8_t* row, std::size_t size) noexcept {
  std::int32_t sum = 0;
  for (std::size_t first = 0; first < size; first += int4_group) {
    std::int8_t weight[int4_group]{};
    const std::size_t group = first / int4_group, count = size - first < int4_group ? size - first : int4_group;
    vec::expand_int4_group(row + first / 2, int4_tables[int4_table(row, int4_groups(size), group)].data(), weight);
    sum += sum_of_row(weight, count);
  }
  return sum;
}

// Kernels in C call these functions. Sizes are arguments and nothing is inlined, so a program contains each function
// once. The C function NAME_quantise of a kernel with two linear maps has 2 KB instead of 8.5 KB (g++ 12, x86-64, -O3).

template <bool Rotated>
LADON_NOINLINE constexpr bool all_weights_finite(const float* weights, std::size_t count) noexcept {
  return largest_magnitude<Rotated>(weights, count, 1) <= (std::numeric_limits<float>::max)();
}

// Quantises finite weights [rows][columns]. Each row gets a scale and a row sum.
template <bool Rotated, class Weight>
LADON_NOINLINE constexpr void quantise_rows(const float* from, std::size_t rows, std::size_t columns, Weight* weight,
                                            float* scale, std::int32_t* row_sum) noexcept {
  for (std::size_t r = 0; r < rows; ++r, from += columns, weight += quantised_row_bytes<Weight>(columns)) {
    scale[r] = quantise_row<Rotated>(from, columns, 1, weight);
    row_sum[r] = sum_of_row(weight, columns);
  }
}

}  // namespace LADON_NAMESPACE::detail
