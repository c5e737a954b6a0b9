// SPDX-License-Identifier: Apache-2.0
// ArrayPack: a pack of floats in a plain array, for any target and for constant evaluation. The comments here document
// all types of packs. Operations work lane by lane, except transpose, add_rows, reduce_max and reduce_add.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#elif !defined(__GNUC__) && !defined(__clang__)
#include <cmath>
#endif

#include <ladon/detail/config/compiler.hpp>

// Declares the names of the packs' friends, which a global variable of the program, such as `maximum`, would otherwise
// hide.
namespace LADON_NAMESPACE::detail {
void blend(), copy_sign(), entry_at_low_bits(), fma(), fma_or_zero(), in_order(), low_bits_to_exponent(),
    low_bits_to_power(), maximum(), minimum(), reduce_add(), reduce_max(), sqrt();
}  // namespace LADON_NAMESPACE::detail

namespace LADON_NAMESPACE::detail::vec {

// Hides from the optimiser how `x` was computed. Does nothing on RISC-V, where hiding takes 2.5% more instructions in
// attention of 16 tokens.
template <class T>
LADON_INLINE constexpr T hidden(T x) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  if (!__builtin_is_constant_evaluated()) {
#if defined(__AVX512F__)
    asm("" : "+v"(x));
#elif defined(__SSE2__) && !defined(__wasm__)
    asm("" : "+x"(x));
#elif defined(__aarch64__)
    asm("" : "+w"(x));
#elif defined(__ARM_FP) && (__ARM_FP & 4)
    if constexpr (sizeof(T) == 4) asm("" : "+t"(x));
    if constexpr (sizeof(T) == 16) asm("" : "+w"(x));
#elif defined(__arm__)
    if constexpr (sizeof(T) == 4) asm("" : "+r"(x));
#endif
  }
#endif
  return x;
}

// Returns `product`. In deterministic builds, -ffp-contract=fast cannot fuse the product with a sum.
template <class T>
LADON_INLINE constexpr T unfused(T product) noexcept {
  if constexpr (LADON_DETERMINISTIC) return hidden(product);
  return product;
}

// Returns `x`, a sum or product that g++ cannot reorder, not even after a #pragma GCC optimize that allows it. Such a
// pragma also acts on templates of earlier headers, and no macro shows it, so `x` is hidden in each build. For clang++,
// LADON_AS_WRITTEN keeps the order.
template <class T>
LADON_INLINE constexpr T in_order(T x) noexcept {
#if !defined(__clang__)
  return hidden(x);
#endif
  return x;
}

// Returns a * b + summand with one rounding, for constant evaluation. The product is exact in double. The sum is
// rounded to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
constexpr float fma_exact(float a, float b, float summand) noexcept {
  const double product = static_cast<double>(a) * static_cast<double>(b), c = static_cast<double>(summand);
  const double sum = product + c;
  if (!(sum <= (std::numeric_limits<double>::max)() && sum >= std::numeric_limits<double>::lowest())) {
    return static_cast<float>(sum);
  }
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  auto bits = ladon::bit_cast<std::uint64_t>(sum);
  if (error != 0 && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1 : std::uint64_t(0) - 1;
  return static_cast<float>(ladon::bit_cast<double>(bits));
}

// In constant expressions, an overflow of floats is an error, so sums and products are computed in double. Rounding to
// float gives the same bits.
constexpr double widened(float x) noexcept { return static_cast<double>(x); }
LADON_INLINE constexpr float add_scalar(float a, float b) noexcept {
  LADON_AS_WRITTEN
  return std::is_constant_evaluated() ? static_cast<float>(widened(a) + widened(b)) : a + b;
}
LADON_INLINE constexpr float subtract_scalar(float a, float b) noexcept {
  LADON_AS_WRITTEN
  return std::is_constant_evaluated() ? static_cast<float>(widened(a) - widened(b)) : a - b;
}
LADON_INLINE constexpr float multiply_scalar(float a, float b) noexcept {
  LADON_AS_WRITTEN
  return std::is_constant_evaluated() ? static_cast<float>(widened(a) * widened(b)) : unfused(a * b);
}
LADON_INLINE constexpr float divide_scalar(float a, float b) noexcept {
  LADON_AS_WRITTEN
  return std::is_constant_evaluated() ? static_cast<float>(widened(a) / widened(b)) : a / b;
}

// Whether fma_scalar rounds only once. Without an FMA instruction, each fma would be a call of libm.
#if !LADON_DETERMINISTIC && (LADON_FMA || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || \
                             defined(__riscv_flen) || defined(_ARCH_PPC64) || defined(__s390x__))
