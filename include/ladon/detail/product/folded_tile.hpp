// SPDX-License-Identifier: Apache-2.0
// A folded tile: its panel would leave lanes of the registers idle, so each register holds several steps.
//     width of the panel         Steps   packs of the tile
//     half a register            2       1
//     a quarter of a register    4       1
//     one and a half registers   2       3, each half a register wide
//
// Lane i * Steps + j of a sum belongs to token i, and adds the steps j, j + Steps, j + 2 Steps and so on. The partial
// sums of a token are added at the end.
#pragma once

#include <cstddef>

#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/fold.hpp>

namespace LADON_NAMESPACE::detail {

// The micro-kernel of a folded product. `Wide` is the widest pack. With PairProducts, a step has two bfloat16 features.
template <class Wide, std::size_t Rows, std::size_t Packs, std::size_t Steps, class Operation = MultiplyAdd>
class FoldedMicroKernel {
  using Fold = vec::Fold<Wide, Steps>;

 public:
  static constexpr std::size_t width = Packs * Wide::lanes / Steps;  // how many tokens a panel has

  LADON_INLINE FoldedMicroKernel() noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) sum_[r][v] = Wide::broadcast(0.0f);
    }
  }

  // Adds the products of all `inner` features, which are floats or bfloat16 numbers. `next` has the weights of the next
  // tile.
  template <bool Prefetch, class Matrix, class Element>
  LADON_INLINE void accumulate(std::size_t inner, Matrix a, const Element* panel, Matrix next) noexcept {
    accumulate_steps<Matrix::row_stride, Matrix::inner_stride, Prefetch>(inner, a.data, panel, next.data);
  }

  // Calls finish(row, pack, sums). Each lane of `sums` belongs to one token.
  template <class Finish>
  LADON_INLINE void finish(Finish finish) const noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) finish(r, v, Fold::add_steps(sum_[r][v]));
    }
  }

 private:
  template <std::size_t RowStride, std::size_t InnerStride, bool Prefetch, class Element>
  LADON_INLINE void accumulate_steps(std::size_t inner, const Element* LADON_RESTRICT a,
                                     const Element* LADON_RESTRICT panel, const Element* next) noexcept {
    constexpr std::size_t step_features = sizeof(float) / sizeof(Element);  // how many features a step has
    const std::size_t steps = inner / step_features;
    std::size_t k = 0;
    for (; k + cache_line_words <= steps; k += cache_line_words) {
      const OwnRowsAhead ahead(a, step_features * k, inner, next);
      // g++ 12 would keep sums of three packs in memory if this loop were unrolled.
      for (std::size_t i = 0; i < cache_line_words; i += Steps) {
        if constexpr (Prefetch) prefetch<RowStride, InnerStride>(ahead, next + k * InnerStride, i);
        add<RowStride, InnerStride>(a + step_features * (k + i) * InnerStride, panel + step_features * (k + i) * width);
      }
    }
    for (; k + Steps <= steps; k += Steps) {
      add<RowStride, InnerStride>(a + step_features * k * InnerStride, panel + step_features * k * width);
    }
    const std::size_t done = step_features * k;
    if (done < inner) {
      // Full loads would read beyond the rows of `a` and beyond the panel, so the rest is copied and padded with zeros.
      const std::size_t rest_steps = (inner - done + step_features - 1) / step_features;
      alignas(64) Element rest[Rows * Steps * step_features] = {}, rest_of_panel[Steps * width * step_features] = {};
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t j = 0; j < inner - done; ++j) {
          rest[r * Steps * step_features + j] = a[r * RowStride + (done + j) * InnerStride];
        }
      }
      for (std::size_t i = 0; i < rest_steps * width * step_features; ++i) rest_of_panel[i] = panel[done * width + i];
      add<Steps * step_features, 1>(rest, rest_of_panel);
    }
  }

  // Prefetches weights for step `step` of a cache line: of its own rows, or of the next tile if columns are contiguous.
  // The calls for one cache line cover all rows.
  template <std::size_t RowStride, std::size_t InnerStride, class Element>
  static LADON_INLINE void prefetch(const OwnRowsAhead<Element>& ahead, const Element* next,
                                    std::size_t step) noexcept {
    if constexpr (InnerStride != 1) {
      for (std::size_t j = step; j < step + Steps; ++j) prefetch_to_second_cache(next + j * InnerStride);
    } else if constexpr (Packs == 1) {
      for (std::size_t r = step; r < step + Steps && r < Rows; ++r) ahead.prefetch(r * RowStride);
    } else {
      static_assert(Rows * Steps <= cache_line_words);
      if (step / Steps < Rows) ahead.prefetch(step / Steps * RowStride);
    }
  }

  template <std::size_t RowStride, std::size_t InnerStride, class Element>
  LADON_INLINE void add(const Element* a, const Element* panel) noexcept {
    Wide b[Packs];
    Fold::load(panel, b);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const Wide weights = Fold::template alternate<InnerStride>(a + r * RowStride);
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) Operation::add(sum_[r][v], weights, b[v]);
    }
  }

  Wide sum_[Rows][Packs];
};

}  // namespace LADON_NAMESPACE::detail
