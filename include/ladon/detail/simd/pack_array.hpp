// A pack of lanes as a plain array: any number of lanes, any target, and constant evaluation. With one lane it is
// the scalar that a microcontroller computes with; the vectorised packs must behave as this one does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

#include <ladon/detail/simd/exp2_table.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// a * b + c with one rounding. Constant evaluation has no fma that every compiler accepts, so there it is worked out
// in double: the product is exact, and rounding the sum to odd keeps the second rounding from going wrong
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
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

// Where the target has no fma instruction, multiply and add are rounded one by one: emulating it would take a
// call into libm for every product. So they are where all targets shall agree. In WebAssembly's relaxed SIMD the engine
// decides, once for all: there a single float is computed as vectors are, and only the compiler cannot know.
#if LADON_DETERMINISTIC
inline constexpr bool fma_is_fused = false;
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__) || defined(__riscv_flen)
inline constexpr bool fma_is_fused = true;
#else
inline constexpr bool fma_is_fused = false;
#endif
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

// In constant evaluation Newton's iteration, from above; the loop ends where it stops falling.
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
  return __builtin_sqrtf(x);  // an instruction, given -fno-math-errno
#else
  return sqrt_newton(x);
#endif
}

// first ? a : b; a > b ? a : b; a < b ? a : b. Callers on a microcontroller rely on how long a call takes, which shall
// not depend on what numbers they pass; but g++ 12 branches where one of the two is a constant.
LADON_INLINE constexpr float choose(bool first, float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("cmp %1, #0\n\tit ne\n\tvmovne.f32 %0, %2" : "+t"(b) : "r"(static_cast<int>(first)), "t"(a) : "cc");
    return b;
  }
#endif
  return first ? a : b;
}
LADON_INLINE constexpr float greater(float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("vcmpe.f32 %1, %0\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %0, %1" : "+t"(b) : "t"(a) : "cc", "vfpcc");
    return b;
  }
#endif
  return a > b ? a : b;
}
LADON_INLINE constexpr float smaller(float a, float b) noexcept {
#if LADON_CORTEX_M_FPU && !defined(__clang__)
  if (!std::is_constant_evaluated()) {
    asm("vcmpe.f32 %0, %1\n\tvmrs APSR_nzcv, fpscr\n\tit gt\n\tvmovgt.f32 %0, %1" : "+t"(b) : "t"(a) : "cc", "vfpcc");
    return b;
  }
#endif
  return a < b ? a : b;
}

// GCC 12 unrolls the loops over tokens and takes what lies behind a run-time length for an access beyond the caller's
// array, where that is short and in sight.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
template <std::size_t N>
struct ArrayPack {
  static_assert(N > 0, "ladon: a pack has at least one lane");
  static constexpr std::size_t lanes = N;
  float lane[N];

  struct Mask {
    bool lane[N];
    friend LADON_INLINE constexpr Mask operator&(const Mask& a, const Mask& b) noexcept {
      return apply([&](std::size_t i) { return a.lane[i] && b.lane[i]; });
    }
    friend LADON_INLINE constexpr Mask operator!(const Mask& a) noexcept {
      return apply([&](std::size_t i) { return !a.lane[i]; });
    }
    template <class F>
    static LADON_INLINE constexpr Mask apply(F f) noexcept {
      Mask result;
      LADON_UNROLL
      for (std::size_t i = 0; i < N; ++i) result.lane[i] = f(i);
      return result;
    }
  };

