// SPDX-License-Identifier: Apache-2.0
// The members of workspaces (threads.hpp). No call reads what an earlier call has written.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>

namespace LADON_NAMESPACE {

// Replaces members that a type does not need.
struct NoPanels {
  static constexpr float* data = nullptr;
};

// For one head at a time. With a single query, `query` and `scores` hold HeadsTogether heads.
template <Shape S, class Vectors, std::size_t HeadsTogether>
struct ScratchOfHeads {
  using L = detail::ShapeLayout<S, Vectors>;
  Panels<S.keys, S.head_width, L::keys> keys;     // keys K^T of one head
  Panels<S.keys, S.value_width, L::keys> values;  // values V^T of one head
  Panels<L::queries.width(), HeadsTogether * S.head_width, L::queries> query;
  // The scores of one key block, later their exponentials.
  Panels<L::queries.width(), HeadsTogether * L::block, L::queries> scores;
  static constexpr NoPanels widened{};
};

template <Shape S, class Vectors>
using HeadScratch = ScratchOfHeads<S, Vectors, detail::ShapeLayout<S, Vectors>::heads_together>;

// For attention to a cache. `widened` holds tokens of a bfloat16 or int8 cache as floats: first keys, later values.
template <Shape S, class Vectors>
struct CachedScratch {
  using L = detail::ShapeLayout<S, Vectors>;
  static constexpr std::size_t widest = S.head_width > S.value_width ? S.head_width : S.value_width;
  using Widened = Panels<L::widened_block, widest, L::keys>;
  Panels<L::queries.width(), widest, L::queries>
      projected;  // new K^T or V^T of one head, before scatter() writes it into the cache
  Panels<L::queries.width(), L::heads_together * S.head_width, L::queries> query;
  Panels<L::queries.width(), L::heads_together * L::block, L::queries> scores;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<S.cache_precision == CachePrecision::float32, NoPanels, Widened> widened;
};

// For attention that reads keys and values in rows.
template <Shape S, class Vectors>
struct RowScratch {
  using L = detail::ShapeLayout<S, Vectors>;
  static constexpr std::size_t together = 4;        // queries that share a read of keys and values
  Panels<S.keys, together, L::keys> scores_of_few;  // for detail/attention/few_queries.hpp
  Panels<L::queries.width(), S.head_width, L::queries> query;
  Panels<L::queries.width(), L::block, L::queries> scores;
};

// For attention without projections. `out` is for the outputs of one panel of queries.
template <Shape S, class Vectors, bool ReadsRows>
struct AttentionWorkspace {
  using L = detail::ShapeLayout<S, Vectors>;
  std::conditional_t<ReadsRows, RowScratch<S, Vectors>, ScratchOfHeads<S, Vectors, 1>> scratch;
  Panels<L::queries.width(), S.value_width, L::queries> out;
};

// The converted input: first of the projections of `x`, later of other products.
template <Shape S, class Vectors, class Precision>
using QueryInput =
    detail::LinearInput<Precision, Vectors, S.queries, (S.model > S.concat_width() ? S.model : S.concat_width()),
                        detail::ShapeLayout<S, Vectors>::queries>;

// The queries and keys of all heads of x, if their norm is over all heads (HeadNorm::all).
template <Shape S, class Vectors, bool NormsAll>
struct AllHeads {
  static constexpr NoPanels all_queries{}, all_keys{};
};
template <Shape S, class Vectors>
struct AllHeads<S, Vectors, true> {
  using L = detail::ShapeLayout<S, Vectors>;
  Panels<S.queries, S.query_rows(), L::queries> all_queries;
  Panels<S.queries, S.key_rows(), L::queries> all_keys;
};

template <Shape S, class Vectors, class Precision = precision::Float32, bool NormsAll = false>
struct SelfShared : AllHeads<S, Vectors, NormsAll> {
  using L = detail::ShapeLayout<S, Vectors>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  LADON_NO_UNIQUE_ADDRESS QueryInput<S, Vectors, Precision> input;
};

template <Shape S, class Vectors, class Precision = precision::Float32, bool NormsAll = false>
struct CrossShared : SelfShared<S, Vectors, Precision, NormsAll> {
  using L = detail::ShapeLayout<S, Vectors>;
  Panels<S.keys, S.key_model, L::keys> context;
  LADON_NO_UNIQUE_ADDRESS detail::LinearInput<Precision, Vectors, S.keys, S.key_model, L::keys> context_input;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<NormsAll, Panels<S.keys, S.key_rows(), L::keys>, NoPanels> all_keys;
};

// For project_keys. If keys and values have separate contexts, `context` holds the context of the keys, and later the
// context of the values. If stores_directly is false, `projected` holds one panel before scatter() writes it into the
// cache.
template <Shape S, class Vectors, class Precision = precision::Float32, bool NormsAll = false>
struct KeyWorkspace {
  using L = detail::ShapeLayout<S, Vectors>;
  static constexpr std::size_t widest = S.key_model > S.value_model ? S.key_model : S.value_model;
  Panels<S.keys, widest, L::keys> context;
  LADON_NO_UNIQUE_ADDRESS detail::LinearInput<Precision, Vectors, S.keys, widest, L::keys> context_input;

  static constexpr bool stores_directly = S.cache_precision == CachePrecision::float32 && !NormsAll;
  static constexpr std::size_t key_rows = NormsAll ? S.key_rows() : S.head_width;
  using Projected = Panels<L::keys.width(), (key_rows > S.value_width ? key_rows : S.value_width), L::keys>;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<stores_directly, NoPanels, Projected> projected;
};

}  // namespace LADON_NAMESPACE
