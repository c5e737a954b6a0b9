// SPDX-License-Identifier: Apache-2.0
// Constants for Cortex-M without Helium (M0+, M4, M7, M33): a pack is a single float.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

// Code for size: loops are not unrolled. Where the loop of a tile is not in assembly, a call would take 20 times as
// long.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

// Int8 attention (32,64,4) has 10,198 bytes instead of 10,330.
#if !defined(__ARM_FP)
#define LADON_ARGUMENT const&
#endif

namespace LADON_NAMESPACE::detail::target {

struct CortexM : Defaults {
  static constexpr std::size_t widened_features = widened_features_on_small_stack;
  static constexpr std::size_t int8_tile_sums = 4;  // for cores without an engine, such as M3
  // Each read converts the weights: 105.4 -> 93.4 million instructions of examples/keywords (Cortex-M7).
  static constexpr std::size_t int8_feed_forward_panels = LADON_DSP ? 4 : 1;
  static constexpr bool hidden_in_keys = true;
};
using Current = CortexM;

}  // namespace LADON_NAMESPACE::detail::target
