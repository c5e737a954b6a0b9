// SPDX-License-Identifier: Apache-2.0
// Constants for packs that are plain arrays of Lanes floats. Every target without vectors uses arrays of one float:
// cortex_m.hpp, other.hpp and scalar WebAssembly. Tests use several lanes to run the code for targets with vectors on
// any machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/target/defaults.hpp>

namespace LADON_NAMESPACE::detail::target {

template <std::size_t Lanes>
struct PlainArrays : Defaults {
  static constexpr std::size_t registers = Lanes == 1 ? 32 : 8;
  // With one lane, a tile has 4 packs x 4 rows: 16 sums and 8 operands fit into the 32 scalar registers of a Cortex-M's
  // FPU. docs/performance.md, "On a microcontroller", counts the instructions. Only tests use several lanes. With
  // several lanes, tiles are small, so that tests compile quickly.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (Lanes == 1) return {1, 4, 4};
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, 3};
  }
  static constexpr std::size_t single_token_rows = Lanes == 1 ? 8 : 4;
  // Attention with integers gives other bits than attention with floats, so deterministic builds use floats.
  static constexpr bool uses_block_floats = LADON_THUMB1 && Lanes == 1 && !LADON_DETERMINISTIC;
  // A Cortex-M0+ multiplies only whole registers, so its features have 32 bits (detail/cortex_m/m0.hpp).
  using Int8Element = std::conditional_t<LADON_THUMB1 && Lanes == 1, std::int32_t, std::int16_t>;
};

}  // namespace LADON_NAMESPACE::detail::target
