// SPDX-License-Identifier: Apache-2.0
// Multi-head attention on panels (detail/panel/panels.hpp). Each level calls the next:
//     all heads     attend_all_heads; with a cache: CachedSteps (cached.hpp)
//     group         attend_group: the query heads that share one head of keys and values
//     head          attend_head: one query head and all queries; with a single query, attend_heads: several query heads
//     query block   attend_query_block (detail/attention/block.hpp): one query head and the queries of one panel
//
// An example: 64 tokens, model 128, 4 heads of width 32, panels of 32 tokens (two registers of 16 floats):
//     x       [64][128]      the caller's rows
//     x       [2][128][32]   tokens_to_panels: 2 panels of 32 tokens
//     K^T     [2][32][32]    attend_all_heads: keys of one head, x times rows of the weights
//     V^T     [2][32][32]    attend_all_heads: values of one head
//     Q^T     [32][32]       attend_head: queries of one head and one panel, times log2(e) / sqrt(32)
//     S^T     [64][32]       attend_query_block: scores of 64 keys and 32 queries, a single key block
//     O^T     [32][32]       attend_query_block: weighted sums, written to rows 32 h to 32 h + 31 of the heads
//     heads   [2][128][32]   the concatenated heads
//     Y^T     [2][128][32]   output: output projection
//     y       [64][128]      panels_to_rows
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/block.hpp>
#include <ladon/detail/attention/query_key_norm.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

template <class Weights, class Options, class Input, class CaptureOf>
struct HeadsCall {
  const Weights& weights;
  const Options& options;
  Lengths lengths;
  Input x;               // the tokens that queries are projected from: a view of detail/panel/product_input.hpp
  float* heads;          // [panels][concat width][queries of a panel]: the result, O^T of every head
  CaptureOf capture_of;  // capture_of(head, queries) returns a capture (detail/attention/capture.hpp)
  // Projected queries and keys, after a norm over all heads: [panels][heads * head width][width].
  float *queries = nullptr, *keys = nullptr;
};
template <class Weights, class Options, class Input, class CaptureOf, class... Projected>
HeadsCall(const Weights&, const Options&, Lengths, Input, float*, CaptureOf, Projected...)
    -> HeadsCall<Weights, Options, Input, CaptureOf>;

// The mask of a call, and the position of query 0 among the keys.
template <class BoundMask>
struct BoundQueries {
  BoundMask mask;
  std::ptrdiff_t first_position;
};
template <class BoundMask>
BoundQueries(BoundMask, std::ptrdiff_t) -> BoundQueries<BoundMask>;

// Whether attention without a cache computes with bfloat16 pairs (operands.hpp). Attention to a cache, and that of a
// single query, computes with floats.
template <Shape S, class Precision, class Vectors>
inline constexpr bool attends_in_pairs = Vectors::attends_in_pairs && !std::is_same_v<Precision, precision::Float32> &&
                                         ShapeLayout<S, Vectors>::queries.width() > 1 &&
                                         ShapeLayout<S, Vectors>::keys.width() % 4 == 0;

template <class D, class Simd>
struct MultiHeadSteps {
  static constexpr Shape shape = D::shape;
  using Weights = typename D::Weights;
  using Score = typename D::Score;
  using Position = typename D::Position;
  using Vectors = typename D::Vectors;
  using L = ShapeLayout<shape, Vectors>;
  static constexpr PanelLayout q = L::queries, k = L::keys;
  static constexpr PanelLayout last_q = L::last_queries, last_k = L::last_keys;
  using KeyPack = typename Simd::template Pack<k.lanes>;
  static constexpr float query_scale = ScoreFunction<shape, Score>::query_scale;
  using Norms = QueryKeyNormSteps<D, Simd>;
  static constexpr bool norms_all = Norms::all, norms_heads = Norms::heads;
  // A norm would undo the scale of the queries, so they are scaled after their norm.
  static constexpr float projection_scale = norms_all || norms_heads ? 1.0f : query_scale;
  // Whether attend_head projects the queries of all panels before it attends. If each pass over int8 weights prepares
  // the weights (prepares_weights), this order needs one pass for all panels, not one for each. The queries lie in the
  // memory of the head's output, so head_width must equal value_width.
  static constexpr bool projects_all_panels_first =
      precision::is_int8<typename Weights::Precision> && shape.head_width == shape.value_width && !norms_all &&
      cortex_m::Engine<typename Vectors::Int8Element, Simd>::prepares_weights;

