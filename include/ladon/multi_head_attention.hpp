// SPDX-License-Identifier: Apache-2.0
// Multi-head attention with projections ("Attention Is All You Need", arXiv 1706.03762, section 3.2).
//     for each head h:  Q = X Wq^T + bq,  K = C Wk^T + bk,  V = C Wv^T + bv,  O_h = softmax(mask(scale Q K^T)) V
//     Y = concat(O_1 .. O_H) Wo^T + bo
//
// In self-attention, C is X. In cross-attention, C is the context.
//
// Implementation: detail/attention/heads.hpp.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/cached.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/vectors_for.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/run_options.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// `x` and `y` are [queries][model].
//     run(x, ...)                 attention of x to x
//     run(x, context, ...)        attention of x to a context [keys][key_model]
//     project_keys(context, ...)  stores the keys and values of a context in a cache, for many calls of attend
//     attend(x, cache, ...)       attention of x to the context in the cache
//     extend(x, cache, ...)       attention of x to all earlier tokens of a text and to x itself
//
// These rules also hold for layers and stacks:
// - Lengths: a call neither reads inactive tokens nor writes the rows of `y` for inactive queries (run_options.hpp).
// - Aliasing: `y` may be `x`. Otherwise, an array that a call writes must not overlap with another argument.
// - Memory: `memory` is a workspace, or a team workspace's part (threads.hpp). Concurrent calls need separate memory.
// - Errors: a length above the length in the shape, or a full cache, breaks a precondition (checks.hpp).
// - Masks: if the mask hides every key from a query, the query's attention output is the output projection's bias.
// - Capture: a Map receives attention weights, and a Capture<G> receives results of stage G (run_options.hpp).
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Layout = typename LayoutOf<M>::Type,
          class Score = typename ScoreOf<M>::Type, position::Policy Position = typename PositionOf<M>::Type,
          class Vectors = detail::VectorsFor<typename Layout::Precision>>
struct MultiHeadAttention {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static constexpr bool as_many_keys = shape.queries == shape.keys;

  using Weights = typename Layout::template Weights<shape.with_one_token()>;
  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  // The memory of `run`. Names with Cross belong to attention to a context.
  using Precision = typename Layout::Precision;
  static constexpr bool norms_all = Layout::Norms::kind.over == HeadNorm::all;
  using CrossShared = ladon::CrossShared<shape, Vectors, Precision, norms_all>;
  using Shared = std::conditional_t<as_many_keys, SelfShared<shape, Vectors, Precision, norms_all>, CrossShared>;
  using Scratch = HeadScratch<shape, Vectors>;
  using CrossWorkspace = ladon::Workspace<CrossShared, Scratch>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using CrossTeamWorkspace = ladon::TeamWorkspace<CrossShared, Scratch, Threads>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  // The memory of project_keys.
  using KeyWorkspace = ladon::KeyWorkspace<shape, Vectors, Precision, norms_all>;
  // The memory of attend and extend.
  using ExtendShared = SelfShared<shape, Vectors, Precision, norms_all>;
  using ExtendScratch = CachedScratch<shape, Vectors>;
  using CachedWorkspace = ladon::Workspace<ExtendShared, ExtendScratch>;
  template <std::size_t Threads>
  using CachedTeamWorkspace = ladon::TeamWorkspace<ExtendShared, ExtendScratch, Threads>;
  using Cache = CacheOf<shape, Mask, Vectors>;
  using Queries = MatrixView<const float, shape.queries, shape.model>;
  using Context = MatrixView<const float, shape.keys, shape.key_model>;
  using ValueContext = MatrixView<const float, shape.keys, shape.value_model>;
  using Output = MatrixView<float, shape.queries, shape.model>;

