// SPDX-License-Identifier: Apache-2.0
// The weights of a tile, as its loop reads them: in place, or converted on the stack.
//     multiply<P>(tile, panel, reads)   adds the products of the weights and a panel to the sums of the tile
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/tile_dots.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

// Where a tile and a panel are in their product:
//     first_panel   whether the panel is the first
//     last_panel    whether it is the last, and the product reads the weights for the first time (Reading::first)
//     has_next      whether another tile with as many rows follows
struct TileReads {
  bool first_panel, last_panel, has_next;
};

// Int8 and folded tiles prefetch long rows for each panel. Other tiles prefetch them for the last panel, if the weights
// are read for the first time. WebAssembly, which has no prefetch, reads weights of the next tile, if they are
// contiguous.
template <class Matrix>
struct WeightsInPlace {
  Matrix rows;

  template <class P, class Tile, class Element>
  LADON_INLINE constexpr void multiply(Tile& tile, const Element* panel,
                                       [[maybe_unused]] TileReads reads) const noexcept {
    using target::Current;
    constexpr bool int8 = std::is_same_v<typename Matrix::Element, std::int8_t>, folded = is_folded<typename Tile::Dot>;
    if constexpr (Matrix::row_stride * Matrix::inner_stride >= Current::prefetched_row_floats) {
      constexpr bool own = P::packs == 1 || folded;
      constexpr Prefetch kind = int8 ? Prefetch::own_rows_near : own ? Prefetch::own_rows : Prefetch::next_rows;
      if (!std::is_constant_evaluated() && (int8 || folded || reads.last_panel)) {
        return tile.template accumulate<P::width>(P::inner, rows, panel,
                                                  PrefetchAhead<kind, Tile::rows, Matrix>{rows, P::inner});
      }
    } else if constexpr (Matrix::inner_stride == 1 && Matrix::row_stride == P::inner &&
                         P::inner >= (int8 ? Current::read_ahead_int8 : Current::read_ahead_floats)) {
      if (!std::is_constant_evaluated() && (folded || reads.last_panel) && reads.has_next) {
        const auto* const next = rows.rows_from(Tile::rows).data;
        const auto read = [next](std::size_t k) LADON_INLINE_LAMBDA { read_ahead(next + Tile::rows * k); };
        return tile.template accumulate<P::width>(P::inner, rows, panel, BeforeEachStep{read});
      }
    }
    tile.template accumulate<P::width>(P::inner, rows, panel);
  }
};

// Converts weights to the type To: int8 weights to 16 bits, and bfloat16 weights to floats on targets that do not
// multiply bfloat16 numbers. Products have the same bits as with weights of the type To. Rows of at most `most` weights
// are converted once for all panels. Longer rows are converted in pieces, again for each panel. The converted weights
// take at most 132 KB (16 rows, 64-bit Arm), or 2 KB on a microcontroller.
template <class To, class Wide, std::size_t Rows, std::size_t Inner, class Matrix>
struct ConvertedRows {
  static constexpr std::size_t most = target::Current::widened_features * sizeof(float) / sizeof(To);
  static constexpr std::size_t whole_tuples = std::is_same_v<To, float> ? Inner : (Inner + 1) / 2 * 2;
  static constexpr std::size_t features = whole_tuples < most ? whole_tuples : most;
  static constexpr bool aliases = features * sizeof(To) % target::Current::aliasing_bytes == 0;
  static constexpr std::size_t stride = aliases ? features + cache_line_words : features;
  Matrix from;
  alignas(64) To weight[Rows * stride];

  LADON_INLINE constexpr explicit ConvertedRows(Matrix rows) noexcept : from(rows) {}

  constexpr void convert(std::size_t first, std::size_t count) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto* const row = from.rows_from(r).columns_from(first).data;
      To* const to = weight + r * stride;
      if constexpr (std::is_same_v<To, float>) {
        const std::size_t rest = count % Wide::lanes, end = count - rest;
        for (std::size_t i = 0; i < end; i += Wide::lanes) vec::load_as_float<Wide>(row + i).store(to + i);
        if (rest > 0) vec::load_partial_as_float<Wide>(row + end, rest).store_partial(to + end, rest);
      } else {
        for (std::size_t i = 0; i < count; ++i) to[i] = To{row[i]};
        if (count % 2 != 0) to[count] = 0;
      }
    }
  }
  template <class P, class Tile, class Element>
  LADON_INLINE constexpr void multiply(Tile& tile, const Element* panel, TileReads reads) noexcept {
    for (std::size_t k = 0; k < Inner; k += features) {
      const std::size_t count = Inner - k < features ? Inner - k : features;
      if (features < Inner || reads.first_panel) convert(k, count);
      const std::size_t steps = std::is_same_v<To, float> ? count : (count + 1) / 2 * 2;
      tile.template accumulate<P::width>(steps, WeightMatrix<To, stride, 1>{weight}, panel + k * P::width);
    }
  }
};

template <class P, std::size_t R, class In, class Matrix>
LADON_INLINE constexpr auto weights_of_tile(Matrix rows) noexcept {
  using Simd = typename P::Simd;
  if constexpr (is_quantised<In> && Simd::widens_int8 && sizeof(typename In::Element) > 1) {
    return ConvertedRows<std::int16_t, typename P::Pack, R, P::inner, Matrix>(rows);
  } else if constexpr (std::is_same_v<typename Matrix::Element, BFloat16> && std::is_same_v<In, PanelsView>) {
    constexpr bool folded = folded_steps<Simd, P::layout, P::inner, Matrix, In> > 1;
    using Wide = typename Simd::template Pack<folded ? Simd::lanes : P::layout.lanes>;
    return ConvertedRows<float, Wide, R, P::inner, Matrix>(rows);
  } else {
    return WeightsInPlace<Matrix>{rows};
  }
}

}  // namespace LADON_NAMESPACE::detail
