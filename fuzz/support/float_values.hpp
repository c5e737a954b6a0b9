// Converts F32, F16 and BF16 values to float. The functions follow the definitions of the formats. Fuzzers compare the
// conversions of src/weights with these functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

namespace ladon_fuzz {

// Returns the value of a number in the format IEEE 754 binary16.
inline float value_of_f16(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1F) return fraction == 0 ? sign * HUGE_VALF : std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

// Returns the number of bytes of a value with the dtype F32, F16 or BF16.
inline std::size_t width_of(std::string_view dtype) { return dtype == "F32" ? 4 : 2; }

// Returns the first value in `bytes`. The dtype is F32, F16 or BF16.
inline float value_of(std::string_view dtype, std::span<const std::byte> bytes) {
  if (dtype == "F32") {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::uint16_t half = 0;
  std::memcpy(&half, bytes.data(), sizeof(half));
  return dtype == "BF16" ? std::bit_cast<float>(std::uint32_t{half} << 16) : value_of_f16(half);
}

// Returns whether `bfloat16` is the finite `number` rounded to a bfloat16. Both must have the same sign, and differ by
// at most half a unit in the last of the 8 significant bits of a bfloat16. The smallest exponent of a bfloat16 is -126.
inline bool is_nearest_bfloat16(float bfloat16, float number) {
  const int exponent = number == 0 ? -126 : std::max(std::ilogb(number), -126);
  return std::abs(double{number} - double{bfloat16}) <= std::ldexp(1.0, exponent - 8) &&
         std::signbit(number) == std::signbit(bfloat16);
}

}  // namespace ladon_fuzz
