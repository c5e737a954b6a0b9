// SPDX-License-Identifier: Apache-2.0
// bfloat16 weights of a tile, converted to floats on the stack. A product of several tokens (detail/linear/matmul.hpp)
// then computes with the floats. The conversion is exact, so the results have the bits of float32 weights with the same
// values. A single token needs no conversion on the stack: detail/linear/matrix_vector.hpp converts in registers.
//
// If a row has more than target::Current::widened_features features, the tile converts the weights of this many
// features at a time, for each panel anew. Otherwise the tile converts its weights once for all panels. The stack takes
// 4 * Rows * widened_features bytes at most: 2 KB for 8 rows on a microcontroller, 48 KB for 6 rows on AVX2.
#pragma once

#include <cstddef>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/linear/micro_kernel_folded.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/simd/load_as_float.hpp>

namespace ladon::inline LADON_ABI::detail {

// The weights of Rows rows and of at most `features` features, as floats.
template <std::size_t Rows, std::size_t Inner>
struct WidenedRows {
  static constexpr std::size_t features =
      Inner < target::Current::widened_features ? Inner : target::Current::widened_features;
  static constexpr bool whole = features == Inner;
  // Rows that are a multiple of aliasing_bytes apart would compete for one set of the L1 cache.
  static constexpr std::size_t stride =
      features * sizeof(float) % target::Current::aliasing_bytes == 0 ? features + cache_line : features;
  using Matrix = WeightMatrix<float, stride, 1>;
  alignas(64) float weight[Rows * stride];

  // Converts the weights of the features from `first` to `first` + `count` - 1.
  template <class Wide, class From>
  constexpr void convert(From from, std::size_t first, std::size_t count) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      const BFloat16* const row = from.rows_from(r).columns_from(first).data;
      float* const to = weight + r * stride;
      const std::size_t rest = count % Wide::lanes, end = count - rest;
      for (std::size_t i = 0; i < end; i += Wide::lanes) simd::load_as_float<Wide>(row + i).store(to + i);
      if (rest > 0) simd::load_partial_as_float<Wide>(row + end, rest).store_partial(to + end, rest);
    }
  }
  constexpr Matrix matrix() const noexcept { return {weight}; }
};

// Calls step(first, count, weights) for the features of a tile, part by part. `weights` holds the converted weights of
// `count` features from `first` on. `converted` is true if `rows` holds the weights of all features already.
template <class Wide, std::size_t Rows, std::size_t Inner, class From, class Step>
LADON_INLINE constexpr void for_widened(WidenedRows<Rows, Inner>& rows, From from, bool converted, Step step) noexcept {
  for (std::size_t first = 0; first < Inner; first += rows.features) {
    const std::size_t count = Inner - first < rows.features ? Inner - first : rows.features;
    if (!(rows.whole && converted)) rows.template convert<Wide>(from, first, count);
    step(first, count, rows.matrix());
  }
}

}  // namespace ladon::inline LADON_ABI::detail
