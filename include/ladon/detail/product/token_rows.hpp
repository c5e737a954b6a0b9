// SPDX-License-Identifier: Apache-2.0
// The product of a weight matrix and a few tokens that lie in rows (detail/panel/token_rows.hpp). A lane holds products
// of neighbouring features, so no lane is idle, whatever the number of tokens is:
//     tile     sums of up to row_tile_tokens tokens and 4 rows of W stay in registers, and the lanes are added at the
//     end block    as many rows of W as a register has lanes; the sums [tokens][rows] of a block are transposed to
//     panels
//
// Integer sums are exact, so int8 results are those of panels. W is read in place, in rows.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/row_dot.hpp>

namespace LADON_NAMESPACE::detail {

// Loads the last `Count` weights of a row, and zeros for those that are missing from the step.
template <class Dot, std::size_t Count, class Weight>
LADON_INLINE auto rest_of_weights(const Weight* row) noexcept {
  alignas(64) Weight rest[Dot::features] = {};
  std::memcpy(static_cast<void*>(rest), row, Count * sizeof(Weight));
  return Dot::weights(static_cast<const Weight*>(rest));
}

// Computes the sums [Tokens][lanes] of a block of W and Tokens rows of features. Of the block's rows, `rows` exist.
// Inlined, the tile would share registers with the surrounding code.
template <class Dot, class Form, std::size_t Tokens, std::size_t Inner, class Matrix, class Feature>
LADON_NOINLINE void multiply_token_rows(Matrix w, std::size_t rows, const Feature* x, float* sums) noexcept {
  using Pack = typename Dot::Pack;
  using Weight = typename Matrix::Element;
  constexpr std::size_t lanes = Dot::lanes, step = Dot::features, rest = Inner % step;
  Pack quads[Tokens][lanes / 4];
  for (std::size_t q = 0; q < lanes / 4; ++q) {
    const Weight* row[4];
    LADON_UNROLLED_FOR(i, 4) row[i] = w.rows_from(4 * q + i < rows ? 4 * q + i : rows - 1).data;
    typename Dot::Sums sum[Tokens][4];
    LADON_UNROLLED_FOR(i, 4 * Tokens) sum[i / 4][i % 4] = Dot::zero();
    // `hidden`: g++ 12 would load the weights again for each token.
    const auto add = [&](std::size_t k, auto weights) LADON_INLINE_LAMBDA {
      typename Dot::Register weight[4];
      LADON_UNROLLED_FOR(i, 4) weight[i] = vec::hidden(weights(row[i] + k));
      LADON_UNROLLED_FOR(t, Tokens) {
        const auto token = Dot::load(x + t * Form::stride + k * Form::spread);
        LADON_UNROLLED_FOR(i, 4) Dot::add(sum[t][i], token, weight[i]);
      }
    };
    // A known number of steps makes g++ 12 unroll the loop and spill sums.
    std::size_t end = Inner - rest;
    end = opaque(end);
    for (std::size_t k = 0; k < end; k += step) {
      LADON_UNROLLED_FOR(i, 4) {
        prefetch_to_second_cache(row[i] + k + 16 * Matrix::row_stride);
        prefetch_to_nearest_cache(row[i] + k + 4 * Matrix::row_stride);
      }
      add(k, [](const Weight* from) LADON_INLINE_LAMBDA { return Dot::weights(from); });
    }
    if constexpr (rest > 0) {
      add(Inner - rest, [](const Weight* from) LADON_INLINE_LAMBDA { return rest_of_weights<Dot, rest>(from); });
    }
    LADON_UNROLLED_FOR(t, Tokens) quads[t][q] = Dot::add_quads(sum[t]);
  }
  LADON_UNROLLED_FOR(t, Tokens) Dot::add_lanes(quads[t]).store(sums + t * lanes);
}

// Calls tile.operator()<N>(first) for tiles of at most `Most` tokens, as even as possible.
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

// Converts the integer sums of a row and a pack of tokens, given as bits, to results (finish_tile in product.hpp).
template <std::size_t Width, class Pack>
LADON_INLINE Pack int8_result(const auto& w, std::size_t row, auto in, std::size_t panel, std::size_t pack,
                              const Pack& bits) noexcept {
  auto sum = vec::IntegerSums<Pack>::of_bits(bits);
  if constexpr (vec::holds_zero_point<typename decltype(in)::Element>) {
    const Pack zero = Pack::load(in.template zero<Width>(panel) + pack * Pack::lanes);
    sum = vec::IntegerSums<Pack>::negative_products(zero, w.row_sum[row]) + sum;
  }
  const Pack scale = Pack::load(in.template scale<Width>(panel) + pack * Pack::lanes);
  return fma(sum.to_float(), scale * Pack::broadcast(w.scale[row]), Pack::broadcast(w.bias[row]));
}

// Finishes a block: sums [tokens][BlockRows] of the rows from `first` on, of which `rows` exist, and of the tokens of
// the packs from number `pack` on.
template <class P, std::size_t BlockRows, class Weights, class In, class Epilogue>
LADON_INLINE void finish_token_rows(const Weights& w, std::size_t first, std::size_t rows, In in, std::size_t panel,
                                    std::size_t pack, std::size_t tokens, const float* sums,
                                    const Epilogue& epilogue) noexcept {
  using Pack = typename P::Pack;
  constexpr std::size_t lanes = Pack::lanes;
  const auto& store = epilogue.without_later_transform();
  const auto bias = w.bias.from(first);
  for (std::size_t v = 0; v * lanes < tokens; ++v) {
    for (std::size_t begin = 0; begin < rows; begin += lanes) {
      Pack square[lanes];
      load_transposed(sums + v * lanes * BlockRows + begin, BlockRows, v * lanes, tokens, lanes, square);
      const std::size_t end = rows - begin < lanes ? rows : begin + lanes;
      for (std::size_t r = begin; r < end; ++r) {
        const Pack& sum = square[r - begin];
        if constexpr (is_quantised<In>) {
          store(panel, first + r, pack + v, int8_result<P::width>(w, first + r, in, panel, pack + v, sum));
        } else {
          store(panel, first + r, pack + v, bias.template start<Pack>(panel, r, pack + v) + sum);
        }
      }
    }
    if constexpr (Epilogue::transforms_later) {
      const auto block = epilogue.of_tile(panel, first);
      transform_rows<Pack, 1, P::width>(block.transform, block.out + (pack + v) * lanes, rows);
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
