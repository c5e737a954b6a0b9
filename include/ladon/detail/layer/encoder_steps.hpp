// SPDX-License-Identifier: Apache-2.0
// The steps of an encoder layer on panels (detail/memory/panels.hpp), and the workspace of these steps. EncoderLayer
// and Encoder call the steps. Decoder layers use the same workspace.
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
//
// detail/memory/panels.hpp defines packs.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/multi_head_steps.hpp>
#include <ladon/detail/layer/sublayers.hpp>
#include <ladon/layer_config.hpp>

namespace ladon::inline LADON_ABI {

// The arrays of a layer that all threads share: `x` has the tokens, `heads` has the output of all heads, and `normed`
// exists only in pre-LN. EncoderShared in first_token.hpp adds memory for stacks of encoder layers.
template <Shape S, LayerConfig Config, class Target, class Precision = precision::Float32>
struct LayerPanels {
  using L = detail::PanelLayout<S, Target>;
  struct Nothing {};
  using Normed = Panels<S.queries, S.model, L::queries>;
  Panels<S.queries, S.model, L::queries> x;
  Panels<S.queries, S.concat_width(), L::queries> heads;
  [[no_unique_address]] std::conditional_t<Config.norm == NormOrder::pre, Normed, Nothing> normed;
  // Memory for an input that is quantised or rounded to bfloat16 (detail/memory/linear_input.hpp). Three products use
  // the memory one after another: the projections of attention, the output projection, and the first product of the
  // feed-forward network.
  [[no_unique_address]] QueryInput<S, Target, Precision> input;

  // Returns the array that holds the input of the next sublayer: `normed` in pre-LN, x in post-LN.
  constexpr float* sublayer_input() noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      return normed.data;
    } else {
      return x.data;
    }
  }
};

// The part of an encoder's workspace that each thread has for itself: the scratch memory of attention, and the hidden
// features of the feed-forward network. The feed-forward network takes at most `panels` panels at a time. It computes
// `plan.chunk` hidden features of each panel at a time (feed_forward.hpp).
template <Shape S, LayerConfig Config, class Target, class Precision = precision::Float32,
          class AttentionScratch = HeadScratch<S, Target>>
struct EncoderScratch {
  using L = detail::PanelLayout<S, Target>;
  static constexpr detail::FeedForwardPlan plan = detail::feed_forward_plan<S, Config, Target, Precision>;
  // How many panels of hidden features fit into AttentionScratch::keys, which is free after attention. The number is 0
  // if the target never stores hidden features there. It is also 0 if a cache holds the keys: AttentionScratch then has
  // no member `keys`.
  static constexpr std::size_t panels_in_keys = [] {
    if constexpr (detail::target::Current::hidden_in_keys && requires(AttentionScratch a) { a.keys; }) {
      return sizeof(AttentionScratch::keys) / (sizeof(float) * plan.chunk * L::queries.width());
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
  using Hidden = Panels<L::queries.width(), panels * plan.chunk, L::queries>;

  AttentionScratch attention;
  [[no_unique_address]] std::conditional_t<hidden_in_keys, Nothing, Hidden> own_hidden;
  [[no_unique_address]] detail::LinearInput<Precision, Target, panels * L::queries.width(), plan.chunk, L::queries>
      hidden_input;

  // Returns the memory of the hidden features, [panels][chunk][width].
  constexpr float* hidden() noexcept {
    if constexpr (hidden_in_keys) {
      return attention.keys.data;
    } else {
      return own_hidden.data;
    }
  }
};

namespace detail {

// The steps of one encoder layer. Each step reads and writes the panels of `shared`. shared.x holds the tokens.
template <Shape S, LayerConfig Config, class Layer, class Score, class Position, class Target, class Simd>
struct EncoderSteps {
  using Attention = MultiHeadSteps<S, decltype(Layer::attention), Score, Position, Target, Simd>;
  static constexpr Tiling q = Attention::q;
  using Precision = typename decltype(Layer::attention)::Precision;
  using Sublayers = detail::Sublayers<S, Config, Target, Simd, Precision>;
  using Shared = LayerPanels<S, Config, Target, Precision>;

  // Computes the input of attention for the first `active` tokens. In pre-LN, the input is normed = norm1(x). In
  // post-LN, the input is x.
  template <class Part = WholeCall>
  static constexpr void attention_input(const Layer& w, std::size_t active, Shared& shared, Part part = {}) noexcept {
    if constexpr (Config.norm == NormOrder::pre) {
      Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, part);
    }
    Attention::query_input(shared.sublayer_input(), active, shared.input, part);
  }

  // Computes the attention of all heads and stores the result in shared.heads.
  template <class Options, class CaptureOf, class Part>
  static constexpr void attend(const Layer& w, Lengths lengths, const Options& options, Shared& shared,
                               EncoderScratch<S, Config, Target, Precision>& scratch, CaptureOf capture_of,
                               Part part) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    Attention::attend_all_heads(HeadsCall{w.attention, options, lengths, in, shared.heads.data, capture_of}, in,
                                scratch.attention, part);
  }

  // Computes the layer's steps after the attention of the heads: output projection, norms and feed-forward network. The
  // input is shared.heads, for the first `active` tokens. A few panels go through all steps before the next panels
  // begin, so that the data of these panels stays in the CPU's cache.
  template <class Scratch, class Part = WholeCall>
  static constexpr void after_heads(const Layer& w, std::size_t active, Shared& shared, Scratch& scratch,
                                    Part part = {}) noexcept {
    const auto& norm = Config.norm == NormOrder::post ? w.norm1 : w.norm2;
    const auto rest = [&]<Tiling P, std::size_t Packs>(std::size_t first, std::size_t count) {
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
    for_panels<q, Attention::last_q, S.queries, Scratch::panels>(active, rest, part);
  }

  // Computes the attention of all heads for the `tokens` new tokens of a text that grows, and stores the result in
  // shared.heads. `cache` holds the keys and values of the earlier tokens, and receives the keys and values of the new
  // tokens. With one thread, the function also adds `tokens` to cache.length. With several threads (threads.hpp),
  // Attention::count_tokens adds `tokens` in the next phase.
  template <class Options, class Cache, class Scratch, class CaptureOf, class Part>
  static constexpr void extend(const Layer& w, std::size_t tokens, const Options& options, Cache& cache, Shared& shared,
                               Scratch& scratch, CaptureOf capture_of, Part part) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall call{w.attention, options, Lengths{tokens, tokens}, in, shared.heads.data, capture_of};
    Attention::extend(call, cache, scratch.attention, part);
  }
};

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
