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

// The memory that all threads of a call share. The members are panels (detail/panel/panels.hpp):
//     x         [panels][model][width]          residual, updated in place
//     normed    [panels][model][width]          with a norm before each sublayer: the input of the next sublayer
//     heads     [panels][concat width][width]   output of all heads; scratch memory after add_attention
//
// `Layer` is EncoderLayer, DecoderLayer or a layer of the user (stack.hpp).
template <class Layer>
struct LayerPanels : AllHeads<Layer::shape, typename Layer::Vectors,
                              Layer::SelfAttention::Weights::query_key_norm.over == HeadNorm::all> {
  static constexpr bool activates = has_activation<Layer::model.activation>;
  static_assert(activates, "ladon: an Activation needs its branch of activate in detail/layer/activation.hpp");
  static constexpr Shape shape = Layer::shape;
  using Vectors = typename Layer::Vectors;
  static constexpr PanelLayout layout = ShapeLayout<shape, Vectors>::queries;
  static constexpr bool pre = Layer::model.norms_input();
  struct Nothing {};
  using Tokens = Panels<shape.queries, shape.model, layout>;
  Tokens x;
  Panels<shape.queries, shape.concat_width(), layout> heads;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<pre, Tokens, Nothing> normed;
  // The converted input (detail/panel/product_input.hpp) of three products in turn: the projections of attention, the
  // output projection, and the first product of the feed-forward network.
  LADON_NO_UNIQUE_ADDRESS QueryInput<shape, Vectors, typename Layer::Precision> input;

  constexpr float* sublayer_input() noexcept {
    if constexpr (pre) return normed.data;
    return x.data;
  }
};

// The memory of one thread for attention, and for plan.chunk hidden features of at most `panels` panels
// (feed_forward.hpp). `output` holds the output of a sublayer, if changes_output is true.
template <class Layer, class AttentionScratch>
struct EncoderScratch {
  using Precision = typename Layer::Precision;
  static constexpr PanelLayout layout = LayerPanels<Layer>::layout;
  static constexpr FeedForwardPlan plan = feed_forward_plan<Layer>;
  // How many panels of hidden features lie in AttentionScratch::keys after attention. If 0, they have their own memory.
  static constexpr std::size_t panels_in_keys = [] {
    if constexpr (target::Current::hidden_in_keys && requires(AttentionScratch a) { a.keys; }) {
      constexpr std::size_t fit = sizeof(AttentionScratch::keys) / (sizeof(float) * plan.chunk * layout.width());
      return fit >= plan.panels ? plan.panels : precision::is_int8<Precision> ? fit : 0;
    }
    return std::size_t(0);
  }();
  static constexpr bool hidden_in_keys = panels_in_keys > 0;
  static constexpr std::size_t panels = hidden_in_keys ? panels_in_keys
                                        : target::Current::hidden_in_keys && precision::is_int8<Precision>
                                            ? 1
                                            : plan.panels;
  struct Nothing {};
  using Hidden = Panels<layout.width(), panels * plan.chunk, layout>;

  struct NoOutput {};
  using Output = Panels<layout.width(), panels * Layer::shape.model, layout>;

  using HiddenInput = LinearInput<Precision, typename Layer::Vectors, panels * layout.width(), plan.chunk, layout>;

  AttentionScratch attention;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<hidden_in_keys, Nothing, Hidden> own_hidden;
  LADON_NO_UNIQUE_ADDRESS std::conditional_t<changes_output<Layer>, Output, NoOutput> output;
  LADON_NO_UNIQUE_ADDRESS HiddenInput hidden_input;

  constexpr float* hidden() noexcept {
    if constexpr (hidden_in_keys) {
      return attention.keys.data;
    } else {
      return own_hidden.data;
    }
  }
};

// What follows the last product of a sublayer if changes_output is true: a norm of the output, scales of the features,
// or both. A missing norm or scale is an empty type. `next` is the norm before the next sublayer.
template <class Next, class Norm, class Scale>
struct SublayerEnd {
  const Next& next;
  const Norm& norm;
  const Scale& scale;
  float* output;  // EncoderScratch::output
};

