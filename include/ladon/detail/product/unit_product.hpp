// SPDX-License-Identifier: Apache-2.0
// The product for several tokens in a matrix unit (detail/vec/matrix_unit.hpp), which reads weights and panels as they
// lie. A block of sums has up to two tiles of weights and two packs of tokens. It goes through memory, because tiles
// and vectors share no registers. Integer sums are exact, so results equal those of the other loops. Sums of bfloat16
// products are added in another order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/matrix_unit.hpp>

namespace LADON_NAMESPACE::detail {

// Whether the unit computes a product. P is a ProductForm.
template <class Unit, class P, class Matrix, class In>
inline constexpr bool multiplies_in_unit = [] {
  if constexpr (is_quantised<In> || std::is_same_v<In, BFloat16PanelsView>) {
    if constexpr (Unit::template fits<typename In::Element, P::inner, P::layout.lanes>) {
      return Matrix::rows_contiguous && P::rows >= Unit::rows && P::packs <= 2;
    }
  }
  return false;
}();

// Computes sums [Tiles * Unit::rows][P::packs][lanes] of the rows of weights from `w` on.
template <class Unit, class P, std::size_t Tiles, class Matrix, class Element, class Sum>
LADON_INLINE void sums_in_unit(Matrix w, const Element* panel, Sum* sums) noexcept {
  using Weight = typename Matrix::Element;
  constexpr std::size_t lanes = P::layout.lanes;
  constexpr std::size_t features = Unit::row_bytes / sizeof(Weight), pack = lanes * sizeof(Sum) / sizeof(Element);
  constexpr std::size_t weight_stride = Matrix::row_stride * sizeof(Weight), panel_stride = P::width * sizeof(Sum);
  constexpr std::size_t sum_stride = P::packs * P::layout.lanes, tile_sums = Unit::rows * sum_stride;
  constexpr bool two_tiles = Tiles == 2, two_packs = P::packs == 2;
  Unit::template zero<0>();
  if constexpr (two_packs) Unit::template zero<1>();
  if constexpr (two_tiles) Unit::template zero<2>();
  if constexpr (two_tiles && two_packs) Unit::template zero<3>();
  for (std::size_t k = 0; k < P::inner; k += features) {
    const Element* const x = panel + k * P::width;
    Unit::template load<6>(x, panel_stride);
    Unit::template load<4>(w.columns_from(k).data, weight_stride);
    Unit::template add<Weight, 0, 4, 6>();
    if constexpr (two_packs) {
      Unit::template load<7>(x + pack, panel_stride);
      Unit::template add<Weight, 1, 4, 7>();
    }
    if constexpr (two_tiles) {
      Unit::template load<5>(w.rows_from(Unit::rows).columns_from(k).data, weight_stride);
      Unit::template add<Weight, 2, 5, 6>();
    }
    if constexpr (two_tiles && two_packs) Unit::template add<Weight, 3, 5, 7>();
  }
  Unit::template store<0>(sums, sum_stride * sizeof(Sum));
  if constexpr (two_packs) Unit::template store<1>(sums + lanes, sum_stride * sizeof(Sum));
  if constexpr (two_tiles) Unit::template store<2>(sums + tile_sums, sum_stride * sizeof(Sum));
  if constexpr (two_tiles && two_packs) Unit::template store<3>(sums + tile_sums + lanes, sum_stride * sizeof(Sum));
}

// Calls finish.operator()<R>(row, panel, sums) for each tile of R rows and each panel. Sums: [R][P::packs] packs. The
// last P::rows % Unit::rows rows are left.
template <class Unit, class P, class Matrix, class In, class Finish>
LADON_INLINE void rows_in_unit(Matrix w, In in, std::size_t panels, Finish finish) noexcept {
  using Sum = std::conditional_t<is_quantised<In>, std::int32_t, float>;
  constexpr std::size_t tile_sums = Unit::rows * P::packs * P::layout.lanes, finished = Unit::rows / 2;
  alignas(64) Sum sums[2 * tile_sums];
  Unit::template begin<P::layout.lanes>();
  const auto block = [&]<std::size_t Tiles>(std::size_t row) LADON_INLINE_LAMBDA {
    for (std::size_t p = 0; p < panels; ++p) {
      sums_in_unit<Unit, P, Tiles>(w.rows_from(row), in.template panels_from<P::inner, P::width>(p).data, sums);
      for (std::size_t r = 0; r < Tiles * Unit::rows; r += finished) {
        finish.template operator()<finished>(row + r, p, sums + r * P::packs * P::layout.lanes);
      }
    }
  };
  constexpr std::size_t pairs_of_tiles = P::rows / (2 * Unit::rows);
  for (std::size_t i = 0; i < pairs_of_tiles; ++i) block.template operator()<2>(i * 2 * Unit::rows);
  if constexpr (P::rows / Unit::rows % 2 > 0) block.template operator()<1>(pairs_of_tiles * 2 * Unit::rows);
  Unit::end();
}

}  // namespace LADON_NAMESPACE::detail
