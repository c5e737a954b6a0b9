// SPDX-License-Identifier: Apache-2.0
// The product of a weight matrix and a few tokens that lie in rows or quads (detail/panel/token_rows.hpp). Lanes hold
// features, so no lane is idle because tokens are few. The last quad may lack tokens. The parts of a product:
//     tile     up to TokenRowRules::tile_tokens tokens and 4 rows of W, or all quads and several rows of W. Sums stay
//              in registers, and their lanes are added last
//     block    rows of W whose sums are written to the panel together: as many as a register has lanes, or 48 with
//              quads
//
// Integer sums are exact, so int8 results equal those of panels. W is read in place.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/tile_weights.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/row_dot.hpp>
#include <ladon/detail/vec/token_quads.hpp>

namespace LADON_NAMESPACE::detail {

// Loads the last `Count` weights of a row, and zeros for the rest of the step.
template <class Dot, std::size_t Count, class Weight>
LADON_INLINE auto rest_of_weights(const Weight* row) noexcept {
  alignas(64) Weight rest[Dot::features] = {};
  std::memcpy(static_cast<void*>(rest), row, Count * sizeof(Weight));
  return Dot::weights(static_cast<const Weight*>(rest));
}

// Where the rows of features are: `inner` features in a row. Rows begin `stride` elements apart, and their registers
// `spread` registers apart.
struct FeatureRows {
  std::size_t inner, stride, spread;
};

// Computes the sums of four rows of W and Tokens rows of features. quads[t * lanes / 4] receives a pack with parts of
// the sums of token t: lane 4 n + i has a part of the sum of row i, and add_lanes adds the parts later. (Here, a quad
// is four lanes, as in detail/vec/row_dot.hpp.) If W has only `rows` rows, the last row is repeated. Not inlined, so
// that the tile has all registers. `row_stride` is an argument, so that products of several matrices share the
// function.
template <class Dot, std::size_t Tokens, FeatureRows F, class Weight, class Feature>
LADON_NOINLINE void multiply_token_rows(const Weight* w, std::size_t row_stride, std::size_t rows, const Feature* x,
                                        typename Dot::Pack* quads) noexcept {
  constexpr std::size_t inner = F.inner, step = Dot::features, rest = inner % step;
  constexpr std::size_t line_weights = cache_line_words * sizeof(float) / sizeof(Weight);
  constexpr std::size_t line = step < line_weights ? line_weights : step;
  const Weight* row[4];
  LADON_UNROLLED_FOR(i, 4) row[i] = w + (i < rows ? i : rows - 1) * row_stride;
  typename Dot::Sums sum[Tokens][4];
  LADON_UNROLLED_FOR(i, 4 * Tokens) sum[i / 4][i % 4] = vec::zero_sums<typename Dot::Sums>();
  const auto add = [&](std::size_t k, auto weights) LADON_INLINE_LAMBDA {
    typename Dot::Register token[Tokens];
    LADON_UNROLLED_FOR(t, Tokens) token[t] = Dot::load(x + t * F.stride + k * F.spread);
    LADON_UNROLLED_FOR(i, 4) {
      const auto weight = weights(row[i] + k);
      LADON_UNROLLED_FOR(t, Tokens) Dot::add(sum[t][i], token[t], weight);
    }
  };
  // If the number of steps were known, g++ 12 would unroll the loop and spill sums.
  const std::size_t end = opaque(inner / line * line);
  const auto load = [](const Weight* from) LADON_INLINE_LAMBDA { return Dot::weights(from); };
  for (std::size_t k = 0; k < end; k += line) {
    LADON_UNROLLED_FOR(i, 4) {
      prefetch_to_second_cache(row[i] + (k + 16 * row_stride));
      prefetch_to_nearest_cache(row[i] + (k + 4 * row_stride));
    }
    LADON_UNROLLED_FOR(s, line / step) add(k + s * step, load);
  }
  LADON_UNROLLED_FOR(s, inner % line / step) add(inner / line * line + s * step, load);
  if constexpr (rest > 0) {
    add(inner - rest, [](const Weight* from) LADON_INLINE_LAMBDA { return rest_of_weights<Dot, rest>(from); });
  }
  LADON_UNROLLED_FOR(t, Tokens) quads[t * Dot::lanes / 4] = Dot::add_quads(sum[t]);
}

// Calls tile.operator()<N>(first) for tiles of at most `Most` tokens, whose sizes differ by at most 1.
template <std::size_t Most>
LADON_INLINE void for_token_tiles(std::size_t tokens, auto tile) noexcept {
  const auto call = [&]<std::size_t N>(auto self, std::size_t first, std::size_t count) LADON_INLINE_LAMBDA -> void {
    if (count == N) return tile.template operator()<N>(first);
    if constexpr (N > 1) self.template operator()<N - 1>(self, first, count);
  };
  std::size_t first = 0;
  for (std::size_t tiles = (tokens + Most - 1) / Most; tiles > 0; --tiles) {
    const std::size_t count = (tokens - first) / tiles;
    call.template operator()<Most>(call, first, count);
    first += count;
  }
}

// Computes the sums of a block of W and `tokens` rows of features, and transposes them: sums [rows of W][MostTokens].
// The block has as many rows as a pack has lanes. If W has only `rows` rows, later sums repeat the last row. If the
// tokens do not fill their last pack, the rest of this pack receives zeros.
template <class Simd, class Pack, std::size_t MostTokens, FeatureRows F, class Feature>
LADON_NOINLINE void sums_of_token_rows(const auto* w, std::size_t row_stride, std::size_t rows, const Feature* x,
                                       std::size_t tokens, float* sums) noexcept {
  using Dot = vec::RowDotRegister<Feature, typename Simd::template Pack<Simd::lanes>>;
  constexpr std::size_t lanes = Dot::lanes;
  using Quads = typename Dot::Pack[lanes / 4];
  Quads memory[MostTokens];
  Quads* const quads = opaque(memory);  // otherwise, g++ 12 warns that `memory` may be uninitialised
  for (std::size_t q = 0; q < lanes / 4; ++q) {
    const std::size_t row = 4 * q < rows ? 4 * q : rows - 1;
    for_token_tiles<Simd::template token_rows<Feature>.tile_tokens>(
        tokens, [&]<std::size_t N>(std::size_t first) LADON_INLINE_LAMBDA {
          multiply_token_rows<Dot, N, F>(w + row * row_stride, row_stride, rows - row, x + first * F.stride,
                                         quads[first] + q);
        });
  }
  alignas(64) float of_tokens[MostTokens * lanes];
  for (std::size_t t = 0; t < tokens; ++t) Dot::add_lanes(quads[t]).store(of_tokens + t * lanes);
  for (std::size_t t = 0; t < tokens; t += Pack::lanes) {
    for (std::size_t r = 0; r < lanes; r += Pack::lanes) {
      Pack square[Pack::lanes];
      load_transposed(of_tokens + t * lanes + r, lanes, t, tokens, Pack::lanes, square);
      LADON_UNROLLED_FOR(i, Pack::lanes) square[i].store(sums + (r + i) * MostTokens + t);
    }
  }
}

// Converts sums of a row of W and a pack of tokens to results, as finish_tile does. Integer sums are passed as floats
// with the same bits. The tokens' parameters are members: otherwise, the compiler would read them again after each
// store.
template <std::size_t Width, class Pack, class Weights, class In>
struct RowResults {
  const Weights& w;
  Pack scale, zero;

