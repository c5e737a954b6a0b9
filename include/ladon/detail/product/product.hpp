// SPDX-License-Identifier: Apache-2.0
// Multiplies a weight matrix W by panels of tokens, and calls epilogue(panel, row, pack, sum) for each row and pack.
//     W         [rows][inner], read in place: WeightRows, or IntegerRows for integer weights
//     in        PanelsView [panels][inner][width], BFloat16PanelsView, or Int8PanelsView
//
// The outer loop runs over tiles of W, and the inner loop over panels, so that the rows of a tile stay in the L1 cache.
//
// If q[i] are the quantised features of a token (detail/panel/int8_panels.hpp), a result of int8 weights is
//     integer = sum over i of q[i] * weight[row][i]    exact
//     result = integer * (scale of the token * scale of the row) + bias[row]
//
// If the product of the two scales exceeds the range of float32, the result is infinite or NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/product/product_form.hpp>
#include <ladon/detail/product/single.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/tile_dots.hpp>
#include <ladon/detail/product/tile_weights.hpp>
#include <ladon/detail/product/token_rows.hpp>
#include <ladon/detail/product/unit_product.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail {

// Returns start(row, pack), the value at which a sum starts. Sums of floats start at the bias. If panels store q + zero
// (a quantised feature plus the zero point of its token), integer sums start at -zero * row_sum, which cancels the
// products zero * weight. Subtracted at the end, zero * row_sum would occupy registers in the loop.
template <class P, class Weights, class In>
LADON_INLINE constexpr auto start_of_tile(const Weights& w, [[maybe_unused]] std::size_t first, [[maybe_unused]] In in,
                                          [[maybe_unused]] std::size_t panel) noexcept {
  using Pack = typename P::Pack;
  if constexpr (!is_quantised<In>) {
    return [bias = w.bias.from(first), panel](std::size_t r, std::size_t v)
               LADON_INLINE_LAMBDA { return bias.template start<Pack>(panel, r, v); };
  } else if constexpr (vec::holds_zero_point<typename In::Element>) {
    return [row_sum = opaque(w.row_sum + first), zero = in.template zero<P::width>(panel)](std::size_t r, std::size_t v)
               LADON_INLINE_LAMBDA {
                 return vec::IntegerSums<Pack>::negative_products(Pack::load(zero + v * Pack::lanes), row_sum[r]);
               };
  } else {
    return [](std::size_t, std::size_t) LADON_INLINE_LAMBDA { return vec::IntegerSums<Pack>::zero(); };
  }
}