inline constexpr bool fma_is_fused = true;
#else
inline constexpr bool fma_is_fused = false;
#endif

// With relaxed SIMD (WebAssembly), uses the vector instruction. The engine rounds once or twice.
LADON_INLINE constexpr float fma_scalar(float a, float b, float c) noexcept {
  LADON_AS_WRITTEN
  if constexpr (fma_is_fused) {
    if (std::is_constant_evaluated()) return fma_exact(a, b, c);
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_fmaf(a, b, c);
#else
    return std::fma(a, b, c);
#endif
  } else {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
    if (!std::is_constant_evaluated()) {
      return wasm_f32x4_extract_lane(
          wasm_f32x4_relaxed_madd(wasm_f32x4_splat(a), wasm_f32x4_splat(b), wasm_f32x4_splat(c)), 0);
    }
#endif
    return add_scalar(multiply_scalar(a, b), c);
  }
}

// Newton's iteration, correctly rounded. Starts above the root, and ends when a step does not decrease the value.
constexpr float sqrt_newton(float x) noexcept {
  if (!(x > 0) || x == std::numeric_limits<float>::infinity()) {
    return x == 0 || x > 0 ? x : std::numeric_limits<float>::quiet_NaN();
  }
  const double square = static_cast<double>(x);
  double root = x > 1 ? square : 1;
  for (double next = (root + square / root) / 2; next < root; next = (root + square / root) / 2) root = next;
  return static_cast<float>(root);
}

LADON_INLINE constexpr float sqrt_scalar(float x) noexcept {
  if (std::is_constant_evaluated()) return sqrt_newton(x);
#if defined(__SSE2__) || defined(__aarch64__) || defined(__wasm__) || (defined(__ARM_FP) && (__ARM_FP & 4)) || \
    defined(__riscv_flen) || defined(_ARCH_PPCSQ) || defined(__s390x__)
  return __builtin_sqrtf(x);  // one instruction with -fno-math-errno
#elif LADON_SSE2
  return std::sqrt(x);
#else
  return sqrt_newton(x);
#endif
}

// On a Cortex-M with FPU, select_scalar and if_greater are assembly, which takes constant time. From C++, g++ 12 would
// make a branch if an argument is a constant.

LADON_INLINE constexpr float select_scalar(bool condition, float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("cmp %1, #0\n\tit ne\n\tvmovne.f32 %0, %2" : "+t"(b) : "r"(static_cast<int>(condition)), "t"(a) : "cc");
    return b;
  }
#endif
  return condition ? a : b;
}
LADON_INLINE constexpr float if_greater(float x, float y, float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("vcmpe.f32 %1, %2\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %0, %3"
        : "+t"(b)
        : "t"(x), "t"(y), "t"(a)
        : "cc", "vfpcc");
    return b;
  }
#endif
  return x > y ? a : b;
}
// If `a` or `b` is NaN, max_scalar and min_scalar return `b`.
LADON_INLINE constexpr float max_scalar(float a, float b) noexcept { return if_greater(a, b, a, b); }
LADON_INLINE constexpr float min_scalar(float a, float b) noexcept { return if_greater(b, a, a, b); }

// Whether powers of two are looked up in exp2_eighths, which fits into an AVX-512 register. Narrower packs use the
// table, too, so that all packs give the same bits. AVX2 is not faster with a table.
#if defined(__AVX512F__) && LADON_FMA && !LADON_DETERMINISTIC
inline constexpr bool uses_exp2_table = true;
#else
inline constexpr bool uses_exp2_table = false;
#endif

