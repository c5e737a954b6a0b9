// SPDX-License-Identifier: Apache-2.0
// Macros and functions that hide the differences between compilers: attributes, unrolling, and a few builtins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/build/abi.hpp>
#include <ladon/detail/target/current.hpp>

// Prints a note if the compiler does not optimise, because a call of Ladon then takes hundreds of times as long.
// Nothing else would tell the user the cause. The compiler prints the note once for each translation unit. -Werror does
// not turn the note into an error.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(__OPTIMIZE__) && !defined(LADON_ALLOW_UNOPTIMIZED)
#pragma message(                                                                                           \
    "ladon: compiled without optimisation, which is hundreds of times as slow: compile with -O3 and, for " \
    "this machine, -march=native (CMake: -DCMAKE_BUILD_TYPE=Release), or define LADON_ALLOW_UNOPTIMIZED")
#endif

#if defined(__GNUC__) || defined(__clang__)
// In builds without optimisation, LADON_INLINE does not force inlining. The object files of a test are then 40%
// smaller, and g++ compiles the test in two thirds of the time. A debugger can also step into each function.
#if defined(__OPTIMIZE__)
#define LADON_ALWAYS_INLINE __attribute__((always_inline))
#else
#define LADON_ALWAYS_INLINE
#endif
#define LADON_INLINE inline LADON_ALWAYS_INLINE
// LADON_NOINLINE contains `noclone`, which clang++ does not know. Without `noclone`, g++ may compile a copy of a
// function for each constant that callers pass as an argument. A kernel that decodes one token (Cortex-M55, -O3) would
// then contain the code of a projection twice: 5,980 bytes instead of 5,488.
#if defined(__clang__)
#define LADON_NOINLINE __attribute__((noinline))
#else
#define LADON_NOINLINE __attribute__((noinline, noclone))
#endif
// LADON_COLD compiles a function for size. The attribute is for functions that are called rarely or take little time.
#define LADON_COLD LADON_NOINLINE __attribute__((cold))
#define LADON_RESTRICT __restrict
// The attribute of a lambda that must be inlined: [&](std::size_t i) LADON_INLINE_LAMBDA { ... }. Without the
// attribute, g++ at -Os did not inline the lambda in the function `fma` of ArrayPack. A Cortex-M7 then called a
// function for each multiply-add of a score.
#define LADON_INLINE_LAMBDA LADON_ALWAYS_INLINE
#else
#define LADON_INLINE inline
#define LADON_NOINLINE
#define LADON_COLD
#define LADON_RESTRICT
#define LADON_INLINE_LAMBDA
#endif

// LADON_UNROLL unrolls a loop completely. Loops over the accumulators of a tile must be unrolled, because the compiler
// keeps an array in memory if a variable indexes the array. LADON_UNROLL is empty in two cases:
//   LADON_SANITIZED   AddressSanitizer checks every access of an unrolled loop separately. With unrolled loops, g++
//                     took ten minutes to compile packs of 16 plain floats.
//   LADON_SMALL       In code for size (cortex_m.hpp), loops stay loops.
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

// A target may define the following macros. The definitions below are the defaults.
//   LADON_UNROLL_COEFFICIENTS   the pragma before the loop over the coefficients of polynomials (elementary.hpp)
//   LADON_INT8_TILE_LAMBDA      the attribute of the lambda that computes a tile of an int8 product
//   LADON_ARGUMENT              how a kernel takes a struct: by reference if the macro is `const&`, otherwise by value
#if !defined(LADON_UNROLL_COEFFICIENTS)
#define LADON_UNROLL_COEFFICIENTS LADON_UNROLL
#endif
#if !defined(LADON_ARGUMENT)
#define LADON_ARGUMENT
#endif
// A product is a function of its own, and its tiles are parts of this function: a tile's registers then do not depend
// on the surrounding code, and a tile does not read its operands from memory again after each store. In code for size,
// the compiler decides.
#if defined(LADON_SMALL)
#define LADON_PRODUCT
#define LADON_TILE_LAMBDA
#else
#define LADON_PRODUCT LADON_NOINLINE
#define LADON_TILE_LAMBDA LADON_INLINE_LAMBDA
#endif
#if !defined(LADON_INT8_TILE_LAMBDA)
#define LADON_INT8_TILE_LAMBDA
#endif

