// SPDX-License-Identifier: Apache-2.0
// Constants for NEON: 32 registers of 4 floats on 64-bit Arm, 16 registers on 32-bit Arm. The constants were not
// measured on Arm hardware. The float tiles are the tiles of the x86 target with the same number of registers (AVX-512
// or AVX2).
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

#if defined(__aarch64__)
// Kernels may be inlined, because 32 registers have room for values of the caller (as in avx512.hpp).
#define LADON_KERNEL
#else
#define LADON_KERNEL LADON_NOINLINE
#endif

namespace LADON_NAMESPACE::detail::target {

struct Neon : Defaults {
#if defined(__aarch64__)
  static constexpr std::size_t registers = 32;
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 16} : PanelLayout{lanes, 2, 12, 16};
  }
  static constexpr std::size_t separate_function_weights = 32768;
  static constexpr std::size_t softmax_chains = 8;
  static constexpr std::size_t streams = 4;
  static constexpr std::size_t single_query_heads = 4;
  static constexpr std::size_t single_query_sums = 16;
  // With the dot product extension, tiles of int8 products are 2 packs x 8 rows, or 1 pack x 16 rows. Without it, the
  // tiles have half as many rows. The features of four steps stay in registers: 8 registers for two packs. The table
  // has the instructions per multiply-add of a product of 128 x 384 x 1536, for tiles of two packs and 4 to 11 rows.
  // QEMU counted the instructions, including the quantisation of the input:
  //     instructions per multiply-add       4 rows   7 rows   8 rows   9 rows   10 rows   11 rows
  //     dot product, g++ 12                 -        0.088    0.087    0.089    0.085     0.084
  //     dot product, clang++ 19             -        -        0.089    0.088    0.099     0.099
  //     no dot product, g++ 12              0.321    0.343    0.317    -        -         0.464
  //     no dot product, clang++ 19          0.325    -        0.307    -        -         -
  //
  // If an int8 tile has 10 rows or more, clang++ 19 spills sums in the loop of the tile. Modelled by llvm-mca 19 for a
  // Neoverse N1 and a Neoverse V1, the loop of a tile of 8 rows reaches 99% of the peak throughput of SDOT. Without dot
  // product, g++ 12 spills sums in the loop of a tile of 1 pack x 16 rows.
  //
  // With I8MM, SMMLA multiplies in tiles of 2 packs x 8 rows. The product of 128 x 384 x 1536 then takes 0.072
  // instructions per multiply-add with g++ 12, and 0.075 with clang++ 19. SMMLA is written in assembly: with the
  // intrinsic, g++ 12 spills sums and takes 0.086 instructions. An iteration of the loop of a tile of 8 rows has 1024
  // multiply-adds with int8 weights, or 512 with bfloat16 weights. llvm-mca 19 modelled the cycles of an iteration:
  //     cycles per iteration  Neoverse N2   Neoverse V1, V2   Cortex-A510
  //     SDOT or BFDOT         32            16                111
  //     SMMLA or BFMMLA       24            12                62
#if LADON_ARM_DOT
  using Int8Element = std::int8_t;
  static constexpr std::size_t int8_tile_sums = 16;
#else
  static constexpr std::size_t int8_tile_sums = 8;
#endif
#if LADON_ARM_BFLOAT16_DOT
  // BFMMLA multiplies bfloat16 weights in tiles of 2 packs x 8 rows, or 1 pack x 16 rows
  // (detail/vec/dot_bfloat16.hpp). The table has the instructions per multiply-add of a product of 128 x 384 x 1536.
  // QEMU counted the instructions, including the conversion of the input:
  //     per multiply-add             g++ 12   clang++ 19
  //     BFMMLA                       0.129    0.137
  //     BFDOT by lane                0.159    0.165
  //     weights widened to floats    0.536    0.455
  //     float32 weights              0.513    0.433
  static constexpr bool multiplies_bfloat16 = true;
  static constexpr std::size_t bfloat16_tile_sums = 16;
#endif
#elif defined(__ARM_FEATURE_FMA)
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 12} : PanelLayout{lanes, 2, 6, 12};
  }
  static constexpr std::size_t softmax_chains = 4;
#else
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 10} : PanelLayout{lanes, 2, 5, 10};
  }
  static constexpr std::size_t softmax_chains = 4;
#endif
};
using Current = Neon;

}  // namespace LADON_NAMESPACE::detail::target
