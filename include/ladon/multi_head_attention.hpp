// Multi-head attention: project, attend, output ("Attention Is All You Need", arXiv 1706.03762, section 3.2).
//
//     for each head h:  Q = X Wq^T + bq,  K = C Wk^T + bk,  V = C Wv^T + bv,  O_h = softmax(scale Q K^T, masked) V
//     Y = concat(O_1 .. O_H) Wo^T + bo                      C = X in self-attention, the context otherwise
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/attend.hpp>
#include <ladon/kernel/project.hpp>
#include <ladon/mask.hpp>
#include <ladon/matrix.hpp>
#include <ladon/score.hpp>
#include <ladon/weights.hpp>
#include <ladon/workspace.hpp>

namespace ladon::inline LADON_ABI {

namespace kernel {

// The steps of multi-head attention on panels; Simd has the target's packs, or plain arrays in constant evaluation.
template <Shape S, class Weights, class Score, class Target, class Simd>
struct Heads {
  using L = PanelLayout<S, Target>;
  static constexpr Tiling q = L::queries, k = L::keys;
  using QueryPack = typename Simd::template Pack<q.lanes>;
  using KeyPack = typename Simd::template Pack<k.lanes>;

  static constexpr void queries_in(const float* rows, std::size_t active, float* panels) noexcept {
    to_panels<QueryPack, q, S.model>(rows, active, panels);
  }
  static constexpr void keys_in(const float* rows, std::size_t active, float* panels) noexcept {
    to_panels<KeyPack, k, S.model>(rows, active, panels);
  }
  static constexpr void queries_out(const float* panels, std::size_t active, float* rows) noexcept {
    from_panels<QueryPack, q, S.model>(panels, active, rows);
  }

  // K^T or V^T of one head for every active key: out [panels][Rows][width].
  template <std::size_t Rows, class W>
  static constexpr void project_keys(const W& w, const float* context, std::size_t active, float* out) noexcept {
    for_panels<k, S.keys>(active, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      project<KeyPack, k.rows, Packs, k.width(), Rows, S.model>(
          w, context + first * S.model * k.width(), count,
          StoreScaled<k.width()>{out + first * Rows * k.width(), Rows * k.width(), 1.0f});
    });
  }

  // One head, every active query: its part of the concatenated heads.
  template <class Bound, class CaptureOf>
  static constexpr void attend_head(const Head& head, const Weights& w, const float* x, Lengths lengths,
                                    const Bound& mask, HeadScratch<S, Target>& scratch, float* heads,
                                    CaptureOf capture_of) noexcept {
    constexpr float scale = ScoreForm<S, Score>::query_scale;
    const std::size_t h = head.index;
    for_panels<q, S.queries>(lengths.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        project<QueryPack, q.rows, Packs, q.width(), S.head_width, S.model>(
            w.query(h), x + p * S.model * q.width(), 1, StoreScaled<q.width()>{scratch.query.data, 0, scale});
        const Range queries = Range{p * q.width(), (p + 1) * q.width()} & Range{0, lengths.queries};
        attend<S, Score, Target, QueryPack, Packs>(head, scratch.query.data, queries, lengths.keys, mask,
                                                   scratch.scores.data,
                                                   heads + (p * S.concat_width() + h * S.value_width) * q.width(),
                                                   capture_of(h, queries));
      }
    });
  }

  // Every head: x and context in panels to the concatenated heads in panels.
  template <class Options, class CaptureOf>
  static constexpr void attend_all(const float* x, const float* context, const Weights& w, Lengths lengths,
                                   const Options& options, HeadScratch<S, Target>& scratch, float* heads,
                                   CaptureOf capture_of) noexcept {
    const auto mask = options.bind(lengths);
    for (std::size_t g = 0; g < S.kv_heads; ++g) {
      project_keys<S.head_width>(w.key(g), context, lengths.keys, scratch.keys.data);
      project_keys<S.value_width>(w.value(g), context, lengths.keys, scratch.values.data);
      const bool finite =
          !mask.hides_keys || all_finite<KeyPack, k.width(), S.value_width>(scratch.values.data, lengths.keys);
      for (std::size_t h = g * S.heads_per_group(); h < (g + 1) * S.heads_per_group(); ++h) {
        const Head head{scratch.keys.data, scratch.values.data, finite, h, sink_of<Score>(options.sinks, h)};
        attend_head(head, w, x, lengths, mask, scratch, heads, capture_of);
      }
    }
  }

  // Y^T = Wo concat(heads)^T + bo, one panel after the other.
  static constexpr void output(const float* heads, const Weights& w, std::size_t active, float* y) noexcept {
    for_panels<q, S.queries>(active, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      project<QueryPack, q.rows, Packs, q.width(), S.model, S.concat_width()>(
          w.output(), heads + first * S.concat_width() * q.width(), count,
          StoreScaled<q.width()>{y + first * S.model * q.width(), S.model * q.width(), 1.0f});
    });
  }
};

}  // namespace kernel

