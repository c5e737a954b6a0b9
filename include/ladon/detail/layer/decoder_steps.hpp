// SPDX-License-Identifier: Apache-2.0
// The steps of a decoder layer on panels (detail/panel/panels.hpp). DecoderLayer and Decoder call the steps. "The
// memory" is the encoder's output. A layer updates the decoder's tokens x in place, in five steps:
//     self_attention_input   the input of self-attention: norm1(x) in pre-LN, x in post-LN
//     attend_self            attention of all heads to the decoder's tokens
//     after_self             output projection, residual connection, and norm: norm2(x) in pre-LN, norm1(x) in post-LN
//     attend_memory          attention of all heads to the memory
//     after_memory           output projection, residual connections, norms and feed-forward network
//
// For a text that grows by a few tokens per call, `extend` replaces attend_self and attend_memory by attention to keys
// and values in caches.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/attention/heads.hpp>
#include <ladon/detail/layer/decoder_workspace.hpp>
#include <ladon/detail/layer/sublayers.hpp>
#include <ladon/model.hpp>
#include <ladon/position.hpp>

namespace LADON_NAMESPACE::detail {

// The active lengths of a decoder layer's two attentions. `self` is for the attention to the decoder's tokens. `memory`
// is for the attention to the encoder's output.
struct DecoderLengths {
  Lengths self;
  Lengths memory;
};

// The steps of one decoder layer. `shared` has the arrays of a layer for the decoder's tokens (LayerPanels). The array
// shared.x holds the tokens.
template <Shape S, std::size_t Memory, Model Config, class LayerWeights, class Score, class Position, class Vectors,
          class Simd>
struct DecoderSteps {
  static constexpr Shape cross = memory_shape<S, Memory>();
  using SelfAttention = MultiHeadSteps<S, decltype(LayerWeights::self_attention), Score, Position, Vectors, Simd>;
  using CrossAttention =
      MultiHeadSteps<cross, decltype(LayerWeights::cross_attention), Score, position::None, Vectors, Simd>;
  using Precision = typename decltype(LayerWeights::self_attention)::Precision;
  using Shared = LayerPanels<S, Config, Vectors, Precision>;
  static constexpr PanelLayout q = SelfAttention::q;
  using Sublayers = detail::Sublayers<S, Config, Vectors, Simd, Precision>;
  static constexpr bool post = Config.norm == NormOrder::post;

  // Converts the rows of the encoder's output into panels.
  template <class DecoderShared, class CallShare = WholeCall>
  static constexpr void memory_to_panels(const float* rows, std::size_t active, DecoderShared& shared,
                                         CallShare share = {}) noexcept {
    CrossAttention::template context_to_panels<S.model>(rows, active, shared.memory.data, shared.memory_input, share);
  }

  template <class CallShare = WholeCall>
  static constexpr void self_attention_input(const LayerWeights& w, std::size_t active, Shared& shared,
                                             CallShare share = {}) noexcept {
    if constexpr (!post) Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
  }

  // Computes all steps after self_attention_input. The steps are the phases `first` to `first` + 3 of a call
  // (threads.hpp). `share` says what to compute: all steps, or one thread's share of one phase. `captures` receives the
  // attention weights of self-attention and of the attention to the memory (DecoderLayer::Captures).
  template <class Options, class DecoderShared, class Scratch, class Captures, class CallShare>
  static constexpr void run(const LayerWeights& w, const DecoderLengths& lengths, const Options& options,
                            DecoderShared& shared, Scratch& scratch, const Captures& captures, CallShare share,
                            std::size_t first) noexcept {
    Shared& tokens = shared.tokens;
    if (share.has(first)) {
      captures.self([&](auto capture) {
        attend_self(w, lengths.self, options.self, tokens, scratch.tokens.attention, capture, share);
      });
    }
    if (share.has(first + 1)) after_self(w, lengths.self.queries, tokens, share);
    if (share.has(first + 2)) {
      captures.memory([&](auto capture) {
        attend_memory(w, lengths.memory, options.memory, shared, scratch.memory, capture, share);
      });
    }
    if (share.has(first + 3)) after_memory(w, lengths.self.queries, tokens, scratch.tokens, share);
  }

  template <class Options, class Scratch, class CaptureOf, class CallShare>
  static constexpr void attend_self(const LayerWeights& w, Lengths lengths, const Options& options, Shared& shared,
                                    Scratch& scratch, CaptureOf capture_of, CallShare share) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    SelfAttention::attend_all_heads(HeadsCall{w.self_attention, options, lengths, in, shared.heads.data, capture_of},
                                    in, scratch, share);
  }