  LADON_INLINE RowResults(const Weights& weights, const In& in, std::size_t panel, std::size_t pack) noexcept
      : w(weights), scale(Pack::load(in.template scale<Width>(panel) + pack * Pack::lanes)), zero(scale) {
    if constexpr (vec::holds_zero_point<typename In::Element>) {
      zero = Pack::load(in.template zero<Width>(panel) + pack * Pack::lanes);
    }
  }
  LADON_INLINE Pack operator()(std::size_t row, const Pack& bits) const noexcept {
    auto sum = vec::IntegerSums<Pack>::of_bits(bits);
    if constexpr (vec::holds_zero_point<typename In::Element>) {
      sum = vec::IntegerSums<Pack>::negative_products(zero, w.row_sum[row]) + sum;
    }
    return fma(sum.to_float(), scale * Pack::broadcast(w.scale[row]), Pack::broadcast(w.bias[row]));
  }
};
template <std::size_t Width, class Pack, class Weights, class In>
  requires(!is_quantised<In>)
struct RowResults<Width, Pack, Weights, In> {
  const Weights& w;
  std::size_t panel, pack;

  LADON_INLINE RowResults(const Weights& weights, const In&, std::size_t in_panel, std::size_t in_pack) noexcept
      : w(weights), panel(in_panel), pack(in_pack) {}
  LADON_INLINE Pack operator()(std::size_t row, const Pack& sum) const noexcept {
    return w.bias.template start<Pack>(panel, row, pack) + sum;
  }
};

template <std::size_t Quads, std::size_t Inner>
struct QuadForm {
  static constexpr std::size_t packs = Quads, width = 4 * Quads, inner = Inner;
};

// Writes the sums of Quads quads: sums [R][MostTokens].
template <class Dot, std::size_t R, std::size_t Quads, std::size_t Inner, std::size_t MostTokens>
LADON_NOINLINE void multiply_quads(auto w, const auto* x, float* sums) noexcept {
  MicroKernel<Dot, R, Quads> tile([](std::size_t, std::size_t)
                                      LADON_INLINE_LAMBDA { return vec::zero_sums<typename Dot::Sums>(); });
  WeightsInPlace<decltype(w)>{w}.template multiply<QuadForm<Quads, Inner>>(tile, x, {true, true, true});
  LADON_UNROLLED_FOR(r, R) {
    LADON_UNROLL
    for (std::size_t q = 0; q < Quads; q += 4) {
      typename Dot::Sums sum[4];
      LADON_UNROLLED_FOR(i, 4) sum[i] = q + i < Quads ? tile.sum[r][q + i] : vec::zero_sums<typename Dot::Sums>();
      Dot::sums_of_tokens(sum).store(sums + r * MostTokens + 4 * q);
    }
  }
}

// Writes the sums of `quads` quads: sums [rows][MostTokens].
template <class Simd, class Form, std::size_t MostTokens, class Feature>
LADON_NOINLINE void sums_of_quads(auto w, std::size_t rows, const Feature* x, std::size_t quads, float* sums) noexcept {
  constexpr std::size_t inner = Form::inner;
  using Dot = vec::QuadDot<Feature, typename Simd::template Pack<Simd::lanes>>;
  const auto multiply = [&]<std::size_t N>(auto self) LADON_INLINE_LAMBDA -> void {
    if constexpr (Simd::template are_quads<Feature>(4 * N)) {
      constexpr std::size_t most = target::Current::most_aliasing_rows;
      constexpr std::size_t fit = 24 / N;  // sums, quads and a register of weights take at most 31 registers
      constexpr std::size_t tile = Form::rows_alias && fit > most ? most : fit;
      if (quads == N) {
        std::size_t r = 0;
        for (; r + tile <= rows; r += tile) {
          multiply_quads<Dot, tile, N, inner, MostTokens>(w.rows_from(r), x, sums + r * MostTokens);
        }
        for (; r < rows; ++r) multiply_quads<Dot, 1, N, inner, MostTokens>(w.rows_from(r), x, sums + r * MostTokens);
        return;
      }
    }
    if constexpr (N > 1) self.template operator()<N - 1>(self);
  };
  multiply.template operator()<Form::most_quads>(multiply);
}

// Multiplies the tokens of one panel that are rows or quads.
template <class Simd, PanelLayout T, std::size_t Inner, class Weights, class In, class Epilogue>
LADON_NOINLINE void product_of_token_rows(Weights w, std::size_t rows, In in, std::size_t panel,
                                          const Epilogue& epilogue) noexcept {
  using Element = typename In::Element;
  using Form = TokenRowForm<Simd, T, Element, Inner>;
  using Pack = typename Simd::template Pack<T.lanes>;
  // The last block of quads overlaps the block before, so that it has only whole tiles, too.
  constexpr bool has_quads = Form::most_quads > 0 && sizeof(Element) == sizeof(typename decltype(w.weight)::Element);
  constexpr std::size_t block = has_quads ? 3 * Simd::lanes : Simd::lanes;
  constexpr std::size_t most = has_quads && !Form::apart ? T.width() : Form::most_tokens;
  constexpr std::size_t width = (most + T.lanes - 1) / T.lanes * T.lanes;
  const RowsOfPanel in_rows = in.rows[panel];
  const Element* const x = in.template row_data<Inner, T.width()>(panel);
  const auto& store = epilogue.without_later_transform();
  alignas(64) float sums[block * width];
  for (std::size_t row = 0; row < rows; row += block) {
    const std::size_t count = rows - row < block ? rows - row : block;
    std::size_t before = 0;  // rows of the block that are finished already
    bool multiplied = false;
    if constexpr (has_quads) {
      if (in_rows.quads > 0) {
        if (rows >= block) before = block - count;
        sums_of_quads<Simd, Form, width>(w.weight.rows_from(row - before), before + count, x, in_rows.quads, sums);
        multiplied = true;
      }
    }
    if (!multiplied) {
      for (std::size_t r = 0; r < count; r += Simd::lanes) {
        const std::size_t left = count - r < Simd::lanes ? count - r : Simd::lanes;
        sums_of_token_rows<Simd, Pack, width, FeatureRows{Inner, Form::stride, Form::spread}>(
            w.weight.rows_from(row + r).data, decltype(w.weight)::row_stride, left, x + Form::offset,
            in_rows.end - in_rows.begin, sums + r * width);
      }
    }
    for (std::size_t t = in_rows.begin; t < in_rows.end; t += T.lanes) {
      const std::size_t pack = t / T.lanes;
      const RowResults<T.width(), Pack, Weights, In> result(w, in, panel, pack);
      for (std::size_t r = 0; r < count; ++r) {
        store(panel, row + r, pack, result(row + r, Pack::load(sums + (before + r) * width + t - in_rows.begin)));
      }
      if constexpr (Epilogue::transforms_later) {
        const auto block_of_panel = epilogue.of_tile(panel, row);
        transform_rows<Pack, 1, T.width()>(block_of_panel.transform, block_of_panel.out + t, count);
      }
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
