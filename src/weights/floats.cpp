// SPDX-License-Identifier: Apache-2.0
#include "floats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "byte_order.hpp"

namespace ladon::weights {
namespace {

std::uint32_t widen_bf16(std::uint16_t half) { return std::uint32_t{half} << 16; }

template <std::uint32_t Widen(std::uint16_t)>
void write_widened(std::span<const std::byte> values, std::byte* to) {
  for (std::size_t i = 0; i < values.size() / sizeof(std::uint16_t); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, values.data() + i * sizeof(half), sizeof(half));
    const std::uint32_t bits = Widen(files::swapped_if_big_endian(half));
    std::memcpy(to + i * sizeof(bits), &bits, sizeof(bits));
  }
}

void write_floats(std::string_view dtype, std::span<const std::byte> values, std::byte* to) {
  if (dtype == "F32") {
    if (!values.empty()) std::memcpy(to, values.data(), values.size());
    files::swap_if_big_endian({to, values.size()}, sizeof(float));
  } else if (dtype == "F16") {
    write_widened<widen_f16>(values, to);
  } else {
    write_widened<widen_bf16>(values, to);
  }
}

// Returns the text of the error for a value that is infinite, NaN, or too large for bfloat16.
std::string expected_and_found(float value) {
  if (std::isnan(value)) return "finite weights, found NaN";
  if (std::isinf(value)) return "finite weights, found an infinity";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", double{value});
  return std::string("weights that are finite in bfloat16, found ") + text.data();
}

}  // namespace

std::size_t bytes_of_float(std::string_view dtype) {
  if (dtype == "F32") return 4;
  return dtype == "F16" || dtype == "BF16" ? 2 : 0;
}

// The fields of the formats: binary16 has a sign, 5 bits of exponent with bias 15, and 10 bits of fraction. binary32
// has a sign, 8 bits of exponent with bias 127, and 23 bits of fraction.
std::uint32_t widen_f16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16, exponent = (half >> 10) & 0x1FU, fraction = half & 0x3FFU;
  if (exponent == 0x1F) return sign | 0x7F800000U | fraction << 13;
  if (exponent != 0) return sign | (exponent + (127 - 15)) << 23 | fraction << 13;
  // The value is zero or a subnormal number, fraction * 2^-24. A float32 holds the value exactly, as a normal number.
  return sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
}

void append_floats(std::string_view dtype, std::span<const std::byte> values, std::string& to) {
  const std::size_t before = to.size();
  to.resize(before + values.size() / bytes_of_float(dtype) * sizeof(float));
  write_floats(dtype, values, reinterpret_cast<std::byte*>(to.data() + before));
}

void read_floats(std::string_view dtype, std::span<const std::byte> values, std::span<float> to) {
  write_floats(dtype, values, std::as_writable_bytes(to).data());
}

std::string finite_complaint(std::span<const float> values, std::size_t row, std::size_t first_column, float most) {
  const auto found = std::ranges::find_if(values, [&](float value) { return !(std::abs(value) <= most); });
  if (found == values.end()) return "";
  const std::size_t column = first_column + static_cast<std::size_t>(found - values.begin());
  return "expected " + expected_and_found(*found) + " at row " + std::to_string(row) + ", column " +
         std::to_string(column) + ", counted from 0";
}

}  // namespace ladon::weights
