// SPDX-License-Identifier: Apache-2.0
// The operands of the attention kernels, their rounding to pairs of bfloat16 numbers, and the rotary embedding.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

using mask::KeyRanges;
using mask::ScoreBlock;

// Converts q . k into an exponent of two, because the softmax computes powers of two. query_scale multiplies each
// query.
//     without softcap   query_scale = scale * log2(e)     exponent(product) = product
//     with softcap      query_scale = scale / softcap     exponent(product) = tanh(product) * softcap * log2(e)
template <Shape S, class Score>
struct ScoreFunction {
  static constexpr bool capped = Score::softcap != 0;
  static constexpr float query_scale = capped
                                           ? Score::scale(S) / (capped ? Score::softcap : 1.0f)
                                           : static_cast<float>(static_cast<double>(Score::scale(S)) * score::log2_e);
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    if constexpr (capped) {
      return tanh(product) * Pack::broadcast(static_cast<float>(static_cast<double>(Score::softcap) * score::log2_e));
    } else {
      return product;
    }
  }
};

template <Shape S, class Score>
constexpr void scale_queries(float* panel, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) panel[i] *= ScoreFunction<S, Score>::query_scale;
}

// For captures before the softcap.
template <class Score>
struct Uncapped : Score {
  static constexpr float softcap = 0;
};

// One head of keys and values: floats, PairPanels, RowsView, or a cache (detail/panel/cache_panels.hpp).
template <class View = const float*>
struct KeysAndValues {
  View keys;           // K^T [panels][head width][keys of a panel]
  View values;         // V^T [panels][value width][keys of a panel]
  bool values_finite;  // whether no value is infinite or NaN
  // Whether keys and values are words (detail/cortex_m/m0_attention.hpp). With this alignment, code that copies the
  // struct is 20 bytes smaller on M0+.
  alignas(4) bool words = false;
};
template <class View>
KeysAndValues(View, View, bool) -> KeysAndValues<View>;

// `Count` consecutive query heads with the same keys and values.
template <class View, std::size_t Count>
struct QueryHeads : KeysAndValues<View> {
  std::size_t index;  // of the first query head
  float sink[Count];  // the sinks as exponents of two; read only if the score has sinks
};
template <class View = const float*>
using Head = QueryHeads<View, 1>;

// The queries of one panel, and the memory for their attention in one head. With a single query, each array may hold
// several heads, one after another. The scores of each head then have room for all panels of keys.
struct QueryBlock {
  const float* query;  // Q^T [head width][queries of the panel], scaled by ScoreFunction::query_scale, or its pairs
  Range queries;
  float* scores;       // scratch [keys of a key block][queries of the panel]: first scores, then weights
  float* out;          // O^T [value width][queries of the panel]: the output
  float* widened;      // scratch for floats of a key block from a bfloat16 or int8 cache: first keys, then values
  bool words = false;  // whether keys and values are words (detail/cortex_m/m0_attention.hpp)
};

// The types for which attention is compiled. Without projections, Weights is `void`.
template <Shape S, class WeightsType, class ScoreType, class PositionType, class VectorsType>
struct AttentionTypes {
  static constexpr Shape shape = S;
  using Weights = WeightsType;
  using Score = ScoreType;
  using Position = PositionType;
  using Vectors = VectorsType;
};

// What the kernels of a query block multiply:
//     floats     all keys and values as floats
//     pairs      pairs of bfloat16 numbers (PairPanels)
//     integers   of detail/cortex_m/m0_attention.hpp; floats in constant evaluation
//     widened    floats of one key block, converted from a bfloat16 or int8 cache (detail/panel/cache_panels.hpp)
//     rows       floats in rows instead of panels: K [keys][head width], V [keys][value width]
enum class Numbers { floats, pairs, integers, widened, rows };

// Whether a matrix unit multiplies pairs of these sizes, in whole tiles of keys and values. The lanes of queries are
// not tested: `fits` gets KeyWidth / 2 lanes.
template <class Unit, std::size_t KeyWidth, std::size_t HeadWidth, std::size_t ValueWidth>
inline constexpr bool attends_in_unit =
    Unit::template fits<BFloat16, HeadWidth, KeyWidth / 2> && KeyWidth == 2 * Unit::rows &&
    KeyWidth * sizeof(BFloat16) == Unit::row_bytes && ValueWidth % Unit::rows == 0;

