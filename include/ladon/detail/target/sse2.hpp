// SSE2 to SSE4.2: 16 registers of 4 floats, no fused multiply-add.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// A kernel is a separate function, so that the tile has all registers, as on AVX2.
#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

struct Sse2 : X86 {
  // 4 x 3 reaches 90% of peak at (128,384,12) on a Xeon at 2.5 GHz. 2 x 5 and 2 x 6 reach 89%. On Zen the difference is
  // larger. A broadcast needs a shuffle, and on Zen a shuffle occupies one of the four pipes that multiply and add.
  // This limits 4 x 3 to 89% and 2 x 5 to 80%. Up to 8 tokens fill at most 2 packs, so their panels are narrower.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > 2 * lanes) return {lanes, 4, 3, 10};
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
  // A tile of four packs has no registers for all packs of a panel row. Two packs stay in registers, and two are loaded
  // again for each row of the tile. Zen loads two packs per cycle, so more loads would delay it (Xeon: 95% of the
  // loop's ceiling if all packs are loaded again, 99.5% if two stay).
  static constexpr std::size_t resident_packs = 2;
  // 4 chains reduce the time of the softmax's loop by 14%. 6 chains gain nothing further (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Sse2;

}  // namespace ladon::inline LADON_ABI::detail::target