// The steps of a layer except attention. The `count` panels from `first` on have layout P (for_panels).
template <class Layer, class Simd>
struct Sublayers {
  static constexpr Shape shape = Layer::shape;
  using L = ShapeLayout<shape, typename Layer::Vectors>;
  static constexpr PanelLayout t = L::queries;
  static constexpr std::size_t stride = shape.model * t.width();                 // how many floats a panel of x has
  static constexpr std::size_t heads_stride = shape.concat_width() * t.width();  // how many floats a panel of heads has
  static constexpr bool pre = Layer::model.norms_input(), post = Layer::model.norm == NormOrder::post;
  static constexpr Residual residual = Layer::model.residual;
  using Shared = LayerPanels<Layer>;

  // Returns the norm between two sublayers. In post-LN, this norm belongs to the first sublayer.
  static constexpr const auto& norm_between(const auto& own, const auto& next) noexcept {
    if constexpr (post) {
      return own;
    } else {
      return next;
    }
  }
  // Returns the SublayerEnd of a sublayer, or norm_between if changes_output is false. Callers pass this one object
  // on, because each argument, even an empty one, takes a register (the ABI of Arm).
  template <class Norm, class Next, class OutputNorm, class Scale>
  static constexpr decltype(auto) end_of(const Norm& norm, const Next& next, const OutputNorm& output_norm,
                                         const Scale& scale, auto& scratch) noexcept {
    const auto& between = norm_between(norm, next);
    using Between = std::remove_cvref_t<decltype(between)>;
    if constexpr (!changes_output<Layer>) {
      return (between);
    } else if constexpr (Layer::model.norm == NormOrder::output) {
      return SublayerEnd<Between, Norm, Scale>{between, norm, scale, scratch.output.data};
    } else {
      return SublayerEnd<Between, OutputNorm, Scale>{between, output_norm, scale, scratch.output.data};
    }
  }

  // Calls run<P, Packs>(first, count) for the panels of `share`, at most `Most` at a time. A last panel whose second
  // half has no token gets a call of its own, unless all inputs support half panels (finds_half_panels): it then shares
  // a call, and so a read of the weights. HiddenInput is the type of the memory of hidden features, if `run` multiplies
  // them.
  template <std::size_t Most, class... HiddenInput, class CallShare, class F>
  static LADON_INLINE constexpr void for_all(std::size_t active, CallShare share, F run) noexcept {
    constexpr bool halves = halves_apart<t, decltype(Shared::input), HiddenInput...>;
    for_panels<t, L::last_queries, shape.queries, Most, halves>(active, run, share);
  }

  // Computes x += output(heads). Then computes the input of the next sublayer: norm(x), or norm(old x) in parallel
  // layers. `active` counts the tokens of all panels.
  template <PanelLayout P, std::size_t Packs, class Output, class End>
  static constexpr void add_attention(const Output& output, const End& end, Shared& shared, std::size_t first,
                                      std::size_t count, std::size_t active) noexcept {
    const auto heads =
        shared.input.template convert<Simd, P, Packs, shape.concat_width()>(shared.heads.data, first, count, active)
            .template panels_from<shape.concat_width(), t.width()>(first);
    float* const x = shared.x.data + first * stride;
    if constexpr (residual == Residual::parallel) {
      normalize_panels<P, Packs>(next_norm(end), x, count, shared.sublayer_input() + first * stride);
    }
    matmul<Simd, P, Packs, shape.model, shape.concat_width()>(
        output, heads, count, SublayerEpilogue<Layer, P.width()>{destination(end, x), stride});
    if constexpr (changes_output<Layer>) add_changed<P, Packs>(end, count, x);
    if constexpr (residual == Residual::sequential && (pre || post)) {
      normalize_panels<P, Packs>(next_norm(end), x, count, shared.sublayer_input() + first * stride);
    }
  }

  // Returns the input of the next product, converted if necessary (detail/panel/product_input.hpp).
  template <PanelLayout P, std::size_t Packs>
  static constexpr auto input_of(Shared& shared, std::size_t first, std::size_t count, std::size_t active) noexcept {
    return shared.input.template convert<Simd, P, Packs, shape.model>(shared.sublayer_input(), first, count, active)
        .template panels_from<shape.model, t.width()>(first);
  }

