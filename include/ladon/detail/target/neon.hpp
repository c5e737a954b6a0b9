// SPDX-License-Identifier: Apache-2.0
// Constants for NEON: 32 registers of 4 floats on 64-bit Arm, 16 on 32-bit Arm. Float tiles have the sizes of AVX-512
// and AVX2, and were not measured on Arm hardware.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

#if defined(__aarch64__)
#define LADON_KERNEL  // inlined, as on AVX-512 (x86.hpp)
#endif

namespace LADON_NAMESPACE::detail::target {

struct Neon : Defaults {
#if defined(__aarch64__)
  static constexpr std::size_t registers = 32;
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 16} : PanelLayout{lanes, 2, 12, 16};
  }
  static constexpr std::size_t inlined_product_weights = 4096;
  static constexpr std::size_t softmax_chains = 8;
  static constexpr std::size_t streams = 4;
  static constexpr std::size_t single_query_heads = 4;
  static constexpr std::size_t single_query_sums = 16;
#if LADON_ARM_DOT
  using Int8Element = std::int8_t;
  // Tiles of 2 x 8 reach 99% of the peak of SDOT (llvm-mca, Neoverse N1 and V1). From 2 x 10 on, clang++ 19 spills.
  static constexpr std::size_t int8_tile_sums = 16;
#else
  static constexpr std::size_t int8_tile_sums = 8;  // g++ 12 spills sums of 1 pack x 16 rows
#endif
#if LADON_ARM_BFLOAT16_DOT
  static constexpr bool multiplies_bfloat16 = true;
  static constexpr std::size_t bfloat16_tile_sums = 16;
#endif
#else
#if defined(__ARM_FEATURE_FMA)
  static constexpr std::size_t tile_sums = 12;
#else
  static constexpr std::size_t tile_sums = 10;
#endif
  static constexpr auto panel_layout = one_or_two_packs<tile_sums>;
  static constexpr std::size_t softmax_chains = 4;
#endif
};
using Current = Neon;

}  // namespace LADON_NAMESPACE::detail::target
