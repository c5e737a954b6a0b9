// SPDX-License-Identifier: Apache-2.0
// The product of a weight matrix and panels of tokens: epilogue(panel, row, pack, sum) for each row and pack of tokens.
//     W         [rows][inner], read in place: WeightRows, or Int8Rows for int8 weights
//     in        PanelsView [panels][inner][width], BFloat16PanelsView, or Int8PanelsView
//
// The outer loop runs over tiles of a few rows of W, and the inner loop over panels, so that the rows of a tile stay in
// the L1 cache.
//
// If q[i] are the quantised features of a token (detail/panel/product_input.hpp), a result of int8 weights is
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
#include <ladon/detail/product/single.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/tile_steps.hpp>
#include <ladon/detail/product/weights.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail {

struct Nothing {};

// The types and sizes of a product. The tokens of each panel fill Packs packs.
template <class SimdType, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
struct ProductForm {
  using Simd = SimdType;
  using Pack = typename Simd::template Pack<T.lanes>;
  static constexpr PanelLayout layout = T;
  static constexpr std::size_t packs = Packs, rows = Rows, inner = Inner, width = T.width();
};

// How many rows a tile has. If rows are a multiple of aliasing_bytes apart, they compete for one set of the L1 cache,
// so a tile has fewer rows.
template <class P, class Matrix, class In>
inline constexpr std::size_t tile_rows = [] {
  using target::Current;
  constexpr std::size_t rows = P::layout.tile_rows_for(P::packs);
  if constexpr (is_quantised<In>) {
    if (takes_three_quarters<typename P::Simd, P::layout, typename In::Element>) return std::size_t{12};
    return rows < Current::int8_tile_sums / P::packs ? rows : Current::int8_tile_sums / P::packs;
  } else {
    constexpr std::size_t most_for_sums =
        std::is_same_v<In, BFloat16PanelsView> ? Current::bfloat16_tile_sums / P::packs : target::unlimited;
    constexpr std::size_t fewer = rows < most_for_sums ? rows : most_for_sums, most = Current::most_aliasing_rows;
    constexpr std::size_t row_bytes = Matrix::row_stride * sizeof(typename Matrix::Element);
    constexpr bool aliases = Matrix::rows_contiguous && row_bytes % Current::aliasing_bytes == 0;
    return aliases && fewer > most ? most : fewer;
  }
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

// Returns the weights of a tile of R rows, as its loop reads them.
template <class P, std::size_t R, class In, class Matrix>
LADON_INLINE constexpr auto weights_of_tile(Matrix rows) noexcept {
  using Simd = typename P::Simd;
  if constexpr (is_quantised<In> && Simd::widens_int8 && P::inner <= most_features_in_16_bits) {
    return WeightsIn16Bits<R, P::inner, Matrix>(rows);
  } else if constexpr (std::is_same_v<typename Matrix::Element, BFloat16> && std::is_same_v<In, PanelsView>) {
    constexpr bool folded = folded_steps<Simd, P::layout, P::inner, Matrix, In> > 1;
    return WidenedRows<typename Simd::template Pack<folded ? Simd::lanes : P::layout.lanes>, R, P::inner, Matrix>(rows);
  } else {
    return WeightsInPlace<Matrix, P::inner>{rows};
  }
}

// Adds all products of a tile whose weights are read in place. Long rows are prefetched: by int8 tiles for each panel,
// and by other tiles for the last panel of the first reading (`last`). A target without prefetches reads ahead in the
// weights of the next tile, if they are contiguous and exist (`has_next`).
template <class P, class In, class Tile, class Matrix>
LADON_INLINE constexpr void accumulate_in_place(Tile& tile, Matrix rows, const typename In::Element* panel,
                                                [[maybe_unused]] bool last, [[maybe_unused]] bool has_next) noexcept {
  using target::Current;
  constexpr bool int8 = is_quantised<In>;
  if constexpr (Matrix::row_stride * Matrix::inner_stride >= Current::prefetched_row_floats) {
    constexpr bool own = P::packs == 1 || is_folded<typename Tile::Dot>;
    constexpr Prefetch kind = int8 ? Prefetch::own_rows_near : own ? Prefetch::own_rows : Prefetch::next_rows;
    if (!std::is_constant_evaluated() && (int8 || last)) {
      return tile.template accumulate<P::width>(P::inner, rows, panel,
                                                PrefetchAhead<kind, Tile::rows, Matrix>{rows, P::inner});
    }
  } else if constexpr (Matrix::inner_stride == 1 && Matrix::row_stride == P::inner &&
                       P::inner >= (int8 ? Current::read_ahead_int8 : Current::read_ahead_floats)) {
    if (!std::is_constant_evaluated() && last && has_next) {
      const auto* const next = rows.rows_from(Tile::rows).data;
      const auto read = [next](std::size_t k) LADON_INLINE_LAMBDA { read_ahead(next + Tile::rows * k); };
      return tile.template accumulate<P::width>(P::inner, rows, panel, BeforeEachStep{read});
    }
  }
  tile.template accumulate<P::width>(P::inner, rows, panel);
}

// Converts the integer sums of a tile to results. Scales and biases of a row are read
// before its first result is stored: otherwise, the compiler would read them again after each store.
template <class P, class In, class Weights, class Sums, std::size_t R, class Epilogue>
LADON_INLINE constexpr void finish_int8(In in, std::size_t panel, const Weights& w, std::size_t first_row,
                                        const Sums (&sum)[R][P::packs], Epilogue epilogue) noexcept {
  using Pack = typename P::Pack;
  const auto bias = w.bias.from(first_row);
  const float* const scale = opaque(w.scale + first_row);
  const float* const scale_of_tokens = opaque(in.template scale<P::width>(panel));
  Pack token_scale[P::packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < P::packs; ++v) token_scale[v] = Pack::load(scale_of_tokens + v * Pack::lanes);
  LADON_UNROLL
  for (std::size_t r = 0; r < R; ++r) {
    const Pack row_scale = Pack::broadcast(scale[r]), row_bias = Pack::broadcast(bias[r]);
    LADON_UNROLL
    for (std::size_t v = 0; v < P::packs; ++v) {
      epilogue(panel, first_row + r, v, fma(sum[r][v].to_float(), token_scale[v] * row_scale, row_bias));
    }
  }
}

// Whether a product is inlined. A tile of one pack leaves half of the registers to the surrounding code, so a small
// product of such tiles may be inlined. Any other product is a function of its own: inlined, g++ 12 keeps values of the
// surrounding code in vector registers and stores a sum in each step.
template <class P>
inline constexpr bool inlines_product = P::packs == 1 && P::rows * P::inner <= target::Current::inlined_product_weights;

// Computes R rows from row `first` on, for all panels.
template <class P, std::size_t R, class Weights, class In, class Epilogue, class Start>
LADON_INLINE constexpr void product_tile(const Weights& w, std::size_t first, In in, std::size_t panels,
                                         const Epilogue& epilogue_given, Start start, Reading reading) noexcept {
  // Int8 tiles copy the epilogue: otherwise, its members are read again after each store.
  const std::conditional_t<is_quantised<In>, Epilogue, const Epilogue&> epilogue = epilogue_given;
  using Pack = typename P::Pack;
  using Matrix = decltype(w.weight);
  using Dot = decltype(dot_of_tile<P, R, Matrix, In>());
  using Tile = MicroKernel<Dot, R, P::packs>;
  auto weights = weights_of_tile<P, R, In>(w.weight.rows_from(first));
  for (std::size_t p = 0; p < panels; ++p) {
    // The biases or the sums of the tile's rows.
    const auto rows = [&]() LADON_INLINE_LAMBDA {
      if constexpr (!is_quantised<In>) {
        return w.bias.from(first);
      } else if constexpr (vec::holds_zero_point<typename In::Element>) {
        return opaque(w.row_sum + first);
      } else {
        return Nothing{};
      }
    };
    // Integer sums of q + zero start at -zero * row_sum, which cancels the products zero * weight. Subtracted at the
    // end, zero * row_sum would occupy registers during the loop.
    const auto start_of = [&]([[maybe_unused]] const auto& of_rows, [[maybe_unused]] std::size_t r,
                              [[maybe_unused]] std::size_t v) LADON_INLINE_LAMBDA {
      if constexpr (!is_quantised<In>) {
        return start.template operator()<Pack>(p, first + r, v, r, of_rows);
      } else if constexpr (vec::holds_zero_point<typename In::Element>) {
        const Pack zero = Pack::load(in.template zero<P::width>(p) + v * Pack::lanes);
        return vec::IntegerSums<Pack>::negative_products(zero, of_rows[r]);
      } else {
        return vec::IntegerSums<Pack>::zero();
      }
    };
    const auto accumulate = [&](Tile& tile) LADON_INLINE_LAMBDA {
      const auto* const panel = in.template panels_from<P::inner, P::width>(p).data;
      weights.for_pieces(p > 0, [&]([[maybe_unused]] std::size_t k, [[maybe_unused]] std::size_t count,
                                    auto matrix) LADON_INLINE_LAMBDA {
        if constexpr (decltype(weights)::in_place) {
          const bool last = is_folded<Dot> || (reading == Reading::first && p + 1 == panels);
          accumulate_in_place<P, In>(tile, matrix, panel, last, first + 2 * R <= P::rows);
        } else {
          tile.template accumulate<P::width>(count, matrix, panel + k * P::width);
        }
      });
    };
    const auto finish = [&](const auto& tile) LADON_INLINE_LAMBDA {
      if constexpr (is_quantised<In>) {
        finish_int8<P>(in, p, w, first, tile.sum, epilogue);
      } else {
        Epilogue store = epilogue.of_tile(p, first);
        // Without `opaque`, g++ 12 would keep the address of each row in a register during the loop.
        if constexpr (!inlines_product<P>) store.out = opaque(store.out);
        if constexpr (Epilogue::transforms_later) {
          const auto raw = store.without_transform();
          tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) LADON_INLINE_LAMBDA { raw(0, r, v, sum); });
          transform_rows<Pack, P::packs, P::width>(store.transform, store.out, R);
        } else {
          tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) LADON_INLINE_LAMBDA { store(0, r, v, sum); });
        }
      }
    };
    if constexpr (is_folded<Dot>) {
      Tile tile([](std::size_t, std::size_t) LADON_INLINE_LAMBDA { return Dot::zero(); });
      accumulate(tile);
      const auto of_rows = rows();
      using Unfolded = MicroKernel<SumsOnly<decltype(start_of(of_rows, 0, 0))>, R, P::packs>;
      finish(Unfolded([&](std::size_t r, std::size_t v)
                          LADON_INLINE_LAMBDA { return Dot::unfold(tile.sum[r][v], start_of(of_rows, r, v)); }));
    } else {
      const auto of_rows = rows();
      Tile tile([&](std::size_t r, std::size_t v) LADON_INLINE_LAMBDA { return start_of(of_rows, r, v); });
      accumulate(tile);
      finish(tile);
    }
  }
}

