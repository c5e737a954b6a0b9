// SPDX-License-Identifier: Apache-2.0
// bfloat16 panels are the input of products with bfloat16 weights, on targets that multiply bfloat16 numbers
// (detail/vec/dot_bfloat16.hpp). Two features of a token share a 32-bit lane:
//     data   [panels][(features + 1) / 2][width][2]    0 for a feature that is missing from the last pair
//
// Each feature is rounded to the nearest bfloat16, ties to even, so its relative error is at most 2^-8. Infinity and
// NaN stay infinity and NaN. At run time, subnormal features count as 0.
#pragma once

#include <cstddef>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/vec/dot_bfloat16.hpp>

namespace LADON_NAMESPACE::detail {

// A view of panels of bfloat16 numbers. Each panel begins `stride` numbers after the previous panel.
struct BFloat16PanelsView {
  const BFloat16* data;
  std::size_t stride;

  // Returns the panels from panel `first` on.
  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr BFloat16PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, stride};
  }
};

// Rounds the floats in `panels` [count][Features][width], and stores the result in `data`. The tokens of each panel
// fill Packs packs. Each panel of `data` begins `stride` bfloat16 numbers after the previous panel.
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
