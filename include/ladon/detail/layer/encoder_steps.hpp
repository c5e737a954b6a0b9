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

template <class Layer, class Simd>
struct EncoderSteps {
  using Weights = typename Layer::Weights;
  using SelfAttention =
      CachedSteps<AttentionTypes<Layer::shape, typename Layer::AttentionWeights, typename Layer::Score,
                                 typename Layer::Position, typename Layer::Vectors>,
                  Simd>;
  using Sublayers = detail::Sublayers<Layer, Simd>;
  using Shared = LayerPanels<Layer>;

  // Computes the input of attention for the first `active` tokens: norm1(x) in pre-LN, x in post-LN.
  template <class CallShare>
  static constexpr void input(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    if constexpr (!Sublayers::post) Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
  }

  // Computes the layer after `input`, in the phases `first` and `first` + 1 of a call. captures(f) calls f with what
  // receives the attention weights (detail/attention/capture.hpp).
  template <class Options, class Scratch, class Captures, class CallShare>
  static constexpr void run(const Weights& w, const LayerLengths& lengths, const Options& options, Shared& shared,
                            Scratch& scratch, const Captures& captures, CallShare share, std::size_t first) noexcept {
    if (share.has(first)) {
      captures([&](auto capture) {
        const auto in = shared.input.view(shared.sublayer_input());
        const HeadsCall call{w.attention, options, lengths.self, in, shared.heads.data, capture};
        SelfAttention::attend_all_heads(call, in, scratch.attention, share);
      });
    }
    if (share.has(first + 1)) after_heads(w, lengths.self.queries, shared, scratch, share);
  }

  // Like `run`, for the next tokens of a text. caches.text holds the keys and values of the earlier tokens, and
  // receives those of the new tokens.
  template <class Options, class Caches, class Scratch, class Captures, class CallShare>
  static constexpr void extend(const Weights& w, const LayerLengths& lengths, const Options& options,
                               const Caches& caches, Shared& shared, Scratch& scratch, const Captures& captures,
                               CallShare share, std::size_t first) noexcept {
    const std::size_t tokens = lengths.self.queries;
    if (share.has(first)) {
      captures([&](auto capture) {
        const auto in = shared.input.view(shared.sublayer_input());
        const HeadsCall call{w.attention, options, lengths.self, in, shared.heads.data, capture};
        SelfAttention::extend(call, caches.text, scratch.attention, share);
      });
    }
    if (share.has(first + 1)) {
      SelfAttention::count_tokens(tokens, caches.text, share);
      after_heads(w, tokens, shared, scratch, share);
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
