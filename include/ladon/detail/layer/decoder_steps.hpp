// SPDX-License-Identifier: Apache-2.0
// The steps of one decoder layer on panels (workspace.hpp). A stack calls them (stack_steps.hpp). "The memory" is the
// encoder's output. Post-LN and pre-LN differ as in encoder_steps.hpp; norm2 and norm3 belong to the attention to the
// memory and to the feed-forward network.
#pragma once

#include <cstddef>

#include <ladon/detail/layer/encoder_steps.hpp>

namespace LADON_NAMESPACE::detail {

template <class Layer, class Simd>
struct DecoderSteps {
  using Weights = typename Layer::Weights;
  static constexpr Shape shape = Layer::shape, cross = Layer::cross;
  using SelfAttention = CachedSteps<AttentionTypes<shape, typename Layer::AttentionWeights, typename Layer::Score,
                                                   typename Layer::Position, typename Layer::Vectors>,
                                    Simd>;
  using CrossAttention = CachedSteps<AttentionTypes<cross, typename Layer::AttentionWeights, typename Layer::Score,
                                                    position::None, typename Layer::Vectors>,
                                     Simd>;
  using Sublayers = detail::Sublayers<Layer, Simd>;
  using Shared = LayerPanels<Layer>;

  // Converts the rows of the memory into panels.
  template <class CallShare>
  static constexpr void enter_memory(const float* rows, std::size_t active, DecoderShared<Layer>& shared,
                                     CallShare share) noexcept {
    CrossAttention::template context_to_panels<cross.model>(rows, active, shared.memory.data, shared.memory_input,
                                                            share);
  }

  // Computes the input of self-attention: norm1(x) in pre-LN, x in post-LN.
  template <class CallShare>
  static constexpr void input(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    if constexpr (!Sublayers::post) Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
  }

  // Computes the layer after `input`, in the phases `first` to `first` + 3 of a call. captures.self and captures.memory
  // are like the argument of EncoderSteps::run.
  template <class Options, class Scratch, class Captures, class CallShare>
  static constexpr void run(const Weights& w, const LayerLengths& lengths, const Options& options,
                            DecoderShared<Layer>& shared, Scratch& scratch, const Captures& captures, CallShare share,
                            std::size_t first) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    if (share.has(first)) {
      captures.self([&](auto capture) {
        const HeadsCall call{w.self_attention, options.self, lengths.self, in, shared.heads.data, capture};
        SelfAttention::attend_all_heads(call, in, scratch.tokens.attention, share);
      });
    }
    if (share.has(first + 1)) after_self(w, lengths.self.queries, shared, share);
    if (share.has(first + 2)) {
      captures.memory([&](auto capture) {
        const HeadsCall call{w.cross_attention, options.memory, lengths.memory, in, shared.heads.data, capture};
        CrossAttention::attend_all_heads(call, shared.memory_input.view(shared.memory.data), scratch.memory, share);
      });
    }
    if (share.has(first + 3)) after_memory(w, lengths.self.queries, shared, scratch.tokens, share);
  }

  // Like `run`, for the next tokens of a text. caches.text holds the keys and values of the earlier tokens, and
  // receives those of the new tokens. caches.memory holds the projected keys and values of the memory.
  template <class Options, class Caches, class Scratch, class Captures, class CallShare>
  static constexpr void extend(const Weights& w, const LayerLengths& lengths, const Options& options,
                               const Caches& caches, Shared& shared, Scratch& scratch, const Captures& captures,
                               CallShare share, std::size_t first) noexcept {
    const std::size_t tokens = lengths.self.queries;
    const auto in = shared.input.view(shared.sublayer_input());
    if (share.has(first)) {
      captures.self([&](auto capture) {
        const HeadsCall call{w.self_attention, options.self, lengths.self, in, shared.heads.data, capture};
        SelfAttention::extend(call, caches.text, scratch.tokens.attention, share);
      });
    }
    if (share.has(first + 1)) {
      SelfAttention::count_tokens(tokens, caches.text, share);
      after_self(w, tokens, shared, share);
    }
    if (share.has(first + 2)) {
      const std::ptrdiff_t position = memory_position(caches.text.length - tokens);
      const BoundQueries bound{options.memory.bind(lengths.memory, position), 0};
      captures.memory([&](auto capture) {
        const HeadsCall call{w.cross_attention, options.memory, lengths.memory, in, shared.heads.data, capture};
        CrossAttention::attend_filled(call, bound, caches.memory, scratch.memory, share);
      });
    }
    if (share.has(first + 3)) after_memory(w, tokens, shared, scratch.tokens, share);
  }

 private:
  // Returns the position of the text's token number `token` among the memory's tokens, for masks. The last token for
  // which the cache has room has the position of the memory's last token.
  static constexpr std::ptrdiff_t memory_position(std::size_t token) noexcept {
    return static_cast<std::ptrdiff_t>(token + cross.keys) - static_cast<std::ptrdiff_t>(shape.keys);
  }

  template <class CallShare>
  static constexpr void after_self(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(w.self_attention.output(), Sublayers::post ? w.norm1 : w.norm2,
                                                  shared, first, count);
      Sublayers::template input_of<P, Packs>(shared, first, count);
    };
    Sublayers::template for_all<feed_forward_plan<Layer>.panels>(active, share, run);
  }

  template <class Scratch, class CallShare>
  static constexpr void after_memory(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                     CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(w.cross_attention.output(), Sublayers::post ? w.norm2 : w.norm3,
                                                  shared, first, count);
      Sublayers::template add_feed_forward<P, Packs>(w, w.norm3, shared, scratch, first, count);
    };
    Sublayers::template for_all<Scratch::panels>(active, share, run);
  }
};

}  // namespace LADON_NAMESPACE::detail
