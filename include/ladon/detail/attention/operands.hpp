// SPDX-License-Identifier: Apache-2.0
// The operands of the attention kernels. Keys are processed in key blocks, so the workspace never holds the scores of
// all queries and all keys.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

using mask::KeyRanges;
using mask::ScoreBlock;

// Converts a product q . k into an exponent of two, because the softmax is computed with powers of two. query_scale
// multiplies each query before it is stored. exponent() converts the product of such a query and a key.
//     without softcap   query_scale = scale * log2(e)     exponent(product) = product
//     with softcap      query_scale = scale / softcap     exponent(product) = tanh(product) * softcap * log2(e)
template <Shape S, class Score>
struct ScoreFunction {
  static constexpr bool capped = Score::softcap != 0;
  static constexpr float query_scale =
      capped ? Score::scale(S) / (capped ? Score::softcap : 1.0f) : static_cast<float>(Score::scale(S) * score::log2_e);
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    if constexpr (capped) {
      return tanh(product) * Pack::broadcast(static_cast<float>(Score::softcap * score::log2_e));
    } else {
      return product;
    }
  }
};

// Captures scores before the softcap.
struct ProductOnly {
  static constexpr bool capped = false;
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    return product;
  }
};

// One head of keys and values. `View` is a view of floats, of pairs of bfloat16 numbers (PairPanels), or of the
// elements of a cache (detail/panel/cache_panels.hpp).
template <class View = const float*>
struct KeysAndValues {
  View keys;           // K^T [panels][head width][key width]
  View values;         // V^T [panels][value width][key width]
  bool values_finite;  // whether no value is infinite or NaN
  // Whether keys and values are words (detail/cortex_m/m0_attention.hpp). Aligned: copies take 20 bytes less on M0+.
  alignas(4) bool words = false;
};
template <class View>
KeysAndValues(View, View, bool) -> KeysAndValues<View>;

// One query head.
template <class View = const float*>
struct Head : KeysAndValues<View> {
  std::size_t index;
  float sink;  // the head's sink as an exponent of two; read only if the score has sinks
};

// The queries of one panel, and the memory for their attention in one head.
struct QueryBlock {
  const float* query;  // Q^T [head width][query width], scaled by ScoreFunction::query_scale, or its pairs
  Range queries;       // indices of the queries
  float* scores;       // scratch [keys of a key block][query width]: first the scores S^T, then the weights P^T
  float* out;          // O^T [value width][query width]: the output
  float* widened;      // scratch: keys, then values, of a key block as floats; only for a bfloat16 or int8 cache
  bool words = false;  // whether keys and values are words (detail/cortex_m/m0_attention.hpp)
};

// One query in each of `Heads` consecutive query heads.
template <class View, std::size_t Heads>
struct SingleQueries : KeysAndValues<View> {
  std::size_t head;    // index of the first query head
  float sink[Heads];   // the sinks as exponents of two; read only if the score has sinks
  const float* query;  // [Heads][head width], scaled by ScoreFunction::query_scale
  float* scores;       // scratch [Heads][keys of all panels]: first the scores, then the weights
  float* out;          // [Heads][value width]: the output
};

// What attention is compiled for. Attention without projections has the weights `void`.
template <Shape S, class WeightsType, class ScoreType, class PositionType, class VectorsType>
struct AttentionTypes {
  static constexpr Shape shape = S;
  using Weights = WeightsType;
  using Score = ScoreType;
  using Position = PositionType;
  using Vectors = VectorsType;
};

// The sizes for which the kernels of a query block are compiled. Shapes that differ only in the numbers of queries and
// keys use the same kernels.
struct QueryBlockSizes {
  PanelLayout layout;     // of the queries
  std::size_t packs;      // that the queries fill
  std::size_t key_width;  // how many tokens a panel of keys has
  std::size_t head_width;
  std::size_t value_width;
  bool uses_block_floats = false;  // computes with integers (detail/cortex_m/m0_attention.hpp)
  bool uses_pairs = false;         // detail/attention/bfloat16_attention.hpp
  // Whether the kernels get the keys or values of one key block only, converted to floats
  // (detail/panel/cache_panels.hpp).
  bool widened = false;
};
template <class PackType, QueryBlockSizes Sizes>
struct QueryBlockForm {
  using Pack = PackType;
  static constexpr std::size_t packs = Sizes.packs;
  static constexpr PanelLayout layout = Sizes.layout;
  static constexpr std::size_t tile_rows = layout.tile_rows_for(packs);
  static constexpr std::size_t query_width = layout.width();  // how many tokens a panel of queries has
  static constexpr std::size_t key_width = Sizes.key_width;
  static constexpr std::size_t head_width = Sizes.head_width;
  static constexpr std::size_t value_width = Sizes.value_width;
  static constexpr bool uses_block_floats = Sizes.uses_block_floats, uses_pairs = Sizes.uses_pairs;

  // How many features of a key one step adds to a score, and how many keys one step adds to a weighted sum.
  static constexpr std::size_t step = uses_pairs ? 2 : 1;
  static constexpr std::size_t head_steps = (head_width + step - 1) / step;  // steps of a score
  static constexpr std::size_t panel_steps = key_width / step;               // steps of a panel of values
  using Dot = EachPack<std::conditional_t<uses_pairs, vec::PairDot<Pack>, vec::FloatDot<Pack>>, Pack::lanes>;
  template <std::size_t Rows, std::size_t TilePacks>
  using Kernel = MicroKernel<Dot, Rows, TilePacks>;

  // `keys` begins at a multiple of `step`.
  static constexpr Range steps_of(Range keys) noexcept {
    return uses_pairs ? Range{keys.begin / step, (keys.end + step - 1) / step} : keys;
  }

  // Returns the first key in the arrays that the kernels read, for a key block that begins at `begin`.
  static constexpr std::size_t first_key(std::size_t begin) noexcept { return Sizes.widened ? begin : 0; }
};

}  // namespace LADON_NAMESPACE::detail
