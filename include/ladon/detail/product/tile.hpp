// SPDX-License-Identifier: Apache-2.0
// The micro-kernel computes one tile of a product: Rows rows of Packs packs of accumulators, which stay in registers. A
// step is the work for one value of the inner index k:
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0 .. inner - 1, in this order
//     a         a WeightMatrix, read in place
//     panel     [inner][Width] floats
//
// With the operation PairProducts, a(r, k) and the panel hold pairs of bfloat16 numbers: a step has two values of k.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/range.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/bfloat16_pairs.hpp>
#include <ladon/detail/vec/choose.hpp>

// On Helium, g++ 12 keeps an array of sums in memory, even if the loops over the sums are unrolled. One call for each
// sum avoids that.
#if defined(LADON_TILE_HELIUM) && !defined(LADON_SMALL)
#define LADON_SUMS_WITHOUT_LOOPS 1
#define LADON_SUM_LAMBDA LADON_INLINE_LAMBDA
#else
#define LADON_SUM_LAMBDA
#endif

namespace LADON_NAMESPACE::detail {

// A word is a float or a tuple (detail/vec/dot.hpp).
inline constexpr std::size_t cache_line_words = target::Current::cache_line_floats;

// Returns the address `Floats` floats after element k of `row`, or in `next_row` if the row ends earlier. Any address
// may be prefetched, so the next row need not exist.
template <std::size_t Floats, class Element>
LADON_INLINE const Element* ahead_in_row(const Element* row, std::size_t k, std::size_t inner,
                                         const Element* next_row) noexcept {
  const std::size_t ahead = k + Floats * sizeof(float) / sizeof(Element);
  return ahead < inner ? row + ahead : next_row + (ahead - inner);
}

// The addresses that a tile prefetches at step k of its first row: into the L2 cache, and nearer, into the L1 cache.
template <class Element>
struct OwnRowsAhead {
  const Element* for_second_cache;
  const Element* for_nearest_cache;

  LADON_INLINE OwnRowsAhead(const Element* row, std::size_t k, std::size_t inner, const Element* next_row) noexcept
      : for_second_cache(ahead_in_row<target::Current::prefetch_distance_floats>(row, k, inner, next_row)),
        for_nearest_cache(ahead_in_row<target::Current::near_prefetch_distance_floats>(row, k, inner, next_row)) {}
  // Prefetches `offset` elements later: r row strides lead to row r.
  LADON_INLINE void prefetch(std::size_t offset) const noexcept {
    prefetch_to_second_cache(for_second_cache + offset);
    prefetch_to_nearest_cache(for_nearest_cache + offset);
  }
};

struct MultiplyAdd {
  template <class Pack, class Broadcast>
  static LADON_INLINE constexpr void add(Pack& sum, const Broadcast& a, const Pack& b) noexcept {
    sum = fma(a, b, sum);
  }
};
struct PairProducts {
  template <class Pack>
  static LADON_INLINE constexpr void add(Pack& sum, const Pack& a, const Pack& b) noexcept {
    vec::BFloat16Pairs<Pack>::add_products(sum, b, a);
  }
};

template <class Pack, std::size_t Rows, std::size_t Packs, class Operation = MultiplyAdd>
struct MicroKernel {
  Pack sum[Rows][Packs];

  // Sets each sum to start(row, pack).
  template <class Start>
  LADON_INLINE constexpr explicit MicroKernel(Start start) noexcept {
#if defined(LADON_SUMS_WITHOUT_LOOPS)
    for_each_sum([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { sum[r][v] = start(r, v); });
#else
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) sum[r][v] = start(r, v);
    }
#endif
  }

  template <std::size_t Width, class Matrix>
  LADON_INLINE constexpr void accumulate(std::size_t inner, Matrix a, const float* panel) noexcept {
    accumulate_steps<Matrix::row_stride, Matrix::inner_stride, Width>(inner, a.data, panel);
  }

