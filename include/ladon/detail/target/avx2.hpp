// SPDX-License-Identifier: Apache-2.0
// Constants for AVX and AVX2, with and without FMA: 16 registers of 8 floats.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// Inlined kernels would share registers with the caller: 90 -> 75% of peak (g++, (1024,512,8)).
#define LADON_KERNEL LADON_NOINLINE

namespace LADON_NAMESPACE::detail::target {

struct Avx2 : X86 {
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // (128,384,12): 91% of peak, 2 x 5 88%, 3 x 4 89% (Zen 5).
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 12} : PanelLayout{lanes, 2, 6, 12};
  }
#else
  // Without FMA, each product occupies a register.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 10} : PanelLayout{lanes, 2, 5, 10};
  }
#endif
#if defined(__FMA__)
  // (128,384,12): 79 -> 84% of peak (Cascade Lake).
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t) noexcept {
    return lanes > 1 ? 2 : 1;
  }
#endif
  static constexpr std::size_t softmax_chains = 4;  // 16% less time than 1 (Cascade Lake)
#if LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 12;  // Alder Lake needs 10 to hide the latency of vpdpbusd
#endif
};
using Current = Avx2;

}  // namespace LADON_NAMESPACE::detail::target
