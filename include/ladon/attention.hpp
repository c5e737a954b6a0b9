// Attention of given queries, keys and values, without projections: softmax(scale Q K^T, masked) V for every head.
// The layout is that of PyTorch's scaled_dot_product_attention for one batch: [heads][tokens][width].
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

// run() computes out [heads][queries][value_width] from q [heads][queries][head_width], k [kv_heads][keys][head_width]
// and v [kv_heads][keys][value_width]. The shape's model width only says how wide a head is. out may be q itself where
// their widths are equal; nothing else may overlap. Lengths as for MultiHeadAttention.
template <Shape ShapeGiven, mask::Policy Mask = mask::None, class Score = score::Scaled,
          position::Policy Position = position::None, class Target = detail::simd::Default>
struct Attention {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();

  using Options = RunOptions<shape, Mask, Score, Position>;
  using Map = AttentionMap<shape>;
  using Workspace = AttentionWorkspace<shape, Target>;
  using Queries = Tensor<const float, shape.heads, shape.queries, shape.head_width>;
  using Keys = Tensor<const float, shape.kv_heads, shape.keys, shape.head_width>;
  using Values = Tensor<const float, shape.kv_heads, shape.keys, shape.value_width>;
  using Output = Tensor<float, shape.heads, shape.queries, shape.value_width>;

  template <class To = detail::CaptureNothing>
  static constexpr void run(Queries q, Keys k, Values v, Output out, Workspace& workspace, const Options& options = {},
                            To&& to = {}) noexcept {
    const Lengths lengths = options.lengths();
    const auto bound = options.bind(lengths);
    detail::simd::with_packs<Target>([&]<class Simd>(Simd) {
      detail::AttentionSteps<shape, Score, Position, Target, Simd>::run(
          q.data, k.data, v.data, out.data, lengths, bound, options, workspace, detail::capture<shape>(to));
    });
  }
};

}  // namespace ladon::inline LADON_ABI