  template <class F>
  static LADON_INLINE constexpr ArrayPack apply(F f) noexcept {
    ArrayPack result;
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) result.lane[i] = f(i);
    return result;
  }

  static LADON_INLINE constexpr ArrayPack broadcast(float x) noexcept {
    return apply([&](std::size_t) { return x; });
  }
  // 0, 1, 2, ...: which lane is which
  static LADON_INLINE constexpr ArrayPack lane_index() noexcept {
    return apply([](std::size_t i) { return static_cast<float>(i); });
  }
  // A mask whose lane i is bit i.
  static LADON_INLINE constexpr Mask lanes_of(std::uint32_t bits) noexcept {
    return Mask::apply([&](std::size_t i) { return (bits >> i & 1) != 0; });
  }
  // A mask that is the same in every lane.
  static LADON_INLINE constexpr Mask every_lane(bool value) noexcept {
    return Mask::apply([&](std::size_t) { return value; });
  }
  static LADON_INLINE constexpr ArrayPack load(const float* from) noexcept {
    return apply([&](std::size_t i) { return from[i]; });
  }
  // The first n lanes; the others are 0, and their memory is not touched.
  static LADON_INLINE constexpr ArrayPack load_partial(const float* from, std::size_t n) noexcept {
    return apply([&](std::size_t i) { return i < n ? from[i] : 0.0f; });
  }
  LADON_INLINE constexpr void store(float* to) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) to[i] = lane[i];
  }
  LADON_INLINE constexpr void store_partial(float* to, std::size_t n) const noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < N; ++i) {
      if (i < n) to[i] = lane[i];
    }
  }

  friend LADON_INLINE constexpr ArrayPack operator+(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator-(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator*(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack operator/(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] / b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack fma(const ArrayPack& a, const ArrayPack& b, const ArrayPack& c) noexcept {
    return apply([&](std::size_t i) { return fma_scalar(a.lane[i], b.lane[i], c.lane[i]); });
  }
  // 0 where `zero` is, a * b + c elsewhere.
  friend LADON_INLINE constexpr ArrayPack fma_or_zero(const Mask& zero, const ArrayPack& a, const ArrayPack& b,
                                                      const ArrayPack& c) noexcept {
    return select(zero, broadcast(0), fma(a, b, c));
  }
  friend LADON_INLINE constexpr ArrayPack sqrt(const ArrayPack& a) noexcept {
    return apply([&](std::size_t i) { return sqrt_scalar(a.lane[i]); });
  }
  // a > b ? a : b, so a NaN in b stays: the order of the arguments matters.
  friend LADON_INLINE constexpr ArrayPack max(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return greater(a.lane[i], b.lane[i]); });
  }
  // a < b ? a : b, so a NaN in b stays.
  friend LADON_INLINE constexpr ArrayPack min(const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return smaller(a.lane[i], b.lane[i]); });
  }
  friend LADON_INLINE constexpr Mask operator<(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] < b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator<=(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] <= b.lane[i]; });
  }
  friend LADON_INLINE constexpr Mask operator==(const ArrayPack& a, const ArrayPack& b) noexcept {
    return Mask::apply([&](std::size_t i) { return a.lane[i] == b.lane[i]; });
  }
  friend LADON_INLINE constexpr ArrayPack select(const Mask& where, const ArrayPack& a, const ArrayPack& b) noexcept {
    return apply([&](std::size_t i) { return choose(where.lane[i], a.lane[i], b.lane[i]); });
  }
  // The magnitude of a with the sign of b.
  friend LADON_INLINE constexpr ArrayPack copy_sign(const ArrayPack& a, const ArrayPack& b) noexcept {
    constexpr std::uint32_t sign = 0x80000000u;
    return apply([&](std::size_t i) {
      return ladon::bit_cast<float>((ladon::bit_cast<std::uint32_t>(a.lane[i]) & ~sign) |
                                    (ladon::bit_cast<std::uint32_t>(b.lane[i]) & sign));
    });
  }
  // The bits of a, 23 to the left: the low byte of the significand becomes the exponent of a power of two.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_exponent(const ArrayPack& a) noexcept {
    return apply(
        [&](std::size_t i) { return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(a.lane[i]) << 23); });
  }
  // 2^(k/8), normal, where the low 12 bits of a are those of the whole number k.
  friend LADON_INLINE constexpr ArrayPack low_bits_to_power(const ArrayPack& a) noexcept
    requires(has_lookup)
  {
    return apply([&](std::size_t i) {
      const auto bits = ladon::bit_cast<std::uint32_t>(a.lane[i]);
      return ladon::bit_cast<float>(exp2_eighths[bits % 8] + (bits << 20));
    });
  }

  // Lane j of row i becomes lane i of row j.
  static LADON_INLINE constexpr void transpose(ArrayPack (&row)[N]) noexcept {
    for (std::size_t i = 1; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const float below = row[i].lane[j];
        row[i].lane[j] = row[j].lane[i];
        row[j].lane[i] = below;
      }
    }
  }

  // Lane r of the result is the sum of row r's lanes.
  static LADON_INLINE constexpr ArrayPack add_rows(const ArrayPack (&row)[N]) noexcept {
    return apply([&](std::size_t i) { return reduce_add(row[i]); });
  }

  friend constexpr float reduce_max(const ArrayPack& a) noexcept {
    float largest = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) largest = largest > a.lane[i] ? largest : a.lane[i];
    return largest;
  }
  friend constexpr float reduce_add(const ArrayPack& a) noexcept {
    float sum = a.lane[0];
    for (std::size_t i = 1; i < N; ++i) sum += a.lane[i];
    return sum;
  }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace ladon::inline LADON_ABI::detail::simd
