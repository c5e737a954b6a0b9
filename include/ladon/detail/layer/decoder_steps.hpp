// SPDX-License-Identifier: Apache-2.0
// The workspace and the steps of one decoder layer (decoder.hpp). A stack calls the steps (stack_steps.hpp).
#pragma once

#include <cstddef>

#include <ladon/detail/layer/encoder_steps.hpp>

namespace LADON_NAMESPACE::detail {

template <class Layer>
struct DecoderShared : LayerPanels<Layer> {
  static constexpr Shape cross = Layer::cross;
  static constexpr PanelLayout keys = ShapeLayout<cross, typename Layer::Vectors>::keys;
  Panels<cross.keys, cross.model, keys> memory;
  LADON_NO_UNIQUE_ADDRESS LinearInput<typename Layer::Precision, typename Layer::Vectors, cross.keys, cross.model, keys>
      memory_input;
};

template <class Layer, class SelfScratch, class MemoryScratch>
struct DecoderScratch {
  EncoderScratch<Layer, SelfScratch> tokens;
  MemoryScratch memory;
};

// `memory` holds the projected keys and values of the encoder's output.
template <class Cache, class MemoryCache>
struct DecoderCaches {
  static constexpr bool cached = true;
  Cache& text;
  const MemoryCache& memory;
};

template <class Layer, class Simd>
struct DecoderSteps : EncoderSteps<Layer, Simd> {
  using Base = EncoderSteps<Layer, Simd>;
  using typename Base::Shared, typename Base::Sublayers, typename Base::Weights;
  static constexpr Shape cross = Layer::cross;
  using CrossAttention = CachedSteps<typename Layer::CrossAttention, Simd>;

  // Computes the steps after `input`, in four phases. call.captures has the captures of both attentions.
  template <class Call, class AnyShared, class Scratch>
  static constexpr void run(const Weights& w, const Call& call, AnyShared& shared, Scratch& scratch) noexcept {
    const std::size_t tokens = call.lengths.self.queries;
    if (call.share.has(call.first)) {
      const auto& options = call.options.self;
      Base::attend_self(w.self_attention, options, call, shared, scratch.tokens.attention, call.captures.self);
    }
    if (call.share.has(call.first + 1)) {
      Base::count_tokens(call);
      after_self(w, tokens, shared, scratch.tokens, call.share);
    }
    if (call.share.has(call.first + 2)) attend_memory(w.cross_attention, call, shared, scratch.memory);
    if (call.share.has(call.first + 3)) after_memory(w, tokens, shared, scratch.tokens, call.share);
  }

 private:
  template <class AttentionWeights, class Call, class AnyShared, class Scratch>
  static constexpr void attend_memory(const AttentionWeights& w, const Call& call, AnyShared& shared,
                                      Scratch& scratch) noexcept {
    const auto& options = call.options.memory;
    const Lengths lengths = call.lengths.memory;
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall heads{w, options, lengths, in, shared.heads.data, call.captures.memory};
    if constexpr (Call::CachesType::cached) {
      const std::ptrdiff_t position = memory_position(call.caches.text.length - lengths.queries);
      const BoundQueries bound{options.bind_to(lengths, position), 0};
      const auto finite = [&](std::size_t) { return call.caches.memory.values_finite(); };
      CrossAttention::template attend_cache<true>(heads, bound, call.caches.memory, scratch, call.share, finite);
    } else {
      CrossAttention::attend_all_heads(heads, shared.memory_input.view(shared.memory.data), scratch, call.share);
    }
  }

  // Returns the position in the memory at which masks place token number `token` of the text. If the text fills its
  // cache, its last token has the position of the memory's last token.
  static constexpr std::ptrdiff_t memory_position(std::size_t token) noexcept {
    return static_cast<std::ptrdiff_t>(token + cross.keys) - static_cast<std::ptrdiff_t>(Layer::shape.keys);
  }

  struct NoScale {};
  static constexpr NoScale no_scale{};

  template <class Scratch, class CallShare>
  static constexpr void after_self(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                   CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(
          w.self_attention.output(), Sublayers::end_of(w.norm1, w.norm2, w.output_norm1, no_scale, scratch), shared,
          first, count, active);
      Sublayers::template input_of<P, Packs>(shared, first, count, active);
    };
    Sublayers::template for_all<Scratch::panels>(active, share, run);
  }

  template <class Scratch, class CallShare>
  static constexpr void after_memory(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                     CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(
          w.cross_attention.output(), Sublayers::end_of(w.norm2, w.norm3, w.output_norm2, no_scale, scratch), shared,
          first, count, active);
      Sublayers::template add_feed_forward<P, Packs>(
          w, Sublayers::end_of(w.norm3, w.norm3, w.output_norm3, no_scale, scratch), shared, scratch, first, count,
          active);
    };
    Sublayers::template for_all<Scratch::panels, typename Scratch::HiddenInput>(active, share, run);
  }
};

}  // namespace LADON_NAMESPACE::detail
