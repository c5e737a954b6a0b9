// Multi-head attention: project, attend, output ("Attention Is All You Need", arXiv 1706.03762, section 3.2).
//
//     for each head h:  Q = X Wq^T + bq,  K = C Wk^T + bk,  V = C Wv^T + bv,  O_h = softmax(scale Q K^T, masked) V
//     Y = concat(O_1 .. O_H) Wo^T + bo                      C = X in self-attention, the context otherwise
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/attention_map.hpp>
#include <ladon/checks.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/multi_head_steps.hpp>
#include <ladon/detail/memory/call_part.hpp>
#include <ladon/detail/memory/workspace.hpp>
#include <ladon/key_value_cache.hpp>
#include <ladon/mask.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

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
//     run_phase(phase, share, ...)
//                            a share of one phase of run: several threads make one call, each with a scratch of its
//                            own. All shares of a phase are done before any of the next begins; y has the bits of run
//
// Workspaces are the caller's (aligned to 64 bytes); two runs at once need two. y may be x itself; nothing else may
// overlap. Preconditions, checked where expects.hpp says: the lengths of the options are within the shape, and what is
// appended to a cache within its capacity. A query that may see no key gets attention output 0, so its y is the output
// bias. `to` says where attention weights go, a Map, or another stage of the scores, a Capture<Stage>: [heads][queries]
// [keys]; rows of queries that are not active stay as they were.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Layout = layout::InProj, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::Default>
struct MultiHeadAttention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static constexpr bool as_many_keys = shape.queries == shape.keys;

  using Weights = typename Layout::template Weights<shape.with_one_token()>;
  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  // For run(x, context, ...); where keys differ from queries in number there is no other.
  using CrossShared = ladon::CrossShared<shape, Target>;
  using Shared = std::conditional_t<as_many_keys, SelfShared<shape, Target>, CrossShared>;
  using Scratch = HeadScratch<shape, Target>;
  using CrossWorkspace = ladon::Workspace<CrossShared, Scratch>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using CrossTeamWorkspace = ladon::TeamWorkspace<CrossShared, Scratch, Threads>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  using KeyWorkspace = ladon::KeyWorkspace<shape, Target>;  // for project_keys
  // For attend and extend.
  using CachedWorkspace = ladon::Workspace<SelfShared<shape, Target>, CachedScratch<shape, Target>>;
  using Cache = CacheOf<shape, Mask, Target>;
  using Queries = Matrix<const float, shape.queries, shape.model>;
  using Context = Matrix<const float, shape.keys, shape.key_model>;
  using ValueContext = Matrix<const float, shape.keys, shape.value_model>;
  using Output = Matrix<float, shape.queries, shape.model>;

  static constexpr std::size_t phases = 3;
  // The most shares of a phase that find something to do.
  static constexpr std::size_t parts(std::size_t phase) noexcept {
    return detail::parts_of_phase<shape, Target>(phase);
  }

  template <class To = detail::CaptureNothing>
  static constexpr void run(Queries x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}, To&& to = {}) noexcept {
    compute(detail::WholeCall{}, x, weights, y, workspace.shared, workspace.scratch, options, to);
  }
  template <class To = detail::CaptureNothing>
  static constexpr void run_phase(std::size_t phase, Share share, Queries x, const Weights& weights, Output y,
                                  Shared& shared, Scratch& scratch, const Options& options = {},
                                  To&& to = {}) noexcept {
    LADON_EXPECTS(phase < phases, "ladon: there are fewer phases");
    compute(detail::PartOfCall{phase, share}, x, weights, y, shared, scratch, options, to);
  }

  template <class To = detail::CaptureNothing>
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, CrossWorkspace& workspace,
                            const Options& options = {}, To&& to = {}) noexcept {
    compute(detail::WholeCall{}, x, context, weights, y, workspace.shared, workspace.scratch, options, to);
  }
  template <class To = detail::CaptureNothing>
  static constexpr void run_phase(std::size_t phase, Share share, Queries x, Context context, const Weights& weights,
                                  Output y, CrossShared& shared, Scratch& scratch, const Options& options = {},
                                  To&& to = {}) noexcept {
    LADON_EXPECTS(phase < phases, "ladon: there are fewer phases");
    compute(detail::PartOfCall{phase, share}, x, context, weights, y, shared, scratch, options, to);
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
      Steps::fill_keys(panels, weights, active, options.position, cache);
      if (shape.key_model != shape.value_model || value_context.data != key_context.data) {
        Steps::template context_in<shape.value_model>(value_context.data, active, panels);
      }
      Steps::fill_values(panels, weights, active, cache);
    });
  }

  // options.keys may shorten what the cache holds. Query i stands at i + keys - queries of the shape, as in run.
  template <class To = detail::CaptureNothing>
  static constexpr void attend(Queries x, const Cache& cache, const Weights& weights, Output y,
                               CachedWorkspace& workspace, const Options& options = {}, To&& to = {}) noexcept {
    Lengths lengths = options.lengths();
    if (options.keys == all) lengths.keys = cache.length;
    LADON_EXPECTS(lengths.keys <= cache.length, "ladon: more keys than the cache holds");
    LADON_EXPECTS(cache.length <= shape.keys, "ladon: a ring that has wrapped can only be extended");
    with_steps([&]<class Steps>(Steps) {
      float* const panels = workspace.shared.x.data;
      Steps::queries_in(x.data, lengths.queries, panels);
      Steps::attend_cache(panels, cache, weights, lengths, options.bind(lengths), Options::bottom_right(), options,
                          workspace.scratch, workspace.shared.heads.data, detail::capture<shape>(to));
      finish<Steps>(detail::WholeCall{}, workspace.shared, weights, lengths.queries, y);
    });
  }

  // The first options.tokens tokens of x; options.keys is not looked at. Where the mask is a Window<Left> the cache is
  // a ring of the latest keys, and the text may grow without end (as far as a rotary table goes); otherwise it ends
  // with the cache's capacity.
  template <class To = detail::CaptureNothing>
  static constexpr void extend(Queries x, Cache& cache, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}, To&& to = {}) noexcept {
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: a text attends to itself, so keys and values come from tokens as wide as the model");
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    with_steps([&]<class Steps>(Steps) {
      float* const panels = workspace.shared.x.data;
      Steps::queries_in(x.data, tokens, panels);
      Steps::extend(panels, weights, tokens, options, cache, workspace.scratch, workspace.shared.heads.data,
                    detail::capture<shape>(to));
      finish<Steps>(detail::WholeCall{}, workspace.shared, weights, tokens, y);
    });
  }

 private:
  // Of x to itself.
  template <class Part, class To>
  static constexpr void compute(Part part, Queries x, const Weights& weights, Output y, Shared& shared,
                                Scratch& scratch, const Options& options, To& to) noexcept {
    static_assert(as_many_keys,
                  "ladon: keys differ from queries in number, so they come from elsewhere: run(x, context, ...)");
    static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                  "ladon: keys and values are made from tokens of other widths than x has: project_keys, then attend");
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      float* const panels = shared.x.data;
      if (part.has(0)) Steps::queries_in(x.data, lengths.longer(), panels, part);
      if (part.has(1)) {
        Steps::attend_all(panels, panels, weights, lengths, options, scratch, shared.heads.data,
                          detail::capture<shape>(to), part);
      }
      if (part.has(2)) finish<Steps>(part, shared, weights, lengths.queries, y);
    });
  }

  // Of x to a context.
  template <class Part, class To>
  static constexpr void compute(Part part, Queries x, Context context, const Weights& weights, Output y,
                                CrossShared& shared, Scratch& scratch, const Options& options, To& to) noexcept {
    static_assert(shape.key_model == shape.value_model,
                  "ladon: keys and values are made from tokens of different widths: project_keys, then attend");
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      if (part.has(0)) {
        Steps::queries_in(x.data, lengths.queries, shared.x.data, part);
        Steps::template context_in<shape.key_model>(context.data, lengths.keys, shared.context.data, part);
      }
      if (part.has(1)) {
        Steps::attend_all(shared.x.data, shared.context.data, weights, lengths, options, scratch, shared.heads.data,
                          detail::capture<shape>(to), part);
      }
      if (part.has(2)) finish<Steps>(part, shared, weights, lengths.queries, y);
    });
  }

  // x in panels is not needed once the heads are done: the output takes its place on the way to y.
  template <class Steps, class Part>
  static constexpr void finish(Part part, auto& shared, const Weights& weights, std::size_t queries,
                               Output y) noexcept {
    Steps::output(shared.heads.data, weights, queries, shared.x.data, part);
    Steps::queries_out(shared.x.data, queries, y.data, part);
  }

  template <class F>
  static constexpr void with_steps(F f) noexcept {
    detail::simd::with_packs<Target>(
        [&]<class Simd>(Simd) { f(detail::MultiHeadSteps<shape, Weights, Score, Position, Target, Simd>{}); });
  }
};

}  // namespace ladon::inline LADON_ABI