  template <class CallShare = WholeCall>
  static constexpr void after_self(const LayerWeights& w, std::size_t active, Shared& shared,
                                   CallShare share = {}) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template project_add_norm<P, Packs>(
          w.self_attention.output(), heads_from<P, Packs>(shared, first, count), count,
          shared.x.data + first * Sublayers::stride, post ? w.norm1 : w.norm2,
          shared.sublayer_input() + first * Sublayers::stride);
      input_from<P, Packs>(shared, first, count);
    };
    for_panels<q, SelfAttention::last_q, S.queries, Sublayers::plan.panels>(active, run, share);
  }

  template <class Options, class DecoderShared, class Scratch, class CaptureOf, class CallShare>
  static constexpr void attend_memory(const LayerWeights& w, Lengths lengths, const Options& options,
                                      DecoderShared& shared, Scratch& scratch, CaptureOf capture_of,
                                      CallShare share) noexcept {
    Shared& tokens = shared.tokens;
    const auto in = tokens.input.view(tokens.sublayer_input());
    CrossAttention::attend_all_heads(HeadsCall{w.cross_attention, options, lengths, in, tokens.heads.data, capture_of},
                                     shared.memory_input.view(shared.memory.data), scratch, share);
  }

  template <class Scratch, class CallShare = WholeCall>
  static constexpr void after_memory(const LayerWeights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                     CallShare share = {}) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      float* const x = shared.x.data + first * Sublayers::stride;
      Sublayers::template project_add_norm<P, Packs>(
          w.cross_attention.output(), heads_from<P, Packs>(shared, first, count), count, x, post ? w.norm2 : w.norm3,
          shared.sublayer_input() + first * Sublayers::stride);
      Sublayers::template add_feed_forward<P, Packs>(w, input_from<P, Packs>(shared, first, count), count, scratch,
                                                     shared.heads.data + first * Sublayers::heads_stride, x, w.norm3);
    };
    for_panels<q, SelfAttention::last_q, S.queries, Scratch::panels>(active, run, share);
  }

  // Computes all steps after self_attention_input for the new tokens of a text that grows. `share` has the same meaning
  // as in `run`.
  //
  // `cache` holds the keys and values of the earlier tokens. The function appends the keys and values of the new
  // tokens. `memory` holds the projected keys and values of the encoder's output. lengths.queries is the number of new
  // tokens. lengths.keys is the number of active tokens of the encoder's output.
  template <class Options, class Cache, class MemoryCache, class Scratch, class Captures, class CallShare>
  static constexpr void extend(const LayerWeights& w, Lengths lengths, const Options& options, Cache& cache,
                               const MemoryCache& memory, Shared& shared, Scratch& scratch, const Captures& captures,
                               CallShare share, std::size_t first) noexcept {
    const std::size_t tokens = lengths.queries;
    const auto in = shared.input.view(shared.sublayer_input());
    if (share.has(first)) {
      captures.self([&](auto capture) {
        const HeadsCall call{w.self_attention, options.self, Lengths{tokens, tokens}, in, shared.heads.data, capture};
        SelfAttention::extend(call, cache, scratch.tokens.attention, share);
      });
    }
    if (share.has(first + 1)) {
      SelfAttention::count_tokens(tokens, cache, share);
      after_self(w, tokens, shared, share);
    }
    if (share.has(first + 2)) {
      const BoundQueries bound{options.memory.bind(lengths, memory_position(cache.length - tokens)), 0};
      captures.memory([&](auto capture) {
        const HeadsCall call{w.cross_attention, options.memory, lengths, in, shared.heads.data, capture};
        CrossAttention::attend_filled(call, bound, memory, scratch.memory, share);
      });
    }
    if (share.has(first + 3)) after_memory(w, tokens, shared, scratch.tokens, share);
  }

 private:
  // Returns the position of the text's token number `token`, for masks that compare tokens of the text with tokens of
  // the encoder's output. The cache has room for S.keys tokens of the text. The last of these tokens has the position
  // of the last token of the encoder's output.
  static constexpr std::ptrdiff_t memory_position(std::size_t token) noexcept {
    return static_cast<std::ptrdiff_t>(token + Memory) - static_cast<std::ptrdiff_t>(S.keys);
  }

  // heads_from and input_from return the panels of a product's input, from panel `first` on. With heads_from, the input
  // is the output of all heads. With input_from, it is the input of the next sublayer. If the product needs quantised
  // or bfloat16 panels, the functions first convert `count` panels (detail/panel/input.hpp).
  template <PanelLayout P, std::size_t Packs>
  static constexpr auto heads_from(Shared& shared, std::size_t first, std::size_t count) noexcept {
    return shared.input.template convert<Simd, P, Packs, S.concat_width()>(shared.heads.data, first, count)
        .template panels_from<S.concat_width(), q.width()>(first);
  }
  template <PanelLayout P, std::size_t Packs>
  static constexpr auto input_from(Shared& shared, std::size_t first, std::size_t count) noexcept {
    return shared.input.template convert<Simd, P, Packs, S.model>(shared.sublayer_input(), first, count)
        .template panels_from<S.model, q.width()>(first);
  }
};

}  // namespace LADON_NAMESPACE::detail
