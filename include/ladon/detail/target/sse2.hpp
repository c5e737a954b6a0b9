// SPDX-License-Identifier: Apache-2.0
// SSE2 to SSE4.2: 16 registers of 4 floats, no fused multiply-add.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// A kernel is a separate function, so that its tile can use all registers (as in avx2.hpp).
#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

struct Sse2 : X86 {
  // Tiles of packs x rows at (128,384,12), in % of peak:
  //
  //                        4 x 3   2 x 5   2 x 6
  //   Xeon at 2.5 GHz      90      89      89
  //   Zen (upper limit)    89      80
  //
  // A broadcast needs a shuffle. On Zen, a shuffle occupies one of the four pipes that multiply and add. This gives the
  // upper limits in the table: a tile of fewer packs needs more broadcasts per multiply-add.
  //
  // Up to 8 tokens fill at most 2 packs, so their panels are narrower than 4 packs.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > 2 * lanes) return {lanes, 4, 3, 10};
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
  // A tile of four packs has too few registers for all four packs of a panel row. Two of these packs stay in registers,
  // and each row of the tile loads the other two again. Zen loads two packs per cycle, so it has no time for further
  // loads. A Xeon reaches 95% of the loop's ceiling if all packs are loaded again, and 99.5% if two stay in registers.
  static constexpr std::size_t resident_packs = 2;
  // With 4 chains (packs of exponentials computed side by side) instead of 1, the softmax's loop takes 14% less time. 6
  // chains gain nothing further (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Sse2;

}  // namespace ladon::inline LADON_ABI::detail::target
