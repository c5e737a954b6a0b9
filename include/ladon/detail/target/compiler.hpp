// What differs between compilers: attributes, unrolling, and a few builtins.
#pragma once

#include <ladon/detail/target/abi.hpp>
#include <ladon/detail/target/current.hpp>

#if defined(__GNUC__) || defined(__clang__)
#define LADON_INLINE inline __attribute__((always_inline))
#define LADON_NOINLINE __attribute__((noinline))
#define LADON_RESTRICT __restrict
#else
#define LADON_INLINE inline
#define LADON_NOINLINE
#define LADON_RESTRICT
#endif

// Loops over the accumulators of a tile must be unrolled completely, because an array that is indexed by a variable
// lives in memory. There are two exceptions. A sanitizer checks each access: g++ took ten minutes to compile 16 plain
// lanes unrolled. And code for size (LADON_SMALL, cortex_m.hpp) keeps its loops.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LADON_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LADON_SANITIZED
#endif
#if defined(LADON_SANITIZED) || defined(LADON_SMALL)
#define LADON_UNROLL
#elif defined(__clang__)
#define LADON_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LADON_UNROLL _Pragma("GCC unroll 64")
#else
#define LADON_UNROLL
#endif

// A Cortex-M with an FPU for single precision.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FP) && (__ARM_FP & 4)
#define LADON_CORTEX_M_FPU 1
#else
#define LADON_CORTEX_M_FPU 0
#endif

// -ffast-math assumes that there is no infinity and no NaN, and it reorders sums. A masked score is -inf.
#if defined(__FAST_MATH__)
#error "ladon: compile without -ffast-math; a masked score is -inf, and -ffast-math assumes that there is none"
#endif

namespace ladon::inline LADON_ABI {

// std::bit_cast, which the libc++ of Emscripten 3.1.6 lacks. All compilers implement std::bit_cast by this builtin.
template <class To, class From>
LADON_INLINE constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace detail {

// Returns `pointer` and hides its origin from the optimiser. The compiler then reads through the pointer at this place,
// not ahead of a loop that needs the registers (g++ on AVX2 kept the biases of six rows in registers during the product
// of a 6 x 2 tile and an accumulator in memory instead: 74% of peak, with this function 92%).
template <class T>
LADON_INLINE constexpr T* opaque(T* pointer) noexcept {
#if defined(__GNUC__)
  if (!__builtin_is_constant_evaluated()) asm volatile("" : "+r"(pointer));
#endif
  return pointer;
}

// Prefetches into the second cache, or into the nearest. Any address is allowed, valid or not. Does nothing on targets
// that prefetch no rows.
LADON_INLINE void prefetch_to_second_cache([[maybe_unused]] const float* address) noexcept {
#if defined(__GNUC__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 2);
#endif
}
LADON_INLINE void prefetch_to_nearest_cache([[maybe_unused]] const float* address) noexcept {
#if defined(__GNUC__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 3);
#endif
}

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
