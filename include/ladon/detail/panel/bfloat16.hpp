// SPDX-License-Identifier: Apache-2.0
// Panels of bfloat16 numbers, for targets that multiply them (detail/vec/dot_bfloat16.hpp):
//     data   [panels][(features + 1) / 2][width][2]    0 for a feature that is missing from the last pair
//
// Features are rounded to nearest, ties to even: the relative error is at most 2^-8. Subnormal features count as 0.
#pragma once

#include <cstddef>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/vec/dot_bfloat16.hpp>

namespace LADON_NAMESPACE::detail {

// Each panel begins `stride` numbers after the previous one.
struct BFloat16PanelsView {
  using Element = BFloat16;
  const BFloat16* data;
  std::size_t stride;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr BFloat16PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, stride};
  }
};

// Rounds `panels` [count][Features][width] to `data`. The tokens of each panel fill Packs packs.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Features>
LADON_KERNEL constexpr void round_panels(const float* panels, std::size_t count, BFloat16* data,
                                         std::size_t stride) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  using Dot = vec::TupleDot<BFloat16, Pack>;
  constexpr std::size_t width = T.width(), whole = Features / 2 * 2;
  for (std::size_t p = 0; p < count; ++p) {
    const float* const from = panels + p * Features * width;
    BFloat16* const to = data + p * stride;
    for (std::size_t i = 0; i < whole; i += 2) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const float* const features = from + i * width + v * T.lanes;
        const Pack pair[2] = {Pack::load(features), Pack::load(features + width)};
        Dot::store_tuple(pair, to + i * width + 2 * v * T.lanes);
      }
    }
    if constexpr (whole < Features) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack pair[2] = {Pack::load(from + whole * width + v * T.lanes), Pack::broadcast(0.0f)};
        Dot::store_tuple(pair, to + whole * width + 2 * v * T.lanes);
      }
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
