// SPDX-License-Identifier: Apache-2.0
// Constants for Helium (MVE), the vector extension of Cortex-M55 and M85: 8 registers of 4 floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

// In code for size, loops are not unrolled (cortex_m.hpp).
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
  // A tile of 2 packs x 3 rows uses all 8 registers: six for sums and two for packs of the panel.
  // docs/performance.md, "On a microcontroller", counts the instructions.
  //
  // In code for size, a tile has 2 rows, because most products have a multiple of 8 rows. With tiles of 3 rows, one or
  // two rows would often remain, and need the code of a second tile.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
#if defined(LADON_SMALL)
    constexpr std::size_t rows = 2;
#else
    constexpr std::size_t rows = 3;
#endif
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, rows};
  }
  // Two chains (packs of exponentials computed side by side) would need more than 8 registers. Attention of 16 tokens
  // with 32 features in 4 heads would take 11% more instructions.
  static constexpr std::size_t softmax_chains = 1;
  // Features have 8 bits, in blocks of 16, because VMLADAVA multiplies 16 features of 8 bits
  // (detail/cortex_m/helium_quantise.hpp).
  using Int8Element = std::uint8_t;
  static constexpr std::size_t int8_block = 16;
  // With more panels at a time, a product needs fewer calls of its assembly loop. The model of examples/keywords takes
  // 29.4 million instructions with one panel at a time, and 27.2 million with three. The memory of the model's keys has
  // no room for more than three panels.
  static constexpr std::size_t int8_feed_forward_panels = 4;
  static constexpr bool hidden_in_keys = true;
};
using Current = Helium;

}  // namespace LADON_NAMESPACE::detail::target
