// SPDX-License-Identifier: Apache-2.0
// Macros and functions that hide the differences between compilers: attributes, unrolling, and a few builtins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/detail/config/settings.hpp>
#include <ladon/detail/target/current.hpp>

// Without optimisation, a call takes hundreds of times as long. -Werror does not turn this note into an error.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(__OPTIMIZE__) && !defined(LADON_ALLOW_UNOPTIMIZED)
#pragma message(                                                                                           \
    "ladon: compiled without optimisation, which is hundreds of times as slow: compile with -O3 and, for " \
    "this machine, -march=native (CMake: -DCMAKE_BUILD_TYPE=Release), or define LADON_ALLOW_UNOPTIMIZED")
#endif

#if defined(__GNUC__) || defined(__clang__)
// Without optimisation, nothing is forced inline: object files of tests are 40% smaller, and a debugger can step in.
#if defined(__OPTIMIZE__)
#define LADON_ALWAYS_INLINE __attribute__((always_inline))
#else
#define LADON_ALWAYS_INLINE
#endif
#define LADON_INLINE inline LADON_ALWAYS_INLINE
// Without noclone, g++ copies a function for each constant argument: the code of decoding grows by 9% (Cortex-M55).
#if defined(__clang__)
#define LADON_OUTLINED noinline
#else
#define LADON_OUTLINED noinline, noclone
#endif
#if defined(LADON_ALIGNMENT_OF_CODE) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define LADON_NOINLINE __attribute__((LADON_OUTLINED, aligned(LADON_ALIGNMENT_OF_CODE)))
#else
#define LADON_NOINLINE __attribute__((LADON_OUTLINED))
#endif
// For functions that are called rarely, compiled for size.
#define LADON_COLD __attribute__((LADON_OUTLINED, cold))
// Inlines a lambda: [&](std::size_t i) LADON_INLINE_LAMBDA { ... }. Otherwise, g++ -Os calls the lambda for each
// multiply-add (Cortex-M7).
#define LADON_INLINE_LAMBDA LADON_ALWAYS_INLINE
#else
#define LADON_INLINE inline
#define LADON_NOINLINE
#define LADON_COLD
#define LADON_INLINE_LAMBDA
#endif

// MSVC, and clang++ for MSVC's ABI, ignore [[no_unique_address]].
#if defined(_MSC_VER)
#define LADON_NO_UNIQUE_ADDRESS [[msvc::no_unique_address]]
#else
#define LADON_NO_UNIQUE_ADDRESS [[no_unique_address]]
#endif

// LADON_UNROLL unrolls a loop completely: an array that the loop variable indexes would otherwise stay in memory. With
// AddressSanitizer, nothing is unrolled: packs of 16 floats took g++ ten minutes to compile.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LADON_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LADON_SANITIZED
#endif
#if defined(LADON_SANITIZED) || defined(LADON_KEEPS_LOOPS)
#define LADON_UNROLL
#elif defined(__clang__)
#define LADON_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LADON_UNROLL _Pragma("GCC unroll 64")
#else
#define LADON_UNROLL
#endif
// Heads of loops, as in LADON_UNROLLED_FOR(i, 4) f(i). LADON_ROLLED_FOR is not unrolled, for small code.
// With (i) instead of i, g++ 12 stops with an internal error. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define LADON_FOR(pragma, i, count) pragma for (std::size_t i = 0; i < (count); ++i)
#define LADON_UNROLLED_FOR(i, count) LADON_FOR(LADON_UNROLL, i, count)
#define LADON_ROLLED_FOR(i, count) LADON_FOR(_Pragma("GCC unroll 1"), i, count)

