// SPDX-License-Identifier: Apache-2.0
// Attention without projections ("Attention Is All You Need", arXiv 1706.03762, section 3.2.1): the caller provides
// queries, keys and values. The output of each head is softmax(mask(scale * Q K^T)) V. Arrays have the layout
// [heads][tokens][width], like one batch element of PyTorch's scaled_dot_product_attention.
//
// Implementation: detail/attention/without_projections.hpp.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/without_projections.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/call_checks.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/run_options.hpp>
#include <ladon/threads.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// M.model only determines the default of head_width.
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
  // If a head has few queries, most lanes would be idle. So, without a mask, the heads that share keys and values are
  // computed as one head.
  static constexpr bool merges_heads = detail::merges_heads<shape, Mask, Score, Position, Vectors>;
  static constexpr Shape merged = merges_heads ? shape.with_merged_heads() : shape;
  using Scratch = AttentionWorkspace<merged, Vectors, detail::attends_rows<shape, Position, Vectors>>;
  using Workspace = ladon::Workspace<Shared, Scratch>;
  template <std::size_t Threads>
  using TeamWorkspace = ladon::TeamWorkspace<Shared, Scratch, Threads>;
  using Queries = TensorView<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = TensorView<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = TensorView<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = TensorView<float, shape.heads, shape.queries, shape.value_width>;

  // The phase has a part for each query head (threads.hpp). If the heads of a group are merged, only the first kv_heads
  // parts have work.
  static constexpr std::size_t phases = 1;
  static constexpr std::size_t parts(std::size_t) noexcept { return shape.heads; }

  // Computes `out` [heads][queries][value_width]. MultiHeadAttention describes the other arguments. If value_width
  // equals head_width, `out` may be `q`. If the mask hides every key from a query, the query's row of `out` is 0.
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
    const auto call = [&](Lengths active_lengths, const auto& its_options, auto its_capture) {
      return detail::AttentionCall{
          q.data, k.data, v.data, out.data, active_lengths, its_options, options.bind_to(lengths), its_capture};
    };
    const auto capture = detail::capture<shape>(map);
    if constexpr (merges_heads) {
      if (lengths.queries == shape.queries) {
        const RunOptions<merged, Mask, Score, Position> of_groups;
        return compute<merged>(call({merged.queries, lengths.keys}, of_groups, detail::with_shape<merged>(capture)),
                               memory.scratch, share);
      }
    }
    compute<shape>(call(lengths, options, capture), memory.scratch, share);
  }

  LADON_REJECT_MISTAKES(LADON_MISTAKEN_OPTIONS, run, "q, k, v, out, workspace, options, map", Queries, Keys, Values,
                        Output, detail::AnyMemory<Shared, Scratch>);

 private:
  template <Shape S>
  static LADON_INLINE constexpr void compute(const auto& call, Scratch& scratch, auto share) noexcept {
    detail::vec::with_packs<Vectors>([&]<class Packs>(Packs) {
      detail::AttentionSteps<detail::AttentionTypes<S, void, Score, Position, Vectors>, Packs>::run(call, scratch,
                                                                                                    share);
    });
  }
  // Returns the elements from element 0 to the last active token of the last head.
  template <class T, std::size_t Heads, std::size_t Tokens, std::size_t Width>
  static constexpr detail::Floats active(TensorView<T, Heads, Tokens, Width> array, std::size_t count) noexcept {
    return {array.data, count == 0 ? 0 : ((Heads - 1) * Tokens + count) * Width};
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
