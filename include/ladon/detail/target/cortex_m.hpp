// SPDX-License-Identifier: Apache-2.0
// Constants for Cortex-M without Helium: M0+, M4, M7, M33. These processors have no vector registers, so a pack is a
// single float. Caches play no role in the choice of the constants. plain_arrays.hpp chooses the tile.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

// LADON_SMALL selects code for size, with loops that are not unrolled. It is defined if -Os is given and one of these
// conditions holds:
// - The tile's loop is written in assembly.
// - Every multiplication calls a library function.
//
// If -Os is given and neither condition holds, LADON_SMALL would halve the code, but a call would take 20 times as
// long.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
// In code for size, the compiler decides which kernels it inlines, so LADON_KERNEL is empty.
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

// Without an FPU, kernels take structs by reference. A copy for each call makes the code larger: int8 attention of 32
// tokens with 64 features in 4 heads has 10,330 bytes with copies and 10,198 bytes with references (Cortex-M0+, -O3).
#if !defined(__ARM_FP)
#define LADON_ARGUMENT const&
#endif

namespace LADON_NAMESPACE::detail::target {

struct CortexM : Defaults {
  static constexpr std::size_t widened_features = widened_features_on_small_stack;
  // Only cores that compute int8 products in plain C++, such as M3, use int8_tile_sums. Cortex-M0+, M4, M7 and M33 have
  // other loops (detail/cortex_m/engine.hpp).
  static constexpr std::size_t int8_tile_sums = 4;
  // With the DSP extension, each pass over the weights converts the weights to 16 bits. The conversion takes 1.3
  // instructions per weight, so fewer passes take fewer instructions. On a Cortex-M7, the model of examples/keywords
  // takes 105.4 million instructions with one panel per pass, and 93.4 million with four.
  static constexpr std::size_t int8_feed_forward_panels = LADON_DSP ? 4 : 1;
  static constexpr bool hidden_in_keys = true;
};
using Current = CortexM;

}  // namespace LADON_NAMESPACE::detail::target
