// SPDX-License-Identifier: Apache-2.0
// The product of a weight matrix and panels of tokens: epilogue(panel, row, pack, sum) for each row and pack of tokens.
//     W         [rows][inner], read in place: WeightRows, or Int8Rows for int8 weights
//     in        PanelsView [panels][inner][width], BFloat16PanelsView, or Int8PanelsView
//
// The outer loop runs over tiles of a few rows of W, and the inner loop over panels, so that the rows of a tile stay in
// the L1 cache.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/panel/bfloat16.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/product/folded_tile.hpp>
#include <ladon/detail/product/product_int8.hpp>
#include <ladon/detail/product/single.hpp>
#include <ladon/detail/product/steps.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/widened_rows.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail {

struct Nothing {};

template <class Matrix>
inline constexpr bool is_bfloat16 = std::is_same_v<typename Matrix::Element, BFloat16>;

// Whether tiles prefetch weights during their last panel. Only long rows are prefetched.
template <class Matrix>
inline constexpr bool prefetches_rows =
    Matrix::row_stride * Matrix::inner_stride >= target::Current::prefetched_row_floats;
// Whether tiles read ahead in the weights of the next tile, which must be contiguous, during their last panel.
template <class Matrix, std::size_t Inner>
inline constexpr bool reads_rows_ahead =
    Matrix::inner_stride == 1 && Matrix::row_stride == Inner && Inner >= target::Current::read_ahead_floats;

// How many rows a tile has. If rows are a multiple of aliasing_bytes apart, they compete for one set of the L1 cache,
// so a tile has fewer rows.
template <PanelLayout T, std::size_t Packs, class Matrix, class In = PanelsView>
inline constexpr std::size_t tile_rows = [] {
  constexpr std::size_t most_for_sums =
      std::is_same_v<In, BFloat16PanelsView> ? target::Current::bfloat16_tile_sums / Packs : target::unlimited;
  constexpr std::size_t rows = T.tile_rows_for(Packs) < most_for_sums ? T.tile_rows_for(Packs) : most_for_sums,
                        most = target::Current::most_aliasing_rows;
  constexpr std::size_t row_bytes = Matrix::row_stride * sizeof(typename Matrix::Element);
  constexpr bool aliases = Matrix::rows_contiguous && row_bytes % target::Current::aliasing_bytes == 0;
  return aliases && rows > most ? most : rows;
}();

// How many panels are computed each time the weights are read: all panels if they fit into the L2 cache, or without
// vectors.
template <class Simd, PanelLayout T, std::size_t Tokens, std::size_t Inner>
inline constexpr std::size_t panels_at_a_time = [] {
  using target::Current;
  constexpr std::size_t panel_bytes = Inner * T.width() * sizeof(float);
  constexpr bool fit = T.panels(Tokens) * panel_bytes <= Current::second_cache_bytes;
  if (fit || Simd::lanes == 1) return all;
  constexpr std::size_t panels = Current::panel_bytes_at_a_time / panel_bytes;
  return panels < Current::fewest_panels_at_a_time ? Current::fewest_panels_at_a_time : panels;
}();

// How many steps share a register; more than 1 if the product is folded (detail/product/folded_tile.hpp). A step has
// one feature, or two bfloat16 features. Deterministic builds do not fold, because folding changes the order of the
// additions.
template <class Simd, PanelLayout T, std::size_t Inner, class Matrix, class In = PanelsView>
inline constexpr std::size_t folded_steps = [] {
  constexpr bool leaves_lanes = T.lanes > 1 && T.lanes < Simd::lanes;
  constexpr bool any_order = Matrix::rows_contiguous || T.packs == 3;
  constexpr std::size_t all_steps = std::is_same_v<In, PanelsView> ? Inner : Inner / 2;
  if constexpr (!LADON_DETERMINISTIC && leaves_lanes && any_order &&
                all_steps >= target::Current::shortest_folded_sum) {
    constexpr std::size_t steps = Simd::lanes / T.lanes;
    if (vec::Fold<typename Simd::template Pack<Simd::lanes>, steps>::exists) return steps;
  }
  return std::size_t{1};
}();

// Whether a product reads its weights for the first time, and prefetches them, or again, while they are still in a
// cache.
enum class Reading { first, again };

// Each sum starts at the bias of its row.
struct StartAtBias {
  template <class Pack, class Biases>
  LADON_INLINE constexpr Pack operator()(std::size_t, std::size_t, std::size_t, std::size_t row_of_tile,
                                         const Biases& tile_bias) const noexcept {
    return Pack::broadcast(tile_bias[row_of_tile]);
  }
};
// Each sum starts at an element of `sums`, the product over the earlier part of the inner index: [panels][rows][Width].
template <std::size_t Width>
struct Accumulate {
  const float* sums;
  std::size_t panel_stride;
  template <class Pack, class Biases>
  LADON_INLINE constexpr Pack operator()(std::size_t panel, std::size_t row, std::size_t pack, std::size_t,
                                         const Biases&) const noexcept {
    return Pack::load(sums + panel * panel_stride + row * Width + pack * Pack::lanes);
  }
};

