// SPDX-License-Identifier: Apache-2.0
// Constants for AVX-512: 32 registers of 16 floats. Figures without a processor are % of peak on Zen 5.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

#define LADON_KERNEL  // inlined: (16,32,4) 58 -> 64%

namespace LADON_NAMESPACE::detail::target {

struct Avx512 : X86 {
  static constexpr std::size_t registers = 32;
  // (128,384,12): 94%, 3 x 8 84%.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > lanes) return {lanes, 2, 12, 16};
    return {lanes, 1, 16, 16, lanes == 16 && tokens <= 12 ? std::size_t(12) : lanes};
  }
#if !LADON_DETERMINISTIC && LADON_HAS_SHUFFLE && defined(__AVX512BW__)
  static constexpr std::size_t narrowest_model_of_half_packs = 128;  // (24,128,4) 69.5 -> 80%, (24,32,4) 55 -> 49%
#endif
  // (16,32,4): 56.2 -> 57.7%.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t packs) noexcept {
    return packs == 1 && lanes > 1 ? 2 : 1;
  }
  static constexpr std::size_t inlined_product_weights = 4096;  // (16,32,4): 7% less time
  static constexpr std::size_t single_query_heads = 4;          // twice as fast as 1 (Zen 4)
  static constexpr std::size_t single_query_sums = 16;
  static constexpr std::size_t softmax_chains = 8;  // 27% less time than 1 (Cascade Lake)
#if LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 24;  // with panel and weights, 27 registers
#endif
#if LADON_BFLOAT16_DOT
  static constexpr bool multiplies_bfloat16 = true;
#if !LADON_DETERMINISTIC
  static constexpr bool attends_in_pairs = true;  // int8 (128,384,12): 0.84 of the time (Zen 4)
#endif
#endif
#if defined(__FMA__) && !LADON_DETERMINISTIC
  static constexpr bool exponentials_beside_values = true;  // 2.4 cycles a pack instead of 4.0
#endif
};
using Current = Avx512;

}  // namespace LADON_NAMESPACE::detail::target
