// SPDX-License-Identifier: Apache-2.0
// Computes one row from the rows of all tokens, by a learned query's attention (arXiv 2106.04560, appendix; SigLIP's
// head). A feed-forward network with a residual connection follows:
//     a = attend(query, x)    y = a + linear2(f(linear1(norm(a))))
//
// Unlike in a layer, the query is not added to the result of the attention.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/layer/model_types.hpp>
#include <ladon/model.hpp>
#include <ladon/model/activation.hpp>
#include <ladon/model/linear_rows.hpp>
#include <ladon/model/norm.hpp>
#include <ladon/multi_head_attention.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// Reads up to M.tokens rows. Uses these members of M: the sizes, feed_forward, activation, the layout, query_key_norm,
// the kind of the norm, the biases, and the precision.
template <Model M>
struct AttentionPool {
  static_assert(M.feed_forward > 0, "ladon: an attention pool needs the hidden width of its feed-forward network");
  static_assert(!M.gated, "ladon: the feed-forward network of an attention pool has no gate");
  // The attention of one query to M.tokens keys.
  static constexpr Model attention_model = [] {
    Model model = M.one_layer();
    model.keys = M.tokens, model.tokens = 1;
    model.mask = {}, model.score = {}, model.position = {};
    return model;
  }();
  using Layout = typename LayoutOf<M>::Type;
  using Attention = MultiHeadAttention<attention_model>;
  using Linears = FeedForwardLinears<M, Layout>;
  using First = LinearRowsOf<1, typename Linears::First>;
  using Second = LinearRowsOf<1, typename Linears::Second>;

  struct Weights {
    VectorView<const float, M.model> query;
    typename Attention::Weights attention;
    typename NormOf<M>::Type norm;
    typename Linears::First linear1;
    typename Linears::Second linear2;

    // For images of weights (weight_image.hpp).
    constexpr void for_each_part(auto&& f) { f(query), f(attention), f(norm), f(linear1), f(linear2); }
  };
  struct Workspace {
    typename Attention::CrossWorkspace attention;
    typename First::Workspace linear1;
    typename Second::Workspace linear2;
    float attended[M.model], normed[M.model], hidden[M.feed_forward];
  };

  // Computes `y` [model] from the rows `x` [tokens][model]. `y` must not overlap the other arrays. Precondition: tokens
  // <= M.tokens. Without tokens, the result of the attention is the bias of its output projection.
  static constexpr void run(const float* x, const Weights& weights, float* y, Workspace& workspace,
                            std::size_t tokens = M.tokens) noexcept {
    Attention::run(weights.query.data, x, weights.attention, workspace.attended, workspace.attention, {.keys = tokens});
    normalise(weights.norm, 1, workspace.attended, workspace.normed);
    First::run(workspace.normed, weights.linear1, workspace.hidden, workspace.linear1);
    activate<M.activation>(workspace.hidden, M.feed_forward);
    Second::run(workspace.hidden, weights.linear2, y, workspace.linear2);
    for (std::size_t i = 0; i < M.model; ++i) y[i] += workspace.attended[i];
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
