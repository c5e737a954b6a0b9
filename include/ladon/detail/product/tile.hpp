// SPDX-License-Identifier: Apache-2.0
// The micro-kernel computes one tile of a product: Rows rows of Packs packs of sums, which stay in registers. Its
// loops run over the inner index, in steps of a dot (detail/vec/dot.hpp, detail/product/tile_dots.hpp):
//     sum[r][v] += products of the weights of row r and the features of pack v
//
// The arguments of the loop:
//     w         a WeightMatrix, read in place
//     panel     [inner][Width] floats, or [tuples][Width][tuple_size]
//     ahead     what happens between the steps: NothingAhead, BeforeEachStep or PrefetchAhead
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/tile_dots.hpp>
#include <ladon/detail/vec/choose.hpp>

// On Helium, g++ 12 keeps an array of sums in memory, even in unrolled loops. One call for each sum avoids that.
#if defined(LADON_TILE_HELIUM) && !defined(LADON_SMALL)
#define LADON_SUMS_WITHOUT_LOOPS 1
#define LADON_SUM_LAMBDA LADON_INLINE_LAMBDA
#else
#define LADON_SUM_LAMBDA
#endif

namespace LADON_NAMESPACE::detail {

// How many floats or tuples a cache line has.
inline constexpr std::size_t cache_line_words = target::Current::cache_line_floats;

struct NothingAhead {
  static constexpr std::size_t first_pack = 0;
  constexpr void before(std::size_t) const noexcept {}
};

// Adds products only to the packs from number First on.
template <std::size_t First>
struct PacksFrom : NothingAhead {
  static constexpr std::size_t first_pack = First;
};

// Calls f(k) before the step of feature k. `f` may still write row k of the panel and later rows.
template <class F>
struct BeforeEachStep {
  static constexpr std::size_t first_pack = 0;
  F f;
  LADON_INLINE constexpr void before(std::size_t k) const noexcept { f(k); }
};
template <class F>
BeforeEachStep(F) -> BeforeEachStep<F>;

// What a tile prefetches:
//     own_rows        distant lines of its own rows into the L2 cache, nearer lines into the L1 cache
//     own_rows_near   lines of its own rows into the L1 cache
//     next_rows       the rows of the next tile into the L2 cache
enum class Prefetch { own_rows, own_rows_near, next_rows };

// Prefetches weights while the tile reads one cache line of each row. A burst of prefetches would stop the processor
// until the first lines have arrived, so the prefetches are spread over the steps. Without a next tile, addresses lie
// behind the weights, which is harmless: a prefetch raises no fault.
template <Prefetch Kind, std::size_t Rows, class Matrix>
struct PrefetchAhead {
  using Element = typename Matrix::Element;
  static constexpr std::size_t first_pack = 0;
  static constexpr std::size_t line = cache_line_words * sizeof(float) / sizeof(Element);
  static constexpr bool own = Kind != Prefetch::next_rows && Matrix::rows_contiguous;
  Matrix rows;
  std::size_t inner;

  // The addresses to prefetch while the tile reads one cache line of each row.
  struct Line {
    const Element *distant, *nearest;
    Matrix next;

    // Prefetches before the step that begins at feature `i` of the line. A step has Step features.
    template <std::size_t Step>
    LADON_INLINE void prefetch(std::size_t i) noexcept {
      constexpr std::size_t steps = line / Step, each = (Rows + steps - 1) / steps, stride = Matrix::row_stride;
      if constexpr (!Matrix::rows_contiguous) {
        LADON_UNROLLED_FOR(j, Step) prefetch_to_second_cache(next.columns_from(i + j).data);
      } else if constexpr (!own) {
        LADON_UNROLLED_FOR(r, each) prefetch_to_second_cache(next.rows_from(r).data);
        next = next.rows_from(each);
      } else {
        if (i < (Rows + each - 1) / each * Step) {
          LADON_UNROLLED_FOR(r, each) {
            if constexpr (Kind == Prefetch::own_rows) prefetch_to_second_cache(distant + r * stride);
            prefetch_to_nearest_cache(nearest + r * stride);
          }
        }
        if constexpr (Kind == Prefetch::own_rows) distant += each * stride;
        nearest += each * stride;
      }
    }
  };
  LADON_INLINE Line at(std::size_t k) const noexcept {
    using target::Current;
    const Matrix next = rows.rows_from(Rows);
    if constexpr (!own) return {nullptr, nullptr, next.columns_from(k)};
    // Returns the address `floats` floats after feature k of row 0. After the end of the row, continues in the next
    // tile.
    const auto later = [&](std::size_t floats) LADON_INLINE_LAMBDA {
      const std::size_t i = k + floats * sizeof(float) / sizeof(Element);
      return i < inner ? rows.data + i : next.data + (i - inner);
    };
    if constexpr (Kind == Prefetch::own_rows_near) return {nullptr, later(Current::prefetch_distance_floats), next};
    return {later(Current::prefetch_distance_floats), later(Current::near_prefetch_distance_floats), next};
  }
  LADON_INLINE constexpr void before(std::size_t) const noexcept {}
};

template <std::size_t Rows, std::size_t Packs, class F>
LADON_INLINE constexpr void for_each_sum(F f) noexcept {
#if defined(LADON_SUMS_WITHOUT_LOOPS)
  [&]<std::size_t... J>(std::index_sequence<J...>)
      LADON_INLINE_LAMBDA { (f(J / Packs, J % Packs), ...); }(std::make_index_sequence<Rows * Packs>());
#else
  LADON_UNROLLED_FOR(r, Rows) {
    LADON_UNROLLED_FOR(v, Packs) f(r, v);
  }
#endif
}

// A pointer to each row of a tile, so that loads of weights have no constant offset, which is slow in JavaScriptCore.
// Without `opaque`, the compiler would compute all pointers from one.
template <class Matrix, std::size_t Rows>
struct SeparateRows {
  Matrix row[Rows];

