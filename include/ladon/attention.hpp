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
#include <ladon/options.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Attention without projections. M.model is used only for the default of head_width (shape.hpp).
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
  struct Shared {};  // threads share no memory
  using Scratch = AttentionWorkspace<shape, detail::WholePacks<Vectors>>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  using Queries = TensorView<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = TensorView<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = TensorView<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = TensorView<float, shape.heads, shape.queries, shape.value_width>;

  // The number of phases of `run`, and of parts of a phase: one for each query head (threads.hpp).
  static constexpr std::size_t phases = 1;
  static constexpr std::size_t parts(std::size_t) noexcept { return shape.heads; }

  // Computes `out` from `q`, `k` and `v`. If the mask hides every key from a query in a head, the query's row of `out`
  // in this head is 0.
  //     q      [heads][queries][head_width]
  //     k      [kv_heads][keys][head_width]
  //     v      [kv_heads][keys][value_width]
  //     out    [heads][queries][value_width]
  //
  // - Lengths: options.queries and options.keys set how many tokens are active (options.hpp). `run` neither reads
  //   inactive tokens nor writes the rows of `out` for inactive queries.
  // - Aliasing: if value_width equals head_width, `out` may be `q`. No other arguments may overlap.
  // - Memory: `memory` is a Workspace, or a part of a TeamWorkspace (threads.hpp). Each thread converts the keys and
  //   values of its query heads into the layout of the kernels, even if other threads use the same keys and values.
  // - Errors: a length above the length in the shape breaks a precondition (checks.hpp).
  // - Capture: a Map receives the attention weights, a Capture<G> the result of stage G (attention_map.hpp).
  template <detail::MemoryOf<Shared, Scratch> Memory, class MapType = detail::NoCapture>
  static constexpr void run(Queries q, Keys k, Values v, Output out, Memory&& memory, const Options& options = {},
                            MapType&& map = {}) noexcept {
    const auto share = detail::share_of(memory, detail::caller_of(options), phases);
    const Lengths lengths = options.lengths();
    detail::expect_memory(detail::caller_of(options),
                          {.y = active(out, lengths.queries),
                           .x = active(q, lengths.queries),
                           .inputs = {active(k, lengths.keys), active(v, lengths.keys)}},
                          memory.scratch);
    const detail::AttentionCall call{
        q.data, k.data, v.data, out.data, lengths, options, options.bind(lengths), detail::capture<shape>(map)};
    detail::vec::with_packs<Vectors>([&]<class Packs>(Packs) {
      using Types = detail::AttentionTypes<shape, void, Score, Position, detail::WholePacks<Vectors>>;
      using Steps = detail::AttentionSteps<Types, Packs>;
      Steps::run(call, memory.scratch, share);
    });
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, run, "q, k, v, out, workspace, options, map", Queries, Keys, Values,
                        Output, const detail::MemoryOf<Shared, Scratch> auto&);

 private:
  // Returns the elements of `array` that a call with `count` active tokens may use: element 0 up to the last element of
  // token `count` - 1 of the last head.
  template <class T, std::size_t Heads, std::size_t Tokens, std::size_t Width>
  static constexpr detail::Floats active(TensorView<T, Heads, Tokens, Width> array, std::size_t count) noexcept {
    return {array.data, count == 0 ? 0 : ((Heads - 1) * Tokens + count) * Width};
  }
};

}  // namespace LADON_NAMESPACE
