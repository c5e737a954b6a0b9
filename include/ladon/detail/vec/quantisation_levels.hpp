// SPDX-License-Identifier: Apache-2.0
// Returns two numbers that determine how the inputs of int8 products are quantised: the number of levels, and the
// smallest integer of a quantised feature.
//
// Both numbers are constants, except in WebAssembly. A module can run on every engine, but the relaxed dot product of
// WebAssembly differs between engines. A module with 8-bit features therefore reads both numbers at run time. The
// program that loads the module tests the engine, and then calls `set_activations` (src/c_kernel/module_int8.cpp.in).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

#if defined(__wasm__)
// The two numbers for a module whose kernel has 8-bit features: the number of levels, and `least`, the smallest
// integer. The numbers depend on the dot product of the engine:
//     engine's dot product      levels   least   bits
//     unsigned (x86 with VNNI)  255      0       8
//     signed (Arm)              255      -128    8
//     saturating (other x86)    127      0       7
// The saturating dot product adds two products in 16 bits. With features of 7 bits, this sum never saturates.
//
// With the numbers of the last row (saturating), products are exact on every engine. They are therefore the initial
// values in modules with relaxed SIMD. Modules without relaxed SIMD do not use the relaxed dot product, and start with
// 255 levels.
struct RunTimeLevels {
  float levels, least;
};
#if defined(__wasm_relaxed_simd__)
inline RunTimeLevels run_time_levels{127, 0};
#else
inline RunTimeLevels run_time_levels{255, 0};
#endif
#endif

// Returns the difference between the largest and the smallest integer of a quantised feature: 255 with 8 bits, and 127
// with 7 bits.
template <int FeatureBits>
LADON_INLINE constexpr float feature_levels() noexcept {
#if defined(__wasm__)
  if constexpr (FeatureBits == 8) {
    if (!std::is_constant_evaluated()) return run_time_levels.levels;
  }
#endif
  return static_cast<float>((1 << FeatureBits) - 1);
}

// Whether quantised features are q + zero (detail/panel/quantise.hpp). Otherwise, quantised features are q.
template <class Element>
inline constexpr bool holds_zero_point = sizeof(Element) == 1;

// Returns the smallest possible feature q + zero: -128 if features are signed bytes, 0 if they are unsigned bytes. The
// zero point of a signed feature is therefore 128 less than the zero point of an unsigned feature.
template <class Element>
LADON_INLINE constexpr float least_feature() noexcept {
#if defined(__wasm_relaxed_simd__)
  if (holds_zero_point<Element> && !std::is_constant_evaluated()) return run_time_levels.least;
#endif
  return holds_zero_point<Element> ? float{std::numeric_limits<Element>::min()} : 0.0f;
}

// Returns the value of a feature as an integer. With relaxed SIMD, the feature is read as a signed byte if the engine's
// dot product does so.
template <class Element>
LADON_INLINE constexpr std::int32_t feature_value(Element x) noexcept {
#if defined(__wasm_relaxed_simd__)
  if constexpr (holds_zero_point<Element>) {
    if (!std::is_constant_evaluated() && run_time_levels.least < 0) return static_cast<std::int8_t>(x);
  }
#endif
  return x;
}

}  // namespace LADON_NAMESPACE::detail::vec
