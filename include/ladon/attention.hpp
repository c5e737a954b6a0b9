// Attention of given queries, keys and values, without projections ("Attention Is All You Need", arXiv 1706.03762,
// section 3.2.1). The result of each head is softmax(mask(scale Q K^T)) V. All arrays have the layout
// [heads][tokens][width], like one batch element of PyTorch's scaled_dot_product_attention.
//
// Implementation: detail/attention/attention_steps.hpp.
#pragma once

#include <cstddef>

#include <ladon/attention_map.hpp>
#include <ladon/detail/attention/attention_steps.hpp>
#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/memory/workspace.hpp>
#include <ladon/mask.hpp>
#include <ladon/options.hpp>
#include <ladon/position.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// Attention with a fixed shape, mask, score and position encoding. The shape's model width only determines the default
// of head_width.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::NativeVectors>
struct Attention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();

  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  using Workspace = AttentionWorkspace<shape, Target>;
  using Queries = TensorView<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = TensorView<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = TensorView<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = TensorView<float, shape.heads, shape.queries, shape.value_width>;

  // Computes `out` from `q`, `k` and `v`. If a query may see no key, the query's row of `out` is 0.
  //
  //     q     [heads][queries][head_width]
  //     k     [kv_heads][keys][head_width]
  //     v     [kv_heads][keys][value_width]
  //     out   [heads][queries][value_width]
  //
  // - Lengths: options.queries and options.keys set how many tokens are active (options.hpp). The function neither
  //   reads inactive tokens nor writes rows of `out` for inactive queries.
  // - Aliasing: `out` may be the array `q` if value_width equals head_width. No other arguments may overlap.
  // - Workspace: the caller owns the workspace, aligned to 64 bytes. Two concurrent runs need two workspaces.
  // - Errors: a length that exceeds the shape breaks a precondition (checks.hpp).
  // - Capture: `to` is a Map or a Capture<Stage>, which receives the attention weights or another stage of the scores
  //   (attention_map.hpp). Without `to`, nothing is captured.
  template <class To = detail::CaptureNothing>
  static constexpr void run(Queries q, Keys k, Values v, Output out, Workspace& workspace, const Options& options = {},
                            To&& to = {}) noexcept {
    const Lengths lengths = options.lengths();
    const detail::AttentionCall call{
        q.data, k.data, v.data, out.data, lengths, options, options.bind(lengths), detail::capture<shape>(to)};
    detail::simd::with_packs<Target>(
        [&]<class Simd>(Simd) { detail::AttentionSteps<shape, Score, Position, Target, Simd>::run(call, workspace); });
  }
};

}  // namespace ladon::inline LADON_ABI
