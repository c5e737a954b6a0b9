// SPDX-License-Identifier: Apache-2.0
// How the inputs of int8 products are quantised: to how many levels, and where the integers begin.
//
// Both are constants, except in WebAssembly. The relaxed dot product of WebAssembly differs between engines, and a
// module runs on every engine. So a module with activations of 8 bits reads both numbers at run time. The program that
// loads the module tests the engine, and then calls `set_activations` (src/c_kernel/module_int8.cpp.in).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

#if defined(__wasm__)
// How a module quantises activations if its kernel has activations of 8 bits.
//
//     engine's dot product      levels   least   bits
//     unsigned (x86 with VNNI)  255      0       8
//     signed (Arm)              255      -128    8
//     saturating (other x86)    127      0       7      no sum of two products exceeds 16 bits
//
// All engines compute the last row exactly, so it is the initial value with relaxed SIMD. Other modules compute
// products of 8 bits exactly.
struct RunTimeActivations {
  float levels, least;
};
#if defined(__wasm_relaxed_simd__)
inline RunTimeActivations run_time_activations{127, 0};
#else
inline RunTimeActivations run_time_activations{255, 0};
#endif
#endif

// Returns how many levels an activation has besides 0.
template <int ActivationBits>
LADON_INLINE constexpr float activation_levels() noexcept {
#if defined(__wasm__)
  if constexpr (ActivationBits == 8) {
    if (!std::is_constant_evaluated()) return run_time_activations.levels;
  }
#endif
  return static_cast<float>((1 << ActivationBits) - 1);
}

// Whether quantised features are q + zero.
template <class Element>
inline constexpr bool adds_zero = sizeof(Element) == 1;

// Returns the least feature q + zero. The zeros of panels of signed features are smaller by 128 than zeros of unsigned
// features.
template <class Element>
LADON_INLINE constexpr float least_feature() noexcept {
#if defined(__wasm_relaxed_simd__)
  if (adds_zero<Element> && !std::is_constant_evaluated()) return run_time_activations.least;
#endif
  return adds_zero<Element> ? float{std::numeric_limits<Element>::min()} : 0.0f;
}

// Returns the number that a feature stands for. With relaxed SIMD, a byte stands for a signed number if the engine's
// dot product is signed.
template <class Element>
LADON_INLINE constexpr std::int32_t feature_value(Element x) noexcept {
#if defined(__wasm_relaxed_simd__)
  if constexpr (adds_zero<Element>) {
    if (!std::is_constant_evaluated() && run_time_activations.least < 0) return static_cast<std::int8_t>(x);
  }
#endif
  return x;
}

}  // namespace ladon::inline LADON_ABI::detail::simd
