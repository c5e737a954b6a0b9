// AVX-512: 32 registers of 16 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// Kernels may be inlined. 32 registers have room for values of the caller, and calls are expensive at small shapes
// ((16,32,4): 64% of peak inlined, 58% as separate functions).
#define LADON_KERNEL

namespace ladon::inline LADON_ABI::detail::target {

struct Avx512 : X86 {
  static constexpr std::size_t registers = 32;
  // 2 x 12 reaches 94% of peak at (128,384,12) and 87% at (512,256,8) on Zen 5. With 10 or 14 rows, the results differ
  // by at most one percentage point. 3 x 8 reaches 84 and 87%.
  //
  // In a panel of one pack, tiles of 8, 16 and 24 rows are equally fast at (16,32,4). In a last panel of one pack,
  // tiles of 16 instead of 12 rows raise (48,128,4) from 75 to 77% (Cascade Lake).
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 16} : Tiling{lanes, 2, 12, 16};
  }
  // With one pack, two steps per iteration raise (16,32,4) from 56.2 to 57.7% of peak. With two packs, a step has 24
  // multiply-adds, and one or two steps per iteration are equally fast. Four steps per iteration are no faster than two
  // and take more code.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t packs) noexcept {
    return packs == 1 && lanes > 1 ? 2 : 1;
  }
  // Inlined into a caller with many loops, a large product loses an accumulator to memory (g++, Zen 5: (256,1024,8)
  // causal 68% of peak inlined, 94% as a separate function). A threshold of 4096 weights would cost a little:
  // (64,128,4) 93.1 -> 92.0%, (128,384,12) causal 93.3 -> 92.8%.
  static constexpr std::size_t separate_function_weights = 32768;
  // 8 chains reduce the time of the softmax's loop by 27%. 12 chains gain nothing further (Cascade Lake).
  static constexpr std::size_t softmax_chains = 8;
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // The exponentials alone leave the multiply-add pipes half idle. In long rows, they are the largest part of the
  // distance to the peak. Two facts allow a tile beside them: 2^x from a table takes few multiplications
  // (detail/simd/exp2_table.hpp), and 32 registers suffice for both.
  //
  // On Zen 5, the exponentials of a pack take 2.4 cycles beside a tile, and 4.6 cycles alone by polynomial. They are
  // computed four keys ahead of the tile. Two or eight keys ahead are no faster.
  static constexpr bool exponentials_beside_values = true;
#endif
};
using Current = Avx512;

}  // namespace ladon::inline LADON_ABI::detail::target
