// What differs between compilers.
#pragma once

#include <ladon/detail/target/abi.hpp>

#if defined(__GNUC__) || defined(__clang__)
#define LADON_INLINE inline __attribute__((always_inline))
#define LADON_NOINLINE __attribute__((noinline))
#define LADON_RESTRICT __restrict
#else
#define LADON_INLINE inline
#define LADON_NOINLINE
#define LADON_RESTRICT
#endif

// -Os on a microcontroller: where a tile's loop is one of the few in assembly (tile_vfp.hpp), or every sum a call.
// Elsewhere rolled loops would be 20 times as slow for half the code.
#if defined(__OPTIMIZE_SIZE__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    !defined(__ARM_FEATURE_MVE) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
#endif

// The kernels with a tile inside. With 16 vector registers each is a function by itself, so that no number of its
// caller lives in a register that the tile needs (g++ on AVX2 at (1024,512,8): 90% of peak, inlined 75%). With 32 there
// is room, and calls are dear at small shapes (AVX-512 at (16,32,4): inlined 64%, as functions 58%; large products are
// functions all the same, kernel/project.hpp). For size the compiler may choose.
#if defined(LADON_SMALL)
#define LADON_KERNEL
#elif defined(__AVX512F__) || defined(__aarch64__)
#define LADON_KERNEL
#define LADON_KERNELS_INLINED
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

// Loops over the accumulators of a tile must vanish: an array that is indexed by a variable lives in memory. Not so
// under a sanitizer, which checks each access: 16 plain lanes unrolled took g++ ten minutes to compile. Nor for size.
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

// A Cortex-M with an FPU for floats.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FP) && (__ARM_FP & 4)
#define LADON_CORTEX_M_FPU 1
#else
#define LADON_CORTEX_M_FPU 0
#endif

// -ffast-math gives up the very rules that masks stand on: -inf, NaN, and the order of a sum.
#if defined(__FAST_MATH__)
#error "ladon: compile without -ffast-math; a masked score is -inf, and -ffast-math assumes that there is none"
#endif

namespace ladon::inline LADON_ABI {

// std::bit_cast, which the libc++ of Emscripten 3.1.6 does not have. All compilers make it of this.
template <class To, class From>
LADON_INLINE constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

// The pointer itself, but the compiler can't tell: what is read through it is read here, not ahead of a loop and held
// in registers that the loop needs. (g++ held the biases of six rows through the product of a 6 x 2 tile on AVX2 and
// kept a sum in memory for it: 74% of peak instead of 92%.)
template <class T>
LADON_INLINE constexpr T* read_here(T* pointer) noexcept {
#if defined(__GNUC__)
  if (!__builtin_is_constant_evaluated()) asm volatile("" : "+r"(pointer));
#endif
  return pointer;
}

// Asks for what will be read soon, into the second cache or the nearest; any address will do, also one where nothing
// lies. On x86: WebAssembly has no such instruction, microcontrollers nothing to be made of it, and 64-bit Arm was not
// measured.
#if defined(__SSE__) && defined(__GNUC__)
inline constexpr bool has_prefetch = true;
LADON_INLINE void prefetch(const float* address) noexcept { __builtin_prefetch(address, 0, 2); }
LADON_INLINE void prefetch_near(const float* address) noexcept { __builtin_prefetch(address, 0, 3); }
#else
inline constexpr bool has_prefetch = false;
LADON_INLINE void prefetch(const float*) noexcept {}
LADON_INLINE void prefetch_near(const float*) noexcept {}
#endif

}  // namespace ladon::inline LADON_ABI
