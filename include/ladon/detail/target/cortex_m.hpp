// SPDX-License-Identifier: Apache-2.0
// Cortex-M without Helium: M0+, M4, M7, M33. These processors have no vector registers and no caches that matter. A
// pack is a single float. plain.hpp chooses the tile.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

// LADON_SMALL (code for size) keeps loops rolled. It is defined if -Os is given and one of these conditions holds:
//
//   - The tile's loop is written in assembly.
//   - Every multiplication calls a library function.
//
// In all other cases, rolled loops would save half the code but be 20 times as slow.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
// In code for size, kernels have no attribute: the compiler decides which kernels it inlines.
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace ladon::inline LADON_ABI::detail::target {

struct CortexM : Defaults {
  // Stacks of microcontrollers are small: 64 features of 8 rows take 2 KB.
  static constexpr std::size_t widened_features = 64;
  // A Cortex-M0+ has eight registers for arithmetic. All others compute int8 products with SMLAD.
  static constexpr std::size_t int8_tile_sums = 4;
  // With the DSP extension, each pass converts the weights to 16 bits: 1.3 instructions a weight. The model of
  // examples/keywords takes, on a Cortex-M7, 105.4 million instructions with one panel, and 93.4 million with four.
  static constexpr std::size_t int8_feed_forward_panels = LADON_DSP ? 4 : 1;
  static constexpr bool hidden_in_keys = true;
};
using Current = CortexM;

}  // namespace ladon::inline LADON_ABI::detail::target
