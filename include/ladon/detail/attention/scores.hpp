// SPDX-License-Identifier: Apache-2.0
// Computes the scores of one query block and a range of keys: S^T[key][query] = exponent(K Q^T), with the mask applied.
//     keys    K^T [panels][head width][keys of a panel]    broadcast by the micro-kernel: each row of S^T is a key
//     query   Q^T [head width][queries]                    scaled by ScoreFunction::query_scale
//     scores  S^T [keys of the range][queries]
//
// A tile takes four steps: product, softcap, mask, maximum. The score of a hidden key becomes -inf, even if it is NaN.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/detail/attention/operands.hpp>
#include <ladon/detail/cortex_m/m0_attention.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/unit_product.hpp>

namespace LADON_NAMESPACE::detail {

// The maximum of each query. With Chains separate maxima, a max instruction need not wait for the previous one.
template <class Pack, std::size_t Packs, std::size_t Chains>
struct TileMaximum {
  Pack largest[Chains][Packs];

  LADON_INLINE constexpr explicit TileMaximum(const Pack* running) noexcept {
    LADON_UNROLLED_FOR(c, Chains) {
      LADON_UNROLLED_FOR(v, Packs) largest[c][v] = running[v];
    }
  }
  LADON_INLINE constexpr void take(std::size_t row, std::size_t v, const Pack& score) noexcept {
    Pack& running = largest[row % Chains][v];
    running = maximum(running, score);
  }
  LADON_INLINE constexpr void store(Pack* running) noexcept {
    LADON_UNROLLED_FOR(v, Packs) {
      LADON_UNROLL
      for (std::size_t c = 1; c < Chains; ++c) largest[0][v] = maximum(largest[0][v], largest[c][v]);
      running[v] = largest[0][v];
    }
  }
};

// Converts products q . k of a tile into exponents of two, in place. A separate function: inlined, the constants of
// tanh occupy registers of the accumulators (128 tokens, 384 features, 12 heads: 90.0% -> 87.8% of peak on Zen 5).
template <class Function, class Pack, std::size_t Packs, std::size_t QueryWidth>
LADON_NOINLINE constexpr void cap(float* scores, std::size_t rows) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    LADON_UNROLLED_FOR(v, Packs) {
      float* const score = scores + r * QueryWidth + v * Pack::lanes;
      Function::exponent(Pack::load(score)).store(score);
    }
  }
}

// The scores of Rows keys, from number `key` on, and all packs of queries except the first FirstPack packs. Scores of
// key `end` and later keys are not stored. `lanes` is the mask, bound to the queries and keys (mask/policy.hpp).
//
// InUnit: instead of keys, `keys` holds products [Rows][queries] that the matrix unit has computed.
template <class Form, class Function, std::size_t Rows, std::size_t FirstPack, bool InUnit, class Lanes>
struct ScoreTile {
  using Pack = typename Form::Pack;
  static constexpr std::size_t packs = Form::packs - FirstPack, width = Form::query_width;
  using Products = typename Form::template Kernel<Rows, packs>;
  using Maximum = TileMaximum<Pack, packs, target::Current::score_maxima(Form::packs, Form::tile_rows)>;

  const Lanes& lanes;
  std::size_t key;
  std::size_t end;
  float* scores;  // address of the tile's first score

  // `running`: the maximum of each query so far, which is updated.
  template <class Query>
  LADON_INLINE constexpr void compute(const float* keys, const Query& query, bool unmasked,
                                      Pack* running) const noexcept {
    if constexpr (Form::uses_block_floats) {
      if (!std::is_constant_evaluated()) return compute_with_integers(keys, query, unmasked, running);
    }
    Products products([&](std::size_t r, std::size_t v) LADON_SUM_LAMBDA {
      return InUnit ? Pack::load(keys + r * width + v * Pack::lanes) : Pack::broadcast(0.0f);
    });
    if constexpr (!InUnit) multiply(products, keys, query);
    if constexpr (Function::capped) cap_products(products);
    Maximum maximum(opaque(running));
    if (unmasked) {
      products.finish([&](std::size_t r, std::size_t v, const Pack& product)
                          LADON_SUM_LAMBDA { keep(r, v, score_of(r, v, product), maximum); });
    } else {
      products.finish([&](std::size_t r, std::size_t v, const Pack& product) LADON_SUM_LAMBDA {
        if (key + r < end) keep(r, v, hide(r, v, score_of(r, v, product)), maximum);
      });
    }
    maximum.store(running);
  }

