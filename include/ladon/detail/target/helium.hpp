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
  // 2 x 3 uses all registers. In code for size, a rest of rows would need a second tile.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
#if defined(LADON_SMALL)
    constexpr std::size_t rows = 2;
#else
    constexpr std::size_t rows = 3;
#endif
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, rows};
  }
  static constexpr std::size_t softmax_chains = 1;  // two chains take 11% more instructions at (16,32,4)
  using Int8Element = std::uint8_t;                 // VMLADAVA multiplies 16 features
  static constexpr std::size_t int8_block = 16;
  // 29.4 -> 27.2 million instructions of examples/keywords, which has room for three.
  static constexpr std::size_t int8_feed_forward_panels = 4;
  static constexpr bool hidden_in_keys = true;
};
using Current = Helium;

}  // namespace LADON_NAMESPACE::detail::target
