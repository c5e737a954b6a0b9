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

// `memory` holds the projected keys and values of the memory.
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

  // Computes the layer after `input`, in four phases. call.captures has captures of the two attentions.
  template <class Call, class AnyShared, class Scratch>
  static constexpr void run(const Weights& w, const Call& call, AnyShared& shared, Scratch& scratch) noexcept {
    const std::size_t tokens = call.lengths.self.queries;
    if (call.share.has(call.first)) {
      const auto& options = call.options.self;
      Base::attend_self(w.self_attention, options, call, shared, scratch.tokens.attention, call.captures.self);
    }
    if (call.share.has(call.first + 1)) {
      Base::count_tokens(call);
      after_self(w, tokens, shared, call.share);
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
      CrossAttention::template attend_cache<true>(heads, bound, call.caches.memory, scratch, call.share);
    } else {
      CrossAttention::attend_all_heads(heads, shared.memory_input.view(shared.memory.data), scratch, call.share);
    }
  }

  // Returns the position of the text's token number `token` among the memory's tokens, for masks. The last token for
  // which the cache has room has the position of the memory's last token.
  static constexpr std::ptrdiff_t memory_position(std::size_t token) noexcept {
    return static_cast<std::ptrdiff_t>(token + cross.keys) - static_cast<std::ptrdiff_t>(Layer::shape.keys);
  }

  template <class CallShare>
  static constexpr void after_self(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(w.self_attention.output(), Sublayers::norm_between(w.norm1, w.norm2),
                                                  shared, first, count);
      Sublayers::template input_of<P, Packs>(shared, first, count);
    };
    Sublayers::template for_all<feed_forward_plan<Layer>.panels>(active, share, run);
  }

  template <class Scratch, class CallShare>
  static constexpr void after_memory(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                     CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(w.cross_attention.output(), Sublayers::norm_between(w.norm2, w.norm3),
                                                  shared, first, count);
      Sublayers::template add_feed_forward<P, Packs>(w, w.norm3, shared, scratch, first, count);
    };
    Sublayers::template for_all<Scratch::panels>(active, share, run);
  }
};

}  // namespace LADON_NAMESPACE::detail
