// SPDX-License-Identifier: Apache-2.0
// Attention without projections: the caller provides queries, keys and values ("Attention Is All You Need", arXiv
// 1706.03762, section 3.2.1). The output of each head is softmax(mask(scale * Q K^T)) V. All arrays have the layout
// [heads][tokens][width], like one batch element of PyTorch's scaled_dot_product_attention.
//
// Implementation: detail/attention/given.hpp.
#pragma once

#include <cstddef>

#include <ladon/attention_map.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/given.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/pointer_checks.hpp>
#include <ladon/detail/panel/thread_share.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/mask.hpp>
#include <ladon/model.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Attention without projections. The shape, the mask, the score and the position encoding are template arguments. The
// width `model` of the shape is used only for the default of head_width (shape.hpp).
template <Model M, mask::Policy Mask = typename MaskOf<M>::Type, class Score = typename ScoreOf<M>::Type,
          position::Policy Position = typename PositionOf<M>::Type, class Vectors = detail::vec::NativeVectors>
struct Attention {
  static_assert(valid<M.sizes()>());
  static constexpr Model model = M;
  static constexpr Shape shape = M.shape();
  static_assert(shape.cache_precision == CachePrecision::float32,
                "ladon: attention without projections has no cache, so it takes no cache_precision");

  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  // The workspaces of run and run_phase. With several threads, each thread has its own Scratch. MultiHeadAttention also
  // has a workspace for all threads together, `Shared`. Attention without projections needs no workspace of this kind.
  using Workspace = AttentionWorkspace<shape, detail::WholePacks<Vectors>>;
  using Scratch = Workspace;
  template <std::size_t Threads>
  struct TeamWorkspace {
    static_assert(Threads > 0, "ladon: a call needs at least one thread");
    Scratch scratch[Threads];
  };
  using Queries = TensorView<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = TensorView<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = TensorView<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = TensorView<float, shape.heads, shape.queries, shape.value_width>;

  // How many phases run_phase has: one, which computes the attention of all heads.
  static constexpr std::size_t phases = 1;
  // Returns the number of parts of a phase (threads.hpp): one part for each query head.
  static constexpr std::size_t parts(std::size_t) noexcept { return shape.heads; }

  // Computes `out` from `q`, `k` and `v`. If the mask hides every key from a query in a head, the query's row of `out`
  // in this head is 0.
  //     q     [heads][queries][head_width]
  //     k     [kv_heads][keys][head_width]
  //     v     [kv_heads][keys][value_width]
  //     out   [heads][queries][value_width]
  //
  // - Lengths: options.queries and options.keys set how many tokens are active (options.hpp). `run` neither reads
  //   inactive tokens nor writes the rows of `out` for inactive queries.
  // - Aliasing: if value_width equals head_width, `out` may be the same array as `q`. Apart from this case, no two
  //   arguments may overlap.
  // - Workspace: the caller owns the workspace, aligned to 64 bytes. Two concurrent runs need two workspaces.
  // - Errors: options.queries must not exceed shape.queries, and options.keys must not exceed shape.keys. Otherwise,
  //   the call breaks a precondition (checks.hpp).
  // - Capture: `map` receives an additional output. If `map` is a Map, the output is the attention weights. If `map` is
  // a
  //   Capture<G>, the output is the result of stage G (attention_map.hpp). Without `map`, there is no additional
  //   output.
  template <class MapType = detail::NoCapture>
  static constexpr void run(Queries q, Keys k, Values v, Output out, Workspace& workspace, const Options& options = {},
                            MapType&& map = {}) noexcept {
    compute(detail::WholeCall{}, q, k, v, out, workspace, options, map);
  }
  // Computes one thread's share of `run`: the attention of some of the query heads (threads.hpp). Precondition: `phase`
  // < phases.
  //
  // Each thread has a separate `scratch`. The result is bit-identical to `run` for any number of threads. Each thread
  // converts the keys and values of its query heads into the layout of the kernels. If several threads use the same
  // keys and values, each of these threads repeats the conversion.
  template <class MapType = detail::NoCapture>
  static constexpr void run_phase(std::size_t phase, Share share, Queries q, Keys k, Values v, Output out,
                                  Scratch& scratch, const Options& options = {}, MapType&& map = {}) noexcept {
    compute(detail::share_of_phase(detail::caller_of(options), phase, phases, share), q, k, v, out, scratch, options,
            map);
  }

  LADON_REJECT_OPTIONS(run(Queries, Keys, Values, Output, const Workspace&, ...));
  LADON_REJECT_OPTIONS(run_phase(std::size_t, Share, Queries, Keys, Values, Output, const Scratch&, ...));
  LADON_REJECT_CALL(run, "q, k, v, out, workspace, options, map");

 private:
  // `share` says what to compute: the whole run, or one thread's share (threads.hpp).
  template <class CallShare, class MapType>
  static constexpr void compute(CallShare share, Queries q, Keys k, Values v, Output out, Scratch& scratch,
                                const Options& options, MapType& map) noexcept {
    const Lengths lengths = options.lengths();
    detail::expect_memory(detail::caller_of(options),
                          {.y = active(out, lengths.queries),
                           .x = active(q, lengths.queries),
                           .inputs = {active(k, lengths.keys), active(v, lengths.keys)}},
                          scratch);
    const detail::AttentionCall call{
        q.data, k.data, v.data, out.data, lengths, options, options.bind(lengths), detail::capture<shape>(map)};
    detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
      using Steps = detail::AttentionSteps<shape, Score, Position, detail::WholePacks<Vectors>, Simd>;
      Steps::run(call, scratch, share);
    });
  }

  // Returns the elements of `array` that a call with `count` active tokens may use: element 0 up to the last element of
  // token `count` - 1 of the last head.
  template <class T, std::size_t Heads, std::size_t Tokens, std::size_t Width>
  static constexpr detail::Floats active(TensorView<T, Heads, Tokens, Width> array, std::size_t count) noexcept {
    return {array.data, count == 0 ? 0 : ((Heads - 1) * Tokens + count) * Width};
  }
};

}  // namespace LADON_NAMESPACE
