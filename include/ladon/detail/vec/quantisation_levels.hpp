// SPDX-License-Identifier: Apache-2.0
// How the inputs of int8 products are quantised: the number of levels, and the least integer of a feature. Both are
// constants, except in WebAssembly: the relaxed dot product differs between engines, so the program that loads the
// module tests the engine and calls `set_activations` (src/c_kernel/module_int8.cpp.in).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

#if defined(__wasm__)
//     engine's dot product      levels   least   bits
//     unsigned (x86 with VNNI)  255      0       8
//     signed (Arm)              255      -128    8
//     saturating (other x86)    127      0       7
//
// A saturating dot product adds two products in 16 bits, which never saturates with 7 bits. The last row is exact on
// every engine, so modules with relaxed SIMD start with it.
struct RunTimeLevels {
  float levels, least;
};
#if defined(__wasm_relaxed_simd__)
inline RunTimeLevels run_time_levels{127, 0};
#else
inline RunTimeLevels run_time_levels{255, 0};
#endif
#endif

// 255 with 8 bits, and 127 with 7 bits.
template <int FeatureBits>
LADON_INLINE constexpr float feature_levels() noexcept {
#if defined(__wasm__)
  if constexpr (FeatureBits == 8) {
    if (!std::is_constant_evaluated()) return run_time_levels.levels;
  }
#endif
  return static_cast<float>((1 << FeatureBits) - 1);
}

// Whether features are q + zero instead of q (detail/panel/quantise.hpp).
template <class Element>
inline constexpr bool holds_zero_point = sizeof(Element) == 1;

// Returns the least q + zero: -128 for signed bytes, 0 for unsigned bytes.
template <class Element>
LADON_INLINE constexpr float least_feature() noexcept {
#if defined(__wasm_relaxed_simd__)
  if (holds_zero_point<Element> && !std::is_constant_evaluated()) return run_time_levels.least;
#endif
  return holds_zero_point<Element> ? float{std::numeric_limits<Element>::min()} : 0.0f;
}

// With relaxed SIMD, a feature is a signed byte if the engine's dot product reads it so.
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