// Entries j and j + 8 are the bits of 2^(j/8), minus j * 2^20. If k = 8 n + j, entry j plus k * 2^20 has the bits of
// 2^(k/8).
alignas(64) inline constexpr std::uint32_t exp2_eighths[16] = {
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7,
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};

// GCC 12 unrolls loops over tokens past the end of the caller's array, and warns about iterations that never run.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <std::size_t N>
struct ArrayPack {
  static_assert(N > 0, "ladon: a pack has at least one lane");
  static constexpr std::size_t lanes = N;
  using Arg = const ArrayPack&;
  float lane[N];

  struct Mask {
    bool lane[N];
    friend LADON_INLINE constexpr Mask operator&(const Mask& a, const Mask& b) noexcept {
      return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] && b.lane[i]; });
    }
    friend LADON_INLINE constexpr Mask operator!(const Mask& a) noexcept {
      return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return !a.lane[i]; });
    }
    template <class F>
    static LADON_INLINE constexpr Mask apply(F f) noexcept {
      Mask result;
      LADON_UNROLLED_FOR(i, N) result.lane[i] = f(i);
      return result;
    }
  };

  // Only ArrayPack has this function.
  template <class F>
  static LADON_INLINE constexpr ArrayPack apply(F f) noexcept {
    ArrayPack result;
    LADON_UNROLLED_FOR(i, N) result.lane[i] = f(i);
    return result;
  }
  template <auto Function, class... Packs>
  static LADON_INLINE constexpr ArrayPack each(const Packs&... x) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return Function(x.lane[i]...); });
  }

  // HeliumPack::broadcast returns a HeliumBroadcast.
  static LADON_INLINE constexpr ArrayPack broadcast(float x) noexcept {
    return apply([&](std::size_t) LADON_INLINE_LAMBDA { return x; });
  }
  static LADON_INLINE constexpr ArrayPack lane_index() noexcept {
    return apply([](std::size_t i) LADON_INLINE_LAMBDA { return static_cast<float>(i); });
  }
  // Returns the mask whose lane i is bit i of `bits`.
  static LADON_INLINE constexpr Mask lanes_of(std::uint32_t bits) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return (bits >> i & 1) != 0; });
  }
  static LADON_INLINE constexpr Mask every_lane(bool value) noexcept {
    return Mask::apply([&](std::size_t) LADON_INLINE_LAMBDA { return value; });
  }
  // Loads and stores need only the alignment of a float.
  static LADON_INLINE constexpr ArrayPack load(const float* from) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return from[i]; });
  }
  // Lanes from n on become 0. Memory after from[n - 1] is not read. Precondition: n <= lanes.
  static LADON_INLINE constexpr ArrayPack load_partial(const float* from, std::size_t n) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return i < n ? from[i] : 0.0f; });
  }
  LADON_INLINE constexpr void store(float* to) const noexcept {
    LADON_UNROLLED_FOR(i, N) to[i] = lane[i];
  }
  // Memory after to[n - 1] is neither read nor written. Precondition: n <= lanes.
  LADON_INLINE constexpr void store_partial(float* to, std::size_t n) const noexcept {
    LADON_UNROLLED_FOR(i, N) {
      if (i < n) to[i] = lane[i];
    }
  }

  // Results are correctly rounded, but Helium and 32-bit NEON flush subnormals.
  friend LADON_INLINE constexpr ArrayPack operator+(Arg a, Arg b) noexcept { return each<add_scalar>(a, b); }
  friend LADON_INLINE constexpr ArrayPack in_order(Arg sum) noexcept { return each<vec::in_order<float>>(sum); }
  friend LADON_INLINE constexpr ArrayPack operator-(Arg a, Arg b) noexcept { return each<subtract_scalar>(a, b); }
  friend LADON_INLINE constexpr ArrayPack operator*(Arg a, Arg b) noexcept { return each<multiply_scalar>(a, b); }
  friend LADON_INLINE constexpr ArrayPack operator/(Arg a, Arg b) noexcept { return each<divide_scalar>(a, b); }
  // Rounds once if fma_is_fused, otherwise twice. Relaxed SIMD may round either way.
  friend LADON_INLINE constexpr ArrayPack fma(Arg a, Arg b, Arg c) noexcept { return each<fma_scalar>(a, b, c); }
  // Returns 0 where `zero` is true. HeliumPack lacks this function.
  friend LADON_INLINE constexpr ArrayPack fma_or_zero(const Mask& zero, Arg a, Arg b, Arg c) noexcept {
    return blend(zero, broadcast(0), fma(a, b, c));
  }
  friend LADON_INLINE constexpr ArrayPack sqrt(Arg a) noexcept { return each<sqrt_scalar>(a); }
  // maximum and minimum return NaN if `b` is NaN. If only `a` is NaN, they return `b`, or NaN on NEON.
  friend LADON_INLINE constexpr ArrayPack maximum(Arg a, Arg b) noexcept { return each<max_scalar>(a, b); }
  friend LADON_INLINE constexpr ArrayPack minimum(Arg a, Arg b) noexcept { return each<min_scalar>(a, b); }
  // Comparisons are false if an operand is NaN.
  friend LADON_INLINE constexpr Mask operator<(Arg a, Arg b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] < b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator<=(Arg a, Arg b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] <= b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator==(Arg a, Arg b) noexcept {
    return Mask::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return a.lane[i] == b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack blend(const Mask& where, Arg a, Arg b) noexcept {
    return each<select_scalar>(where, a, b);
  }
  friend LADON_INLINE constexpr ArrayPack copy_sign(Arg a, Arg b) noexcept {
    constexpr std::uint32_t sign = 0x80000000u;
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>((ladon::bit_cast<std::uint32_t>(a.lane[i]) & ~sign) |
                                    (ladon::bit_cast<std::uint32_t>(b.lane[i]) & sign));
    });
  }
  // Shifts each lane to the left by 23 bits. A low byte of n + 127 gives exactly 2^n.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_exponent(Arg a) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(a.lane[i]) << 23);
    });
  }
  // Returns 2^(k/8), correctly rounded, for the integer k in the low 12 bits. Precondition: the result is normal.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_power(Arg a) noexcept
    requires(uses_exp2_table)
  {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      const auto bits = ladon::bit_cast<std::uint32_t>(a.lane[i]);
      return ladon::bit_cast<float>(exp2_eighths[bits % 8] + (bits << 20));
    });
  }
  // Returns table[i] for the index i in the low four bits. `table` is aligned to 64 bytes.
  friend LADON_INLINE constexpr ArrayPack entry_at_low_bits(const float (&table)[16], Arg a) noexcept
    requires(uses_exp2_table)
  {
    return apply([&](std::size_t i)
                     LADON_INLINE_LAMBDA { return table[ladon::bit_cast<std::uint32_t>(a.lane[i]) % 16]; });
  }

  static LADON_INLINE constexpr void transpose(ArrayPack (&row)[N]) noexcept {
    for (std::size_t i = 1; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const float below = row[i].lane[j];
        row[i].lane[j] = row[j].lane[i];
        row[j].lane[i] = below;
      }
    }
  }

  // Lane i becomes the sum of row i. Other packs overwrite `row`, and add lanes in another order, so last bits differ.
  static LADON_INLINE constexpr ArrayPack add_rows(const ArrayPack (&row)[N]) noexcept {
    return apply([&](std::size_t i) LADON_INLINE_LAMBDA { return reduce_add(row[i]); });
  }

  // Returns the largest lane; unspecified if a lane is NaN.
  friend constexpr float reduce_max(Arg a) noexcept {
    float largest = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) largest = largest > a.lane[i] ? largest : a.lane[i];
    return largest;
  }
  friend constexpr float reduce_add(Arg a) noexcept {
    float sum = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) sum = add_scalar(sum, a.lane[i]);
    return sum;
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace LADON_NAMESPACE::detail::vec
