// NEON: 32 registers of 4 floats on 64-bit Arm, 16 on 32-bit Arm. The constants were not measured on a board. The tiles
// are the tiles of the x86 target with the same number of registers.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

#if defined(__aarch64__)
// Kernels may be inlined, because 32 registers have room for values of the caller (as in avx512.hpp).
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace ladon::inline LADON_ABI::detail::target {

struct Neon : Defaults {
#if defined(__aarch64__)
  static constexpr std::size_t registers = 32;
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 16} : Tiling{lanes, 2, 12, 16};
  }
  static constexpr std::size_t separate_function_weights = 32768;
  static constexpr std::size_t softmax_chains = 8;
  static constexpr std::size_t streams = 4;
#elif defined(__ARM_FEATURE_FMA)
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 6, 12};
  }
  static constexpr std::size_t softmax_chains = 4;
#else
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
  static constexpr std::size_t softmax_chains = 4;
#endif
};
using Current = Neon;

}  // namespace ladon::inline LADON_ABI::detail::target