// Computes the product for several tokens. Each tile is computed for all panels before the next tile begins.
template <class P, class Weights, class In, class Epilogue, class Start>
LADON_INLINE constexpr void product_tiles(const Weights& w, In in, std::size_t panels, const Epilogue& epilogue,
                                          Start start, Reading reading) noexcept {
  constexpr bool one_panel = folded_steps<typename P::Simd, P::layout, P::inner, decltype(w.weight), In> > 1;
  static_assert(!one_panel || P::packs == P::layout.packs, "a few tokens fill one panel");
  if (one_panel && panels == 0) return;
  for_row_tiles<P::rows, tile_rows<P, decltype(w.weight), In>>([&]<std::size_t R>(std::size_t first) LADON_TILE_LAMBDA {
    product_tile<P, R>(w, first, in, one_panel ? 1 : panels, epilogue, start, reading);
  });
}
// The same as a function of its own. Takes the epilogue by reference: g++ copies two members with one load, which has
// to wait for the stores of both.
template <class P, class Weights, class In, class Epilogue, class Start>
LADON_PRODUCT constexpr void product(Weights LADON_ARGUMENT w, In in, std::size_t panels, const Epilogue& epilogue,
                                     Start start, Reading reading) noexcept {
  product_tiles<P>(w, in, panels, epilogue, start, reading);
}

