// SPDX-License-Identifier: Apache-2.0
// The workspace of encoder layers and of stacks of encoder layers (EncoderWorkspace). All threads of a call use one
// EncoderShared, and each thread has an EncoderScratch. Decoder layers use LayerPanels and EncoderScratch, too.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/input.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// The arrays of a layer that all threads share: `x` has the tokens, `heads` has the output of all heads, and `normed`
// exists only in pre-LN. EncoderShared adds memory for stacks of encoder layers.
template <Shape S, Model Config, class Vectors, class Precision = precision::Float32>
struct LayerPanels {
  using L = detail::ShapeLayout<S, Vectors>;
  struct Nothing {};
  using Normed = Panels<S.queries, S.model, L::queries>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  [[no_unique_address]] std::conditional_t<Config.norm == NormOrder::pre, Normed, Nothing> normed;
  // Memory for an input that is quantised or rounded to bfloat16 (detail/panel/input.hpp). Three products use
  // the memory one after another: the projections of attention, the output projection, and the first product of the
  // feed-forward network.
  [[no_unique_address]] QueryInput<S, Vectors, Precision> input;

  // Returns the array that holds the input of the next sublayer: `normed` in pre-LN, x in post-LN.
  constexpr float* sublayer_input() noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      return normed.data;
    } else {
      return x.data;
    }
  }
};

// The arrays of an encoder's workspace that each thread has for itself: the scratch memory of attention, and the hidden
// features of the feed-forward network. The feed-forward network takes at most `panels` panels at a time. It computes
// `plan.chunk` hidden features of each panel at a time (feed_forward.hpp).
template <Shape S, Model Config, class Vectors, class Precision = precision::Float32,
          class AttentionScratch = HeadScratch<S, Vectors>>
struct EncoderScratch {
  using L = detail::ShapeLayout<S, Vectors>;
  static constexpr detail::FeedForwardPlan plan = detail::feed_forward_plan<S, Config, Vectors, Precision>;
  // How many panels of hidden features fit into AttentionScratch::keys, which is free after attention. The number is 0
  // if the target never stores hidden features there. It is also 0 if a cache holds the keys: AttentionScratch then has
  // no member `keys`.
  static constexpr std::size_t panels_in_keys = [] {
    if constexpr (detail::target::Current::hidden_in_keys && requires(AttentionScratch a) { a.keys; }) {
      return sizeof(AttentionScratch::keys) / (sizeof(float) * plan.chunk * L::queries.width());
    }
    return std::size_t(0);
  }();
  static constexpr bool hidden_in_keys = panels_in_keys >= plan.panels;
  static constexpr std::size_t panels = [] {
    constexpr std::size_t most = detail::target::Current::int8_feed_forward_panels;
    if (!hidden_in_keys || !precision::is_int8<Precision> || most == 1) return plan.panels;
    return panels_in_keys < most ? panels_in_keys : most;
  }();
  struct Nothing {};
  using Hidden = Panels<L::queries.width(), panels * plan.chunk, L::queries>;

  AttentionScratch attention;
  [[no_unique_address]] std::conditional_t<hidden_in_keys, Nothing, Hidden> own_hidden;
  [[no_unique_address]] detail::LinearInput<Precision, Vectors, panels * L::queries.width(), plan.chunk, L::queries>
      hidden_input;

  // Returns the memory of the hidden features, [panels][chunk][width].
  constexpr float* hidden() noexcept {
    if constexpr (hidden_in_keys) {
      return attention.keys.data;
    } else {
      return own_hidden.data;
    }
  }
};

// Returns a shape that differs from S only in having a single query.
template <Shape S>
constexpr Shape one_query() noexcept {
  Shape shape = S;
  shape.queries = 1;
  return shape;
}

// Whether a stack of the shape S can compute token 0 alone in its last layer (first_token.hpp). Shapes with fewer
// queries than keys are excluded, because they are used with a cache. The steps use scratch memory for one panel of
// queries. The queries and scores of all heads that are computed at the same time must fit into this memory.
template <Shape S, class Vectors>
inline constexpr bool has_first_token = [] {
  if (!Vectors::takes_first_token || LADON_DETERMINISTIC || S.queries == 1 || S.queries != S.keys) return false;
  using L = detail::ShapeLayout<S, Vectors>;
  constexpr std::size_t together = detail::ShapeLayout<one_query<S>(), Vectors>::heads_together;
  return together <= L::queries.width() && together * L::all_keys <= L::queries.width() * L::block;
}();

// The additional memory that the steps for token 0 need: token 0's rows of x, heads and norm(x), and the converted
// inputs of products.
template <Shape S, Model Config, class Vectors, class Precision>
struct FirstTokenMemory {
  static constexpr Shape one = one_query<S>();
  static constexpr detail::PanelLayout row = detail::ShapeLayout<one, Vectors>::queries;
  LayerPanels<one, Config, Vectors, Precision> shared;
  [[no_unique_address]] detail::LinearInput<Precision, Vectors, 1, Config.feed_forward, row> hidden_input;
};

// The arrays of an encoder's workspace that all threads share. Only a stack of layers uses `first`. A single layer has
// the same workspace type, so that one workspace can serve a stack and its layers.
template <Shape S, Model Config, class Vectors, class Precision = precision::Float32>
struct EncoderShared : LayerPanels<S, Config, Vectors, Precision> {
  struct NoFirst {};
  using First = FirstTokenMemory<S, Config, Vectors, Precision>;
  [[no_unique_address]] std::conditional_t<has_first_token<S, Vectors>, First, NoFirst> first;
};

template <Shape S, Model Config, class Vectors, class Precision = precision::Float32>
using EncoderWorkspace =
    Workspace<EncoderShared<S, Config, Vectors, Precision>, EncoderScratch<S, Config, Vectors, Precision>>;

}  // namespace LADON_NAMESPACE