  // Computes x += feed_forward(input). In post-LN, x = norm(x) follows.
  template <PanelLayout P, std::size_t Packs, class LayerWeights, class End, class Scratch>
  static constexpr void add_feed_forward(const LayerWeights& w, const End& end, Shared& shared, Scratch& scratch,
                                         std::size_t first, std::size_t count, std::size_t active) noexcept {
    float *const x = shared.x.data + first * stride, *const sums = shared.heads.data + first * heads_stride;
    const auto in = input_of<P, Packs>(shared, first, count, active);
    FeedForward<Layer, Simd, P, Packs>{count, active - first * t.width(), scratch.hidden(), sums, destination(end, x)}
        .run(w, in, scratch.hidden_input);
    if constexpr (changes_output<Layer>) add_changed<P, Packs>(end, count, x);
    if constexpr (post) normalize_panels<P, Packs>(next_norm(end), x, count, x);
  }

  template <class CallShare>
  static constexpr void norm_all(const auto& norm, const float* in, std::size_t active, float* out,
                                 CallShare share) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      normalize_panels<P, Packs>(norm, in + first * stride, count, out + first * stride);
    };
    for_panels<t, L::last_queries, shape.queries>(active, run, share);
  }

  template <class CallShare>
  static constexpr void copy_all(const float* x, std::size_t active, float* out, CallShare share) noexcept {
    const Range panels = share.of(t.panels(active));
    for (std::size_t i = panels.begin * stride; i < panels.end * stride; ++i) out[i] = x[i];
  }

 private:
  template <PanelLayout P, std::size_t Packs>
  static constexpr void normalize_panels(const auto& norm, const float* in, std::size_t panels, float* out) noexcept {
    for (std::size_t p = 0; p < panels; ++p) normalize<Simd, P, Packs>(in + p * stride, norm, out + p * stride);
  }

  static LADON_INLINE constexpr const auto& next_norm(const auto& end) noexcept {
    if constexpr (changes_output<Layer>) {
      return end.next;
    } else {
      return end;
    }
  }
  static LADON_INLINE constexpr float* destination(const auto& end, float* x) noexcept {
    if constexpr (changes_output<Layer>) return end.output;
    return x;
  }
  // Changes the output of a sublayer, and adds it to x [panels][model][width].
  template <PanelLayout P, std::size_t Packs>
  static constexpr void add_changed(const auto& end, std::size_t panels, float* x) noexcept {
    if constexpr (Layer::model.norms_output()) normalize_panels<P, Packs>(end.norm, end.output, panels, end.output);
    for (std::size_t p = 0; p < panels; ++p) add_panel<P, Packs>(end.scale, end.output + p * stride, x + p * stride);
  }
  // Computes x += residual_scale * scale * output for one panel. `scale` has a number for each feature, or is empty.
  template <PanelLayout P, std::size_t Packs, class Scale>
  static constexpr void add_panel(const Scale& scale, const float* output, float* x) noexcept {
    const auto factor = [&]<class Pack>(const Pack&, auto load) LADON_INLINE_LAMBDA {
      const Pack all = Pack::broadcast(Layer::model.residual_scale);
      if constexpr (requires { scale.data; }) return all * load(scale.data);
      return all;
    };
    if constexpr (is_single_token<Simd, P>) {
      using Pack = typename Simd::template Pack<Simd::lanes>;
      for_features<Pack, shape.model>(output, x,
                                      [&](const Pack& y, auto load) { return fma(y, factor(y, load), load(x)); });
    } else {
      using Pack = typename Simd::template Pack<P.lanes>;
      for (std::size_t i = 0; i < shape.model; ++i, output += P.width(), x += P.width()) {
        const Pack of_row = factor(Pack{}, [&](const float* from) { return Pack::broadcast(from[i]); });
        LADON_UNROLL
        for (std::size_t v = 0; v < Packs * Pack::lanes; v += Pack::lanes) {
          fma(Pack::load(output + v), of_row, Pack::load(x + v)).store(x + v);
        }
      }
    }
  }
};

// The active lengths of a layer's attention to its own tokens, and of a decoder's attention to the memory.
struct LayerLengths {
  Lengths self;
  Lengths memory{};
};

// The caches of one layer. NoCaches: the tokens are a whole text. Otherwise, `text` holds the keys and values of the
// earlier tokens, and the call appends keys and values of the new tokens.
struct NoCaches {
  static constexpr bool cached = false;
};
inline constexpr auto no_caches = [](std::size_t) { return NoCaches{}; };
template <class Cache>
struct EncoderCaches {
  static constexpr bool cached = true;
  Cache& text;
};