// Attention of S.heads heads from weights that lie as Layout says, under a mask.
//
// run() computes y [queries][model] from x [queries][model], and from a context [keys][model] where keys come from
// elsewhere. Workspace is the caller's (aligned to 64 bytes); two runs at once need two. y may be x itself; nothing
// else may overlap. Precondition: the lengths of the options are within the shape (asserted unless NDEBUG).
// A query that may see no key gets attention output 0, so its y is the output bias. Map rows of inactive queries stay
// as they were.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Layout = layout::InProj, class Score = score::Scaled,
          class Target = simd::Default>
struct MultiHeadAttention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static constexpr bool as_many_keys = shape.queries == shape.keys;

  using Weights = typename Layout::template Weights<shape>;
  using Options = RunOptions<shape, Mask, Score>;
  using Map = AttentionMap<shape>;
  // For run(x, context, ...); where keys differ from queries in number there is no other.
  using CrossWorkspace = ladon::CrossWorkspace<shape, Target>;
  using Workspace = std::conditional_t<as_many_keys, SelfWorkspace<shape, Target>, CrossWorkspace>;
  using Queries = Matrix<const float, shape.queries, shape.model>;
  using Context = Matrix<const float, shape.keys, shape.model>;
  using Output = Matrix<float, shape.queries, shape.model>;

  static constexpr void run(Queries x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_self(x, weights, y, workspace, options, kernel::CaptureNothing{});
  }
  static constexpr void run(Queries x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            Map attention) noexcept {
    run_self(x, weights, y, workspace, options, kernel::CaptureMap<shape>{attention.data});
  }
  template <Stage G>
  static constexpr void run(Queries x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            Capture<G> to) noexcept {
    run_self(x, weights, y, workspace, options, kernel::capture_map<shape>(to));
  }
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, CrossWorkspace& workspace,
                            const Options& options = {}) noexcept {
    run_cross(x, context, weights, y, workspace, options, kernel::CaptureNothing{});
  }
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, CrossWorkspace& workspace,
                            const Options& options, Map attention) noexcept {
    run_cross(x, context, weights, y, workspace, options, kernel::CaptureMap<shape>{attention.data});
  }
  template <Stage G>
  static constexpr void run(Queries x, Context context, const Weights& weights, Output y, CrossWorkspace& workspace,
                            const Options& options, Capture<G> to) noexcept {
    run_cross(x, context, weights, y, workspace, options, kernel::capture_map<shape>(to));
  }

 private:
  template <class CaptureOf>
  static constexpr void run_self(Queries x, const Weights& weights, Output y, auto& workspace, const Options& options,
                                 CaptureOf capture_of) noexcept {
    static_assert(as_many_keys,
                  "ladon: keys differ from queries in number, so they come from elsewhere: run(x, context, ...)");
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, lengths.longer(), workspace.x.data);
      run_panels<Steps>(workspace, workspace.x.data, weights, y, lengths, options, capture_of);
    });
  }

  template <class CaptureOf>
  static constexpr void run_cross(Queries x, Context context, const Weights& weights, Output y,
                                  CrossWorkspace& workspace, const Options& options, CaptureOf capture_of) noexcept {
    const Lengths lengths = options.lengths();
    with_steps([&]<class Steps>(Steps) {
      Steps::queries_in(x.data, lengths.queries, workspace.queries.x.data);
      Steps::keys_in(context.data, lengths.keys, workspace.context.data);
      run_panels<Steps>(workspace.queries, workspace.context.data, weights, y, lengths, options, capture_of);
    });
  }

  // x in panels is not needed once the heads are done: the output takes its place on the way to y.
  template <class Steps, class CaptureOf>
  static constexpr void run_panels(SelfWorkspace<shape, Target>& workspace, const float* context,
                                   const Weights& weights, Output y, Lengths lengths, const Options& options,
                                   CaptureOf capture_of) noexcept {
    Steps::attend_all(workspace.x.data, context, weights, lengths, options, workspace.scratch, workspace.heads.data,
                      capture_of);
    Steps::output(workspace.heads.data, weights, lengths.queries, workspace.x.data);
    Steps::queries_out(workspace.x.data, lengths.queries, y.data);
  }

  template <class F>
  static constexpr void with_steps(F f) noexcept {
    simd::with_packs<Target>([&]<class Simd>(Simd) { f(kernel::Heads<shape, Weights, Score, Target, Simd>{}); });
  }
};

}  // namespace ladon::inline LADON_ABI