// A target may define these macros:
//   LADON_SMALL                 code for size
//   LADON_KERNEL                the attribute of kernels: empty if they may be inlined
//   LADON_ALIGNMENT_OF_CODE     the alignment of functions that are not inlined
//   LADON_KEEPS_LOOPS           LADON_UNROLL is empty
//   LADON_UNROLL_COEFFICIENTS   the pragma before the loop of polynomials
//   LADON_UNROLL_STEPS          the pragma before the loop over the features of a single token
//   LADON_ARGUMENT              kernels take structs by reference if it is `const&`, otherwise by value
#if !defined(LADON_KERNEL)
#define LADON_KERNEL LADON_NOINLINE
#endif
#if !defined(LADON_UNROLL_STEPS)
#define LADON_UNROLL_STEPS
#endif
#if !defined(LADON_UNROLL_COEFFICIENTS)
#define LADON_UNROLL_COEFFICIENTS LADON_UNROLL
#endif
#if !defined(LADON_ARGUMENT)
#define LADON_ARGUMENT
#endif
// Unless code is for size, a product is a separate function, so that it has all registers. Its tiles are inlined:
// separate tiles would reload operands after each store.
#if defined(LADON_SMALL)
#define LADON_PRODUCT
#define LADON_TILE_LAMBDA
#else
#define LADON_PRODUCT LADON_NOINLINE
#define LADON_TILE_LAMBDA LADON_INLINE_LAMBDA
#endif

// Begins a function whose sums and products keep their order, even if the program allows reordering. Does not act on
// intrinsics.
#if defined(__clang__)
#define LADON_AS_WRITTEN _Pragma("clang fp reassociate(off)")
#else
#define LADON_AS_WRITTEN
#endif

namespace LADON_NAMESPACE {

// Replaces std::bit_cast, which the libc++ of Emscripten 3.1.6 lacks.
template <class To, class From>
LADON_INLINE constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace detail {

template <class T>
LADON_INLINE T load_as(const void* from) noexcept {
  T result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

// Hides a pointer or a count from the optimiser. Reads through a hidden pointer cannot move ahead of a loop, where they
// would take registers: on AVX2, six biases took an accumulator's register (92 -> 74% of peak). A loop cannot be
// specialised for a hidden count.
template <class T>
LADON_INLINE constexpr T opaque(T value) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  if (!__builtin_is_constant_evaluated()) asm volatile("" : "+r"(value));
#endif
  return value;
}

// Any address is allowed. Does nothing on targets that prefetch no weights.
LADON_INLINE void prefetch_to_second_cache([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 2);
#endif
}
LADON_INLINE void prefetch_to_nearest_cache([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  if constexpr (target::Current::prefetched_row_floats != target::unlimited) __builtin_prefetch(address, 0, 3);
#endif
}
// WebAssembly lacks a prefetch, so this function reads a byte. The address must be valid: engines keep the read, which
// may trap.
LADON_INLINE void read_ahead(const void* address) noexcept {
  static_cast<void>(*static_cast<const volatile char*>(address));
}

// Stream number s reads at `data` + s * `distance`. Prefetches the first lines of each page that begins `ahead` to
// `ahead` + `bytes` bytes after this address, because processors prefetch only the other lines. The speed of attention
// to a float32 cache grows from 94 to 111% of a plain read (Zen 4; bench/tuning-log.md, "A token at a time").
inline constexpr std::size_t prefetched_page_lines = 5, prefetched_page_bytes = 4096;
template <std::size_t Streams, class Element>
LADON_INLINE constexpr void prefetch_page_starts_of_streams(const Element* data, [[maybe_unused]] std::size_t distance,
                                                            [[maybe_unused]] std::size_t ahead,
                                                            [[maybe_unused]] std::size_t bytes) noexcept {
  if (!target::Current::prefetches_page_starts || Streams == 1 || std::is_constant_evaluated()) return;
  for (std::size_t s = 0; s < Streams; ++s) {
    const char* const first = reinterpret_cast<const char*>(data + s * distance) + ahead;
    const std::size_t next_page = (0 - reinterpret_cast<std::uintptr_t>(first)) % prefetched_page_bytes;
    for (std::size_t page = next_page; page < bytes; page += prefetched_page_bytes) {
      LADON_UNROLLED_FOR(i, prefetched_page_lines) prefetch_to_second_cache(first + page + i * 64);
    }
  }
}

}  // namespace detail
}  // namespace LADON_NAMESPACE