  LADON_INLINE explicit SeparateRows(Matrix w) noexcept {
    LADON_UNROLLED_FOR(r, Rows) row[r] = {opaque(w.rows_from(r).data)};
  }
  LADON_INLINE Matrix rows_from(std::size_t r) const noexcept { return row[r]; }
  LADON_INLINE void advance(std::size_t features) noexcept {
    LADON_UNROLLED_FOR(r, Rows) row[r] = row[r].columns_from(features);
  }
};

template <class DotType, std::size_t Rows, std::size_t Packs>
struct MicroKernel {
  using Dot = DotType;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t rows = Rows;
  Sums sum[Rows][Packs];

  template <class Start>
  LADON_INLINE constexpr explicit MicroKernel(Start start) noexcept {
    for_each_sum<Rows, Packs>([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { sum[r][v] = start(r, v); });
  }

  // Adds the products of the features from `k` to `inner` - 1 to the sums, in steps of the dot D.
  template <std::size_t Width, class D = Dot, class Matrix, class Element, class Ahead = NothingAhead>
  LADON_INLINE constexpr void accumulate(std::size_t inner, Matrix w, const Element* panel, Ahead ahead = {},
                                         std::size_t k = 0) noexcept {
    constexpr std::size_t features = D::features, first = Ahead::first_pack;
    constexpr bool nothing_ahead = std::is_base_of_v<NothingAhead, Ahead>;
#if defined(LADON_TILE_ASSEMBLY)
    if constexpr (assembly::has_loop<Sums, Rows, Packs, Matrix::row_stride, Matrix::inner_stride, Width> &&
                  std::is_same_v<Ahead, NothingAhead> && std::is_same_v<D, Dot>) {
      if (!std::is_constant_evaluated()) {
        const std::size_t times = inner / assembly::steps;
        k = times * assembly::steps;
        if (times > 0) assembly::accumulate<Matrix::row_stride, Matrix::inner_stride>(sum, times, w.data, panel);
      }
    }
#endif
    if constexpr (requires { Ahead::line; }) {
      for (; k + Ahead::line <= inner; k += Ahead::line) {
        auto line = ahead.at(k);
        // If this loop were unrolled, g++ 12 would keep the sums of a tile of three packs in memory.
        for (std::size_t i = 0; i < Ahead::line; i += features) {
          line.template prefetch<features>(i);
          step<D, Width, first>(w.columns_from(k + i), panel + (k + i) * Width);
        }
      }
    }
    // A known number of steps makes g++ 12 copy and spill accumulators of vdpbf16ps.
    if constexpr (requires { D::hides_count; }) inner = opaque(inner);
    if constexpr (nothing_ahead && steps_together<D, Packs> == 2) {
#if defined(__GNUC__)
#pragma GCC unroll 2
#endif
      for (; k < inner; ++k) step<D, Width, first>(w.columns_from(k), panel + k * Width);
    } else {
      exchange_halves<D>();
      const std::size_t end = inner - (inner - k) % features;
      if constexpr (target::Current::separates_rows && D::rows == 1) {
        if (!std::is_constant_evaluated()) {
          SeparateRows<Matrix, Rows> separate(w.columns_from(k));
          // Without `opaque`, the compiler would count the steps with one more instruction.
          const Element* const last = opaque(panel + end * Width);
          for (const Element* next = panel + k * Width; next != last; next += features * Width, k += features) {
            ahead.before(k);
            step<D, Width, first>(separate, next);
            separate.advance(features);
          }
          k = end;
        }
      }
      [[maybe_unused]] Matrix next_weights = w.columns_from(k);
      [[maybe_unused]] const Element* next_panel = panel + k * Width;
      for (; k < end; k += features) {
        ahead.before(k);
        if (target::Current::advances_pointers && !std::is_constant_evaluated()) {
          step<D, Width, first>(next_weights, next_panel);
          next_weights = next_weights.columns_from(features);
          next_panel += features * Width;
        } else {
          step<D, Width, first>(w.columns_from(k), panel + k * Width);
        }
      }
      exchange_halves<D>();
      if constexpr (features > 1) {
        if (k < inner) add_rest<D, Width>(k, inner, w, panel);
      }
    }
  }

#if defined(LADON_TILE_PANELS)
  // Like `accumulate`, with the values of attention as `w`: panels of KeyWidth keys, PanelStride floats apart. Returns
  // how many keys are done.
  template <std::size_t PanelStride, std::size_t KeyWidth, std::size_t Width>
    requires(KeyWidth == 4 && assembly::has_loop<Sums, Rows, Packs, KeyWidth, 1, Width>)
  LADON_INLINE std::size_t accumulate_panels(std::size_t inner, const float* a, const float* panel) noexcept {
    if (inner >= KeyWidth) assembly::accumulate<KeyWidth, 1, PanelStride>(sum, inner / KeyWidth, a, panel);
    return inner / KeyWidth * KeyWidth;
  }
#endif

  template <class Finish>
  LADON_INLINE constexpr void finish(Finish finish) const noexcept {
    for_each_sum<Rows, Packs>([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { finish(r, v, sum[r][v]); });
  }

 private:
  // `w` is a WeightMatrix or SeparateRows.
  template <class D, std::size_t Width, std::size_t First, class Matrix, class Element>
  LADON_INLINE constexpr void step(Matrix w, const Element* panel) noexcept {
    typename D::Features x[Packs];
    D::template load<Width, First>(panel, x);
#if defined(LADON_SUMS_WITHOUT_LOOPS)
    for_each_sum<Rows, Packs>([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA {
      if (v >= First) D::add(sum[r][v], x[v], D::weights(w.rows_from(r)));
    });
#else
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; r += D::rows) {
      const auto weights = D::weights(w.rows_from(r));
      if constexpr (D::rows == 2) {
        LADON_UNROLLED_FOR(i, 2 * Packs) {
          D::add(sum[r][i % Packs], sum[r + 1][i % Packs], x[i % Packs], weights, i / Packs);
        }
      } else {
        LADON_UNROLL
        for (std::size_t v = First; v < Packs; ++v) D::add(sum[r][v], x[v], weights);
      }
    }
#endif
  }

  // Adds the last features, for which a full load would read past the end of `w` or of the panel. Uses D::Rest if it
  // exists. Otherwise copies the weights and pads them with zeros. If a step has several tuples, also copies the
  // features.
  template <class D, std::size_t Width, class Matrix, class Element>
  LADON_INLINE constexpr void add_rest(std::size_t k, std::size_t inner, Matrix w, const Element* panel) noexcept {
    if constexpr (requires { typename D::Rest; }) {
      accumulate<Width, typename D::Rest>(inner, w, panel, NothingAhead{}, k);
    } else {
      using Weight = typename Matrix::Element;
      constexpr std::size_t features = D::features, tuple = D::tuple_size;
      alignas(64) Weight rest[Rows * features] = {};
      for (std::size_t r = 0; r < Rows; ++r) {
        for (std::size_t j = 0; j < inner - k; ++j) rest[r * features + j] = *w.rows_from(r).columns_from(k + j).data;
      }
      const WeightMatrix<Weight, features, 1> weights{rest};
      if constexpr (features == tuple) {  // the panel has zeros for features that are missing from its last tuple
        step<D, Width, 0>(weights, panel + k * Width);
      } else {
        alignas(64) Element rest_of_panel[features * Width] = {};
        const std::size_t count = (inner - k + tuple - 1) / tuple * tuple * Width;
        for (std::size_t i = 0; i < count; ++i) rest_of_panel[i] = panel[k * Width + i];
        step<D, Width, 0>(weights, rest_of_panel);
      }
    }
  }

  // Exchanges the upper half of the sums of each even row with the lower half of the next row, if the dot needs it.
  template <class D>
  LADON_INLINE constexpr void exchange_halves() noexcept {
    if constexpr (D::rows == 2) {
      LADON_UNROLLED_FOR(i, Rows / 2 * Packs) {
        D::exchange_halves(sum[i / Packs * 2][i % Packs], sum[i / Packs * 2 + 1][i % Packs]);
      }
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
