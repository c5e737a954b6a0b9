// SPDX-License-Identifier: Apache-2.0
// Constants for Cortex-M. A pack is a single float, or with Helium (MVE of M55 and M85) a register of 4 floats.
// defaults.hpp explains the figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

// With -Os, code is for size, except on an FPU without an assembly loop for tiles: there, rolled loops would take 20
// times as long. With Helium, loops stay unrolled, because sums then stay in registers: attention (16,32,4) 3,362 ->
// 3,202 bytes and 9% fewer instructions, (18,48,2) 35% fewer.
#if defined(__OPTIMIZE_SIZE__) && (!defined(__ARM_FP) || (defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC))
#define LADON_SMALL
#if !LADON_HELIUM
#define LADON_KEEPS_LOOPS
#endif
#define LADON_KERNEL
#endif

// Structs are passed by reference: int8 attention (32,64,4) has 10,198 bytes instead of 10,330.
#if !defined(__ARM_FP)
#define LADON_ARGUMENT const&
#endif

// Prevents unrolling (-O3), which keeps parts of the sums of a single token on the stack. g++ 12.2 then computes wrong
// sums, such as row 3 of a linear map (32, 10). In a loop, all sums stay in registers.
#if LADON_HELIUM
#define LADON_UNROLL_STEPS _Pragma("GCC unroll 1")
#endif

namespace LADON_NAMESPACE::detail::target {

struct CortexM : SmallMemory {
  static constexpr std::size_t int8_tile_sums = 4;  // for cores without DSP, such as M3
  // Each read of weights converts them, so 4 panels share a read: 105.4 -> 93.4 million instructions of
  // examples/keywords on M7, 29.4 -> 27.2 on M55.
  static constexpr std::size_t int8_feed_forward_tokens = LADON_HELIUM ? 32 : LADON_DSP ? 16 : 0;
  static constexpr std::size_t int4_feed_forward_tokens = int8_feed_forward_tokens;
  static constexpr bool hidden_in_keys = true;
  static constexpr std::size_t most_few_queries = 0;  // one kernel for all lengths takes less code
#if LADON_HELIUM
  static constexpr std::size_t registers = 8;
  // 2 packs x 3 rows use all registers. Code for size has 2 rows: with 3, remaining rows would need a second tile.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
#if defined(LADON_SMALL)
    constexpr std::size_t rows = 2;
#else
    constexpr std::size_t rows = 3;
#endif
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, rows};
  }
  using Int8Element = std::uint8_t;  // VMLADAVA multiplies 16 features
  static constexpr std::size_t int8_block = 16;
#endif
};
using Current = CortexM;

}  // namespace LADON_NAMESPACE::detail::target
