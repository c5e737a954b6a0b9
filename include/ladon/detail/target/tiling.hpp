// The table of tile sizes: how many tokens stand side by side in a panel, and how many rows of the broadcast operand
// a tile holds in registers at once.
#pragma once

#include <cstddef>

#include <ladon/detail/simd/vectors.hpp>

namespace ladon::inline LADON_ABI::detail {

// A panel is lanes * packs tokens wide; a tile is rows x packs accumulators. A last panel of one pack has taller tiles,
// where there are registers: with few sums each would wait for its own last multiply-add (Cascade Lake, AVX2: (24,64,4)
// 64 -> 69% of peak; AVX-512: (48,128,4) 75 -> 77; elsewhere not measured).
struct Tiling {
  std::size_t lanes;
  std::size_t packs;
  std::size_t rows;
  std::size_t rows_of_one_pack = rows;

  constexpr std::size_t width() const noexcept { return lanes * packs; }
  constexpr std::size_t panels(std::size_t tokens) const noexcept { return (tokens + width() - 1) / width(); }
  constexpr std::size_t rows_for(std::size_t some_packs) const noexcept {
    return some_packs == 1 ? rows_of_one_pack : rows;
  }
  // The last panel of some tokens may need fewer packs than the others.
  constexpr std::size_t last_packs(std::size_t tokens) const noexcept {
    const std::size_t rest = tokens % width();
    return rest == 0 ? packs : (rest + lanes - 1) / lanes;
  }
};

// The narrowest register that holds all the tokens, or the widest there is.
template <class Target, std::size_t Lanes = Target::lanes>
constexpr std::size_t lanes_for(std::size_t tokens) noexcept {
  if constexpr (Lanes > 1) {
    if constexpr (Target::template has<Lanes / 2>) {
      if (tokens <= Lanes / 2) return lanes_for<Target, Lanes / 2>(tokens);
    }
  }
  return Lanes;
}

// A row a kind of target, each with what justified it then: shares of the FMA peak at (128,384,12) and (512,256,8).
//   32 registers  2 x 12  94, 87 (Zen 5, AVX-512); 14 and 10 rows the same within a point, 3 x 8: 84, 87
//   16 with fma   2 x 6   91, 85 (Zen 5, AVX2); 2 x 5: 88, 81; 3 x 4: 89, 87
//   16 without    4 x 3   90 (Xeon at 2.5 GHz, SSE2, (128,384,12)); 2 x 5: 89; 2 x 6: 89. A broadcast takes a shuffle,
//                         which on Zen is one of four pipes that products and sums fill: at most 89, 2 x 5: 80
//     up to 8 tokens, or no SSE2: 2 x 5
//   wasm, plain   2 x 4   97, 84 (Xeon in Chromium 156, of 22 GFLOP/s); 2 x 5: 98, 85, and 540 bytes larger
//   wasm, fma     2 x 5   79, 68, and 83 at (128,768,12) (of 42); 2 x 4: 76, 66, 76; 2 x 6: 79, 67, 73
//   Helium        2 x 3   all 8 registers; figures of instructions: bench/README.md, "On a microcontroller"
//   one lane      4 x 4   as the 32 scalar registers of a Cortex-M's FPU hold it; figures there, too
// A single token has panels of width 1, plain vectors: the lanes lie along features or keys instead (mat_vec.hpp,
// attend_one.hpp). Not so where all targets shall give the same bits, for then sums cross the lanes.
// Where one pack holds all tokens, rows hide the latency that packs would: 8, 16 and 24 of them are alike at (16,32,4).
template <class Target>
constexpr Tiling tiling(std::size_t tokens) noexcept {
  if (tokens == 1 && !LADON_DETERMINISTIC) return {1, 1, Target::lanes == 1 ? 8u : 4u};
  const std::size_t lanes = lanes_for<Target>(tokens);
  const bool one_pack = tokens <= lanes;
  if (Target::lanes == 1) return {1, 4, 4};
  if (Target::registers < 16) return one_pack ? Tiling{lanes, 1, 4} : Tiling{lanes, 2, 3};
  if (Target::registers == 32) return one_pack ? Tiling{lanes, 1, 16} : Tiling{lanes, 2, 12, 16};
#if defined(__wasm__)
  if (!Target::fused) return one_pack ? Tiling{lanes, 1, 8} : Tiling{lanes, 2, 4, 8};
  return one_pack ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 5, 12};
#endif
#if defined(__SSE2__)
  if (!Target::fused && lanes == 4 && tokens > 2 * lanes) return {lanes, 4, 3, 10};
#endif
  if (!Target::fused) return one_pack ? Tiling{lanes, 1, 10} : Tiling{lanes, 2, 5, 10};
  return one_pack ? Tiling{lanes, 1, 12} : Tiling{lanes, 2, 6, 12};
}

// Rows of weights in a tile. Those a multiple of 4 KB apart have the same column in the same set of a nearest cache, of
// 8 to 12 lines on today's x86: no more than 8 of them, then. (Hidden features of 3072, on a Cascade Lake with AVX-512:
// W2 by itself 64 -> 69% of peak, encoder layer (128,768,12) 73 -> 74; (128,1024,16), where all rows do so, 62 -> 67.
// AVX2 and SSE2, whose tiles are lower but in a panel of one pack, were not measured.)
template <Tiling T, std::size_t Packs, std::size_t RowStride, std::size_t InnerStride>
inline constexpr std::size_t rows_at_a_time = [] {
  constexpr std::size_t rows = T.rows_for(Packs);
#if defined(__SSE2__) || defined(_M_X64)
  constexpr std::size_t most = 8;
  if (InnerStride == 1 && RowStride * sizeof(float) % 4096 == 0 && rows > most) return most;
#endif
  return rows;
}();

// Packs of exponentials that are computed side by side: as many as there are registers for, three or four a chain. On
// AVX-512 8 took 27% off the softmax's loop, on AVX2 4 took 16% and on SSE2 14% (Cascade Lake; 12 and 6 no more). With
// 8 registers none: two packs at a time on a Cortex-M55 cost attention at (16,32,4) 11% more instructions. One lane and
// WebAssembly were not tried.
#if defined(__wasm__)
template <class>
inline constexpr std::size_t chains = 1;
#else
template <class Target>
inline constexpr std::size_t chains = Target::lanes == 1 || Target::registers < 16 ? 1 : Target::registers / 4;
#endif

// Whether the exponentials are made beside the first tile that weighs values: where there are registers for both, and
// few of their steps are products.
template <class Target>
inline constexpr bool exponentials_beside_values = simd::uses_exp2_table && Target::registers == 32;

// Whether the kernels for a single token take over from those with tokens in the lanes.
template <class Simd, Tiling T>
inline constexpr bool one_token = T.width() == 1 && Simd::lanes > 1 && !LADON_DETERMINISTIC;

// Bounds the workspace of a long row. From 64 to 1024 the speed at (1024,512,8) is the same within a point of peak
// (Zen 5), so it is memory that decides.
inline constexpr std::size_t key_block = LADON_KEY_BLOCK;
static_assert(key_block > 0 && key_block % 32 == 0,
              "ladon: LADON_KEY_BLOCK is a multiple of 32, so that blocks end where panels of any width do");

}  // namespace ladon::inline LADON_ABI::detail
