// SPDX-License-Identifier: Apache-2.0
// Constants for Helium (MVE), the vector extension of Cortex-M55 and M85: 8 registers of 4 floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

#if defined(__OPTIMIZE_SIZE__) && !LADON_DETERMINISTIC
#define LADON_SMALL
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace LADON_NAMESPACE::detail::target {

struct Helium : Defaults {
  static constexpr std::size_t widened_features = widened_features_on_small_stack;
  static constexpr std::size_t registers = 8;
  // A tile of 2 packs x 3 rows uses all 8 registers: six for sums and two for packs of the panel. Code for size has
  // tiles of 2 rows, because a rest of one or two rows would need a second tile.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
#if defined(LADON_SMALL)
    constexpr std::size_t rows = 2;
#else
    constexpr std::size_t rows = 3;
#endif
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, rows};
  }
  // With two chains, attention (16,32,4) takes 11% more instructions.
  static constexpr std::size_t softmax_chains = 1;
  // VMLADAVA multiplies 16 features of 8 bits.
  using Int8Element = std::uint8_t;
  static constexpr std::size_t int8_block = 16;
  // The model of examples/keywords takes 29.4 million instructions with one panel at a time, and 27.2 million with
  // three, for which its memory has room.
  static constexpr std::size_t int8_feed_forward_panels = 4;
  static constexpr bool hidden_in_keys = true;
};
using Current = Helium;

}  // namespace LADON_NAMESPACE::detail::target
