// AVX and AVX2, with and without FMA: 16 registers of 8 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// A kernel is a separate function, so that no number of its caller occupies a register that the tile needs (g++ at
// (1024,512,8): 90% of peak, inlined 75%).
#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

struct Avx2 : X86 {
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // 2 x 6: 91% of peak at (128,384,12) and 85% at (512,256,8) on Zen 5; 2 x 5: 88 and 81%; 3 x 4: 89 and 87%. Taller
  // tiles of a last panel of one pack take (24,64,4) from 64 to 69% (Cascade Lake).
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 6, 12};
  }
#else
  // The product needs a register of its own before it is added.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  }
#endif
#if defined(__FMA__)
  // A core that starts four instructions a cycle has none left for the loop itself when a step is 12 multiply-adds and
  // 8 loads (Cascade Lake, two steps an iteration: (64,128,4) 75 -> 84% of peak, (128,384,12) 79 -> 84%, (512,256,8)
  // 71 -> 75%). Without FMA no registers are left.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t) noexcept {
    return lanes > 1 ? 2 : 1;
  }
#endif
  // 4 chains take 16% off the time of the softmax's loop; 6 take no more (Cascade Lake).
  static constexpr std::size_t softmax_chains = 4;
};
using Current = Avx2;

}  // namespace ladon::inline LADON_ABI::detail::target