// The kernels of a query block are compiled for these sizes. The numbers of queries and keys are arguments at run time.
struct QueryBlockSizes {
  PanelLayout layout;     // of the queries
  std::size_t packs;      // that the queries fill
  std::size_t key_width;  // how many tokens a panel of keys has
  std::size_t head_width;
  std::size_t value_width;
  Numbers numbers = Numbers::floats;
};
template <class PackType, QueryBlockSizes Sizes, class UnitType = vec::NoMatrixUnit>
struct QueryBlockForm {
  using Pack = PackType;
  using Unit = UnitType;
  static constexpr std::size_t packs = Sizes.packs;
  static constexpr PanelLayout layout = Sizes.layout;
  static constexpr std::size_t tile_rows = layout.tile_rows_for(packs);
  static constexpr std::size_t query_width = layout.width();  // how many tokens a panel of queries has
  static constexpr std::size_t key_width = Sizes.key_width;
  static constexpr std::size_t head_width = Sizes.head_width;
  static constexpr std::size_t value_width = Sizes.value_width;
  static constexpr bool uses_block_floats = Sizes.numbers == Numbers::integers;
  static constexpr bool uses_pairs = Sizes.numbers == Numbers::pairs, widened = Sizes.numbers == Numbers::widened;
  static constexpr bool in_rows = Sizes.numbers == Numbers::rows;
  static constexpr bool fits_unit = uses_pairs && attends_in_unit<Unit, key_width, head_width, value_width>;

  // A score adds `step` features of a key at a time, and a weighted sum adds `step` keys at a time.
  static constexpr std::size_t step = uses_pairs ? 2 : 1;
  static constexpr std::size_t head_steps = (head_width + step - 1) / step;  // steps of a score
  static constexpr std::size_t panel_steps = key_width / step;               // steps of a panel of values
  // In a tile of keys or values, the distance between neighbouring rows, and between neighbouring steps.
  static constexpr std::size_t key_stride = in_rows ? head_width : 1, feature_stride = in_rows ? 1 : key_width;
  static constexpr std::size_t value_stride = in_rows ? 1 : panel_steps, step_stride = in_rows ? value_width : 1;
  using Dot = EachPack<std::conditional_t<uses_pairs, vec::PairDot<Pack>, vec::FloatDot<Pack>>, Pack::lanes>;
  template <std::size_t Rows, std::size_t TilePacks>
  using Kernel = MicroKernel<Dot, Rows, TilePacks>;

  // `keys` begins at a multiple of `step`.
  static constexpr Range steps_of(Range keys) noexcept {
    return uses_pairs ? Range{keys.begin / step, (keys.end + step - 1) / step} : keys;
  }

  // Returns the first key in the arrays that the kernels read, for a key block that begins at key `begin`.
  static constexpr std::size_t first_key(std::size_t begin) noexcept { return widened ? begin : 0; }
};

// Attention with bfloat16 numbers (target::Defaults::attends_in_pairs). Queries, keys, values and weights are rounded
// to the nearest bfloat16. Scores, maxima, exponentials and all sums are float32. A pair takes the place of a float
// (detail/vec/dot.hpp):
//     queries   Q^T [(head width + 1) / 2][queries of a panel]         a pair has two features of one query
//     keys      K^T [panels][(head width + 1) / 2][keys of a panel]    a pair has two features of one key
//     values    V^T [panels][value width][keys of a panel / 2]         a pair has one feature of two neighbouring keys
//     weights   P^T [(keys of the block + 1) / 2][queries of a panel]  a pair has the weights of two neighbouring keys
//
// For a matrix unit, keys lie in rows: K [panels][keys of a panel][head width / 2].
//
// If the number of features or keys is odd, the second number of the last pair is 0.
//
// The softmax adds the rounded weights. With unrounded weights, the error would grow with the mean of the values.

// A view of the keys or the values of a head, in pairs.
struct PairPanels {
  const float* data;
};

struct RowsView {
  const float* data;
};

// Whether `View` is a view of a bfloat16 or int8 cache, whose elements must be converted to floats.
template <class View>
inline constexpr bool is_widened =
    !std::is_same_v<View, const float*> && !std::is_same_v<View, PairPanels> && !std::is_same_v<View, RowsView>;

// Rounds the features of panels [panels][Features][Width] to pairs [panels][(Features + 1) / 2][Width], in place.
template <class Pack, std::size_t Packs, std::size_t Width, std::size_t Features>
LADON_KERNEL constexpr void round_features(float* data, std::size_t panels) noexcept {
  using Pairs = vec::BFloat16Pairs<Pack>;
  float* to = data;
  for (std::size_t p = 0; p < panels; ++p) {
    const float* const panel = data + p * Features * Width;
    for (std::size_t i = 0; i < Features; i += 2, to += Width) {
      LADON_UNROLLED_FOR(v, Packs) {
        const Pack first = Pack::load(panel + i * Width + v * Pack::lanes);
        const Pack second =
            i + 1 < Features ? Pack::load(panel + (i + 1) * Width + v * Pack::lanes) : Pack::broadcast(0.0f);
        Pairs::to_pairs(first, second).store(to + v * Pack::lanes);
      }
    }
  }
}