// Computes a folded product of one panel.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Matrix, class Biases,
          class In, class Epilogue, class Start>
LADON_INLINE void matmul_folded(WeightRows<Matrix, Biases> w, In in, Epilogue epilogue, Start start) noexcept {
  using Wide = typename Simd::template Pack<Simd::lanes>;
  using Pack = typename Simd::template Pack<T.lanes>;
  constexpr bool takes_floats = std::is_same_v<In, PanelsView>;
  using Operation = std::conditional_t<takes_floats, MultiplyAdd, PairProducts>;
  const auto* const panel = in.data;
  for_row_tiles<Rows, tile_rows<T, Packs, Matrix, In>>([&]<std::size_t R>(std::size_t first) {
    const auto bias = w.bias.from(first);
    const Matrix rows = w.weight.rows_from(first);
    FoldedMicroKernel<Wide, R, Packs, folded_steps<Simd, T, Inner, Matrix, In>, Operation> tile;
    if constexpr (is_bfloat16<Matrix> && takes_floats) {
      WidenedRows<R, Inner> widened;
      for_widened<Wide>(widened, rows, false, [&](std::size_t k, std::size_t count, auto weights) {
        tile.template accumulate<false>(count, weights, panel + k * T.width(), weights);
      });
    } else {
      tile.template accumulate<prefetches_rows<Matrix>>(Inner, rows, panel, rows.rows_from(R));
    }
    tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) {
      epilogue(0, first + r, v, start.template operator()<Pack>(0, first + r, v, r, bias) + sum);
    });
  });
}

// Adds the products of bfloat16 weights and bfloat16 features.
template <PanelLayout T, std::size_t Inner, class Matrix, class Pack, std::size_t Rows, std::size_t Packs>
LADON_INLINE constexpr void accumulate_pairs(Matrix rows, const BFloat16* panel, [[maybe_unused]] bool prefetches,
                                             Pack (&sum)[Rows][Packs]) noexcept {
  using Dot = vec::TupleDot<BFloat16, Pack>;
  using Tuples = TuplesInPlace<BFloat16, Dot::tuple_size, Inner, Matrix::row_stride>;
  const Tuples tuples(rows.data);
  if constexpr (prefetches_rows<Matrix>) {
    if (!std::is_constant_evaluated() && prefetches) {
      const Tuples next(rows.rows_from(Rows).data);
      return accumulate_tuples_and_prefetch<Dot, T.lanes, T.width()>(tuples, panel, sum, next);
    }
  }
  accumulate_tuples<Dot, T.lanes, T.width()>(tuples, panel, sum);
}

// Whether a product is inlined. A tile of one pack leaves half of the registers to the surrounding code, so a small
// product of such tiles may be inlined. Any other product is a function of its own (matmul_panels): inlined, g++ 12
// keeps values of the surrounding code in vector registers and stores a sum in each step.
template <std::size_t Packs, std::size_t Rows, std::size_t Inner>
inline constexpr bool inlines_product = Packs == 1 && Rows * Inner <= target::Current::inlined_product_weights;

// Computes the product for several tokens. Each tile is computed for all panels before the next tile begins.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Matrix, class Biases,
          class In, class Epilogue, class Start>
LADON_INLINE constexpr void matmul_tiles(WeightRows<Matrix, Biases> w, In in, std::size_t panels,
                                         const Epilogue& epilogue, [[maybe_unused]] Start start,
                                         [[maybe_unused]] Reading reading) noexcept {
  if constexpr (folded_steps<Simd, T, Inner, Matrix, In> > 1) {
    static_assert(Packs == T.packs, "a few tokens fill one panel");
    if (panels > 0) matmul_folded<Simd, T, Packs, Rows, Inner>(w, in, epilogue, start);
  } else {
    using Pack = typename Simd::template Pack<T.lanes>;
    constexpr bool widens = is_bfloat16<Matrix> && std::is_same_v<In, PanelsView>;
    for_row_tiles<Rows, tile_rows<T, Packs, Matrix, In>>([&]<std::size_t R>(std::size_t first) LADON_TILE_LAMBDA {
      [[maybe_unused]] std::conditional_t<widens, WidenedRows<R, Inner>, Nothing> widened;
      for (std::size_t p = 0; p < panels; ++p) {
        [[maybe_unused]] const auto bias = w.bias.from(first);
        MicroKernel<Pack, R, Packs> tile(
            [&](std::size_t r, std::size_t v) { return start.template operator()<Pack>(p, first + r, v, r, bias); });
        const Matrix rows = w.weight.rows_from(first);
        const auto* const panel = in.template panels_from<Inner, T.width()>(p).data;
        if constexpr (std::is_same_v<In, BFloat16PanelsView>) {
          accumulate_pairs<T, Inner>(rows, panel, reading == Reading::first && p + 1 == panels, tile.sum);
        } else if constexpr (widens) {
          for_widened<Pack>(widened, rows, p > 0, [&](std::size_t k, std::size_t count, auto weights) {
            tile.template accumulate<T.width()>(count, weights, panel + k * T.width());
          });
        } else if constexpr (prefetches_rows<Matrix>) {
          if (!std::is_constant_evaluated() && reading == Reading::first && p + 1 == panels) {
            tile.template accumulate_and_prefetch<T.width()>(Inner, rows, panel, rows.rows_from(R));
          } else {
            tile.template accumulate<T.width()>(Inner, rows, panel);
          }
        } else if constexpr (reads_rows_ahead<Matrix, Inner>) {
          const bool has_next = first + 2 * R <= Rows;  // the next tile has at most R rows
          if (!std::is_constant_evaluated() && reading == Reading::first && p + 1 == panels && has_next) {
            tile.template accumulate_and_read_ahead<T.width()>(Inner, rows, panel, rows.rows_from(R));
          } else {
            tile.template accumulate<T.width()>(Inner, rows, panel);
          }
        } else {
          tile.template accumulate<T.width()>(Inner, rows, panel);
        }
        Epilogue store = epilogue.of_tile(p, first);
        // Without `opaque`, g++ 12 would keep the address of each row in a register during the loop above.
        if constexpr (!inlines_product<Packs, Rows, Inner>) store.out = opaque(store.out);
        if constexpr (Epilogue::transforms_later) {
          const auto raw = store.without_transform();
          tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) { raw(0, r, v, sum); });
          transform_rows<Pack, Packs, T.width()>(store.transform, store.out, R);
        } else {
          tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) { store(0, r, v, sum); });
        }
      }
    });
  }
}

