// AVX-512: 32 registers of 16 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// 32 registers have room for a caller's numbers, and calls are expensive at small shapes ((16,32,4): inlined 64% of
// peak, separate functions 58%).
#define LADON_KERNEL

namespace ladon::inline LADON_ABI::detail::target {

struct Avx512 : X86 {
  static constexpr std::size_t registers = 32;
  // 2 x 12: 94% of peak at (128,384,12) and 87% at (512,256,8) on Zen 5. 14 and 10 rows are the same within a point;
  // 3 x 8 reaches 84 and 87%. In a panel of one pack 8, 16 and 24 rows are alike at (16,32,4); at (48,128,4) taller
  // tiles of the last panel take 75 -> 77% (Cascade Lake).
  static constexpr Tiling tiling(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? Tiling{lanes, 1, 16} : Tiling{lanes, 2, 12, 16};
  }
  // With one pack, two steps an iteration take (16,32,4) from 56.2 to 57.7% of peak. With 24 multiply-adds a step, one
  // and two are equal. Four steps give no more than two, and more code.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t packs) noexcept {
    return packs == 1 && lanes > 1 ? 2 : 1;
  }
  // g++ keeps an accumulator in memory when it inlines a large product into a caller of many loops (Zen 5: (256,1024,8)
  // causal 68 -> 94% of peak as a separate function). From 4096 weights on, separate functions cost a little:
  // (64,128,4) 93.1 -> 92.0%, (128,384,12) causal 93.3 -> 92.8%.
  static constexpr std::size_t separate_function_weights = 32768;
  // 8 chains take 27% off the time of the softmax's loop; 12 take no more (Cascade Lake).
  static constexpr std::size_t softmax_chains = 8;
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // The exponentials need few multiplications when 2^x comes from a table (detail/simd/exp2_table.hpp), and 32
  // registers hold a tile beside them. Alone they leave the multiply-add pipes half idle, and they are the largest
  // part of what long rows lack to the peak (Zen 5: a pack takes 4.6 cycles alone, 2.4 beside a tile; two or eight keys
  // ahead instead of four are no faster).
  static constexpr bool exponentials_beside_values = true;
#endif
};
using Current = Avx512;

}  // namespace ladon::inline LADON_ABI::detail::target