 private:
  // `products` is an argument, because g++ keeps a returned object in memory (1.9% more instructions on a Cortex-M55).
  LADON_INLINE static constexpr void multiply(Products& products, const float* keys, const float* query) noexcept {
    products.template accumulate<width>(Form::head_steps,
                                        WeightMatrix<float, Form::key_stride, Form::feature_stride>{keys},
                                        query + FirstPack * Pack::lanes);
  }
  LADON_INLINE static constexpr void multiply(Products& products, const float* keys,
                                              const block_floats::Queries<Form::head_width>& query) noexcept {
    multiply(products, keys, query.floats());
  }
  // Loops stay rolled, because without an FPU, unrolled loops are hardly faster.
  template <class Query>
  LADON_INLINE void compute_with_integers(const float* keys, const Query& query, bool unmasked,
                                          Pack* running) const noexcept {
    Pack sum[Rows][packs];
    query.multiply(keys, sum);
    const std::size_t rows = end - key < Rows ? end - key : Rows;
    if constexpr (Function::capped) {
      LADON_ROLLED_FOR(r, rows) {
        for (std::size_t v = 0; v < packs; ++v) sum[r][v].store(at(r, v));
      }
      cap<Function, Pack, packs, width>(scores, rows);
    }
    LADON_ROLLED_FOR(r, rows) {
      LADON_ROLLED_FOR(v, packs) {
        Pack score = score_of(r, v, sum[r][v]);
        if (!unmasked) score = hide(r, v, score);
        running[v] = {block_floats::larger(running[v].lane[0], score.lane[0])};
        score.store(at(r, v));
      }
    }
  }
  LADON_INLINE constexpr void cap_products(const Products& products) const noexcept {
    products.finish([&](std::size_t r, std::size_t v, const Pack& product) {
      if (key + r < end) product.store(at(r, v));
    });
    cap<Function, Pack, packs, width>(scores, end - key < Rows ? end - key : Rows);
  }
  // Adds the numbers of the mask. `hide` later replaces the scores of hidden keys.
  LADON_INLINE constexpr Pack score_of(std::size_t r, std::size_t v, const Pack& product) const noexcept {
    if constexpr (Function::capped) {
      return lanes.add(FirstPack + v, key + r, Pack::load(at(r, v)));
    } else {
      return lanes.add(FirstPack + v, key + r, Function::exponent(product));
    }
  }
  LADON_INLINE constexpr Pack hide(std::size_t r, std::size_t v, const Pack& score) const noexcept {
    return blend(lanes.may_see(FirstPack + v, key + r), score,
                 Pack::broadcast(-std::numeric_limits<float>::infinity()));
  }
  LADON_INLINE constexpr void keep(std::size_t r, std::size_t v, const Pack& score, Maximum& maximum) const noexcept {
    maximum.take(r, v, score);
    score.store(at(r, v));
  }
  LADON_INLINE constexpr float* at(std::size_t r, std::size_t v) const noexcept {
    return scores + r * width + v * Pack::lanes;
  }
};

// A tile for the last four keys or fewer has four rows: int8 attention of 36 tokens with 64 features and 4 heads takes
// 7% less time (Zen 5).
inline constexpr std::size_t last_rows = 4;

// Computes the products [keys][queries] of all queries and a panel of keys in the matrix unit. Keys are rows of pairs,
// K [keys][head width / 2] (operands.hpp).
template <class Form>
LADON_INLINE const float* products_in_unit(const float* keys, const float* query, float* products) noexcept {
  using Block = UnitBlock<typename Form::Unit, 2, Form::packs, Form::Pack::lanes>;
  static_assert(Block::rows == Form::key_width);
  Block::zero();
  Block::template add<Form::head_width, Form::query_width>(
      WeightMatrix<BFloat16, Form::head_width, 1>{reinterpret_cast<const BFloat16*>(keys)},
      reinterpret_cast<const BFloat16*>(query));
  Block::template store<Form::query_width>(products);
  return products;
}

