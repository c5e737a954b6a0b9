// SPDX-License-Identifier: Apache-2.0
// The steps of an encoder layer on panels (detail/panel/panels.hpp). EncoderLayer and Encoder call the steps.
//
//     post-LN    x = norm1(x + attention(x));     x = norm2(x + feed_forward(x))
//     pre-LN     x = x + attention(norm1(x));     x = x + feed_forward(norm2(x))
//
// The arrays and their shapes:
//     x         [panels][model][width]          tokens, updated in place
//     heads     [panels][concat width][width]   output of all heads; scratch memory after the output projection
//     normed    [panels][model][width]          pre-LN only: norm(x), the input of the next sublayer
//     hidden    [panels][chunk][width]          hidden features of the feed-forward network
//
// Special cases: the last panel may have fewer tokens and another layout than the other panels. for_panels calls the
// steps separately for this panel. Lanes without a token are computed and ignored.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/heads.hpp>
#include <ladon/detail/layer/sublayers.hpp>
#include <ladon/detail/layer/workspace.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

// The steps of one encoder layer. Each step reads and writes the panels of `shared`. shared.x holds the tokens.
template <Shape S, Model Config, class LayerWeights, class Score, class Position, class Vectors, class Simd>
struct EncoderSteps {
  using SelfAttention = MultiHeadSteps<S, decltype(LayerWeights::attention), Score, Position, Vectors, Simd>;
  static constexpr PanelLayout q = SelfAttention::q;
  using Precision = typename decltype(LayerWeights::attention)::Precision;
  using Sublayers = detail::Sublayers<S, Config, Vectors, Simd, Precision>;
  using Shared = LayerPanels<S, Config, Vectors, Precision>;

  // Computes the input of attention for the first `active` tokens. In pre-LN, the input is normed = norm1(x). In
  // post-LN, the input is x.
  template <class CallShare = WholeCall>
  static constexpr void self_attention_input(const LayerWeights& w, std::size_t active, Shared& shared,
                                             CallShare share = {}) noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    }
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
  }

  // Computes the attention of all heads and stores the result in shared.heads.
  template <class Options, class CaptureOf, class CallShare>
  static constexpr void attend(const LayerWeights& w, Lengths lengths, const Options& options, Shared& shared,
                               EncoderScratch<S, Config, Vectors, Precision>& scratch, CaptureOf capture_of,
                               CallShare share) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    SelfAttention::attend_all_heads(HeadsCall{w.attention, options, lengths, in, shared.heads.data, capture_of}, in,
                                    scratch.attention, share);
  }

  // Computes the layer's steps after the attention of the heads: output projection, norms and feed-forward network. The
  // input is shared.heads, for the first `active` tokens. A few panels go through all steps before the next panels
  // begin, so that the data of these panels stays in the CPU's cache.
  template <class Scratch, class CallShare = WholeCall>
  static constexpr void after_heads(const LayerWeights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                    CallShare share = {}) noexcept {
    const auto& norm = Config.norm == NormOrder::post ? w.norm1 : w.norm2;
    const auto rest = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      float* const heads = shared.heads.data + first * Sublayers::heads_stride;
      float* const x = shared.x.data + first * Sublayers::stride;
      const auto concatenated =
          shared.input.template convert<Simd, P, Packs, S.concat_width()>(shared.heads.data, first, count)
              .template panels_from<S.concat_width(), q.width()>(first);
      Sublayers::template project_add_norm<P, Packs>(w.attention.output(), concatenated, count, x, norm,
                                                     shared.sublayer_input() + first * Sublayers::stride);
      const auto in = shared.input.template convert<Simd, P, Packs, S.model>(shared.sublayer_input(), first, count)
                          .template panels_from<S.model, q.width()>(first);
      Sublayers::template add_feed_forward<P, Packs>(w, in, count, scratch, heads, x, w.norm2);
    };
    for_panels<q, SelfAttention::last_q, S.queries, Scratch::panels>(active, rest, share);
  }

  // Computes the attention of all heads for the `tokens` new tokens of a text that grows, and stores the result in
  // shared.heads. `cache` holds the keys and values of the earlier tokens, and receives the keys and values of the new
  // tokens. With one thread, the function also adds `tokens` to cache.length. With several threads (threads.hpp),
  // SelfAttention::count_tokens adds `tokens` in the next phase.
  template <class Options, class Cache, class Scratch, class CaptureOf, class CallShare>
  static constexpr void extend(const LayerWeights& w, std::size_t tokens, const Options& options, Cache& cache,
                               Shared& shared, Scratch& scratch, CaptureOf capture_of, CallShare share) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall call{w.attention, options, Lengths{tokens, tokens}, in, shared.heads.data, capture_of};
    SelfAttention::extend(call, cache, scratch.attention, share);
  }
};

}  // namespace LADON_NAMESPACE::detail
