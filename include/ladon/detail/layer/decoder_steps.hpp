// SPDX-License-Identifier: Apache-2.0
// The steps of a decoder layer on panels, and the workspace of these steps. DecoderLayer and Decoder call the steps.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/multi_head_steps.hpp>
#include <ladon/detail/layer/encoder_steps.hpp>
#include <ladon/detail/layer/sublayers.hpp>
#include <ladon/layer_config.hpp>
#include <ladon/position.hpp>

namespace ladon::inline LADON_ABI {

// The workspace of a decoder layer:
//
//     tokens    the workspace of an encoder layer, for the decoder's tokens
//     memory    the encoder's output, in panels
//     scratch   the scratch memory of the attention to the encoder's output
template <Shape S, std::size_t Memory, LayerConfig Config, class Target, class Precision = precision::Float32>
struct DecoderWorkspace {
  static constexpr Shape cross = memory_shape<S, Memory>();
  static constexpr detail::Tiling keys = detail::PanelLayout<cross, Target>::keys;
  EncoderWorkspace<S, Config, Target, Precision> tokens;
  Panels<Memory, S.model, keys> memory;
  HeadScratch<cross, Target> scratch;
  [[no_unique_address]] detail::LinearInput<Precision, Target, Memory, S.model, keys> memory_input;
};

namespace detail {

// The active lengths of a decoder layer's two attentions. `self` is for the attention to the decoder's tokens. `memory`
// is for the attention to the encoder's output.
struct DecoderLengths {
  Lengths self;
  Lengths memory;
};

// The steps of one decoder layer. The steps update the decoder's tokens x in place. x is workspace.tokens.shared.x, in
// panels.
template <Shape S, std::size_t Memory, LayerConfig Config, class Layer, class Score, class Position, class Target,
          class Simd>
struct DecoderSteps {
  using Self = MultiHeadSteps<S, decltype(Layer::self_attention), Score, Position, Target, Simd>;
  using Cross =
      MultiHeadSteps<memory_shape<S, Memory>(), decltype(Layer::cross_attention), Score, position::None, Target, Simd>;
  using Precision = typename decltype(Layer::self_attention)::Precision;
  using Workspace = DecoderWorkspace<S, Memory, Config, Target, Precision>;
  static constexpr Tiling q = Self::q;
  using Sublayers = detail::Sublayers<S, Config, Target, Simd, Precision>;
  static constexpr bool post = Config.norm == NormOrder::post;

  template <class Options, class CaptureSelf, class CaptureMemory>
  static constexpr void run(const Layer& w, const DecoderLengths& lengths, const Options& options, Workspace& workspace,
                            CaptureSelf capture_self, CaptureMemory capture_memory) noexcept {
    auto& input = workspace.tokens.shared.input;
    float* const x = workspace.tokens.shared.x.data;
    float* const heads = workspace.tokens.shared.heads.data;
    float* normed = x;
    if constexpr (!post) {
      normed = workspace.tokens.shared.normed.data;
      Sublayers::norm_all(w.norm1, x, lengths.self.longer(), normed);
    }
    Self::query_input(normed, lengths.self.longer(), input);
    capture_self([&](auto capture) {
      const auto in = input.view(normed);
      Self::attend_layer(HeadsCall{w.self_attention, options.self, lengths.self, in, heads, capture}, in,
                         workspace.tokens.scratch.attention);
    });
    // Returns a view of panels of the heads or of `normed`, as the input of a product.
    const auto heads_from = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      return input.template quantise<Simd, Packs, S.concat_width()>(heads, first, count)
          .template panels_from<S.concat_width(), q.width()>(first);
    };
    const auto normed_from = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      return input.template quantise<Simd, Packs, S.model>(normed, first, count)
          .template panels_from<S.model, q.width()>(first);
    };
    for_panels<q, S.queries, Sublayers::plan.panels>(
        lengths.self.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
          Sublayers::template add_attention<Packs>(
              w.self_attention.output(), heads_from.template operator()<Packs>(first, count), count,
              x + first * Sublayers::stride, post ? w.norm1 : w.norm2, normed + first * Sublayers::stride);
          normed_from.template operator()<Packs>(first, count);
        });
    capture_memory([&](auto capture) {
      Cross::attend_layer(
          HeadsCall{w.cross_attention, options.memory, lengths.memory, input.view(normed), heads, capture},
          workspace.memory_input.view(workspace.memory.data), workspace.scratch);
    });
    for_panels<q, S.queries, Sublayers::plan.panels>(
        lengths.self.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
          float* const to = x + first * Sublayers::stride;
          Sublayers::template add_attention<Packs>(w.cross_attention.output(),
                                                   heads_from.template operator()<Packs>(first, count), count, to,
                                                   post ? w.norm2 : w.norm3, normed + first * Sublayers::stride);
          Sublayers::template add_feed_forward<Packs>(w, normed_from.template operator()<Packs>(first, count), count,
                                                      workspace.tokens.scratch, heads + first * Sublayers::heads_stride,
                                                      to, w.norm3);
        });
  }
};

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
