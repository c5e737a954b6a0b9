// SSE2 to SSE4.2: 16 registers of 4 floats, no fused multiply-add.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// As for AVX2: a kernel is a separate function, so that the tile has all registers.
#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

struct Sse2 : X86 {
  // 4 x 3: 90% of peak at (128,384,12) on a Xeon at 2.5 GHz; 2 x 5 and 2 x 6: 89%. A broadcast takes a shuffle. On Zen
  // a shuffle occupies one of the four pipes that multiply and add, so 89% is the most there; 2 x 5 reaches 80%. Up to
  // 8 tokens need 2 packs at most.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > 2 * lanes) return {lanes, 4, 3, 10};
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
  // A tile of four packs has no registers for all packs of a panel row. Zen loads two packs a cycle and would wait for
  // more (Xeon: all packs loaded again for each row 95% of the loop's ceiling, two packs kept 99.5%).
  static constexpr std::size_t resident_packs = 2;
  // 4 chains take 14% off the time of the softmax's loop; 6 take no more (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Sse2;

}  // namespace ladon::inline LADON_ABI::detail::target
