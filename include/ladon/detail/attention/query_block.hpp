// The operands of the attention kernels: one head, and one query block of this head.
//
// A query block has the queries of one panel. The keys are processed in key blocks (detail/attention/key_blocks.hpp),
// so the workspace never grows with queries x keys.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/panels.hpp>
#include <ladon/detail/simd/vectors.hpp>

namespace ladon::inline LADON_ABI::detail {

// The keys and values that the queries of one query head attend to, in panels.
struct Head {
  const float* keys;    // K^T [panels][head width][key width]
  const float* values;  // V^T [panels][value width][key width]
  bool values_finite;
  std::size_t index;  // number of the query head
  float sink;         // as an exponent of two; read only if the score has sinks
};

// The queries of one panel, and the memory for their attention to one head.
struct QueryBlock {
  const float* query;  // Q^T [head width][query width], scaled by ScoreFunction::query_scale
  Range queries;       // indices of the queries
  float* scores;       // scratch [keys of a key block][query width]: first S^T, then P^T
  float* out;          // O^T [value width][query width]
};

// The types and sizes that the kernels of a query block are compiled for. The queries fill Packs packs. The number of
// tokens is not a parameter, so shapes that differ only in the number of tokens can share the kernels.
template <class PackType, std::size_t Packs, Tiling T, std::size_t KeyWidth, std::size_t HeadWidth,
          std::size_t ValueWidth>
struct QueryBlockForm {
  using Pack = PackType;
  static constexpr std::size_t packs = Packs;
  static constexpr Tiling tiling = T;
  static constexpr std::size_t tile_rows = T.rows_for(Packs);
  static constexpr std::size_t query_width = T.width();  // tokens of a panel of queries
  static constexpr std::size_t key_width = KeyWidth;     // tokens of a panel of keys
  static constexpr std::size_t head_width = HeadWidth;
  static constexpr std::size_t value_width = ValueWidth;
};

}  // namespace ladon::inline LADON_ABI::detail
