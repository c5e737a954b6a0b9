// WebAssembly: modules with relaxed SIMD, with SIMD, and scalar modules. The engine assigns the registers. On x86 it
// has 16.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

// The engine may run on x86 or on Arm. The limits of x86's caches are kept. Everything is read in one stream, because
// WebAssembly has no prefetch instruction and modules should be small.
struct Wasm : Defaults {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
  // Measured in Chromium 156 on a Xeon (peak: 42 GFLOP/s), in % of peak:
  //
  //           (128,384,12)   (512,256,8)   (128,768,12)
  //   2 x 4   76             66            76
  //   2 x 5   79             68            83
  //   2 x 6   79             67            73
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 5, 12};
  }
#else
  // 2 x 4 reaches 97% of peak at (128,384,12) and 84% at (512,256,8) in Chromium 156 on a Xeon (peak: 22 GFLOP/s). 2 x
  // 5 reaches 98 and 85%, but takes 540 more bytes of code.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 8} : Tiling{lanes, 2, 4, 8};
  }
#endif
  // Loads of WebAssembly allow only constant offsets. With an index, every load needs an instruction that computes its
  // address (relaxed SIMD in Chromium at (128,384,12): 65% of peak with an index, 79% with pointers).
  static constexpr bool advances_pointers = true;
  static constexpr std::size_t most_aliasing_rows = X86::most_aliasing_rows;
};
using Current = Wasm;

}  // namespace ladon::inline LADON_ABI::detail::target
