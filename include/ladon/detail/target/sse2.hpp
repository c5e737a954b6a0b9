// SPDX-License-Identifier: Apache-2.0
// Constants for SSE2 to SSE4.2: 16 registers of 4 floats, no FMA.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

#define LADON_KERNEL LADON_NOINLINE  // as in avx2.hpp

namespace LADON_NAMESPACE::detail::target {

struct Sse2 : X86 {
  // Wide tiles share broadcasts. On Zen, 4 x 3 can reach 89% of peak, and 2 x 5 80%.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > 2 * lanes) return {lanes, 4, 3, 10};
    return tokens <= lanes ? PanelLayout{lanes, 1, 10} : PanelLayout{lanes, 2, 5, 10};
  }
  static constexpr std::size_t softmax_chains = 4;  // 14% less time than one (Cascade Lake)
};
using Current = Sse2;

}  // namespace LADON_NAMESPACE::detail::target
