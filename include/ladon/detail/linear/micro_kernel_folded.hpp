// SPDX-License-Identifier: Apache-2.0
// A tile for a panel with few tokens, for example half or a quarter as many as a register has lanes. The tile of
// micro_kernel.hpp would leave the lanes without a token idle. The folded tile uses all lanes: it computes Steps steps
// of the inner index k at once, with Steps = lanes / number of tokens. Lane i * Steps + j of each sum belongs to token
// i and to the steps k with k % Steps == j:
//
//     sum[r], lane i * Steps + j  +=  a(r, k + j) * panel[k + j][i]        k = 0, Steps, 2 Steps, ...
//
// At the end, the Steps partial sums of each token are added.
//
// The tile reads Steps neighbouring weights of a row of `a` at once, in place. A row of the panel has width = lanes /
// Steps floats, so one load reads Steps rows into a register. The lanes of this register are then transposed into the
// order i * Steps + j (detail/simd/fold.hpp).
//
// detail/memory/panels.hpp defines panels and packs.
#pragma once

#include <cstddef>

#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/simd/fold.hpp>

namespace ladon::inline LADON_ABI::detail {

// The micro-kernel of a folded product. Wide is the target's widest pack.
template <class Wide, std::size_t Rows, std::size_t Steps>
class FoldedMicroKernel {
  using Fold = simd::Fold<Wide, Steps>;

 public:
  static constexpr std::size_t width = Wide::lanes / Steps;  // how many tokens a panel has

  LADON_INLINE FoldedMicroKernel() noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) sum_[r] = Wide::broadcast(0.0f);
  }

  // Adds steps 0 .. inner - 1 to the sums. The panel's rows have `width` floats and are contiguous. If Prefetch is
  // true, the function prefetches the rows of `a`, prefetch_distance_floats ahead. Near the end of these rows, the
  // function prefetches the rows of the next tile, `next`.
  template <bool Prefetch, class Matrix>
  LADON_INLINE void accumulate(std::size_t inner, Matrix a, const float* panel, Matrix next) noexcept {
    accumulate_steps<Matrix::row_stride, Prefetch>(inner, a.data, panel, next.data);
  }

  // Calls finish(row, sums) for each row. `sums` is a pack of `width` lanes, with the sum of one token in each lane.
  template <class Finish>
  LADON_INLINE void finish(Finish finish) const noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) finish(r, Fold::add_steps(sum_[r]));
  }

 private:
  template <std::size_t RowStride, bool Prefetch>
  LADON_INLINE void accumulate_steps(std::size_t inner, const float* LADON_RESTRICT a,
                                     const float* LADON_RESTRICT panel, const float* next) noexcept {
    std::size_t k = 0;
    for (; k + cache_line <= inner; k += cache_line) {
      const float* const ahead = ahead_in_row(a, k, inner, next);
      LADON_UNROLL
      for (std::size_t i = 0; i < cache_line; i += Steps) {
        if constexpr (Prefetch) {
          for (std::size_t r = i; r < i + Steps && r < Rows; ++r) prefetch_to_nearest_cache(ahead + r * RowStride);
        }
        add<RowStride>(a + k + i, Wide::load(panel + (k + i) * width));
      }
    }
    for (; k + Steps <= inner; k += Steps) add<RowStride>(a + k, Wide::load(panel + k * width));
    if (k < inner) {
      // Fewer than Steps steps are left. Full loads would read beyond the rows of `a` and beyond the panel.
      alignas(64) float rest[Rows * Steps] = {};
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t j = 0; j < inner - k; ++j) rest[r * Steps + j] = a[r * RowStride + k + j];
      }
      add<Steps>(rest, Wide::load_partial(panel + k * width, (inner - k) * width));
    }
  }

  // Adds Steps steps to the sums. `rows` holds the rows of the panel that belong to these steps.
  template <std::size_t RowStride>
  LADON_INLINE void add(const float* a, const Wide& rows) noexcept {
    const Wide b = Fold::interleave(rows);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) sum_[r] = fma(Fold::repeat(a + r * RowStride), b, sum_[r]);
  }

  Wide sum_[Rows];
};

}  // namespace ladon::inline LADON_ABI::detail
