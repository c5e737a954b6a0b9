// Multi-head attention: project, attend, output ("Attention Is All You Need", arXiv 1706.03762, section 3.2).
//
//     for each head h:  Q = X Wq^T + bq,  K = C Wk^T + bk,  V = C Wv^T + bv,  O_h = softmax(scale Q K^T, masked) V
//     Y = concat(O_1 .. O_H) Wo^T + bo                      C = X in self-attention, the context otherwise
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/expects.hpp>
#include <ladon/heads.hpp>
#include <ladon/mask.hpp>
#include <ladon/matrix.hpp>
#include <ladon/score.hpp>

namespace ladon::inline LADON_ABI {

// Attention of S.heads heads from weights that lie as Layout says, under a mask. y [queries][model]:
//
//     run(x, ...)            of x [queries][model] to itself
//     run(x, context, ...)   of x to a context [keys][key_model]
//     project_keys(...), attend(x, cache, ...)
//                            the same in two steps: keys and values are projected once, for many x; here keys and
//                            values may come from tokens of different widths, [keys][key_model] and [keys][value_model]
//     extend(x, cache, ...)  of x to all tokens that came before and itself: x goes into the cache first, and query i
//                            stands at cache.length + i
//
// Workspaces are the caller's (aligned to 64 bytes); two runs at once need two. y may be x itself; nothing else may
// overlap. Preconditions, checked where expects.hpp says: the lengths of the options are within the shape, and what is
// appended to a cache within its capacity. A query that may see no key gets attention output 0, so its y is the output
// bias. `to` says where attention weights go, a Map, or another stage of the scores, a Capture<Stage>: [heads][queries]
// [keys]; rows of queries that are not active stay as they were.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Layout = layout::InProj, class Score = score::Scaled,
          class Target = simd::Default>
struct MultiHeadAttention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static constexpr bool as_many_keys = shape.queries == shape.keys;

  using Weights = typename Layout::template Weights<shape.widths()>;
  using Options = RunOptions<shape, Mask, Score>;
  using Map = AttentionMap<shape>;
  // For run(x, context, ...); where keys differ from queries in number there is no other.
  using CrossWorkspace = ladon::CrossWorkspace<shape, Target>;
  using Workspace = std::conditional_t<as_many_keys, SelfWorkspace<shape, Target>, CrossWorkspace>;
  using KeyWorkspace = ladon::KeyWorkspace<shape, Target>;        // for project_keys
  using CachedWorkspace = ladon::CachedWorkspace<shape, Target>;  // for attend and extend
  using Cache = CacheOf<shape, Mask, Target>;
  using Queries = Matrix<const float, shape.queries, shape.model>;
  using Context = Matrix<const float, shape.keys, shape.key_model>;
  using ValueContext = Matrix<const float, shape.keys, shape.value_model>;
  using Output = Matrix<float, shape.queries, shape.model>;

  template <class To = kernel::CaptureNothing>
  static constexpr void run(Queries x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}, To&& to = {}) noexcept {
    static_assert(as_many_keys,
                  "ladon: keys differ from queries in number, so they come from elsewhere: run(x, context, ...)");
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: keys and values are made from tokens of other widths than x has: project_keys, then attend");
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, lengths.longer(), workspace.x.data);
      Steps::attend_all(workspace.x.data, workspace.x.data, weights, lengths, options, workspace.scratch,
                        workspace.heads.data, kernel::capture<shape>(to));
      finish<Steps>(workspace, weights, lengths, y);
    });
  }

  template <class To = kernel::CaptureNothing>
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, CrossWorkspace& workspace,
                            const Options& options = {}, To&& to = {}) noexcept {
    static_assert(shape.key_model == shape.value_model,
                  "ladon: keys and values are made from tokens of different widths: project_keys, then attend");
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, lengths.queries, workspace.queries.x.data);
      Steps::template context_in<shape.key_model>(context.data, lengths.keys, workspace.context.data);
      Steps::attend_all(workspace.queries.x.data, workspace.context.data, weights, lengths, options,
                        workspace.queries.scratch, workspace.queries.heads.data, kernel::capture<shape>(to));
      finish<Steps>(workspace.queries, weights, lengths, y);
    });
  }

  // The first options.keys tokens of the context, in the place of what the cache held.
  static constexpr void project_keys(Context context, const Weights& weights, Cache& cache, KeyWorkspace& workspace,
                                     const Options& options = {}) noexcept {
    static_assert(shape.key_model == shape.value_model,
                  "ladon: keys and values are made from tokens of different widths: give both");
    project_keys(context, ValueContext(context.data), weights, cache, workspace, options);
  }
  static constexpr void project_keys(Context key_context, ValueContext value_context, const Weights& weights,
                                     Cache& cache, KeyWorkspace& workspace, const Options& options = {}) noexcept {
    const std::size_t active = options.lengths().keys;
    float* const panels = workspace.context.data;
    with_steps([&]<class Steps>(Steps) {
      Steps::template context_in<shape.key_model>(key_context.data, active, panels);
      Steps::fill_keys(panels, weights, active, options.rotary, cache);
      if (shape.key_model != shape.value_model || value_context.data != key_context.data) {
        Steps::template context_in<shape.value_model>(value_context.data, active, panels);
      }
      Steps::fill_values(panels, weights, active, cache);
    });
  }

  // options.keys may shorten what the cache holds. Query i stands at i + keys - queries of the shape, as in run.
  template <class To = kernel::CaptureNothing>
  static constexpr void attend(Queries x, const Cache& cache, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options = {}, To&& to = {}) noexcept {
    Lengths lengths = options.lengths();
    if (options.keys == all) lengths.keys = cache.length;
    LADON_EXPECTS(lengths.keys <= cache.length, "ladon: more keys than the cache holds");
    LADON_EXPECTS(cache.length <= shape.keys, "ladon: a ring that has wrapped can only be extended");
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, lengths.queries, workspace.x.data);
      Steps::attend_cache(workspace.x.data, cache, weights, lengths, options.bind(lengths), Options::bottom_right(),
                          options, workspace.scratch, workspace.heads.data, kernel::capture<shape>(to));
      finish<Steps>(workspace, weights, lengths, y);
    });
  }

  // The first options.tokens tokens of x; options.keys is not looked at. Where the mask is a Window<Left> the cache is
  // a ring of the latest keys, and the text may grow without end (as far as a rotary table goes); otherwise it ends
  // with the cache's capacity.
  template <class To = kernel::CaptureNothing>
  static constexpr void extend(Queries x, Cache& cache, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}, To&& to = {}) noexcept {
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: a text attends to itself, so keys and values come from tokens as wide as the model");
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, tokens, workspace.x.data);
      Steps::extend(workspace.x.data, weights, tokens, options, cache, workspace.scratch, workspace.heads.data,
                    kernel::capture<shape>(to));
      finish<Steps>(workspace, weights, {tokens, tokens}, y);
    });
  }

 private:
  // x in panels is not needed once the heads are done: the output takes its place on the way to y.
  template <class Steps>
  static constexpr void finish(auto& workspace, const Weights& weights, Lengths lengths, Output y) noexcept {
    Steps::output(workspace.heads.data, weights, lengths.queries, workspace.x.data);
    Steps::queries_out(workspace.x.data, lengths.queries, y.data);
  }

  template <class F>
  static constexpr void with_steps(F f) noexcept {
    simd::with_packs<Target>([&]<class Simd>(Simd) { f(kernel::Heads<shape, Weights, Score, Target, Simd>{}); });
  }
};

}  // namespace ladon::inline LADON_ABI