  // Like `accumulate`, but prefetches weights: a tile of one pack and contiguous rows its own rows, one row per step.
  // Other tiles prefetch the next tile, one cache line per step.
  template <std::size_t Width, class Matrix>
  LADON_INLINE void accumulate_and_prefetch(std::size_t inner, Matrix a, const float* panel, Matrix next) noexcept {
    accumulate_and_prefetch<Matrix::row_stride, Matrix::inner_stride, Width>(inner, a.data, panel, next.data);
  }

  // Like `accumulate`, but reads ahead in the contiguous weights of the next tile.
  template <std::size_t Width, class Matrix>
  LADON_INLINE void accumulate_and_read_ahead(std::size_t inner, Matrix a, const float* panel, Matrix next) noexcept {
    for (std::size_t k = 0; k < inner; ++k, ++a.data, panel += Width, next.data += Rows) {
      read_ahead(next.data);
      add<Matrix::row_stride, Matrix::inner_stride, Width>(0, a.data, panel);
    }
  }

  // Like `accumulate`, but calls before_step(k) before step k, which may still write row k of the panel and later rows.
  template <std::size_t Width, class Matrix, class BeforeStep>
  LADON_INLINE constexpr void accumulate_interleaved(std::size_t inner, Matrix a, const float* panel,
                                                     BeforeStep before_step) noexcept {
    for (std::size_t k = 0; k < inner; ++k) {
      before_step(k);
      add<Matrix::row_stride, Matrix::inner_stride, Width>(k, a.data, panel);
    }
  }

  template <std::size_t Width, class Matrix>
  LADON_INLINE constexpr void accumulate_last_pack(std::size_t inner, Matrix a, const float* panel) noexcept {
    accumulate_last_pack_steps<Matrix::row_stride, Matrix::inner_stride, Width>(inner, a.data, panel);
  }

  template <std::size_t KeyWidth, std::size_t Width>
  static constexpr bool has_panels_loop =
#if defined(LADON_TILE_PANELS)
      KeyWidth == 4 && assembly::has_loop<Pack, Rows, Packs, KeyWidth, 1, Width>;
#else
      false;
#endif
  // Like `accumulate`, but reads the weights from panels of KeyWidth columns, PanelStride floats apart. Returns the
  // number of computed steps, a multiple of KeyWidth.
  template <std::size_t PanelStride, std::size_t KeyWidth>
  LADON_INLINE std::size_t accumulate_panels([[maybe_unused]] std::size_t inner, [[maybe_unused]] const float* a,
                                             [[maybe_unused]] const float* panel) noexcept {
#if defined(LADON_TILE_PANELS)
    if (inner >= KeyWidth) assembly::accumulate<KeyWidth, 1, PanelStride>(sum, inner / KeyWidth, a, panel);
    return inner / KeyWidth * KeyWidth;
#else
    return 0;
#endif
  }

  template <class Finish>
  LADON_INLINE constexpr void finish(Finish finish) const noexcept {
#if defined(LADON_SUMS_WITHOUT_LOOPS)
    for_each_sum([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { finish(r, v, sum[r][v]); });
#else
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) finish(r, v, sum[r][v]);
    }
#endif
  }

 private:
#if defined(LADON_SUMS_WITHOUT_LOOPS)
  template <class F>
  static LADON_INLINE constexpr void for_each_sum(F f) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>)
        LADON_INLINE_LAMBDA { (f(I / Packs, I % Packs), ...); }(std::make_index_sequence<Rows * Packs>());
  }
