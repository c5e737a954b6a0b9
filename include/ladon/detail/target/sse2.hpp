// SPDX-License-Identifier: Apache-2.0
// Constants for SSE2 to SSE4.2: 16 registers of 4 floats, no fused multiply-add. detail/target/defaults.hpp explains
// each constant. In comments, "% of peak" means percent of one core's peak multiply-add throughput.
// detail/target/layout.hpp explains tiles.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// Each kernel is compiled as a separate function, so that its tile can use all registers (as in avx2.hpp).
#define LADON_KERNEL LADON_NOINLINE

namespace LADON_NAMESPACE::detail::target {

struct Sse2 : X86 {
  // Throughput of attention (128 tokens, 384 features, 12 heads) in % of peak multiply-add throughput, for tiles of
  // packs x rows. For Zen, the figures are upper limits that were computed for two of the tiles:
  //   % of peak            4 x 3   2 x 5   2 x 6
  //   Xeon at 2.5 GHz      90      89      89
  //   Zen (upper limit)    89      80      -
  //
  // Each row of a tile needs one broadcast per step, which takes a shuffle. On Zen, a shuffle occupies one of the four
  // pipes that multiply and add. With fewer packs, fewer multiply-adds share a broadcast. The upper limit of the
  // throughput is therefore lower.
  //
  // Up to 8 tokens fill at most 2 packs, so their panels have 1 or 2 packs instead of 4.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > 2 * lanes) return {lanes, 4, 3, 10};
    return tokens <= lanes ? PanelLayout{lanes, 1, 10} : PanelLayout{lanes, 2, 5, 10};
  }
  // A step of a tile of four packs reads four packs of the panel, but registers are left for two. Each row of the tile
  // therefore loads the other two packs again. If each row loaded all four packs again, the loop would be slower: Zen
  // loads at most two packs per cycle, and on a Xeon, the loop would reach 95% of its maximum throughput instead of
  // 99.5%.
  static constexpr std::size_t resident_packs = 2;
  // With 4 chains (packs of exponentials computed side by side) instead of 1, the softmax's loop takes 14% less time.
  // With 6 chains, the loop is no faster than with 4 (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Sse2;

}  // namespace LADON_NAMESPACE::detail::target
