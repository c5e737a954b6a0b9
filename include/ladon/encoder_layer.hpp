// One encoder layer: attention, residual, norm, feed-forward, residual, norm.
//
//     post-LN:  x = norm1(x + attend(x));  x = norm2(x + feed_forward(x))
//     pre-LN:   x = x + attend(norm1(x));  x = x + feed_forward(norm2(x))
//
// All of it works on panels; after attention each panel goes through the rest by itself, in cache.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/kernel/sublayers.hpp>
#include <ladon/layer_form.hpp>
#include <ladon/multi_head_attention.hpp>

namespace ladon::inline LADON_ABI {

// PyTorch's names (TransformerEncoderLayer); a gated feed-forward network has one weight more.
template <Shape S, LayerForm Form, class Layout>
struct EncoderLayerWeights {
  using Linears = FeedForwardLinears<S, Form, Layout::order>;
  typename Layout::template Weights<S> attention;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  Norm<S.model, Form.norm_kind> norm1;
  Norm<S.model, Form.norm_kind> norm2;
};
template <Shape S, LayerForm Form, class Layout>
  requires(Form.gated)
struct EncoderLayerWeights<S, Form, Layout> {
  using Linears = FeedForwardLinears<S, Form, Layout::order>;
  typename Layout::template Weights<S> attention;
  typename Linears::First gate;
  typename Linears::First linear1;
  typename Linears::Second linear2;
  Norm<S.model, Form.norm_kind> norm1;
  Norm<S.model, Form.norm_kind> norm2;
};

// As for attention, and one panel of the hidden layer; pre-LN keeps the normed tokens beside the residual's.
template <Shape S, LayerForm Form, class Target, class Attention = SelfWorkspace<S, Target>>
struct EncoderWorkspace {
  using L = kernel::PanelLayout<S, Target>;
  struct Nothing {};
  using Normed = Panels<S.queries, S.model, L::queries>;
  Attention attention;
  Panels<L::queries.width(), Form.feed_forward, L::queries> hidden;
  [[no_unique_address]] std::conditional_t<Form.norm == NormOrder::pre, Normed, Nothing> normed;
};

namespace kernel {

// One layer on panels, in place: x is workspace.attention.x.
template <Shape S, LayerForm Form, class Layer, class Score, class Target, class Simd>
struct LayerSteps {
  using Attention = Heads<S, decltype(Layer::attention), Score, Target, Simd>;
  static constexpr Tiling q = Attention::q;
  using Sublayers = kernel::Sublayers<S, Form, Simd, q>;

  template <class Options, class CaptureOf>
  static constexpr void run(const Layer& w, Lengths lengths, const Options& options,
                            EncoderWorkspace<S, Form, Target>& workspace, CaptureOf capture_of) noexcept {
    around_heads(w, lengths, workspace, [&](const float* input, float* heads) {
      Attention::attend_all(input, input, w.attention, lengths, options, workspace.attention.scratch, heads,
                            capture_of);
    });
  }

  template <class Options, class Cache, class Workspace>
  static constexpr void extend(const Layer& w, std::size_t tokens, const Options& options, Cache& cache,
                               Workspace& workspace) noexcept {
    around_heads(w, {tokens, tokens}, workspace, [&](const float* input, float* heads) {
      Attention::extend(input, w.attention, tokens, options, cache, workspace.attention.scratch, heads,
                        CaptureNothing{});
    });
  }

 private:
  // What comes before and after the heads, which attend(input, heads) computes.
  template <class Workspace, class Attend>
  static constexpr void around_heads(const Layer& w, Lengths lengths, Workspace& workspace, Attend attend) noexcept {
    float* const x = workspace.attention.x.data;
    float* const heads = workspace.attention.heads.data;
    float* input = x;
    if constexpr (Form.norm == NormOrder::pre) {
      input = workspace.normed.data;
      Sublayers::norm_all(w.norm1, x, lengths.longer(), input);
    }
    attend(input, heads);
    Sublayers::each_panel(lengths.queries, [&]<std::size_t Packs>(std::size_t p) {
      rest<Packs>(w, heads + p * Sublayers::heads_stride, x + p * Sublayers::stride, input + p * Sublayers::stride,
                  workspace.hidden.data);
    });
  }

  // Everything after the heads, for one panel. In pre-LN `normed` is apart from x, in post-LN it is x.
  template <std::size_t Packs>
  static constexpr void rest(const Layer& w, const float* heads, float* x, float* normed, float* hidden) noexcept {
    const auto& norm = Form.norm == NormOrder::post ? w.norm1 : w.norm2;
    Sublayers::template add_attention<Packs>(w.attention.output(), heads, x, norm, normed);
    Sublayers::template add_feed_forward<Packs>(w, normed, hidden, x, w.norm2);
  }
};

}  // namespace kernel

// A layer by itself; Encoder runs a stack of them without leaving panels. Contract as MultiHeadAttention's.
template <Shape ShapeGiven, LayerForm Form, mask::Policy Mask = mask::None, class Layout = layout::InProj,
          class Score = score::Scaled, class Target = simd::Default>
struct EncoderLayer {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static_assert(shape.key_model == shape.model && shape.value_model == shape.model,
                "ladon: an encoder attends to itself, so keys and values come from tokens as wide as the model");
  static_assert(Form.feed_forward > 0, "ladon: an encoder layer needs the hidden width of its feed-forward network");

  using Weights = EncoderLayerWeights<shape.widths(), Form, Layout>;
  using Workspace = EncoderWorkspace<shape, Form, Target>;
  using CachedWorkspace = EncoderWorkspace<shape, Form, Target, ladon::CachedWorkspace<shape, Target>>;
  using Cache = CacheOf<shape, Mask, Target>;
  using Options = RunOptions<shape, Mask, Score>;
  using Map = AttentionMap<shape>;
  using Input = Matrix<const float, shape.queries, shape.model>;
  using Output = Matrix<float, shape.queries, shape.model>;

  template <class To = kernel::CaptureNothing>
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}, To&& to = {}) noexcept {
    static_assert(shape.queries == shape.keys,
                  "ladon: an encoder attends to itself, so it has as many keys as queries; where keys is the capacity "
                  "of a cache, extend");
    const Lengths lengths = options.lengths();
    float* const panels = workspace.attention.x.data;
    simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = kernel::LayerSteps<shape, Form, Weights, Score, Target, Simd>;
      Steps::Attention::queries_in(x.data, lengths.longer(), panels);
      Steps::run(weights, lengths, options, workspace, kernel::capture<shape>(to));
      Steps::Attention::queries_out(panels, lengths.queries, y.data);
    });
  }

  // As MultiHeadAttention::extend: shape.keys is the cache's capacity, shape.queries the most tokens of one call.
  static constexpr void extend(Input x, Cache& cache, const Weights& weights, Output y, CachedWorkspace& workspace,
                               const Options& options = {}) noexcept {
    const std::size_t tokens = options.lengths().queries;
    if (tokens == 0) return;
    float* const panels = workspace.attention.x.data;
    simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = kernel::LayerSteps<shape, Form, Weights, Score, Target, Simd>;
      Steps::Attention::queries_in(x.data, tokens, panels);
      Steps::extend(weights, tokens, options, cache, workspace);
      Steps::Attention::queries_out(panels, tokens, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