#if defined(LADON_SMALL)
// The product in code for size. The number of rows is an argument, so that projections share one function. P::rows is
// the number of rows of a tile.
template <class P, class Weights, class Epilogue>
LADON_NOINLINE constexpr void product_small(Weights w, PanelsView in, std::size_t panels, Epilogue epilogue,
                                            std::size_t rows) noexcept {
  for (std::size_t first = 0; first < rows; first += P::rows) {
    product_tile<P, P::rows>(w, first, in, panels, epilogue, StartAtBias{}, Reading::again);
  }
}
#endif

template <class P, class Weights, class In, class Epilogue>
LADON_NOINLINE constexpr void product_int8(Weights LADON_ARGUMENT w, In LADON_ARGUMENT in, std::size_t panels,
                                           Epilogue LADON_ARGUMENT epilogue) noexcept {
  using Engine = cortex_m::Engine<typename In::Element, typename P::Simd>;
  if constexpr (!std::is_same_v<Engine, cortex_m::NoEngine>) {
    if (!std::is_constant_evaluated()) return Engine::template product<P>(w, in, panels, epilogue);
  }
  for_row_tiles<P::rows, tile_rows<P, decltype(w.weight), In>>(
      [&]<std::size_t R>(std::size_t first) LADON_INT8_TILE_LAMBDA {
        product_tile<P, R>(w, first, in, panels, epilogue, StartAtBias{}, Reading::first);
      });
}