// Converts integer sums to results. Reads scales, biases and the members of the epilogue before it stores the first
// result: otherwise, the compiler would read them again after each store.
template <class P, std::size_t R, class Weights, class In, class Epilogue>
LADON_INLINE constexpr void finish_tile(const Weights& w, std::size_t first, In in, std::size_t panel,
                                        const vec::IntegerSums<typename P::Pack> (&sum)[R][P::packs],
                                        const Epilogue& epilogue) noexcept {
  using Pack = typename P::Pack;
  const auto bias = w.bias.from(first);
  const float* const scale = opaque(w.scale + first);
  const float* const scale_of_tokens = opaque(in.template scale<P::width>(panel));
  Pack token_scale[P::packs];
  LADON_UNROLLED_FOR(v, P::packs) token_scale[v] = Pack::load(scale_of_tokens + v * Pack::lanes);
  LADON_UNROLLED_FOR(r, R) {
    const Pack row_scale = Pack::broadcast(scale[r]), row_bias = Pack::broadcast(bias[r]);
    LADON_UNROLLED_FOR(v, P::packs) {
      epilogue(panel, first + r, v, fma(sum[r][v].to_float(), token_scale[v] * row_scale, row_bias));
    }
  }
}
template <class P, std::size_t R, class Weights, class In, class Epilogue>
LADON_INLINE constexpr void finish_tile(const Weights&, std::size_t first, In, std::size_t panel,
                                        const typename P::Pack (&sum)[R][P::packs], const Epilogue& epilogue) noexcept {
  using Pack = typename P::Pack;
  Epilogue tile = epilogue.of_tile(panel, first);
  // Without `opaque`, g++ 12 would keep the address of each row in a register during the loop.
  if constexpr (!inlines_product<P>) tile.out = opaque(tile.out);
  const auto& store = tile.without_later_transform();
  for_each_sum<R, P::packs>([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { store(0, r, v, sum[r][v]); });
  if constexpr (Epilogue::transforms_later) transform_rows<Pack, P::packs, P::width>(tile.transform, tile.out, R);
}

template <class P, std::size_t R, class Weights, class In, class Epilogue>
LADON_INLINE constexpr void product_tile(const Weights& w, std::size_t first, In in, std::size_t panels,
                                         const Epilogue& epilogue_given, Reading reading) noexcept {
  // Int8 tiles copy the epilogue: otherwise, its members are read again after each store.
  const std::conditional_t<is_quantised<In>, Epilogue, const Epilogue&> epilogue = epilogue_given;
  using Dot = decltype(dot_of_tile<P, R, decltype(w.weight), In>());
  using Tile = MicroKernel<Dot, R, P::packs>;
  auto weights = weights_of_tile<P, R, In>(w.weight.rows_from(first));
  for (std::size_t p = 0; p < panels; ++p) {
    const auto* const panel = in.template panels_from<P::inner, P::width>(p).data;
    const TileReads reads{p == 0, reading == Reading::first && p + 1 == panels, first + 2 * R <= P::rows};
    if constexpr (is_folded<Dot>) {
      static_assert(P::packs == P::layout.packs, "a few tokens fill one panel");
      Tile tile([](std::size_t, std::size_t) LADON_INLINE_LAMBDA { return vec::zero_sums<typename Dot::Sums>(); });
      weights.template multiply<P>(tile, panel, reads);
      const auto start = start_of_tile<P>(w, first, in, p);
      decltype(start(0, 0)) sum[R][P::packs];
      for_each_sum<R, P::packs>([&](std::size_t r, std::size_t v)
                                    LADON_INLINE_LAMBDA { sum[r][v] = Dot::unfold(tile.sum[r][v], start(r, v)); });
      finish_tile<P>(w, first, in, p, sum, epilogue);
    } else {
      Tile tile(start_of_tile<P>(w, first, in, p));
      weights.template multiply<P>(tile, panel, reads);
      finish_tile<P>(w, first, in, p, tile.sum, epilogue);
    }
  }
}

// Computes the product in a matrix unit. product_tile computes the rows after the last full tile of the unit.
template <class P, class Weights, class In, class Epilogue>
LADON_NOINLINE void product_in_unit(const Weights& w, In in, std::size_t panels, const Epilogue& epilogue,
                                    Reading reading) noexcept {
  using Pack = typename P::Pack;
  using Unit = typename P::Simd::Unit;
  const auto finish = [&]<std::size_t R>(std::size_t row, std::size_t panel, const auto* sums) LADON_INLINE_LAMBDA {
    const auto start = start_of_tile<P>(w, row, in, panel);
    using Sum = decltype(start(0, 0));
    Sum sum[R][P::packs];
    for_each_sum<R, P::packs>([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA {
      sum[r][v] = Sum::load(sums + (r * P::packs + v) * Pack::lanes) + start(r, v);
    });
    finish_tile<P>(w, row, in, panel, sum, epilogue);
  };
  rows_in_unit<P>(w.weight, in, panels, finish);
  if constexpr (P::rows % Unit::rows > 0) {
    for_row_tiles<P::rows % Unit::rows, tile_rows<P, decltype(w.weight), In>>([&]<std::size_t R>(std::size_t row) {
      product_tile<P, R>(w, P::rows / Unit::rows * Unit::rows + row, in, panels, epilogue, reading);
    });
  }
}

// Computes the product for several tokens. Does not call for_row_tiles, which would compile longer: g++ optimises each
// function that it inlines. Takes the epilogue by reference: to copy it, g++ would load two members at once, just after
// two separate stores, and wait for these stores.
template <class P, class Weights, class In, class Epilogue>
LADON_NOINLINE constexpr void product(Weights LADON_ARGUMENT w, In LADON_ARGUMENT in, std::size_t panels,
                                      const Epilogue& epilogue, Reading reading) noexcept {
  if constexpr (is_quantised<In>) {
    using Engine = cortex_m::Engine<typename In::Element, typename P::Simd>;
    if constexpr (cortex_m::has_engine<typename In::Element, typename P::Simd>) {
      if (!std::is_constant_evaluated()) return Engine::template product<P>(w, in, panels, epilogue);
    }
  }
  if constexpr (multiplies_in_unit<P, decltype(w.weight), In>) {
    if (P::Simd::Unit::ready()) return product_in_unit<P>(w, in, panels, epilogue, reading);
  }
  using Tiles = RowTiles<P::rows, tile_rows<P, decltype(w.weight), In>>;
  std::size_t row = 0;
  if constexpr (Tiles::higher_tiles > 0) {
    for (; row < Tiles::end_of_higher; row += Tiles::low + 1) {
      product_tile<P, Tiles::low + 1>(w, row, in, panels, epilogue, reading);
    }
  }
  for (; row < P::rows; row += Tiles::low) product_tile<P, Tiles::low>(w, row, in, panels, epilogue, reading);
}

// Calls block.operator()<R>(first_row) for blocks of R rows of W. A block stays in the L2 cache, and R is a multiple of
// the rows of most tiles and of a matrix unit. The last block also has the remaining rows.
template <class Matrix, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void for_row_blocks(auto block) noexcept {
  constexpr std::size_t tiles = 96;
  constexpr std::size_t fit = target::Current::block_bytes / (Inner * sizeof(typename Matrix::Element));
  constexpr std::size_t rows = fit < tiles ? tiles : fit / tiles * tiles;
  constexpr std::size_t last = Rows < 2 * rows ? 0 : (Rows / rows - 1) * rows;
  if constexpr (last > 0) {
    for (std::size_t row = 0; row < last; row += rows) block.template operator()<rows>(row);
  }
  block.template operator()<Rows - last>(last);
}

// Computes a product of panels. The last panel may be computed as one pack or as rows (RowsOfPanel). A block of W is
// multiplied by all panels before the next block, so weights come from memory once, and then from the L2 cache.
template <class P, class Weights, class In, class Epilogue>
LADON_INLINE constexpr void product_in_blocks(const Weights& w, In in, std::size_t panels, const Epilogue& epilogue,
                                              Reading reading) noexcept {
  using Simd = typename P::Simd;
  using Matrix = decltype(w.weight);
  constexpr PanelLayout layout = P::layout;
  constexpr bool reads_rows =
      may_have_token_rows<Simd, layout, typename In::Element, P::inner> && Matrix::rows_contiguous;
  const std::size_t last = panels - 1;
  const typename In::Lanes lanes = in;
  const RowsOfPanel part = in.rows[last];
  const bool has_rows = reads_rows && part.begin < part.end;
  if constexpr (reads_rows) {
    if (has_rows && part.begin == 0 && last == 0)
      return product_of_token_rows<Simd, layout, P::inner>(w, P::rows, in, last, epilogue);
  }
  // The tokens of the last panel that are in lanes: none, those of the first pack, or all.
  const bool fits_first_pack = P::packs == 2 && part.end > 0 && part.end <= layout.lanes;
  const bool nothing = has_rows && part.begin == 0, first_pack = !nothing && (has_rows || fits_first_pack);
  const std::size_t whole = nothing || (first_pack && P::packs == 2) ? last : panels;
  for_row_blocks<Matrix, P::rows, P::inner>([&]<std::size_t R>(std::size_t first) {
    const Weights block = w.rows_from(first);
    const Epilogue to = epilogue.of_rows(first);
    if (whole > 0) product<ProductForm<Simd, layout, P::packs, R, P::inner>>(block, lanes, whole, to, reading);
    if constexpr (P::packs == 2) {
      if (first_pack) {
        Weights of_panel = block;
        of_panel.bias = block.bias.panels_from(last);
        product<ProductForm<Simd, layout, 1, R, P::inner>>(
            of_panel, lanes.template panels_from<P::inner, P::width>(last), 1, to.of_tile(last, 0), reading);
      }
    }
    if constexpr (reads_rows) {
      if (has_rows) product_of_token_rows<Simd, layout, P::inner>(block, R, in, last, to);
    }
  });
}

#if defined(LADON_SMALL)
// In code for size, projections with any number of tiles share one function. `rows` is a multiple of P::rows, the
// number of rows of a tile.
template <class P, class Weights, class Epilogue>
LADON_NOINLINE constexpr void product_small(Weights w, PanelsView in, std::size_t panels, Epilogue epilogue,
                                            std::size_t rows) noexcept {
  for (std::size_t first = 0; first < rows; first += P::rows) {
    product_tile<P, P::rows>(w, first, in, panels, epilogue, Reading::again);
  }
}
#endif

// Expands a few rows of 4-bit weights to int8 weights on the stack, so that they stay in the caches. If `from` has int8
// weights, copies them, because a second product, for weights in place, would double the code.
template <std::size_t Rows, std::size_t Inner>
struct ExpandedRows {
  static constexpr std::size_t whole_groups = int4_groups(Inner) * int4_group;
  static constexpr bool aliases = whole_groups % target::Current::aliasing_bytes == 0;
  static constexpr std::size_t stride = whole_groups + (aliases ? 64 : 0);
  alignas(64) std::int8_t weight[Rows * stride];

  LADON_NOINLINE constexpr explicit ExpandedRows(const Int4Matrix<int4_row_bytes(Inner), Inner>& from) noexcept {
    if (std::is_constant_evaluated()) {
      for (std::int8_t& one : weight) one = 0;
    }
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto row = from.rows_from(r);
      if (row.int8 == nullptr) {
        expand_int4_row(row.data, Inner, weight + r * stride);
      } else {
        for (std::size_t i = 0; i < Inner; ++i) weight[r * stride + i] = row.int8[i];
      }
    }
  }
};
template <std::size_t Inner>
inline constexpr std::size_t expanded_rows_at_a_time = [] {
  constexpr std::size_t tiles = 24, rows = target::Current::expanded_bytes / (int4_groups(Inner) * int4_group);
  return rows >= tiles ? rows / tiles * tiles : rows >= 4 ? rows / 4 * 4 : 4;
}();

template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void matmul(const auto& w, auto in, std::size_t panels, auto epilogue,
                                   Reading reading = Reading::first) noexcept;

template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void matmul_expanded(const auto& w, auto in, std::size_t panels, auto epilogue,
                                            Reading reading) noexcept {
  using Biases = typename std::remove_cvref_t<decltype(w)>::Biases;
  using In = typename decltype(in)::Lanes;
  const auto multiply = [&]<std::size_t R>(std::size_t first) {
    using Expanded = ExpandedRows<R, Inner>;
    const Expanded expanded(w.weight.rows_from(first));
    matmul<Simd, T, Packs, R, Inner>(
        Int8Rows<Expanded::stride, Biases>{{expanded.weight}, w.scale + first, w.row_sum + first, w.bias.from(first)},
        in, panels, epilogue.of_rows(first), reading);
  };
  if constexpr (Simd::Unit::template fits<typename In::Element, Inner, T.lanes>) {
    if (Simd::Unit::ready()) return for_row_tiles<Rows, 2 * Simd::Unit::rows>(multiply);
  }
  for_row_tiles<Rows, expanded_rows_at_a_time<Inner>>(multiply);
}

template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void matmul(const auto& w, auto in, std::size_t panels, auto epilogue,
                                   [[maybe_unused]] Reading reading) noexcept {
  using P = ProductForm<Simd, T, Packs, Rows, Inner>;
  using In = decltype(in);
  using Matrix = decltype(w.weight);
  if constexpr (std::is_same_v<typename Matrix::Element, std::uint8_t>) {
    if constexpr (is_single_token<Simd, T> && multiplies_int4_rows<Simd, typename In::Element, Inner>) {
      using Biases = typename std::remove_cvref_t<decltype(w)>::Biases;
      using Int4Rows = IntegerRows<WeightMatrix<std::uint8_t, int4_row_bytes(Inner), 1>, Biases>;
      const typename In::Lanes token(in);
      if (panels > 0 && w.weight.int8 == nullptr) {
        matrix_vector_int8<Simd, Rows, Inner>(Int4Rows{{w.weight.data}, w.scale, w.row_sum, w.bias}, token, epilogue);
      } else if (panels > 0) {
        const Int8Rows<Inner, Biases> rows{{w.weight.int8}, w.scale, w.row_sum, w.bias};
        matrix_vector_int8<Simd, Rows, Inner>(rows, token, epilogue);
      }
    } else {
      matmul_expanded<Simd, T, Packs, Rows, Inner>(w, in, panels, epilogue, reading);
    }
  } else if constexpr (!std::is_same_v<In, typename In::Lanes>) {
    if constexpr (T.packs == 2) {
      if (panels > 0) product_in_blocks<P>(w, in, panels, epilogue, reading);
    } else {
      if constexpr (may_have_token_rows<Simd, T, typename In::Element, Inner> && Matrix::rows_contiguous) {
        if (panels > 0 && in.rows[panels - 1].end > 0) {
          return product_in_blocks<P>(w, in, panels, epilogue, reading);
        }
      }
      matmul<Simd, T, Packs, Rows, Inner>(w, typename In::Lanes(in), panels, epilogue, reading);
    }
  } else if constexpr (is_single_token<Simd, T>) {
    if constexpr (is_quantised<In>) {
      if (panels > 0) matrix_vector_int8<Simd, Rows, Inner>(w, in, epilogue);
    } else {
      matrix_vector<Simd, Rows, Inner>(w, in.data, epilogue);
    }
#if defined(LADON_SMALL)
  } else if constexpr (std::is_same_v<typename Matrix::Element, float> && std::is_same_v<In, PanelsView> &&
                       Rows % tile_rows<P, Matrix, In> == 0) {
    product_small<ProductForm<Simd, T, Packs, tile_rows<P, Matrix, In>, Inner>>(w, in, panels, epilogue, Rows);
#endif
  } else if constexpr (inlines_product<P> && !is_quantised<In>) {
    for_row_tiles<Rows, tile_rows<P, Matrix, In>>([&]<std::size_t R>(std::size_t first) LADON_TILE_LAMBDA {
      product_tile<P, R>(w, first, in, panels, epilogue, reading);
    });
  } else {
    product<P>(w, in, panels, epilogue, reading);
  }
}

}  // namespace LADON_NAMESPACE::detail
