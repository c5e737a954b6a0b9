// SPDX-License-Identifier: Apache-2.0
// Constants for AVX and AVX2, with and without FMA: 16 registers of 8 floats. detail/target/defaults.hpp explains each
// constant. In comments, (16,32,4) means 16 tokens with 32 features in 4 heads. "% of peak" means percent of one core's
// peak multiply-add throughput. detail/target/layout.hpp explains tiles.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// Each kernel is compiled as a separate function. If the kernel were inlined, values of the calling function would
// occupy registers that the tile needs. With g++, attention of 1024 tokens with 512 features in 8 heads reaches 90% of
// peak FMA throughput with separate functions and 75% with inlined kernels.
#define LADON_KERNEL LADON_NOINLINE

namespace LADON_NAMESPACE::detail::target {

struct Avx2 : X86 {
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // Throughput of attention on Zen 5, in % of peak FMA throughput. A row is a tile of packs x rows, and a column is
  // (tokens,features,heads):
  //   % of peak   (128,384,12)   (512,256,8)
  //   2 x 6       91             85
  //   2 x 5       88             81
  //   3 x 4       89             87
  //
  // If the last panel has only one pack, its tiles have 12 rows. With 12 rows instead of 6, attention of 24 tokens with
  // 64 features in 4 heads reaches 69% of peak FMA throughput instead of 64% (Cascade Lake).
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 12} : PanelLayout{lanes, 2, 6, 12};
  }
#else
  // Without FMA, each product occupies a register until it is added to its sum. The tiles therefore have fewer rows
  // than with FMA.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 10} : PanelLayout{lanes, 2, 5, 10};
  }
#endif
#if defined(__FMA__)
  // Two steps per iteration halve the instructions for the loop's counter and branch. A step of a tile has 12
  // multiply-adds and 8 loads, and takes at least six cycles. A core that starts four instructions per cycle has room
  // for only four more instructions. Throughput of attention in % of peak FMA throughput, for (tokens,features,heads),
  // on a Cascade Lake:
  //   % of peak      one step   two steps
  //   (64,128,4)     75%        84%
  //   (128,384,12)   79%        84%
  //   (512,256,8)    71%        75%
  //
  // Without FMA, no registers are left for a second step per iteration.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t) noexcept {
    return lanes > 1 ? 2 : 1;
  }
#endif
  // With 4 chains (packs of exponentials computed side by side) instead of 1, the softmax's loop takes 16% less time.
  // With 6 chains, the loop is no faster than with 4 (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
#if LADON_VNNI
  // Tiles of int8 products are 2 packs x 6 rows, or 1 pack x 12 rows. 12 packs of sums, 2 packs of a panel and the
  // weights of a row fill 15 registers. On Alder Lake, vpdpbusd has a latency of 5 cycles and starts twice per cycle.
  // At least 10 independent packs of sums are therefore needed.
  static constexpr std::size_t int8_tile_sums = 12;
#endif
};
using Current = Avx2;

}  // namespace LADON_NAMESPACE::detail::target