// Rounds keys to rows of pairs: K [panels][Width][Features / 2], in place.
template <class Pack, std::size_t Width, std::size_t Features>
LADON_NOINLINE void round_keys_to_rows(float* data, std::size_t panels) noexcept {
  constexpr std::size_t pairs = Features / 2, lanes = Pack::lanes;
  static_assert(pairs % lanes == 0 && Width % lanes == 0);
  for (std::size_t p = 0; p < panels; ++p) {
    alignas(64) float rows[Width * pairs];
    for (std::size_t t = 0; t < Width; t += lanes) {
      for (std::size_t first = 0; first < pairs; first += lanes) {
        Pack square[lanes];
        LADON_UNROLLED_FOR(i, lanes) {
          const float* const from = data + p * Features * Width + 2 * (first + i) * Width + t;
          square[i] = vec::BFloat16Pairs<Pack>::to_pairs(Pack::load(from), Pack::load(from + Width));
        }
        Pack::transpose(square);
        LADON_UNROLLED_FOR(i, lanes) square[i].store(rows + (t + i) * pairs + first);
      }
    }
    for (std::size_t i = 0; i < Width * pairs; ++i) data[p * Width * pairs + i] = rows[i];
  }
}

// Rounds values, in place, from [panels][Features][Width] floats to [panels][Features][Width / 2] pairs.
template <class Pack, std::size_t Width, std::size_t Features>
LADON_KERNEL constexpr void round_values(float* data, std::size_t keys) noexcept {
  static_assert(Width % 2 == 0);
  const std::size_t rows = (keys + Width - 1) / Width * Features;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const from = data + r * Width;
    float* const to = data + r * (Width / 2);
    if constexpr (Pack::lanes == 1) {
      for (std::size_t i = 0; i < Width; i += 2) to[i / 2] = vec::to_pair(from[i], from[i + 1]);
    } else {
      LADON_UNROLL
      for (std::size_t i = 0; i < Width; i += Pack::lanes) {
        vec::BFloat16Pairs<Pack>::store_neighbours(Pack::load(from + i), to + i / 2);
      }
    }
  }
  if (keys % 2 == 0) return;
  float* const last = data + (keys / Width * Features * Width + keys % Width) / 2;
  for (std::size_t i = 0; i < Features; ++i) last[i * (Width / 2)] = vec::only_first(last[i * (Width / 2)]);
}

// The rotary position embedding (position.hpp) turns the features (x, y) of a pair into (x cos - y sin, x sin + y cos).

// Rotates `panel` [head width][Width] in place. The token in lane t has the position `data.offset` + `position` + t.
template <class Position, class Pack, std::size_t Packs, std::size_t Width>
constexpr void apply_rotary(const typename Position::Data& data, std::ptrdiff_t position, std::size_t tokens,
                            float* panel) noexcept {
  if constexpr (Position::optional) {
    if (data.table == nullptr) return;
  }
  LADON_EXPECTS(data.table != nullptr, "ladon: position::Rotary needs a table: options.position.table",
                caller_of(data));
  const typename Position::Table& table = *data.table;
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(data.offset) + position;
  LADON_EXPECTS(start >= 0, "ladon: rotary embedding has no position before the first", caller_of(data),
                {{"position", start}});
  const auto first = static_cast<std::size_t>(start);
  LADON_EXPECTS(first + tokens <= Position::positions, "ladon: the rotary table ends before these positions",
                caller_of(data),
                {{"first position", first}, {"tokens", tokens}, {"positions of the table", Position::positions}});
  constexpr std::size_t half = Position::width / 2;
  constexpr bool neighbours = Position::pairing == Pairing::neighbours;
  for (std::size_t v = 0; v < Packs && v * Pack::lanes < tokens; ++v) {
    const std::size_t at = first + v * Pack::lanes;
    // Lanes without a token load 0, because the table may end before their positions.
    const std::size_t used = tokens - v * Pack::lanes < Pack::lanes ? tokens - v * Pack::lanes : Pack::lanes;
    const auto load = [&](const float* from) {
      return used == Pack::lanes ? Pack::load(from + at) : Pack::load_partial(from + at, used);
    };
    for (std::size_t pair = 0; pair < half; ++pair) {
      float* const a = panel + (neighbours ? 2 * pair : pair) * Width + v * Pack::lanes;
      float* const b = a + (neighbours ? 1 : half) * Width;
      const Pack cosine = load(table.cosine[pair]), sine = load(table.sine[pair]);
      const Pack x = Pack::load(a), y = Pack::load(b);
      (x * cosine - y * sine).store(a);
      fma(x, sine, y * cosine).store(b);
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
