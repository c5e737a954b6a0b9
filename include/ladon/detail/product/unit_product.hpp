// SPDX-License-Identifier: Apache-2.0
// Products in a matrix unit (detail/vec/matrix_unit.hpp), which reads weights and panels in place. A block of sums has
// up to two tiles of weights and two packs of tokens. Sums go through memory, because the unit has registers of its
// own. Integer sums are exact, so results equal those of vectors. bfloat16 products are added in another order than by
// vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/matrix_unit.hpp>

namespace LADON_NAMESPACE::detail {

template <class Unit, std::size_t Tiles, std::size_t Packs, std::size_t Lanes>
struct UnitBlock {
  static constexpr std::size_t rows = Tiles * Unit::rows;

  static LADON_INLINE void zero() noexcept {
    for_each([]<std::size_t T, std::size_t P>() LADON_INLINE_LAMBDA { Unit::template zero<2 * T + P>(); });
  }
  // Adds the products of the first Inner features of `w` and of a panel [tuples][Width][tuple size].
  template <std::size_t Inner, std::size_t Width, class Matrix, class Element>
  static LADON_INLINE void add(Matrix w, const Element* panel) noexcept {
    using Weight = typename Matrix::Element;
    constexpr std::size_t step = Unit::row_bytes / sizeof(Weight), tuple_size = sizeof(float) / sizeof(Element);
    constexpr std::size_t weight_stride = Matrix::row_stride * sizeof(Weight), panel_stride = Width * sizeof(float);
    static_assert(Matrix::rows_contiguous && Inner % step == 0);
    LADON_ROLLED_FOR(i, Inner / step) {
      const std::size_t k = i * step;
      for_each([&]<std::size_t T, std::size_t P>() LADON_INLINE_LAMBDA {
        if constexpr (T == 0) Unit::template load<6 + P>(panel + k * Width + P * Lanes * tuple_size, panel_stride);
        if constexpr (P == 0) {
          Unit::template load<4 + T>(w.rows_from(T * Unit::rows).columns_from(k).data, weight_stride);
        }
        Unit::template add<Weight, 2 * T + P, 4 + T, 6 + P>();
      });
    }
  }
  // Rows of sums begin Width numbers apart.
  template <std::size_t Width, class Sum>
  static LADON_INLINE void store(Sum* sums) noexcept {
    for_each([&]<std::size_t T, std::size_t P>() LADON_INLINE_LAMBDA {
      Unit::template store<2 * T + P>(sums + T * Unit::rows * Width + P * Lanes, Width * sizeof(Sum));
    });
  }

 private:
  // Calls f.operator()<T, P>() for each tile T of weights and pack P of tokens.
  static LADON_INLINE void for_each(auto f) noexcept {
    [&]<std::size_t... J>(std::index_sequence<J...>) LADON_INLINE_LAMBDA {
      (f.template operator()<J / Packs, J % Packs>(), ...);
    }(std::make_index_sequence<Tiles * Packs>());
  }
};

// Calls run.operator()<Tiles>(row) for each block of one or two tiles in Rows rows. Omits the last Rows % Unit::rows
// rows.
template <class Unit, std::size_t Rows, class Run>
LADON_INLINE void for_unit_blocks(Run run) noexcept {
  constexpr std::size_t tiles = Rows / Unit::rows;
  for (std::size_t i = 0; i < tiles / 2; ++i) run.template operator()<2>(i * 2 * Unit::rows);
  if constexpr (tiles % 2 > 0) run.template operator()<1>((tiles - 1) * Unit::rows);
}

// P is a ProductForm.
template <class P, class Matrix, class In>
inline constexpr bool multiplies_in_unit = [] {
  using Unit = typename P::Simd::Unit;
  if constexpr (is_quantised<In> || std::is_same_v<In, BFloat16PanelsView>) {
    if constexpr (Unit::template fits<typename In::Element, P::inner, P::layout.lanes>) {
      return Matrix::rows_contiguous && P::rows >= Unit::rows && P::packs <= 2;
    }
  }
  return false;
}();

// Calls finish.operator()<R>(row, panel, sums) for each half tile, of R = Unit::rows / 2 rows, and each panel, with
// sums [R][P::packs][lanes]. Omits the last P::rows % Unit::rows rows.
template <class P, class Matrix, class In, class Finish>
LADON_INLINE void rows_in_unit(Matrix w, In in, std::size_t panels, Finish finish) noexcept {
  using Unit = typename P::Simd::Unit;
  using Sum = std::conditional_t<is_quantised<In>, std::int32_t, float>;
  constexpr std::size_t lanes = P::layout.lanes, width = P::packs * lanes, finished = Unit::rows / 2;
  alignas(64) Sum sums[2 * Unit::rows * width];
  Unit::template begin<lanes>();
  for_unit_blocks<Unit, P::rows>([&]<std::size_t Tiles>(std::size_t row) LADON_INLINE_LAMBDA {
    using Block = UnitBlock<Unit, Tiles, P::packs, lanes>;
    for (std::size_t p = 0; p < panels; ++p) {
      Block::zero();
      Block::template add<P::inner, P::width>(w.rows_from(row), in.template panels_from<P::inner, P::width>(p).data);
      Block::template store<width>(sums);
      for (std::size_t r = 0; r < Block::rows; r += finished) {
        finish.template operator()<finished>(row + r, p, sums + r * width);
      }
    }
  });
  Unit::end();
}

}  // namespace LADON_NAMESPACE::detail
