// AVX and AVX2, with and without FMA: 16 registers of 8 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// A kernel is a separate function. Inlined, values of its caller would occupy registers that the tile needs (g++ at
// (1024,512,8): 90% of peak as a separate function, 75% inlined).
#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

struct Avx2 : X86 {
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // Measured with FMA on Zen 5, in % of peak:
  //
  //           (128,384,12)   (512,256,8)
  //   2 x 6   91             85
  //   2 x 5   88             81
  //   3 x 4   89             87
  //
  // In a last panel of one pack, tiles of 12 rows instead of 6 raise (24,64,4) from 64 to 69% (Cascade Lake).
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 6, 12};
  }
#else
  // Without FMA, a product occupies another register before it is added. So the tiles have fewer rows.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
#endif
#if defined(__FMA__)
  // A step of the tile is 12 multiply-adds and 8 loads. A core that starts four instructions per cycle then has no
  // capacity left for the loop's own instructions. Two steps per iteration halve the loop's own instructions (% of peak
  // on a Cascade Lake: (64,128,4) 75 -> 84%, (128,384,12) 79 -> 84%, (512,256,8) 71 -> 75%). Without FMA, no registers
  // are left for a second step.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t) noexcept {
    return lanes > 1 ? 2 : 1;
  }
#endif
  // 4 chains reduce the time of the softmax's loop by 16%. 6 chains gain nothing further (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Avx2;

}  // namespace ladon::inline LADON_ABI::detail::target
