// SPDX-License-Identifier: Apache-2.0
// The workspace and the steps of one encoder layer (encoder.hpp). A stack calls the steps (stack_steps.hpp).
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/attention/cached.hpp>
#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/workspace.hpp>
#include <ladon/model.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// The memory that all threads of a call use. The members are panels (detail/panel/panels.hpp):
//     x         [panels][model][width]          residual, updated in place
//     normed    [panels][model][width]          pre-LN only: norm(x), the input of the next sublayer
//     heads     [panels][concat width][width]   output of all heads; scratch memory after add_attention
//
// `Layer` is EncoderLayer, DecoderLayer or a layer of the user (stack.hpp).
template <class Layer>
struct LayerPanels {
  static constexpr Shape shape = Layer::shape;
  using Vectors = typename Layer::Vectors;
  static constexpr PanelLayout layout = ShapeLayout<shape, Vectors>::queries;
  static constexpr bool pre = Layer::model.norm == NormOrder::pre;
  struct Nothing {};
  using Tokens = Panels<shape.queries, shape.model, layout>;
  Tokens x;
  Panels<shape.queries, shape.concat_width(), layout> heads;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<pre, Tokens, Nothing> normed;
  // The converted input (detail/panel/product_input.hpp) of the projections of attention, later of the output
  // projection, and later of the first product of the feed-forward network.
  LADON_NO_UNIQUE_ADDRESS QueryInput<shape, Vectors, typename Layer::Precision> input;

  // Returns the input of the next sublayer: `normed` in pre-LN, x in post-LN.
  constexpr float* sublayer_input() noexcept {
    if constexpr (pre) {
      return normed.data;
    } else {
      return x.data;
    }
  }
};

// The memory of one thread: the scratch memory of attention, and the hidden features of the feed-forward network:
// plan.chunk features of each of at most `panels` panels (feed_forward.hpp).
template <class Layer, class AttentionScratch>
struct EncoderScratch {
  using Precision = typename Layer::Precision;
  static constexpr PanelLayout layout = LayerPanels<Layer>::layout;
  static constexpr FeedForwardPlan plan = feed_forward_plan<Layer>;
  // How many panels of hidden features fit into AttentionScratch::keys, which is free after attention, or 0.
  static constexpr std::size_t panels_in_keys = [] {
    if constexpr (target::Current::hidden_in_keys && requires(AttentionScratch a) { a.keys; }) {
      return sizeof(AttentionScratch::keys) / (sizeof(float) * plan.chunk * layout.width());
    }
    return std::size_t(0);
  }();
  static constexpr bool hidden_in_keys = panels_in_keys >= plan.panels;
  static constexpr std::size_t panels = [] {
    constexpr std::size_t most = target::Current::int8_feed_forward_panels;
    if (!hidden_in_keys || !precision::is_int8<Precision> || most == 1) return plan.panels;
    return panels_in_keys < most ? panels_in_keys : most;
  }();
  struct Nothing {};
  using Hidden = Panels<layout.width(), panels * plan.chunk, layout>;

  AttentionScratch attention;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<hidden_in_keys, Nothing, Hidden> own_hidden;
  LADON_NO_UNIQUE_ADDRESS LinearInput<Precision, typename Layer::Vectors, panels * layout.width(), plan.chunk, layout>
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

// The steps of a layer except attention, for the panels `first` to `first` + `count` - 1. The last panel may have
// another layout P (for_panels in detail/panel/panels.hpp).
template <class Layer, class Simd>
struct Sublayers {
  static constexpr Shape shape = Layer::shape;
  using L = ShapeLayout<shape, typename Layer::Vectors>;
  static constexpr PanelLayout t = L::queries;
  static constexpr std::size_t stride = shape.model * t.width();                 // how many floats a panel of x has
  static constexpr std::size_t heads_stride = shape.concat_width() * t.width();  // how many floats a panel of heads has
  static constexpr bool post = Layer::model.norm == NormOrder::post;
  using Norm = typename NormOf<Layer::model>::Type;
  using Shared = LayerPanels<Layer>;

  // Calls run<P, Packs>(first, count) for the panels of `share`, at most `Most` at a time.
  template <std::size_t Most, class CallShare, class F>
  static LADON_INLINE constexpr void for_all(std::size_t active, CallShare share, F run) noexcept {
    for_panels<t, L::last_queries, shape.queries, Most>(active, run, share);
  }

  // Computes x += output(heads), and then norm(x), the input of the next sublayer.
  template <PanelLayout P, std::size_t Packs, class Output>
  static constexpr void add_attention(const Output& output, const Norm& norm, Shared& shared, std::size_t first,
                                      std::size_t count) noexcept {
    const auto heads =
        shared.input.template convert<Simd, P, Packs, shape.concat_width()>(shared.heads.data, first, count)
            .template panels_from<shape.concat_width(), t.width()>(first);
    float* const x = shared.x.data + first * stride;
    matmul<Simd, P, Packs, shape.model, shape.concat_width()>(output, heads, count,
                                                              Epilogue<P.width(), Unchanged, Combine::add>{x, stride});
    normalize_panels<P, Packs>(norm, x, count, shared.sublayer_input() + first * stride);
  }

  // Returns the input of the next product, converted if necessary (detail/panel/product_input.hpp).
  template <PanelLayout P, std::size_t Packs>
  static constexpr auto input_of(Shared& shared, std::size_t first, std::size_t count) noexcept {
    return shared.input.template convert<Simd, P, Packs, shape.model>(shared.sublayer_input(), first, count)
        .template panels_from<shape.model, t.width()>(first);
  }

  // Computes x += feed_forward(input). In post-LN, then x = norm(x).
  template <PanelLayout P, std::size_t Packs, class LayerWeights, class Scratch>
  static constexpr void add_feed_forward(const LayerWeights& w, const Norm& norm, Shared& shared, Scratch& scratch,
                                         std::size_t first, std::size_t count) noexcept {
    float *const x = shared.x.data + first * stride, *const sums = shared.heads.data + first * heads_stride;
    const auto in = input_of<P, Packs>(shared, first, count);
    FeedForward<Layer, Simd, P, Packs>{count, scratch.hidden(), sums, x}.run(w, in, scratch.hidden_input);
    if constexpr (post) normalize_panels<P, Packs>(norm, x, count, x);
  }

  // Computes out = norm(in) for the panels of `share`.
  template <class CallShare>
  static constexpr void norm_all(const Norm& norm, const float* in, std::size_t active, float* out,
                                 CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      normalize_panels<P, Packs>(norm, in + first * stride, count, out + first * stride);
    };
    for_panels<t, L::last_queries, shape.queries>(active, run, share);
  }

 private:
  template <PanelLayout P, std::size_t Packs>
  static constexpr void normalize_panels(const Norm& norm, const float* in, std::size_t panels, float* out) noexcept {
    for (std::size_t p = 0; p < panels; ++p) normalize<Simd, P, Packs>(in + p * stride, norm, out + p * stride);
  }
};

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
inline constexpr auto no_caches = [](std::size_t) { return NoCaches{}; };
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
