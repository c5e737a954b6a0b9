// SPDX-License-Identifier: Apache-2.0
// Arithmetic on single floats, for the lanes of ArrayPack.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Returns a * b + c with one rounding, for constant evaluation. The product is exact in double, and the sum is rounded
// to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
constexpr float fma_exact(float a, float b, float c) noexcept {
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  if (!(sum - sum == 0)) return static_cast<float>(sum);
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  auto bits = ladon::bit_cast<std::uint64_t>(sum);
  if (error != 0 && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : std::uint64_t(0) - 1;
  return static_cast<float>(ladon::bit_cast<double>(bits));
}

// Whether fma_scalar rounds only once. An emulated fma would call libm for every product.
#if LADON_DETERMINISTIC
inline constexpr bool fma_is_fused = false;
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || defined(__riscv_flen)
inline constexpr bool fma_is_fused = true;
#else
inline constexpr bool fma_is_fused = false;
#endif
// With relaxed SIMD, the engine chooses one or two roundings for all multiply-adds. fma_scalar then calls the vector
// instruction, to round like vectors.
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
inline constexpr bool fma_is_up_to_the_engine = true;
#else
inline constexpr bool fma_is_up_to_the_engine = false;
#endif

LADON_INLINE constexpr float fma_scalar(float a, float b, float c) noexcept {
  if constexpr (fma_is_fused) {
    if (std::is_constant_evaluated()) return fma_exact(a, b, c);
    return __builtin_fmaf(a, b, c);
  } else {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
    if (!std::is_constant_evaluated()) {
      return wasm_f32x4_extract_lane(
          wasm_f32x4_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
    }
#endif
    return a * b + c;
  }
}

// Returns the square root, correctly rounded. The iteration starts above the root, and ends when a step does not
// decrease the value.
constexpr float sqrt_newton(float x) noexcept {
  if (!(x > 0) || x == std::numeric_limits<float>::infinity()) {
    return x == 0 || x > 0 ? x : std::numeric_limits<float>::quiet_NaN();
  }
  double root = x > 1 ? x : 1;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return static_cast<float>(root);
}

LADON_INLINE constexpr float sqrt_scalar(float x) noexcept {
  if (std::is_constant_evaluated()) return sqrt_newton(x);
#if defined(__SSE2__) || defined(__aarch64__) || defined(__wasm__) || (defined(__ARM_FP) && (__ARM_FP & 4)) || \
    defined(__riscv_flen)
  return __builtin_sqrtf(x);  // one instruction, given -fno-math-errno
#else
  return sqrt_newton(x);
#endif
}

// The next functions are assembly, so that calls take constant time: g++ 12 would branch if an argument is a constant.

LADON_INLINE constexpr float select_scalar(bool condition, float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("cmp %1, #0\n\tit ne\n\tvmovne.f32 %0, %2" : "+t"(b) : "r"(static_cast<int>(condition)), "t"(a) : "cc");
    return b;
  }
#endif
  return condition ? a : b;
}
// If `a` or `b` is NaN, max_scalar and min_scalar return `b`.
LADON_INLINE constexpr float max_scalar(float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("vcmpe.f32 %1, %0\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %0, %1" : "+t"(b) : "t"(a) : "cc", "vfpcc");
    return b;
  }
#endif
  return a > b ? a : b;
}
LADON_INLINE constexpr float min_scalar(float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("vcmpe.f32 %0, %1\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %0, %1" : "+t"(b) : "t"(a) : "cc", "vfpcc");
    return b;
  }
#endif
  return a < b ? a : b;
}

}  // namespace LADON_NAMESPACE::detail::vec
