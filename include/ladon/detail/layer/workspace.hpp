// SPDX-License-Identifier: Apache-2.0
// The memory of layers and stacks. All threads of a call use LayerPanels or DecoderShared. Each thread has an
// EncoderScratch or a DecoderScratch. `Layer` is EncoderLayer, DecoderLayer or a layer of the user (stack.hpp).
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/model.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// `x` has the tokens, `heads` has the output of all heads, and `normed` exists only in pre-LN.
template <class Layer>
struct LayerPanels {
  static constexpr Shape shape = Layer::shape;
  using Vectors = typename Layer::Vectors;
  static constexpr detail::PanelLayout layout = detail::ShapeLayout<shape, Vectors>::queries;
  static constexpr bool pre = Layer::model.norm == NormOrder::pre;
  struct Nothing {};
  using Tokens = Panels<shape.queries, shape.model, layout>;
  Tokens x;
  Panels<shape.queries, shape.concat_width(), layout> heads;
  [[no_unique_address]] std::conditional_t<pre, Tokens, Nothing> normed;
  // The converted input (detail/panel/product_input.hpp) of the projections of attention, later of the output
  // projection, and later of the first product of the feed-forward network.
  [[no_unique_address]] QueryInput<shape, Vectors, typename Layer::Precision> input;

  // Returns the input of the next sublayer: `normed` in pre-LN, x in post-LN.
  constexpr float* sublayer_input() noexcept {
    if constexpr (pre) {
      return normed.data;
    } else {
      return x.data;
    }
  }
};

// The scratch memory of attention, and the hidden features of the feed-forward network: plan.chunk features of each of
// at most `panels` panels (feed_forward.hpp).
template <class Layer, class AttentionScratch>
struct EncoderScratch {
  using Precision = typename Layer::Precision;
  static constexpr detail::PanelLayout layout = LayerPanels<Layer>::layout;
  static constexpr detail::FeedForwardPlan plan = detail::feed_forward_plan<Layer>;
  // How many panels of hidden features fit into AttentionScratch::keys, which is free after attention, or 0.
  static constexpr std::size_t panels_in_keys = [] {
    if constexpr (detail::target::Current::hidden_in_keys && requires(AttentionScratch a) { a.keys; }) {
      return sizeof(AttentionScratch::keys) / (sizeof(float) * plan.chunk * layout.width());
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
  using Hidden = Panels<layout.width(), panels * plan.chunk, layout>;

  AttentionScratch attention;
  [[no_unique_address]] std::conditional_t<hidden_in_keys, Nothing, Hidden> own_hidden;
  [[no_unique_address]] detail::LinearInput<Precision, typename Layer::Vectors, panels * layout.width(), plan.chunk,
                                            layout> hidden_input;

  // Returns the memory of the hidden features, [panels][chunk][width].
  constexpr float* hidden() noexcept {
    if constexpr (hidden_in_keys) {
      return attention.keys.data;
    } else {
      return own_hidden.data;
    }
  }
};

// The panels of the decoder's tokens, and of the encoder's output, `memory`.
template <class Layer>
struct DecoderShared : LayerPanels<Layer> {
  static constexpr Shape cross = Layer::cross;
  static constexpr detail::PanelLayout keys = detail::ShapeLayout<cross, typename Layer::Vectors>::keys;
  Panels<cross.keys, cross.model, keys> memory;
  [[no_unique_address]] detail::LinearInput<typename Layer::Precision, typename Layer::Vectors, cross.keys, cross.model,
                                            keys> memory_input;
};

// The scratch memory of the steps with the decoder's tokens, and of the attention to the encoder's output.
template <class Layer, class SelfScratch, class MemoryScratch>
struct DecoderScratch {
  EncoderScratch<Layer, SelfScratch> tokens;
  MemoryScratch memory;
};

}  // namespace LADON_NAMESPACE
