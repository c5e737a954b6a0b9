// SPDX-License-Identifier: Apache-2.0
// Converts the bfloat16 weights of a tile to floats on the stack, on targets that do not multiply bfloat16 numbers. A
// product of several tokens (detail/product/product.hpp) then computes with the converted weights. The conversion is
// exact, so the results are bit-identical to the results of float32 weights with equal values. For a single token,
// detail/product/single.hpp converts the weights in registers.
//
// Rows of at most target::Current::widened_features features are converted once for all panels. Longer rows are
// converted in pieces of widened_features features, again for each panel. The converted weights take at most 4 * Rows *
// (widened_features + cache_line_words) bytes of the stack: 2 KB for 8 rows on a microcontroller, 132 KB for 16 rows on
// 64-bit Arm.
//
// detail/target/layout.hpp defines tiles.
#pragma once

#include <cstddef>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/folded_tile.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

// Memory for the converted weights of Rows rows. If rows are long, the memory holds only `features` features at a time.
template <std::size_t Rows, std::size_t Inner>
struct WidenedRows {
  static constexpr std::size_t features =
      Inner < target::Current::widened_features ? Inner : target::Current::widened_features;
  static constexpr bool whole = features == Inner;
  // If rows were a multiple of aliasing_bytes apart, they would compete for one set of the L1 cache. Such rows are
  // therefore stored cache_line_words floats further apart.
  static constexpr std::size_t stride =
      features * sizeof(float) % target::Current::aliasing_bytes == 0 ? features + cache_line_words : features;
  using Matrix = WeightMatrix<float, stride, 1>;
  alignas(64) float weight[Rows * stride];

  // Converts the weights of the features from `first` to `first` + `count` - 1.
  template <class Wide, class From>
  constexpr void convert(From from, std::size_t first, std::size_t count) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      const BFloat16* const row = from.rows_from(r).columns_from(first).data;
      float* const to = weight + r * stride;
      const std::size_t rest = count % Wide::lanes, end = count - rest;
      for (std::size_t i = 0; i < end; i += Wide::lanes) vec::load_as_float<Wide>(row + i).store(to + i);
      if (rest > 0) vec::load_partial_as_float<Wide>(row + end, rest).store_partial(to + end, rest);
    }
  }
  constexpr Matrix matrix() const noexcept { return {weight}; }
};

// Converts the weights `from` of a tile, and stores the floats in `rows`. Converts at most rows.features features at a
// time, and then calls step(first, count, weights): `weights` has the converted weights of `count` features from
// `first` on. `converted` is true if an earlier call has converted this tile into `rows`. If `rows` has room for all
// features, the weights are then not converted again.
template <class Wide, std::size_t Rows, std::size_t Inner, class From, class Step>
LADON_INLINE constexpr void for_widened(WidenedRows<Rows, Inner>& rows, From from, bool converted, Step step) noexcept {
  for (std::size_t first = 0; first < Inner; first += rows.features) {
    const std::size_t count = Inner - first < rows.features ? Inner - first : rows.features;
    if (!(rows.whole && converted)) rows.template convert<Wide>(from, first, count);
    step(first, count, rows.matrix());
  }
}

}  // namespace LADON_NAMESPACE::detail