// -ffast-math is rejected for two reasons. -ffast-math assumes that infinities and NaN do not occur, but a masked score
// is -inf. -ffast-math also reorders sums.
#if defined(__FAST_MATH__)
#error "ladon: compile without -ffast-math; a masked score is -inf, and -ffast-math assumes that there is none"
#endif

namespace LADON_NAMESPACE {

// Replaces std::bit_cast, because the libc++ of Emscripten 3.1.6 lacks std::bit_cast. All compilers implement
// std::bit_cast with the builtin that this function calls.
template <class To, class From>
LADON_INLINE constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace detail {

// Returns `pointer` and hides its origin from the compiler. The compiler then cannot move reads through the pointer
// ahead of a loop that needs the registers. Example: a product on AVX2 with tiles of 2 packs x 6 rows. Without this
// function, g++ kept the biases of six rows in registers and an accumulator in memory, and the product reached 74% of
// peak FMA throughput. With this function, it reaches 92%.
template <class T>
LADON_INLINE constexpr T* opaque(T* pointer) noexcept {
#if defined(__GNUC__)
  if (!__builtin_is_constant_evaluated()) asm volatile("" : "+r"(pointer));
#endif
  return pointer;
}

// Returns `count` and hides the value from the compiler, which then cannot specialise a loop of `count` iterations.
LADON_INLINE constexpr std::size_t opaque(std::size_t count) noexcept {
#if defined(__GNUC__)
  if (!__builtin_is_constant_evaluated()) asm volatile("" : "+r"(count));
#endif
  return count;
}

// prefetch_to_second_cache prefetches a cache line into the L2 cache. prefetch_to_nearest_cache prefetches a cache line
// into the L1 cache. Any address is allowed, valid or not. On targets that prefetch no weights, both functions do
// nothing.
LADON_INLINE void prefetch_to_second_cache([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 2);
#endif
}
LADON_INLINE void prefetch_to_nearest_cache([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 3);
#endif
}
// Reads the byte at `address` and ignores it. When a later step needs the cache line of this byte, the line is in the
// L1 cache. WebAssembly has no prefetch instruction, so this read takes its place. Unlike a prefetch, the read needs a
// valid address. Engines do not remove the read, because a read at an invalid address would have to trap.
LADON_INLINE void read_ahead(const void* address) noexcept {
  static_cast<void>(*static_cast<const volatile char*>(address));
}

// Prefetches the first lines of some pages into the L2 cache. These are the pages that begin in the `bytes` bytes from
// `data` + `ahead` on. `data` is the address that a stream reads now (detail/product/single.hpp). Processors
// prefetch the other lines of a page by themselves, but not the first lines. The function takes any address, valid or
// not.
//
// The table has the speed of attention of a single query to 1024 keys in 96 heads. The speed is the bytes of keys and
// values per second, in % of the rate of a plain read (Zen 4):
//     prefetched lines of each page         0     5     8    12
//     float32 cache, from memory           94   111   115   106
//     bfloat16 cache, from the L3 cache    71    76    73    81
inline constexpr std::size_t prefetched_page_lines = 5, prefetched_page_bytes = 4096;
LADON_INLINE void prefetch_page_starts([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t ahead,
                                       [[maybe_unused]] std::size_t bytes) noexcept {
  if constexpr (target::Current::prefetches_page_starts) {
    const char* const first = static_cast<const char*>(data) + ahead;
    const std::size_t next_page = (0 - reinterpret_cast<std::uintptr_t>(first)) % prefetched_page_bytes;
    for (std::size_t page = next_page; page < bytes; page += prefetched_page_bytes) {
      LADON_UNROLL
      for (std::size_t i = 0; i < prefetched_page_lines; ++i) prefetch_to_second_cache(first + page + i * 64);
    }
  }
}
// Calls prefetch_page_starts for each stream, if there are several streams. `data` is the address that the first stream
// reads now. The address of each further stream lies `distance` elements behind the address of the previous stream.
template <std::size_t Streams, class Element>
LADON_INLINE constexpr void prefetch_page_starts_of_streams(const Element* data, std::size_t distance,
                                                            std::size_t ahead, std::size_t bytes) noexcept {
  if (Streams == 1 || std::is_constant_evaluated()) return;
  for (std::size_t s = 0; s < Streams; ++s) prefetch_page_starts(data + s * distance, ahead, bytes);
}

}  // namespace detail
}  // namespace LADON_NAMESPACE
