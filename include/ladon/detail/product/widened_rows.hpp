// SPDX-License-Identifier: Apache-2.0
// The bfloat16 weights of a tile, converted to floats on the stack, on targets that do not multiply bfloat16 numbers.
// The results are bit-identical to those of float32 weights with equal values. Rows of at most widened_features
// features are converted once for all panels, longer rows in pieces, again for each panel. The floats take at most 132
// KB (16 rows, 64-bit Arm), or 2 KB on a microcontroller.
#pragma once

#include <cstddef>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/folded_tile.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

template <std::size_t Rows, std::size_t Inner>
struct WidenedRows {
  static constexpr std::size_t features =
      Inner < target::Current::widened_features ? Inner : target::Current::widened_features;
  static constexpr bool whole = features == Inner;
  // Rows that are a multiple of aliasing_bytes apart would compete for one set of the L1 cache.
  static constexpr std::size_t stride =
      features * sizeof(float) % target::Current::aliasing_bytes == 0 ? features + cache_line_words : features;
  using Matrix = WeightMatrix<float, stride, 1>;
  alignas(64) float weight[Rows * stride];

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

// Calls step(first, count, weights) for pieces of at most rows.features features. `converted` is true if `rows` already
// holds this tile.
template <class Wide, std::size_t Rows, std::size_t Inner, class From, class Step>
LADON_INLINE constexpr void for_widened(WidenedRows<Rows, Inner>& rows, From from, bool converted, Step step) noexcept {
  for (std::size_t first = 0; first < Inner; first += rows.features) {
    const std::size_t count = Inner - first < rows.features ? Inner - first : rows.features;
    if (!(rows.whole && converted)) rows.template convert<Wide>(from, first, count);
    step(first, count, rows.matrix());
  }
}

}  // namespace LADON_NAMESPACE::detail