  // Whether keys and values may be words, the 32-bit integers of detail/cortex_m/m0_attention.hpp.
  static constexpr bool may_use_words = uses_block_floats<Weights, Vectors> && q.width() == 4 && k.width() == 4 &&
                                        shape.head_width <= block_floats::most_width &&
                                        block_floats::has_words<shape.head_width> &&
                                        block_floats::has_words<shape.value_width>;

  static constexpr bool uses_pairs = attends_in_pairs<shape, typename Weights::Precision, Vectors>;

  // tokens_to_panels converts rows [tokens][features] into panels. convert_tokens converts panels to the input of
  // projections (detail/panel/product_input.hpp). context_to_panels does both for the context.
  template <class CallShare = WholeCall>
  static constexpr void tokens_to_panels(const float* rows, std::size_t active, float* panels,
                                         CallShare share = {}) noexcept {
    rows_to_panels<q, last_q, shape.queries, shape.model>(rows, active, panels, share);
  }
  template <class Input, class CallShare = WholeCall>
  static constexpr void convert_tokens(const float* panels, std::size_t active, Input& input,
                                       CallShare share = {}) noexcept {
    convert_input<Simd, last_q, shape.model>(panels, active, input, share);
  }
  template <std::size_t Features, class Input, class CallShare = WholeCall>
  static constexpr void context_to_panels(const float* rows, std::size_t active, float* panels, Input& input,
                                          CallShare share = {}) noexcept {
    rows_to_panels<k, last_k, shape.keys, Features>(rows, active, panels, share);
    convert_input<Simd, last_k, Features>(panels, active, input, share);
  }
  template <class CallShare = WholeCall>
  static constexpr void panels_to_rows(const float* panels, std::size_t active, float* rows,
                                       CallShare share = {}) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t>(std::size_t first, std::size_t count) {
      const Range tokens = tokens_of<q>(first, count, active);
      from_panels<typename Simd::template Pack<P.lanes>, P, shape.model>(
          panels + tokens.begin * shape.model, tokens.end - tokens.begin, rows + tokens.begin * shape.model);
    };
    for_panels<q, last_q, shape.queries>(active, run, share);
  }

  // Projects keys and values from `context`, a view of panels, and attends. `share` holds whole groups of query heads,
  // so no two threads project the same keys and values.
  template <class Call, class Context, class CallShare = WholeCall>
  static constexpr void attend_all_heads(const Call& call, Context context, HeadScratch<shape, Vectors>& scratch,
                                         CallShare share = {}) noexcept {
    const BoundQueries bound{call.options.bind_to(call.lengths), call.options.bottom_right()};
    const std::size_t active = call.lengths.keys;
    float *const keys = scratch.keys.data, *const values = scratch.values.data;
    const Range groups = share.of(shape.kv_heads);
    for (std::size_t g = groups.begin; g < groups.end; ++g) {
      if constexpr (norms_all) {
        Norms::take_keys(call.keys, g, active, keys);
      } else {
        project_context<shape.head_width, shape.key_model>(call.weights.key(g), context, active, keys);
      }
      finish_keys(call.weights, g, call.options.position, active, keys);
      project_context<shape.value_width, shape.value_model>(call.weights.value(g), context, active, values);
      if constexpr (uses_pairs) {
        const auto rounded = round_keys_and_values<decltype(bound.mask)::hides_keys>(keys, values, active);
        attend_group<false>(call, bound, g, rounded, scratch);
      } else {
        const bool finite = !bound.mask.hides_keys || all_finite<KeyPack, k.width(), shape.value_width>(values, active);
        const bool words = to_words(keys, values, active);
        attend_group<false>(call, bound, g, KeysAndValues<>{keys, values, finite, words}, scratch);
      }
    }
  }
  template <bool Projected, class View>
  static constexpr void attend_group(const auto& call, const auto& bound, std::size_t group,
                                     const KeysAndValues<View>& shared, auto& scratch) noexcept {
    [[maybe_unused]] const std::size_t first = group * shape.heads_per_group();
    if constexpr (is_single_token<Simd, q>) {
      if (call.lengths.queries == 0) return;
      for_row_tiles<shape.heads_per_group(), L::heads_together>(
          [&]<std::size_t Heads>(std::size_t h)
              LADON_INLINE_LAMBDA { attend_heads<Projected, Heads>(call, bound, shared, first + h, scratch); });
    } else {
      for (std::size_t h = first; h < first + shape.heads_per_group(); ++h) {
        attend_head(call, bound, Head<View>{shared, h, {sink_of<Score>(call.options, h)}}, scratch);
      }
    }
  }

  // Computes Y^T = Wo concat(heads)^T + bo. `input` receives the converted output of the heads.
  template <class Input, class CallShare = WholeCall>
  static constexpr void output(const float* heads, Input& input, const Weights& w, std::size_t active, float* y,
                               CallShare share = {}) noexcept {
    constexpr std::size_t out_stride = shape.model * q.width();
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      const auto in = input.template convert<Simd, P, Packs, shape.concat_width()>(heads, first, count, active);
      matmul<Simd, P, Packs, shape.model, shape.concat_width()>(
          w.output(), in.template panels_from<shape.concat_width(), q.width()>(first), count,
          StoreProjected<P.width()>{y + first * out_stride, out_stride});
    };
    constexpr std::size_t most = panels_at_a_time<Simd, q, shape.queries, shape.concat_width()>;
    for_panels<q, last_q, shape.queries, most, halves_apart<q, Input>>(active, run, share);
  }

  template <PanelLayout T, PanelLayout Last, std::size_t Tokens, std::size_t Features, class CallShare>
  static constexpr void rows_to_panels(const float* rows, std::size_t active, float* panels, CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t>(std::size_t first, std::size_t count) {
      const Range tokens = tokens_of<T>(first, count, active);
      to_panels<typename Simd::template Pack<P.lanes>, P, Features>(
          rows + tokens.begin * Features, tokens.end - tokens.begin, panels + tokens.begin * Features);
    };
    for_panels<T, Last, Tokens>(active, run, share);
  }

  // Computes K^T or V^T of one head for every active key: `out` [panels][Rows][keys of a panel].
  template <std::size_t Rows, std::size_t Inner, class W, class Context>
  static LADON_INLINE constexpr void project_context(const W& w, Context context, std::size_t active,
                                                     float* out) noexcept {
    constexpr std::size_t out_stride = Rows * k.width();
    for_panels<k, last_k, shape.keys, panels_at_a_time<Simd, k, shape.keys, Inner>>(
        active, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
          matmul<Simd, P, Packs, Rows, Inner>(w, context.template panels_from<Inner, k.width()>(first), count,
                                              StoreProjected<k.width()>{out + first * out_stride, out_stride});
        });
  }
  // Computes the norm and the rotation of a panel of one head. The token in lane 0 has the position `at`.
  template <bool Queries, PanelLayout P, std::size_t Packs>
  static LADON_INLINE constexpr void norm_and_rotate(const Weights& w, std::size_t head,
                                                     const typename Position::Data& position, std::ptrdiff_t at,
                                                     std::size_t tokens, float* panel) noexcept {
    if constexpr (Norms::first) Norms::template norm_head<Queries, P, Packs>(w, head, panel);
    if constexpr (Position::rotates) {
      apply_rotary<Position, typename Simd::template Pack<P.lanes>, Packs, P.width()>(position, at, tokens, panel);
    }
    if constexpr (Norms::last) Norms::template norm_head<Queries, P, Packs>(w, head, panel);
  }
  // Like norm_and_rotate, for all keys of a head: K^T [panels][head width][keys of a panel].
  static constexpr void finish_keys(const Weights& w, std::size_t head, const typename Position::Data& position,
                                    std::size_t active, float* keys) noexcept {
    if constexpr (norms_heads || Position::rotates) {
      for_each_panel<k, k, shape.keys>(active, [&]<PanelLayout, std::size_t Packs>(std::size_t p, Range tokens) {
        norm_and_rotate<false, k, Packs>(w, head, position, static_cast<std::ptrdiff_t>(tokens.begin),
                                         tokens.end - tokens.begin, keys + p * k.width() * shape.head_width);
      });
    }
  }

  template <class CallShare>
  static constexpr void project_keys_of_all_heads(const auto& call, CallShare share) noexcept {
    if constexpr (norms_all)
      Norms::template project_all<false>(call.weights, call.x, call.lengths.longer(), call.keys, share);
  }

  // If integers can represent all active tokens, replaces keys and values by words and returns true.
  static constexpr bool to_words([[maybe_unused]] float* keys, [[maybe_unused]] float* values,
                                 [[maybe_unused]] std::size_t active) noexcept {
    if constexpr (may_use_words) {
      if (!std::is_constant_evaluated() && block_floats::fits_words<shape.head_width>(keys, active) &&
          block_floats::fits_words<shape.value_width>(values, active)) {
        block_floats::to_words<shape.head_width>(keys, active);
        block_floats::to_words<shape.value_width>(values, active);
        return true;
      }
    }
    return false;
  }

  // Rounds keys and values to pairs, in place. Without TestsFinite, values_finite is true.
  template <bool TestsFinite>
  static constexpr KeysAndValues<PairPanels> round_keys_and_values(float* keys, float* values,
                                                                   std::size_t active) noexcept {
    const bool finite = !TestsFinite || all_finite<KeyPack, k.width(), shape.value_width, true>(values, active);
    round_keys(keys, k.panels(active));
    round_values<KeyPack, k.width(), shape.value_width>(values, active);
    return {{keys}, {values}, finite};
  }

  static constexpr void round_keys(float* keys, std::size_t panels) noexcept {
    if constexpr (attends_in_unit<typename Simd::Unit, k.width(), shape.head_width, shape.value_width>) {
      if (Simd::Unit::ready()) {
        return round_keys_to_rows<KeyPack, k.width(), shape.head_width>(keys, panels);
      }
    }
    round_features<KeyPack, k.packs, k.width(), shape.head_width>(keys, panels);
  }

  // Computes the attention of a single query in Heads query heads, from head `first` on.
  // Projected: the queries of all heads are in call.heads already.
  template <bool Projected, std::size_t Heads, class View>
  static constexpr void attend_heads(const auto& call, const auto& bound, const KeysAndValues<View>& shared,
                                     std::size_t first, auto& scratch) noexcept {
    float* query = Projected ? call.heads + first * shape.head_width : scratch.query.data;
    if constexpr (norms_all) query = call.queries + first * shape.head_width;
    QueryHeads<View, Heads> heads{shared, first, {}};
    for (std::size_t h = 0; h < Heads; ++h) {
      if constexpr (!Projected && !norms_all) {
        matmul<Simd, q, 1, shape.head_width, shape.model>(
            call.weights.query(first + h), call.x, 1, Epilogue<1>{query + h * shape.head_width, 0, {projection_scale}});
      }
      norm_and_rotate<true, q, 1>(call.weights, first + h, call.options.position, bound.first_position, 1,
                                  query + h * shape.head_width);
      heads.sink[h] = sink_of<Score>(call.options, first + h);
    }
    attend_query_block<AttendForm<D, Simd, q, 1, View>>(
        heads, {query, {0, 1}, scratch.scores.data, call.heads + first * shape.value_width, scratch.widened.data},
        call.lengths.keys, bound.mask, call.capture_of);
  }

  // Computes the attention of all active queries in one query head, one query block after another.
  template <class View>
  static constexpr void attend_head(const auto& call, const auto& bound, const Head<View>& head,
                                    auto& scratch) noexcept {
    constexpr std::size_t heads_stride = shape.concat_width() * q.width();
    const std::size_t h = head.index;
    const auto attend = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      const auto project = [&](std::size_t p, std::size_t panels, float* to, Reading reading) {
        matmul<Simd, P, Packs, shape.head_width, shape.model>(
            call.weights.query(h), call.x.template panels_from<shape.model, q.width()>(p), panels,
            Epilogue<P.width()>{to, heads_stride, {projection_scale}}, reading);
      };
      if constexpr (projects_all_panels_first)
        project(first, count, call.heads + first * heads_stride + h * shape.head_width * P.width(), Reading::first);
      for (std::size_t p = first; p < first + count; ++p) {
        float* const out = call.heads + p * heads_stride + h * shape.value_width * P.width();
        float* query = scratch.query.data;
        if constexpr (norms_all) {
          query = call.queries + p * shape.query_rows() * q.width() + h * shape.head_width * P.width();
        } else if constexpr (projects_all_panels_first) {
          for (std::size_t i = 0; i < shape.head_width * P.width(); ++i) query[i] = out[i];
        } else {
          project(p, 1, query, p == 0 ? Reading::first : Reading::again);
        }
        const Range queries = tokens_of<q>(p, 1, call.lengths.queries);
        norm_and_rotate<true, P, Packs>(call.weights, h, call.options.position,
                                        static_cast<std::ptrdiff_t>(queries.begin) + bound.first_position,
                                        queries.end - queries.begin, query);
        if constexpr (std::is_same_v<View, PairPanels>) {
          round_features<typename Simd::template Pack<P.lanes>, Packs, P.width(), shape.head_width>(query, 1);
        }
        attend_query_block<AttendForm<D, Simd, P, Packs, View>>(
            head, {query, queries, scratch.scores.data, out, scratch.widened.data, head.words}, call.lengths.keys,
            bound.mask, call.capture_of);
      }
    };
    for_panels<q, last_q, shape.queries>(call.lengths.queries, attend);
  }
};

}  // namespace LADON_NAMESPACE::detail
