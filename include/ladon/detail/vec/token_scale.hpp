// SPDX-License-Identifier: Apache-2.0
// The scale of a token in an int8 product (detail/panel/int8_panels.hpp has the formulas). A panel stores the quantised
// feature q of a token, or q + zero, where `zero` is the token's zero point.
//
// In WebAssembly, the number of `levels` and the `least` value of q + zero depend on the engine's relaxed dot product.
// The program that loads the module tests the engine, and then calls `set_activations`
// (src/c_kernel/module_int8.cpp.in).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace LADON_NAMESPACE::detail::vec {

#if defined(__wasm__)
//     engine's dot product      levels   least   bits
//     unsigned (x86 with VNNI)  255      0       8
//     signed (Arm)              255      -128    8
//     saturating (other x86)    127      0       7
//
// A saturating dot product adds two products in 16 bits, where products of 7 bits never saturate. The last row is exact
// on every engine, so modules with relaxed SIMD start with it.
struct RunTimeLevels {
  float levels, least;
};
#if defined(__wasm_relaxed_simd__)
inline RunTimeLevels run_time_levels{127, 0};
#else
inline RunTimeLevels run_time_levels{255, 0};
#endif
#endif

template <int FeatureBits>
LADON_INLINE constexpr float feature_levels() noexcept {
#if defined(__wasm__)
  if constexpr (FeatureBits == 8) {
    if (!std::is_constant_evaluated()) return run_time_levels.levels;
  }
#endif
  return static_cast<float>((1 << FeatureBits) - 1);
}

// Whether a panel stores q + zero instead of q.
template <class Element>
inline constexpr bool holds_zero_point = sizeof(Element) == 1;

// Returns the least value of q + zero.
template <class Element>
LADON_INLINE constexpr float least_feature() noexcept {
#if defined(__wasm_relaxed_simd__)
  if (holds_zero_point<Element> && !std::is_constant_evaluated()) return run_time_levels.least;
#endif
  return holds_zero_point<Element> ? float{(std::numeric_limits<Element>::min)()} : 0.0f;
}

// With relaxed SIMD, a feature is a signed byte if the engine's dot product reads signed bytes.
template <class Element>
LADON_INLINE constexpr std::int32_t feature_value(Element x) noexcept {
#if defined(__wasm_relaxed_simd__)
  if constexpr (holds_zero_point<Element>) {
    if (!std::is_constant_evaluated() && run_time_levels.least < 0) return static_cast<std::int8_t>(x);
  }
#endif
  return x;
}

// Each lane has one token, whose q lie in `least` .. `most`. `reciprocal` is 1 / scale, or 0 if the scale is 0 or NaN.
template <class Pack>
struct TokenScale {
  Pack scale, reciprocal, least, most;
};

// Features lie in `low` .. `high`. Precondition: `low` <= 0 <= `high`.
template <int FeatureBits, class Pack>
LADON_INLINE constexpr TokenScale<Pack> scale_of_range(const Pack& low, const Pack& high,
                                                       const typename Pack::Mask& finite) noexcept {
  const Pack levels = Pack::broadcast(feature_levels<FeatureBits>());
  const Pack zeros = Pack::broadcast(0.0f);
  // high - low may overflow.
  const Pack scale = high / levels - low / levels;
  const auto usable = finite & (Pack::broadcast((std::numeric_limits<float>::min)()) <= scale);
  const Pack reciprocal = blend(usable, Pack::broadcast(1.0f) / blend(usable, scale, Pack::broadcast(1.0f)), zeros);
  const Pack rounding = Pack::broadcast(round_to_low_bits);
  Pack scaled = blend(usable, zeros - low, zeros) * reciprocal;
  // quantise_pack computes the same product for the feature `low`, and rounds it before the next sum. An fma here would
  // add the unrounded product: q + zero could be -1, and wrap around to 255. `minimum` prevents an fma of g++, even
  // without -ffp-contract=off.
  if constexpr (Pack::lanes > 1) scaled = minimum(scaled, levels);
  const Pack zero = in_order(scaled + rounding) - rounding;
  const Pack nan = Pack::broadcast(std::numeric_limits<float>::quiet_NaN());
  return {blend(finite, blend(usable, scale, zeros), nan), reciprocal, zeros - zero, levels - zero};
}

// Compares floats as integers: a Cortex-M4 has no maximum of floats. An infinity or a NaN ends up in `high` or `low`.
template <std::size_t Features, int FeatureBits>
LADON_INLINE TokenScale<ArrayPack<1>> scale_of_token(const float* features, std::size_t stride) noexcept {
  std::int32_t high = 0;
  std::uint32_t low = 0x80000000u;  // -0
#if defined(__GNUC__)
#pragma GCC unroll 4
#endif
  for (std::size_t i = 0; i < Features; ++i) {
    const auto bits = ladon::bit_cast<std::uint32_t>(features[i * stride]);
    if (static_cast<std::int32_t>(bits) > high) high = static_cast<std::int32_t>(bits);
    if (bits > low) low = bits;
  }
  const bool finite = high < 0x7f800000 && low < 0xff800000u;
  return scale_of_range<FeatureBits>(ArrayPack<1>{ladon::bit_cast<float>(low)},
                                     ArrayPack<1>{ladon::bit_cast<float>(high)}, ArrayPack<1>::Mask{finite});
}

// q needs no lower limit, because scale_of_range rounds the lowest feature in the same way.
LADON_INLINE std::int16_t quantised_feature(float x, float reciprocal, std::int32_t most) noexcept {
  const auto bits = ladon::bit_cast<std::uint32_t>(x * reciprocal + round_to_low_bits);
  const std::int32_t q = static_cast<std::int16_t>(bits & 0xffffu);
  return static_cast<std::int16_t>(q < most ? q : most);
}

// Adds modulo 2^32: integers of a token with a NaN feature are arbitrary.
LADON_INLINE std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

}  // namespace LADON_NAMESPACE::detail::vec