// Computes the product of `panels` panels of Packs packs, which starts at the biases, or at the sums of `start`.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void matmul_panels(const auto& w, auto in, std::size_t panels, auto epilogue,
                                          [[maybe_unused]] auto start) noexcept {
  using P = ProductForm<Simd, T, Packs, Rows, Inner>;
  if constexpr (is_quantised<decltype(in)>) {
    product_int8<P>(w, in, panels, epilogue);
  } else {
    product<P>(w, in, panels, epilogue, start, Reading::first);
  }
}
// Computes the product of `panels` panels of Packs packs.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void matmul(const auto& w, auto in, std::size_t panels, auto epilogue,
                                   [[maybe_unused]] Reading reading = Reading::first) noexcept {
  using P = ProductForm<Simd, T, Packs, Rows, Inner>;
  using In = decltype(in);
  if constexpr (is_single_token<Simd, T>) {
    if constexpr (is_quantised<In>) {
      if (panels > 0) matrix_vector_int8<Simd, Rows, Inner>(w, in, epilogue);
    } else {
      matrix_vector<Simd, Rows, Inner>(w, in.data, epilogue);
    }
  } else if constexpr (is_quantised<In>) {
    product_int8<P>(w, in, panels, epilogue);
#if defined(LADON_SMALL)
  } else if constexpr (std::is_same_v<typename decltype(w.weight)::Element, float> && std::is_same_v<In, PanelsView> &&
                       Rows % tile_rows<P, decltype(w.weight), In> == 0) {
    using Tile = ProductForm<Simd, T, Packs, tile_rows<P, decltype(w.weight), In>, Inner>;
    product_small<Tile>(w, in, panels, epilogue, Rows);
#endif
  } else if constexpr (inlines_product<P>) {
    product_tiles<P>(w, in, panels, epilogue, StartAtBias{}, reading);
  } else {
    product<P>(w, in, panels, epilogue, StartAtBias{}, reading);
  }
}

}  // namespace LADON_NAMESPACE::detail
