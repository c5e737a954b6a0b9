// SPDX-License-Identifier: Apache-2.0
// Constants for Cortex-M without Helium (M0+, M4, M7, M33): a pack is a single float.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

// Code for size: loops are not unrolled. If the tile's loop is not in assembly and multiplications call no library
// function, this would halve the code, but a call would take 20 times as long.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

// Without an FPU, kernels take structs by reference: int8 attention (32,64,4) has 10,198 bytes instead of 10,330.
#if !defined(__ARM_FP)
#define LADON_ARGUMENT const&
#endif

namespace LADON_NAMESPACE::detail::target {

struct CortexM : Defaults {
  static constexpr std::size_t widened_features = widened_features_on_small_stack;
  // For cores without a loop in detail/cortex_m/engine.hpp, such as M3.
  static constexpr std::size_t int8_tile_sums = 4;
  // Each pass over the weights converts them to 16 bits. With four panels per pass, the model of examples/keywords
  // takes 93.4 million instructions; with one, 105.4 (Cortex-M7).
  static constexpr std::size_t int8_feed_forward_panels = LADON_DSP ? 4 : 1;
  static constexpr bool hidden_in_keys = true;
};
using Current = CortexM;

}  // namespace LADON_NAMESPACE::detail::target
