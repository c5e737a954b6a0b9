// SPDX-License-Identifier: Apache-2.0
// Float arithmetic with integers, for Cortex-M0+. This processor has no FPU and no instruction that counts leading
// zeros or returns the upper half of a product. A product of two floats in libgcc takes 129 instructions, and a sum
// takes 100 (arm-none-eabi-g++ 12). The functions of this file do not round after each operation, so their results are
// at least as accurate as the results of libgcc, but not bit-identical. Deterministic builds do not use this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd::soft {

// The exponent of a float as it is stored, 0 to 255. Precondition of the functions below: 0 < exponent < 255.
LADON_INLINE std::int32_t exponent_of(std::uint32_t bits) noexcept {
  return static_cast<std::int32_t>((bits << 1) >> 24);
}
LADON_INLINE bool is_normal(std::uint32_t bits) noexcept {
  const std::int32_t exponent = exponent_of(bits);
  return exponent != 0 && exponent != 255;
}
// Returns the 24 bits of the mantissa in the upper 24 bits.
LADON_INLINE std::uint32_t mantissa_of(std::uint32_t bits) noexcept { return (bits << 8) | 0x80000000u; }

// Returns the upper 32 bits of a * b. The result may be too small by at most 3.
LADON_INLINE std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t a1 = a >> 16, a0 = a & 0xffff, b1 = b >> 16, b0 = b & 0xffff;
  return a1 * b1 + ((a1 * b0) >> 16) + ((a0 * b1) >> 16);
}

// Shifts `x` to the left by a multiple of 4 bits, until one of its highest 4 bits is 1. Returns the number of bits. If
// `x` is 0, the number is 28.
LADON_INLINE std::int32_t normalise_nearly(std::uint32_t& x) noexcept {
  std::int32_t shift = 0;
  if (x >> 16 == 0) x <<= 16, shift = 16;
  if (x >> 24 == 0) x <<= 8, shift += 8;
  if (x >> 28 == 0) x <<= 4, shift += 4;
  return shift;
}

// Shifts `x` to the left until its highest bit is 1. Returns the number of bits. If `x` is 0, the number is 31.
LADON_INLINE std::int32_t normalise(std::uint32_t& x) noexcept {
  std::int32_t shift = x >> 28 == 0 ? normalise_nearly(x) : 0;
  if (x >> 30 == 0) x <<= 2, shift += 2;
  if (x >> 31 == 0) x <<= 1, shift += 1;
  return shift;
}

// Returns magnitude * 2^(exponent - 127 - 31) with a sign, rounded to nearest. A result beyond the range of normal
// floats becomes 0 or infinite. The highest bit of `sign` is the sign.
LADON_INLINE float to_float(std::uint32_t magnitude, std::uint32_t sign, std::int32_t exponent) noexcept {
  exponent -= normalise(magnitude);
  if (magnitude == 0 || exponent <= 0) return 0.0f;
  if (exponent >= 254) return ladon::bit_cast<float>((sign & 0x80000000u) | 0x7f800000u);
  // The carry of the rounding may raise the exponent.
  const std::uint32_t rounded = ((magnitude >> 7) + 1) >> 1;
  return ladon::bit_cast<float>((rounded + (static_cast<std::uint32_t>(exponent - 1) << 23)) | (sign & 0x80000000u));
}
LADON_INLINE std::uint32_t magnitude_of(std::int32_t integer) noexcept {
  return integer < 0 ? 0u - static_cast<std::uint32_t>(integer) : static_cast<std::uint32_t>(integer);
}
LADON_INLINE float to_float(std::int32_t integer, std::int32_t exponent) noexcept {
  return to_float(magnitude_of(integer), static_cast<std::uint32_t>(integer), exponent);
}

// A factor that multiplies several numbers.
struct Factor {
  std::uint32_t mantissa;
  std::int32_t exponent;
  bool usable;  // false for 0, subnormals, infinities and NaN
  float value;

  LADON_INLINE explicit Factor(float factor) noexcept : value(factor) {
    const auto bits = ladon::bit_cast<std::uint32_t>(factor);
    mantissa = mantissa_of(bits);
    exponent = exponent_of(bits);
    usable = (bits >> 31) == 0 && is_normal(bits);
  }
};

// A number that is added to several numbers.
struct Summand {
  std::int32_t mantissa;  // 24 bits and the sign, shifted to the left by 6
  std::int32_t exponent;
  bool usable;  // false for subnormals, infinities and NaN
  float value;

  LADON_INLINE explicit Summand(float summand) noexcept : value(summand) {
    const auto bits = ladon::bit_cast<std::uint32_t>(summand);
    const bool zero = bits << 1 == 0;
    const auto magnitude = static_cast<std::int32_t>(mantissa_of(bits) >> 2);
    mantissa = zero ? 0 : (bits >> 31) != 0 ? -magnitude : magnitude;
    exponent = exponent_of(bits);
    usable = zero || is_normal(bits);
  }
};

// Computes results[t] = sums[t] * factors[t] * row + summand for `count` factors. Precondition: `row` and `summand` are
// usable.
LADON_NOINLINE inline void multiply_add(const std::int32_t* sums, const float* factors, std::size_t count,
                                        const Factor& row, const Summand& summand, float* results) noexcept {
  for (std::size_t t = 0; t < count; ++t) {
    const auto bits = ladon::bit_cast<std::uint32_t>(factors[t]);
    if ((bits >> 31) != 0 || !is_normal(bits)) {
      const float scale = factors[t] * row.value;
      results[t] = static_cast<float>(sums[t]) * scale + summand.value;
      continue;
    }
    std::uint32_t magnitude = magnitude_of(sums[t]);
    std::int32_t exponent = exponent_of(bits) + row.exponent - 127 + 31 + 2 - normalise_nearly(magnitude);
    auto product = static_cast<std::int32_t>(multiply_high(magnitude, multiply_high(mantissa_of(bits), row.mantissa)) >> 2);
    if (sums[t] < 0) product = -product;
    // product * 2^(exponent - 127 - 29) = sums[t] * factors[t] * row
    std::int32_t other = summand.mantissa;
    const std::int32_t difference = exponent - summand.exponent;
    if (difference < 0 || product == 0) {
      product = difference > -31 && product != 0 ? product >> -difference : 0;
      exponent = summand.exponent;
    } else {
      other = difference < 31 ? other >> difference : 0;
    }
    results[t] = to_float(product + other, exponent + 2);
  }
}

// Returns integer * 2^(exponent - 127 - 31) * factor. Precondition: the factor is usable.
LADON_NOINLINE inline float multiply(std::int32_t integer, std::int32_t exponent, const Factor& factor) noexcept {
  std::uint32_t magnitude = magnitude_of(integer);
  const std::int32_t shift = normalise_nearly(magnitude);
  return to_float(multiply_high(magnitude, factor.mantissa), static_cast<std::uint32_t>(integer),
                  exponent + factor.exponent - 126 - shift);
}

}  // namespace ladon::inline LADON_ABI::detail::simd::soft