  static constexpr std::size_t phases = 3;
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<shape, Vectors>(phase);
  }

  // Self-attention.
  template <detail::MemoryOf<Shared, Scratch> Memory, class MapType = detail::NoCapture>
  static constexpr void run(Queries x, const Weights& weights, Output y, Memory&& memory, const Options& options = {},
                            MapType&& map = {}) noexcept {
    static_assert(as_many_keys,
                  "ladon: keys differ from queries in number, so they come from elsewhere: run(x, context, ...)");
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: the tokens of x, keys and values have different widths. Call project_keys, then attend");
    const auto share = detail::share_of(memory, detail::caller_of(options), phases);
    auto& shared = memory.shared;
    const Lengths lengths = options.lengths();
    detail::expect_memory(detail::caller_of(options), {rows(y, lengths.queries), rows(x, lengths.longer())}, shared,
                          memory.scratch);
    const auto call = heads_call(weights, options, lengths, shared, map);
    in_phases(share, {x.data, lengths.longer()}, call, y, shared, [&](auto steps) {
      if (share.has(0)) steps.project_keys_of_all_heads(call, share);
      if (share.has(1)) steps.attend_all_heads(call, call.x, memory.scratch, share);
    });
  }

  // Attention to a context.
  template <detail::MemoryOf<CrossShared, Scratch> Memory, class MapType = detail::NoCapture>
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, Memory&& memory,
                            const Options& options = {}, MapType&& map = {}) noexcept {
    static_assert(shape.key_model == shape.value_model,
                  "ladon: the tokens of keys and values have different widths. Call project_keys, then attend");
    const auto share = detail::share_of(memory, detail::caller_of(options), phases);
    auto& shared = memory.shared;
    const Lengths lengths = options.lengths();
    detail::expect_memory(detail::caller_of(options),
                          {rows(y, lengths.queries), rows(x, lengths.queries), {rows(context, lengths.keys)}}, shared,
                          memory.scratch);
    const auto call = heads_call(weights, options, lengths, shared, map);
    in_phases(share, {x.data, lengths.queries}, call, y, shared, [&]<class Steps>(Steps) {
      float* const panels = shared.context.data;
      auto& input = shared.context_input;
      if (share.has(0)) {
        Steps::template context_to_panels<shape.key_model>(context.data, lengths.keys, panels, input, share);
        if constexpr (norms_all) {
          Steps::Norms::template project_all<false, Steps::k, Steps::last_k, shape.keys>(
              call.weights, input.view(panels), lengths.keys, call.keys, share);
        }
      }
      if (share.has(1)) Steps::attend_all_heads(call, input.view(panels), memory.scratch, share);
    });
  }

  // Replaces the content of `cache` by the rotated keys and the values of the first options.keys tokens of a context.
  static constexpr void project_keys(Context context, const Weights& weights, Cache& cache, KeyWorkspace& workspace,
                                     const Options& options = {}) noexcept {
    static_assert(shape.key_model == shape.value_model,
                  "ladon: keys and values are made from tokens of different widths: give both");
    project_keys(context, ValueContext(context.data), weights, cache, workspace, options);
  }
  // Projects keys from key_context [keys][key_model], and values from value_context [keys][value_model].
  static constexpr void project_keys(Context key_context, ValueContext value_context, const Weights& weights,
                                     Cache& cache, KeyWorkspace& workspace, const Options& options = {}) noexcept {
    const std::size_t active = options.lengths().keys;
    float* const panels = workspace.context.data;
    detail::expect_memory(detail::caller_of(options),
                          {{}, {}, {rows(key_context, active), rows(value_context, active)}}, cache, workspace);
    with_steps([&]<class Steps>(Steps) {
      auto& input = workspace.context_input;
      Steps::template context_to_panels<shape.key_model>(key_context.data, active, panels, input);
      Steps::fill_keys(input.view(panels), weights, active, options.position, cache, workspace.projected.data);
      if (shape.key_model != shape.value_model || value_context.data != key_context.data) {
        Steps::template context_to_panels<shape.value_model>(value_context.data, active, panels, input);
      }
      Steps::fill_values(input.view(panels), weights, active, cache, workspace.projected.data);
    });
  }

  // Attends to the first options.keys tokens in `cache` (default: all). Query i has the position i + shape.keys -
  // shape.queries. Preconditions: the cache holds these tokens, and a ring has replaced no token yet.
  template <class MapType = detail::NoCapture>
  static constexpr void attend(Queries x, const Cache& cache, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options = {}, MapType&& map = {}) noexcept {
    Lengths lengths = options.lengths();
    if (options.keys == all) lengths.keys = cache.length;
    LADON_EXPECTS(lengths.keys <= cache.length, "ladon: more keys than the cache holds", options.caller,
                  {{"options.keys", lengths.keys}, {"cache.length", cache.length}});
    LADON_EXPECTS(cache.length <= shape.keys, "ladon: a ring that has wrapped can only be extended", options.caller,
                  {{"cache.length", cache.length}, {"shape.keys", shape.keys}});
    detail::expect_memory(detail::caller_of(options), {rows(y, lengths.queries), rows(x, lengths.queries)}, cache,
                          workspace);
    const auto call = heads_call(weights, options, lengths, workspace.shared, map);
    in_phases(detail::WholeCall{}, {x.data, lengths.queries}, call, y, workspace.shared, [&](auto steps) {
      const detail::BoundQueries bound{options.bind_to(lengths), Options::bottom_right()};
      steps.template attend_cache<false>(call, bound, cache, workspace.scratch, detail::WholeCall{},
                                         [&](std::size_t) { return cache.values_finite(); });
    });
  }

  // Appends the keys and values of the first options.tokens tokens of `x` to `cache`, and attends to all tokens in the
  // cache. Query i has the position i + (cache.length before the call). options.keys is ignored. With the mask
  // Window<Left>, the cache is a ring of the latest tokens, and the text may grow without limit.
  //
  // With several threads, no other call may use `cache` until all phases are finished. In a model for one token, a call
  // with a Workspace may project all heads in one product. Calls with a TeamWorkspace do not, so the last bits of `y`
  // may differ.
  template <detail::MemoryOf<ExtendShared, ExtendScratch> Memory, class MapType = detail::NoCapture>
  static constexpr void extend(Queries x, Cache& cache, const Weights& weights, Output y, Memory&& memory,
                               const Options& options = {}, MapType&& map = {}) noexcept {
    detail::expect_room<shape, Mask, Cache>();
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: a text attends to itself, so keys and values come from tokens as wide as the model");
    const auto share = detail::share_of(memory, detail::caller_of(options), phases);
    auto& shared = memory.shared;
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    detail::expect_memory(detail::caller_of(options), {rows(y, tokens), rows(x, tokens)}, cache, shared,
                          memory.scratch);
    const auto call = heads_call(weights, options, {tokens, tokens}, shared, map);
    in_phases(share, {x.data, tokens}, call, y, shared, [&](auto steps) {
      if (share.has(0)) steps.project_keys_of_all_heads(call, share);
      if (share.has(1)) steps.extend(call, cache, memory.scratch, share);
      if (share.has(2)) steps.count_tokens(tokens, cache, share);
    });
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, run,
                        "x, weights, y, workspace, options, map) or (x, context, weights, y, workspace, options, map",
                        Queries, const Weights&, Output, detail::AnyMemory<Shared, Scratch>);
  LADON_REJECT_OPTIONS(LADON_MISTAKEN_OPTIONS, run, Queries, Context, const Weights&, Output,
                       detail::AnyMemory<CrossShared, Scratch>);
  LADON_REJECT_OPTIONS(LADON_MISTAKEN_OPTIONS, project_keys, Context, const Weights&, Cache&, const KeyWorkspace&);
  LADON_REJECT_OPTIONS(LADON_MISTAKEN_OPTIONS, project_keys, Context, ValueContext, const Weights&, Cache&,
                       const KeyWorkspace&);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, attend, "x, cache, weights, y, cached workspace, options, map", Queries,
                        const Cache&, const Weights&, Output, const CachedWorkspace&);
  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, extend, "x, cache, weights, y, cached workspace, options, map", Queries,
                        Cache&, const Weights&, Output, detail::AnyMemory<ExtendShared, ExtendScratch>);

 private:
  template <class T, std::size_t Rows, std::size_t Columns>
  static constexpr detail::Floats rows(MatrixView<T, Rows, Columns> array, std::size_t count) noexcept {
    return {array.data, count * Columns};
  }

  static constexpr auto heads_call(const Weights& weights, const Options& options, Lengths lengths, auto& shared,
                                   auto& map) noexcept {
    return detail::HeadsCall{weights,
                             options,
                             lengths,
                             shared.input.view(shared.x.data),
                             shared.heads.data,
                             detail::capture<shape>(map),
                             shared.all_queries.data,
                             shared.all_keys.data};
  }
  // Converts the rows `x` to panels in phase 0, calls attend(CachedSteps) in every phase, and computes the output
  // projection in phase 2. The output overwrites the tokens in shared.x, which no later step reads.
  template <class Call, class F>
  static constexpr void in_phases(auto share, detail::Floats x, const Call& call, Output y, auto& shared,
                                  F attend) noexcept {
    const std::size_t queries = call.lengths.queries;
    with_steps([&]<class Steps>(Steps steps) {
      if (share.has(0)) {
        Steps::tokens_to_panels(x.data, x.count, shared.x.data, share);
        Steps::convert_tokens(shared.x.data, x.count, shared.input, share);
        if constexpr (norms_all)
          Steps::Norms::template project_all<true>(call.weights, call.x, x.count, call.queries, share);
      }
      attend(steps);
      if (share.has(2)) {
        Steps::output(shared.heads.data, shared.input, call.weights, queries, shared.x.data, share);
        Steps::panels_to_rows(shared.x.data, queries, y.data, share);
      }
    });
  }

  template <class F>
  static constexpr void with_steps(F f) noexcept {
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      f(detail::CachedSteps<detail::AttentionTypes<shape, Weights, Score, Position, Vectors>, Simd>{});
    });
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
