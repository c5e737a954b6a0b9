// SPDX-License-Identifier: Apache-2.0
// The steps of one encoder layer on panels (workspace.hpp). A stack calls them (stack_steps.hpp).
//     post-LN    x = norm1(x + attention(x));     x = norm2(x + feed_forward(x))
//     pre-LN     x = x + attention(norm1(x));     x = x + feed_forward(norm2(x))
#pragma once

#include <cstddef>

#include <ladon/detail/attention/cached.hpp>
#include <ladon/detail/layer/sublayers.hpp>

namespace LADON_NAMESPACE::detail {

// The active lengths of a layer: of the attention to its own tokens, and of a decoder's attention to the memory.
struct LayerLengths {
  Lengths self;
  Lengths memory{};
};

// The caches of one layer: NoCaches for a whole text. If the tokens are the next tokens of a text, `text` holds the
// keys and values of the earlier tokens, and receives those of the new tokens.
struct NoCaches {
  static constexpr bool cached = false;
};
template <class Cache>
struct EncoderCaches {
  static constexpr bool cached = true;
  Cache& text;
};

// A call of one layer. `first` is the number of its first phase. captures(f) calls f with what receives the attention
// weights (detail/attention/capture.hpp).
template <class Options, class Caches, class Captures, class CallShare>
struct LayerCall {
  using CachesType = Caches;
  LayerLengths lengths;
  const Options& options;
  Caches caches;
  Captures captures;
  CallShare share;
  std::size_t first;
};
template <class Options, class Caches, class Captures, class CallShare>
LayerCall(LayerLengths, const Options&, Caches, Captures, CallShare, std::size_t)
    -> LayerCall<Options, Caches, Captures, CallShare>;

template <class Layer, class Simd>
struct EncoderSteps {
  using Weights = typename Layer::Weights;
  using SelfAttention = CachedSteps<typename Layer::SelfAttention, Simd>;
  using Sublayers = detail::Sublayers<Layer, Simd>;
  using Shared = LayerPanels<Layer>;

  // Computes the input of attention for the first `active` tokens: norm1(x) in pre-LN, x in post-LN.
  template <class CallShare>
  static constexpr void input(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    if constexpr (!Sublayers::post) Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
  }

  // Computes the layer after `input`, in two phases.
  template <class Call, class Scratch>
  static constexpr void run(const Weights& w, const Call& call, Shared& shared, Scratch& scratch) noexcept {
    if (call.share.has(call.first)) {
      call.captures(
          [&](auto capture) { attend_self(w.attention, call.options, call, shared, scratch.attention, capture); });
    }
    if (call.share.has(call.first + 1)) {
      count_tokens(call);
      after_heads(w, call.lengths.self.queries, shared, scratch, call.share);
    }
  }

 protected:
  // Computes the attention of all heads to the own tokens.
  template <class AttentionWeights, class Options, class Call, class Scratch, class Capture>
  static constexpr void attend_self(const AttentionWeights& w, const Options& options, const Call& call, Shared& shared,
                                    Scratch& scratch, Capture capture) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall heads{w, options, call.lengths.self, in, shared.heads.data, capture};
    if constexpr (Call::CachesType::cached) {
      SelfAttention::extend(heads, call.caches.text, scratch, call.share);
    } else {
      SelfAttention::attend_all_heads(heads, in, scratch, call.share);
    }
  }
  // With several threads, counts the new tokens in the phase after the attention.
  template <class Call>
  static constexpr void count_tokens(const Call& call) noexcept {
    if constexpr (Call::CachesType::cached) {
      SelfAttention::count_tokens(call.lengths.self.queries, call.caches.text, call.share);
    }
  }

 private:
  // A few panels go through all steps before the next panels begin, so that they stay in the CPU's cache.
  template <class Scratch, class CallShare>
  static constexpr void after_heads(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                    CallShare share) noexcept {
    const auto rest = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(w.attention.output(), Sublayers::post ? w.norm1 : w.norm2, shared,
                                                  first, count);
      Sublayers::template add_feed_forward<P, Packs>(w, w.norm2, shared, scratch, first, count);
    };
    Sublayers::template for_all<Scratch::panels>(active, share, rest);
  }
};

}  // namespace LADON_NAMESPACE::detail
