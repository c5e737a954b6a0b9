// How what is too large for the nearest cache is read: memory gives one core a fifth more where several places of it
// are read at once, each without a gap from its first byte to its last, than where one is (bench/README.md, "A token at
// a time, from memory").
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// A microcontroller has no such caches, and WebAssembly's modules are to be small: they go without.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr std::size_t runs = 4;
#else
inline constexpr std::size_t runs = 1;
#endif

// Whether so many floats are worth it: with fewer, what begins and ends a run would count.
constexpr bool in_runs(std::size_t floats) noexcept { return runs > 1 && floats * sizeof(float) > 32 * 1024; }

}  // namespace ladon::inline LADON_ABI::detail