// Takes the epilogue by reference: a copy would read two members with one load, which waits for two stores.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Matrix, class Biases,
          class In, class Epilogue, class Start = StartAtBias>
LADON_PRODUCT constexpr void matmul_panels(WeightRows<Matrix, Biases> LADON_ARGUMENT w, In in, std::size_t panels,
                                           const Epilogue& epilogue, Start start = {},
                                           Reading reading = Reading::first) noexcept {
  matmul_tiles<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue, start, reading);
}

#if defined(LADON_SMALL)
// Whether matmul_small can compute the product: floats, and tiles of equal size.
template <PanelLayout T, std::size_t Packs, std::size_t Rows, class Matrix, class In>
inline constexpr bool has_small_matmul = std::is_same_v<typename Matrix::Element, float> &&
                                         std::is_same_v<In, PanelsView> && Rows % tile_rows<T, Packs, Matrix> == 0;
// The product in code for size. The number of rows is an argument, so that projections share one function.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Inner, class Matrix, class Biases, class Epilogue>
LADON_NOINLINE constexpr void matmul_small(WeightRows<Matrix, Biases> w, PanelsView in, std::size_t panels,
                                           Epilogue epilogue, std::size_t rows) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  constexpr std::size_t tile = tile_rows<T, Packs, Matrix>;
  for (std::size_t first = 0; first < rows; first += tile) {
    const auto bias = w.bias.from(first);
    for (std::size_t p = 0; p < panels; ++p) {
      MicroKernel<Pack, tile, Packs> sums([&](std::size_t r, std::size_t) { return Pack::broadcast(bias[r]); });
      sums.template accumulate<T.width()>(Inner, w.weight.rows_from(first),
                                          in.template panels_from<Inner, T.width()>(p).data);
      sums.finish([&](std::size_t r, std::size_t v, const Pack& sum) { epilogue(p, first + r, v, sum); });
    }
  }
}
#endif

// Computes the product of `panels` panels of Packs packs.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights, class In,
          class Epilogue>
LADON_INLINE constexpr void matmul(const Weights& w, In in, std::size_t panels, Epilogue epilogue,
                                   [[maybe_unused]] Reading reading = Reading::first) noexcept {
  if constexpr (is_single_token<Simd, T>) {
    matrix_vector<Simd, Rows, Inner>(w, in.data, epilogue);
#if defined(LADON_SMALL)
  } else if constexpr (has_small_matmul<T, Packs, Rows, decltype(w.weight), In>) {
    matmul_small<Simd, T, Packs, Inner>(w, in, panels, epilogue, Rows);
#endif
  } else if constexpr (inlines_product<Packs, Rows, Inner>) {
    matmul_tiles<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue, StartAtBias{}, reading);
  } else {
    matmul_panels<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue, StartAtBias{}, reading);
  }
}
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights,
          class Element, class Epilogue>
LADON_INLINE constexpr void matmul_panels(const Weights& w, Int8PanelsView<Element> in, std::size_t panels,
                                          Epilogue epilogue, StartAtBias = {}) noexcept {
  matmul_int8<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue);
}
// Computes the product of int8 weights for any number of tokens.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights,
          class Element, class Epilogue>
LADON_INLINE constexpr void matmul(const Weights& w, Int8PanelsView<Element> in, std::size_t panels, Epilogue epilogue,
                                   Reading = Reading::first) noexcept {
  if constexpr (is_single_token<Simd, T>) {
    if (panels > 0) matrix_vector_int8<Simd, Rows, Inner>(w, in, epilogue);
  } else {
    matmul_int8<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue);
  }
}

}  // namespace LADON_NAMESPACE::detail
