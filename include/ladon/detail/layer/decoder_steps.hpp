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
template <Shape S, std::size_t Memory, LayerConfig Config, class Target>
struct DecoderWorkspace {
  static constexpr Shape cross = memory_shape<S, Memory>();
  EncoderWorkspace<S, Config, Target> tokens;
  Panels<Memory, S.model, detail::PanelLayout<cross, Target>::keys> memory;
  HeadScratch<cross, Target> scratch;
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
  using Workspace = DecoderWorkspace<S, Memory, Config, Target>;
  static constexpr Tiling q = Self::q;
  using Sublayers = detail::Sublayers<S, Config, Target, Simd>;
  static constexpr bool post = Config.norm == NormOrder::post;

  template <class Options, class CaptureSelf, class CaptureMemory>
  static constexpr void run(const Layer& w, const DecoderLengths& lengths, const Options& options, Workspace& workspace,
                            CaptureSelf capture_self, CaptureMemory capture_memory) noexcept {
    float* const x = workspace.tokens.shared.x.data;
    float* const heads = workspace.tokens.shared.heads.data;
    float* input = x;
    if constexpr (!post) {
      input = workspace.tokens.shared.normed.data;
      Sublayers::norm_all(w.norm1, x, lengths.self.longer(), input);
    }
    capture_self([&](auto capture) {
      Self::attend_layer(HeadsCall{w.self_attention, options.self, lengths.self, input, heads, capture}, input,
                         workspace.tokens.scratch.attention);
    });
    for_panels<q, S.queries, Sublayers::plan.panels>(
        lengths.self.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
          Sublayers::template add_attention<Packs>(w.self_attention.output(), heads + first * Sublayers::heads_stride,
                                                   count, x + first * Sublayers::stride, post ? w.norm1 : w.norm2,
                                                   input + first * Sublayers::stride);
        });
    capture_memory([&](auto capture) {
      Cross::attend_layer(HeadsCall{w.cross_attention, options.memory, lengths.memory, input, heads, capture},
                          workspace.memory.data, workspace.scratch);
    });
    for_panels<q, S.queries, Sublayers::plan.panels>(
        lengths.self.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
          float* const from = heads + first * Sublayers::heads_stride;
          float* const to = x + first * Sublayers::stride;
          float* const normed = input + first * Sublayers::stride;
          Sublayers::template add_attention<Packs>(w.cross_attention.output(), from, count, to,
                                                   post ? w.norm2 : w.norm3, normed);
          Sublayers::template add_feed_forward<Packs>(w, normed, count, workspace.tokens.scratch.hidden.data, from, to,
                                                      w.norm3);
        });
  }
};

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