// `keys` points to the panel of key Form::first_key(scored.keys.begin). Every query sees every key in `unmasked`.
//
// Halves: the first pack of queries sees no key from `first_pack_end` on. If the second half of a panel of keys begins
// there or later, only the second pack gets the scores of that half.
template <class Form, class Function, bool Halves = false, bool InUnit = false, class BoundMask>
LADON_INLINE constexpr void score_tiles(const QueryBlock& block, const ScoreBlock& scored, const float* keys,
                                        Range unmasked, const BoundMask& mask,
                                        typename Form::Pack (&maximum)[Form::packs],
                                        [[maybe_unused]] std::size_t first_pack_end) noexcept {
  using Pack = typename Form::Pack;
  constexpr std::size_t key_width = Form::key_width, query_width = Form::query_width;
  const Range range = scored.keys;
  using Query = std::conditional_t<Form::uses_block_floats, block_floats::Queries<Form::head_width>, const float*>;
  const Query query = [&] {
    if constexpr (Form::uses_block_floats)
      return Query(block.query, block.words);
    else
      return block.query;
  }();
  [[maybe_unused]] alignas(64) float products[InUnit ? key_width * query_width : 1];
  typename BoundMask::template Scratch<key_width, query_width> scratch;
  for (std::size_t base = range.begin; base < range.end; base += key_width) {
    const float* panel = keys + (base - Form::first_key(range.begin)) * Form::head_steps;
    constexpr std::size_t row_stride = InUnit ? query_width : Form::key_stride;
    // Tiles read whole panels, but the caller's array ends with the last key, so the last panel is copied.
    [[maybe_unused]] float last[Form::in_rows ? key_width * Form::head_width : 1];
    if constexpr (Form::in_rows) {
      if (range.end - base < key_width) {
        for (std::size_t i = 0; i < key_width * Form::head_width; ++i)
          last[i] = i < (range.end - base) * Form::head_width ? panel[i] : 0.0f;
        panel = last;
      }
    }
    if constexpr (InUnit) panel = products_in_unit<Form>(panel, block.query, products);
    const auto lanes =
        mask.template lanes<Pack, query_width>({scored.head, scored.queries, {base, range.end}}, scratch);
    const auto tile = [&]<std::size_t Rows, std::size_t FirstPack>(std::size_t row) LADON_TILE_LAMBDA {
      const std::size_t key = base + row;
      if (key >= range.end) return;
      float* const out = block.scores + (key - range.begin) * query_width + FirstPack * Pack::lanes;
      const auto compute = [&]<std::size_t TileRows>() LADON_TILE_LAMBDA {
        ScoreTile<Form, Function, TileRows, FirstPack, InUnit, decltype(lanes)>{lanes, key, range.end, out}.compute(
            panel + row * row_stride, query, unmasked.contains({key, key + TileRows}), &maximum[FirstPack]);
      };
      if constexpr (Rows >= 2 * last_rows) {
        if (range.end - key <= last_rows) return compute.template operator()<last_rows>();
      }
      compute.template operator()<Rows>();
    };
    if constexpr (Halves && !InUnit && key_width > 1) {
      constexpr std::size_t half = key_width / 2;
      if (first_pack_end <= base + half) {
        for_row_tiles<half, Form::tile_rows>([&]<std::size_t Rows>(std::size_t row)
                                                 LADON_TILE_LAMBDA { tile.template operator()<Rows, 0>(row); });
        for_row_tiles<key_width - half, Form::layout.tile_rows_for(1)>(
            [&]<std::size_t Rows>(std::size_t row)
                LADON_TILE_LAMBDA { tile.template operator()<Rows, 1>(half + row); });
        continue;
      }
    }
    for_row_tiles<key_width, Form::tile_rows>([&]<std::size_t Rows>(std::size_t row)
                                                  LADON_TILE_LAMBDA { tile.template operator()<Rows, 0>(row); });
  }
}

// Like score_tiles without Halves, in a matrix unit.
template <class Form, class Function, class BoundMask>
LADON_NOINLINE void scores_in_unit(const QueryBlock& block, const ScoreBlock& scored, const float* keys, Range unmasked,
                                   const BoundMask& mask, typename Form::Pack (&maximum)[Form::packs]) noexcept {
  Form::Unit::template begin<Form::Pack::lanes>();
  score_tiles<Form, Function, false, true>(block, scored, keys, unmasked, mask, maximum, 0);
  Form::Unit::end();
}

// `scores` inlines score_tiles instead if the queries fill one pack and a panel of keys is small.
template <class Form, class Function, bool Halves = false, class BoundMask>
LADON_PRODUCT constexpr void separate_scores(const QueryBlock& block, const ScoreBlock& scored, const float* keys,
                                             Range LADON_ARGUMENT unmasked, const BoundMask& mask,
                                             typename Form::Pack (&maximum)[Form::packs],
                                             std::size_t first_pack_end) noexcept {
  score_tiles<Form, Function, Halves>(block, scored, keys, unmasked, mask, maximum, first_pack_end);
}
template <class Form, class Function, bool Halves = false, class BoundMask>
LADON_INLINE constexpr void scores(const QueryBlock& block, const ScoreBlock& scored, const float* keys, Range unmasked,
                                   const BoundMask& mask, typename Form::Pack (&maximum)[Form::packs],
                                   std::size_t first_pack_end = 0) noexcept {
  if constexpr (Form::fits_unit) {
    if (Form::Unit::ready()) {
      return scores_in_unit<Form, Function>(block, scored, keys, unmasked, mask, maximum);
    }
  }
  if constexpr (Form::packs == 1 && target::Current::inlined_product_weights >= Form::key_width * Form::head_width) {
    score_tiles<Form, Function, Halves>(block, scored, keys, unmasked, mask, maximum, first_pack_end);
  } else {
    separate_scores<Form, Function, Halves>(block, scored, keys, unmasked, mask, maximum, first_pack_end);
  }
}

}  // namespace LADON_NAMESPACE::detail
