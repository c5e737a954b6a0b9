// WebAssembly: relaxed SIMD, SIMD and scalar modules. The engine assigns registers: 16 on x86.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

#define LADON_KERNEL LADON_NOINLINE

namespace ladon::inline LADON_ABI::detail::target {

// The engine's processor is x86 or Arm; the limits of x86's caches are kept. There is no prefetch instruction, and
// modules are to be small, so everything is one stream.
struct Wasm : Defaults {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
  // 2 x 5: 79% of peak at (128,384,12), 68% at (512,256,8), 83% at (128,768,12) in Chromium 156 on a Xeon (42 GFLOP/s);
  // 2 x 4: 76, 66 and 76%; 2 x 6: 79, 67 and 73%.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 5, 12};
  }
#else
  // 2 x 4: 97% of peak at (128,384,12) and 84% at (512,256,8) in Chromium 156 on a Xeon (22 GFLOP/s); 2 x 5: 98 and
  // 85%, and 540 bytes more code.
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 8} : Tiling{lanes, 2, 4, 8};
  }
#endif
  // Loads of WebAssembly have constant offsets only. From an index an address is computed for every load (relaxed SIMD
  // in Chromium at (128,384,12): 65% of peak, with pointers 79%).
  static constexpr bool advances_pointers = true;
  static constexpr std::size_t most_aliasing_rows = X86::most_aliasing_rows;
};
using Current = Wasm;

}  // namespace ladon::inline LADON_ABI::detail::target
