// SPDX-License-Identifier: Apache-2.0
// FoldedMicroKernel computes a tile whose panel would leave lanes of registers idle:
//     half or a quarter of a register wide   Steps is 2 or 4, and the tile has one pack
//     one and a half registers wide          Steps is 2, and the tile has three packs of half a register each
//
// Each register takes Steps steps of the inner index k at once. Lane i * Steps + j of each sum belongs to token i of
// the pack, and to the steps k with k % Steps == j:
//     sum[r], lane i * Steps + j  +=  a(r, k + j) * panel[k + j][i]        k = 0, Steps, 2 Steps, ...
//
// At the end, the Steps partial sums of each token are added.
//
// One load reads Steps weights of a row of `a`, in place. Steps rows of the panel are loaded, and their lanes are
// reordered (detail/simd/fold.hpp).
//
// detail/memory/panels.hpp defines panels and packs.
#pragma once

#include <cstddef>

#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/simd/fold.hpp>

namespace ladon::inline LADON_ABI::detail {

// The micro-kernel of a folded product. `Wide` is the target's widest pack. A `Wide` register holds Steps steps of the
// inner index, for Wide::lanes / Steps tokens. The tile has Packs such registers for each row.
template <class Wide, std::size_t Rows, std::size_t Packs, std::size_t Steps>
class FoldedMicroKernel {
  using Fold = simd::Fold<Wide, Steps>;

 public:
  static constexpr std::size_t width = Packs * Wide::lanes / Steps;  // how many tokens a panel has

  LADON_INLINE FoldedMicroKernel() noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) sum_[r][v] = Wide::broadcast(0.0f);
    }
  }

  // Adds steps 0 .. inner - 1 to the sums. The panel's rows have `width` floats and are contiguous. With Prefetch, the
  // function also prefetches weights. `next` has the weights of the next tile. If the rows of `a` are contiguous, the
  // function prefetches weights of `a`, prefetch_distance_floats floats ahead. Near the end of the rows, it prefetches
  // the rows of `next`. If the columns of `a` are contiguous, it prefetches the columns of `next`.
  template <bool Prefetch, class Matrix>
  LADON_INLINE void accumulate(std::size_t inner, Matrix a, const float* panel, Matrix next) noexcept {
    accumulate_steps<Matrix::row_stride, Matrix::inner_stride, Prefetch>(inner, a.data, panel, next.data);
  }

  // Calls finish(row, pack, sums) for each row and pack. `sums` is a pack of Wide::lanes / Steps lanes, with the sum of
  // one token in each lane.
  template <class Finish>
  LADON_INLINE void finish(Finish finish) const noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) finish(r, v, Fold::add_steps(sum_[r][v]));
    }
  }

 private:
  template <std::size_t RowStride, std::size_t InnerStride, bool Prefetch>
  LADON_INLINE void accumulate_steps(std::size_t inner, const float* LADON_RESTRICT a,
                                     const float* LADON_RESTRICT panel, const float* next) noexcept {
    std::size_t k = 0;
    for (; k + cache_line <= inner; k += cache_line) {
      const float* const ahead = ahead_in_row(a, k, inner, next);
      const auto step = [&](std::size_t i) LADON_INLINE_LAMBDA {
        if constexpr (Prefetch) prefetch<RowStride, InnerStride>(ahead, next + k * InnerStride, i);
        add<RowStride, InnerStride>(a + (k + i) * InnerStride, panel + (k + i) * width);
      };
      if constexpr (Packs == 1) {
        LADON_UNROLL
        for (std::size_t i = 0; i < cache_line; i += Steps) step(i);
      } else {
        // If this loop were unrolled, g++ 12 would keep sums in memory.
        for (std::size_t i = 0; i < cache_line; i += Steps) step(i);
      }
    }
    for (; k + Steps <= inner; k += Steps) add<RowStride, InnerStride>(a + k * InnerStride, panel + k * width);
    if (k < inner) {
      // Fewer than Steps steps are left. Full loads would read beyond the rows of `a` and beyond the panel, so the
      // function copies the remaining elements into arrays that are padded with zeros.
      alignas(64) float rest[Rows * Steps] = {}, rest_of_panel[Steps * width] = {};
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t j = 0; j < inner - k; ++j) rest[r * Steps + j] = a[r * RowStride + (k + j) * InnerStride];
      }
      for (std::size_t i = 0; i < (inner - k) * width; ++i) rest_of_panel[i] = panel[k * width + i];
      add<Steps, 1>(rest, rest_of_panel);
    }
  }

  // Prefetches weights before Steps steps are computed. `step` is the position of the first of these steps in a cache
  // line of weights. Together, the calls for one cache line prefetch one cache line of each row of `a`. `ahead` points
  // to the prefetched line of the first row. A tile of three packs prefetches into the L1 cache, and a tile of one pack
  // into the L2 cache (detail/target/x86.hpp has the measurement). If the columns of `a` are contiguous, the function
  // prefetches the columns of `next` instead.
  template <std::size_t RowStride, std::size_t InnerStride>
  static LADON_INLINE void prefetch(const float* ahead, const float* next, std::size_t step) noexcept {
    if constexpr (InnerStride != 1) {
      for (std::size_t j = step; j < step + Steps; ++j) prefetch_to_second_cache(next + j * InnerStride);
    } else if constexpr (Packs == 1) {
      for (std::size_t r = step; r < step + Steps && r < Rows; ++r) prefetch_to_second_cache(ahead + r * RowStride);
    } else {
      static_assert(Rows * Steps <= cache_line);
      if (step / Steps < Rows) prefetch_to_nearest_cache(ahead + step / Steps * RowStride);
    }
  }

  // Adds the next Steps steps to the sums. `panel` points to the panel's rows for these steps.
  template <std::size_t RowStride, std::size_t InnerStride>
  LADON_INLINE void add(const float* a, const float* panel) noexcept {
    Wide b[Packs];
    Fold::load(panel, b);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const Wide weights = Fold::template alternate<InnerStride>(a + r * RowStride);
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) sum_[r][v] = fma(weights, b[v], sum_[r][v]);
    }
  }

  Wide sum_[Rows][Packs];
};

}  // namespace ladon::inline LADON_ABI::detail