// A call of one layer. `first` is the number of the layer's first phase.
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

  // Computes the input of attention: norm1(x), or x if sublayers have no norm before them.
  template <class CallShare>
  static constexpr void input(const Weights& w, std::size_t active, Shared& shared, CallShare share) noexcept {
    if constexpr (Sublayers::pre) Sublayers::norm_all(w.norm1, shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.sublayer_input(), active, shared.input, share);
    if constexpr (SelfAttention::norms_all) {
      const auto in = shared.input.view(shared.sublayer_input());
      SelfAttention::Norms::template project_all<true>(w.attention, in, active, shared.all_queries.data, share);
      SelfAttention::Norms::template project_all<false>(w.attention, in, active, shared.all_keys.data, share);
    }
  }
  // Like `input`, for a layer with LayerKind::unnormed_attention.
  template <class CallShare>
  static constexpr void input_without_norm(std::size_t active, Shared& shared, CallShare share) noexcept {
    Sublayers::copy_all(shared.x.data, active, shared.normed.data, share);
    SelfAttention::convert_tokens(shared.normed.data, active, shared.input, share);
  }

  // Computes the steps after `input`, in two phases.
  template <class Call, class Scratch>
  static constexpr void run(const Weights& w, const Call& call, Shared& shared, Scratch& scratch) noexcept {
    if (call.share.has(call.first)) {
      if constexpr (Layer::model.layer_bias) {
        constexpr bool is_run = !Call::CachesType::cached;
        static_assert(is_run, "ladon: Model::layer_bias has a row for each token of a run, so it excludes extend");
        using Options = std::remove_cvref_t<decltype(call.options)>;
        const OptionsWithBias<Layer::shape, Options> options{call.options, w.attention_bias.data};
        attend_self(w.attention, options, call, shared, scratch.attention, call.captures);
      } else {
        attend_self(w.attention, call.options, call, shared, scratch.attention, call.captures);
      }
    }
    if (call.share.has(call.first + 1)) {
      count_tokens(call);
      after_heads(w, call.lengths.self.queries, shared, scratch, call.share);
    }
  }

 protected:
  template <class AttentionWeights, class Options, class Call, class Scratch, class Capture>
  static constexpr void attend_self(const AttentionWeights& w, const Options& options, const Call& call, Shared& shared,
                                    Scratch& scratch, Capture capture) noexcept {
    const auto in = shared.input.view(shared.sublayer_input());
    const HeadsCall heads{
        w, options, call.lengths.self, in, shared.heads.data, capture, shared.all_queries.data, shared.all_keys.data};
    if constexpr (Call::CachesType::cached) {
      SelfAttention::extend(heads, call.caches.text, scratch, call.share);
    } else {
      SelfAttention::attend_all_heads(heads, in, scratch, call.share);
    }
  }
  // With several threads, adds the new tokens to the length of the cache after the attention. With one thread, `extend`
  // has done so.
  template <class Call>
  static constexpr void count_tokens(const Call& call) noexcept {
    if constexpr (Call::CachesType::cached) {
      SelfAttention::count_tokens(call.lengths.self.queries, call.caches.text, call.share);
    }
  }

 private:
  // Computes all steps for a few panels before the next panels, so that the panels stay in the CPU's cache.
  template <class Scratch, class CallShare>
  static constexpr void after_heads(const Weights& w, std::size_t active, Shared& shared, Scratch& scratch,
                                    CallShare share) noexcept {
    const auto rest = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      Sublayers::template add_attention<P, Packs>(
          w.attention.output(), Sublayers::end_of(w.norm1, w.norm2, w.output_norm1, w.scale1, scratch), shared, first,
          count, active);
      Sublayers::template add_feed_forward<P, Packs>(
          w, Sublayers::end_of(w.norm2, w.norm2, w.output_norm2, w.scale2, scratch), shared, scratch, first, count,
          active);
    };
    Sublayers::template for_all<Scratch::panels, typename Scratch::HiddenInput>(active, share, rest);
  }
};

}  // namespace LADON_NAMESPACE::detail
