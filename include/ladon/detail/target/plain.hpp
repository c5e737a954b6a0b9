// Plain arrays of Lanes floats, on any machine: one lane is what a microcontroller, RISC-V and scalar WebAssembly
// compute with; more lanes run the code paths of other targets in tests.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

namespace ladon::inline LADON_ABI::detail::target {

template <std::size_t Lanes>
struct Plain : Defaults {
  static constexpr std::size_t registers = Lanes == 1 ? 32 : 8;
  // One lane: 4 x 4 sums and 4 + 4 operands fill the 32 scalar registers of a Cortex-M's FPU (counts of instructions:
  // bench/README.md, "On a microcontroller"). Several lanes: small tiles compile in a sixth of the time.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    if (Lanes == 1) return {1, 4, 4};
    return tokens <= lanes ? Tiling{lanes, 1, 4} : Tiling{lanes, 2, 3};
  }
  static constexpr std::size_t single_token_rows = Lanes == 1 ? 8 : 4;
};

}  // namespace ladon::inline LADON_ABI::detail::target