#endif

  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE constexpr void accumulate_steps(std::size_t inner, const float* LADON_RESTRICT a,
                                               const float* LADON_RESTRICT panel) noexcept {
    if constexpr (target::Current::advances_pointers) {
      if (!std::is_constant_evaluated()) {
        for (std::size_t k = 0; k < inner; ++k, a += InnerStride, panel += Width)
          add<RowStride, InnerStride, Width>(0, a, panel);
        return;
      }
    }
#if defined(LADON_TILE_ASSEMBLY)
    if constexpr (assembly::has_loop<Pack, Rows, Packs, RowStride, InnerStride, Width>) {
      if (!std::is_constant_evaluated()) {
        const std::size_t times = inner / assembly::steps;
        if (times > 0) assembly::accumulate<RowStride, InnerStride>(sum, times, a, panel);
        for (std::size_t k = times * assembly::steps; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
        return;
      }
    }
#endif
    // A known number of steps makes g++ 12 copy and spill accumulators of vdpbf16ps.
    if constexpr (std::is_same_v<Operation, PairProducts>) inner = opaque(inner);
    if constexpr (target::Current::steps_per_iteration(Pack::lanes, Packs) == 2) {
#if defined(__GNUC__)
#pragma GCC unroll 2
#endif
      for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
    } else {
      for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
    }
  }

  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE void accumulate_and_prefetch(std::size_t inner, const float* LADON_RESTRICT a,
                                            const float* LADON_RESTRICT panel, const float* next) noexcept {
    constexpr bool prefetches_own_rows = Packs == 1 && InnerStride == 1;
    std::size_t k = 0;
    for (; k + cache_line_words <= inner; k += cache_line_words) {
      const OwnRowsAhead<float> ahead(a, k, inner, next);
      for (std::size_t i = 0; i < cache_line_words; ++i) {
        if constexpr (prefetches_own_rows) {
          if (i < Rows) ahead.prefetch(i * RowStride);
        } else {
          prefetch_to_second_cache(InnerStride == 1 ? next + i * RowStride + k : next + (k + i) * InnerStride);
        }
        add<RowStride, InnerStride, Width>(k + i, a, panel);
      }
    }
    for (; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
  }

  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE constexpr void accumulate_last_pack_steps(std::size_t inner, const float* LADON_RESTRICT a,
                                                         const float* LADON_RESTRICT panel) noexcept {
    for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width, Packs - 1>(k, a, panel);
  }

  // Adds step k to the sums of the packs from number First on.
  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width, std::size_t First = 0>
  LADON_INLINE constexpr void add(std::size_t k, const float* a, const float* panel) noexcept {
    if constexpr (reloads_packs && First == 0) {
      add_reloading<RowStride>(a + k * InnerStride, panel + k * Width);
      return;
    }
    Pack b[Packs];
#if defined(LADON_SUMS_WITHOUT_LOOPS)
    for_each_sum([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA {
      if (v < First) return;
      if (r == 0) b[v] = Pack::load(panel + k * Width + v * Pack::lanes);
      sum[r][v] = fma(Pack::broadcast(a[r * RowStride + k * InnerStride]), b[v], sum[r][v]);
    });
#else
    LADON_UNROLL
    for (std::size_t v = First; v < Packs; ++v) b[v] = Pack::load(panel + k * Width + v * Pack::lanes);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Pack::broadcast(a[r * RowStride + k * InnerStride]);
      LADON_UNROLL
      for (std::size_t v = First; v < Packs; ++v) Operation::add(sum[r][v], broadcast, b[v]);
    }
#endif
  }

  // Registers have no room for a whole row of the panel. Only `resident` packs stay in registers.
  static constexpr std::size_t resident = target::Current::resident_packs;
  static constexpr bool reloads_packs = Packs > resident&& requires(const float* from) { Pack::load_aligned(from); };

  template <std::size_t RowStride>
  LADON_INLINE void add_reloading(const float* a, const float* panel) noexcept {
    Pack kept[reloads_packs ? resident : 1];
    LADON_UNROLL
    for (std::size_t v = 0; v < resident; ++v) kept[v] = Pack::load_aligned(panel + v * Pack::lanes);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Pack::broadcast(a[r * RowStride]);
      const float* const panel_again = opaque(panel);
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack b = v < resident ? kept[v] : Pack::load_aligned(panel_again + v * Pack::lanes);
        Operation::add(sum[r][v], broadcast, b);
      }
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
