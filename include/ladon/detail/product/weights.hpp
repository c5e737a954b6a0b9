// SPDX-License-Identifier: Apache-2.0
// The weights of a tile, as its loop reads them: in place, or converted on the stack. for_pieces(converted, f) calls
// f(first, count, matrix) for pieces of the inner index. `converted` is true if an earlier panel has called for_pieces.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

template <class Matrix, std::size_t Inner>
struct WeightsInPlace {
  static constexpr bool in_place = true;
  Matrix matrix;

  template <class F>
  LADON_INLINE constexpr void for_pieces(bool, F f) const noexcept {
    f(std::size_t{0}, Inner, matrix);
  }
};

// bfloat16 weights as floats, on targets that do not multiply bfloat16 numbers. The results are bit-identical to those
// of float32 weights with equal values. Rows of at most widened_features features are converted once for all panels,
// longer rows in pieces, again for each panel. The floats take at most 132 KB (16 rows, 64-bit Arm), or 2 KB on a
// microcontroller.
template <class Wide, std::size_t Rows, std::size_t Inner, class Matrix>
struct WidenedRows {
  static constexpr bool in_place = false;
  static constexpr std::size_t features =
      Inner < target::Current::widened_features ? Inner : target::Current::widened_features;
  // Rows that are a multiple of aliasing_bytes apart would compete for one set of the L1 cache.
  static constexpr std::size_t stride =
      features * sizeof(float) % target::Current::aliasing_bytes == 0 ? features + cache_line_words : features;
  Matrix from;
  alignas(64) float weight[Rows * stride];

  LADON_INLINE constexpr explicit WidenedRows(Matrix rows) noexcept : from(rows) {}

  constexpr void convert(std::size_t first, std::size_t count) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      const BFloat16* const row = from.rows_from(r).columns_from(first).data;
      float* const to = weight + r * stride;
      const std::size_t rest = count % Wide::lanes, end = count - rest;
      for (std::size_t i = 0; i < end; i += Wide::lanes) vec::load_as_float<Wide>(row + i).store(to + i);
      if (rest > 0) vec::load_partial_as_float<Wide>(row + end, rest).store_partial(to + end, rest);
    }
  }
  template <class F>
  LADON_INLINE constexpr void for_pieces(bool converted, F f) noexcept {
    for (std::size_t first = 0; first < Inner; first += features) {
      const std::size_t count = Inner - first < features ? Inner - first : features;
      if (!(features == Inner && converted)) convert(first, count);
      f(first, count, WeightMatrix<float, stride, 1>{weight});
    }
  }
};

// int8 weights in 16 bits, converted once for all panels: 2 * Rows * Inner bytes. Longer rows are not converted, to
// limit the stack.
inline constexpr std::size_t most_features_in_16_bits = 2 * target::Current::widened_features;
template <std::size_t Rows, std::size_t Inner, class Matrix>
struct WeightsIn16Bits {
  static constexpr bool in_place = false;
  static constexpr std::size_t features = (Inner + 1) / 2 * 2;
  alignas(64) std::int16_t weight[Rows * features];

  explicit WeightsIn16Bits(Matrix rows) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t i = 0; i < Inner; ++i) {
        weight[r * features + i] = std::int16_t{*rows.rows_from(r).columns_from(i).data};
      }
      if constexpr (features > Inner) weight[r * features + Inner] = 0;
    }
  }
  template <class F>
  LADON_INLINE void for_pieces(bool, F f) const noexcept {
    f(std::size_t{0}, features, WeightMatrix<std::int16_t, features, 1>{weight});
  }
};

}  // namespace LADON_NAMESPACE::detail
