// SPDX-License-Identifier: Apache-2.0
// The form of a product (detail/product/product.hpp): its types and sizes, the rows of a tile, and how many panels and
// outputs are computed at a time.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail {

// The tokens of each panel fill Packs packs.
template <class SimdType, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
struct ProductForm {
  using Simd = SimdType;
  using Pack = typename Simd::template Pack<T.lanes>;
  static constexpr PanelLayout layout = T;
  static constexpr std::size_t packs = Packs, rows = Rows, inner = Inner, width = T.width();
};

// How many rows a tile has: fewer if the rows are a multiple of aliasing_bytes apart and so share a set of the L1
// cache.
template <class P, class Matrix, class In>
inline constexpr std::size_t tile_rows = [] {
  using target::Current;
  constexpr std::size_t rows = P::layout.tile_rows_for(P::packs);
  if constexpr (is_quantised<In>) {
    return rows < Current::int8_tile_sums / P::packs ? rows : Current::int8_tile_sums / P::packs;
  } else {
    constexpr std::size_t most_for_sums =
        std::is_same_v<In, BFloat16PanelsView> ? Current::bfloat16_tile_sums / P::packs : target::unlimited;
    constexpr std::size_t fewer = rows < most_for_sums ? rows : most_for_sums, most = Current::most_aliasing_rows;
    constexpr std::size_t row_bytes = Matrix::row_stride * sizeof(typename Matrix::Element);
    constexpr bool aliases = Matrix::rows_contiguous && row_bytes % Current::aliasing_bytes == 0;
    return aliases && fewer > most ? most : fewer;
  }
}();

// How many panels share a read of weights: all if they fit into the L2 cache, or if there are no vectors.
template <class Simd, PanelLayout T, std::size_t Tokens, std::size_t Inner>
inline constexpr std::size_t panels_at_a_time = [] {
  using target::Current;
  constexpr std::size_t panel_bytes = Inner * T.width() * sizeof(float);
  constexpr bool fit = T.panels(Tokens) * panel_bytes <= Current::second_cache_bytes;
  if (fit || Simd::lanes == 1) return all;
  constexpr std::size_t panels = Current::panel_bytes_at_a_time / panel_bytes;
  return panels < Current::fewest_panels_at_a_time ? Current::fewest_panels_at_a_time : panels;
}();

// How many outputs of `tokens` tokens are computed before they become rows (ladon/model/linear_rows.hpp).
constexpr std::size_t outputs_at_a_time(std::size_t tokens) noexcept {
  constexpr std::size_t tiles = 24;  // outputs, a multiple of the rows of most tiles
  const std::size_t outputs = target::Current::result_bytes_at_a_time / sizeof(float) / tokens / tiles * tiles;
  return outputs < tiles ? tiles : outputs;
}

// A tile of one pack leaves half of the registers to the surrounding code, so small products of such tiles are inlined.
// If other products were inlined, g++ 12 would keep the caller's values in vector registers, and store a sum in each
// step.
template <class P>
inline constexpr bool inlines_product = P::packs == 1 && P::rows * P::inner <= target::Current::inlined_product_weights;

// Weights are prefetched when a product reads them for the first time. Later, they are in a cache.
enum class Reading { first, again };

// Replaces biases, if a sum is computed in several parts: the sums of the earlier parts, [panels][rows][Width].
template <std::size_t Width>
struct PartialSums {
  const float* data;
  std::size_t panel_stride;

  LADON_INLINE constexpr PartialSums from(std::size_t first) const noexcept {
    return {data + first * Width, panel_stride};
  }
  LADON_INLINE constexpr PartialSums panels_from(std::size_t first) const noexcept {
    return {data + first * panel_stride, panel_stride};
  }
  template <class Pack>
  LADON_INLINE constexpr Pack start(std::size_t panel, std::size_t row, std::size_t pack) const noexcept {
    return Pack::load(data + panel * panel_stride + row * Width + pack * Pack::lanes);
  }
};

}  // namespace LADON_NAMESPACE::detail
