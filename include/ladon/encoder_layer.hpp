// One encoder layer: attention, residual, LayerNorm, feed-forward, residual, LayerNorm.
//
//     post-LN ("Attention Is All You Need", 3.1):  x = norm1(x + attend(x));  x = norm2(x + feed_forward(x))
//     pre-LN  (arXiv 2002.04745):                  x = x + attend(norm1(x));  x = x + feed_forward(norm2(x))
//
// All of it works on panels; after attention each panel goes through the rest by itself, in cache.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/kernel/feed_forward.hpp>
#include <ladon/kernel/layer_norm.hpp>
#include <ladon/multi_head_attention.hpp>

namespace ladon::inline LADON_ABI {

enum class NormOrder { post, pre };

// What a layer has besides its attention.
struct Block {
  std::size_t feed_forward = 0;  // hidden width
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::post;
};

// PyTorch's names (TransformerEncoderLayer).
template <Shape S, Block B, class Layout>
struct EncoderLayerWeights {
  typename Layout::template Weights<S> attention;
  Linear<B.feed_forward, S.model, Layout::order> linear1;
  Linear<S.model, B.feed_forward, Layout::order> linear2;
  Norm<S.model> norm1;
  Norm<S.model> norm2;
};

// As for attention, and one panel of the hidden layer; pre-LN keeps the normed tokens beside the residual's.
template <Shape S, Block B, class Target>
struct EncoderWorkspace {
  using L = kernel::PanelLayout<S, Target>;
  struct Nothing {};
  using Normed = Panels<S.queries, S.model, L::queries>;
  SelfWorkspace<S, Target> attention;
  Panels<L::queries.width(), B.feed_forward, L::queries> hidden;
  [[no_unique_address]] std::conditional_t<B.norm == NormOrder::pre, Normed, Nothing> normed;
};

namespace kernel {

// One layer on panels, in place: x is workspace.attention.x.
template <Shape S, Block B, class Layer, class Score, class Target, class Simd>
struct LayerSteps {
  using Attention = Heads<S, decltype(Layer::attention), Score, Target, Simd>;
  using Workspace = EncoderWorkspace<S, B, Target>;
  static constexpr Tiling q = Attention::q;
  using Pack = typename Simd::template Pack<q.lanes>;

  template <class Options, class CaptureOf>
  static constexpr void run(const Layer& w, Lengths lengths, const Options& options, Workspace& workspace,
                            CaptureOf capture_of) noexcept {
    float* const x = workspace.attention.x.data;
    float* const heads = workspace.attention.heads.data;
    float* input = x;
    if constexpr (B.norm == NormOrder::pre) {
      input = workspace.normed.data;
      norm_all(w.norm1, x, lengths.longer(), input);
    }
    Attention::attend_all(input, input, w.attention, lengths, options, workspace.attention.scratch, heads, capture_of);
    for_panels<q, S.queries>(lengths.queries, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        rest<Packs>(w, heads + p * S.concat_width() * q.width(), x + p * S.model * q.width(),
                    input + p * S.model * q.width(), workspace.hidden.data);
      }
    });
  }

  // Of every panel, out = norm(in).
  static constexpr void norm_all(const Norm<S.model>& norm, const float* in, std::size_t active, float* out) noexcept {
    for_panels<q, S.queries>(active, [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) {
        layer_norm<Pack, Packs, q.width(), S.model>(in + p * S.model * q.width(), norm, out + p * S.model * q.width());
      }
    });
  }

 private:
  // Everything after the heads, for one panel. In pre-LN `normed` is apart from x, in post-LN it is x.
  template <std::size_t Packs>
  static constexpr void rest(const Layer& w, const float* heads, float* x, float* normed, float* hidden) noexcept {
    constexpr std::size_t width = q.width();
    project<Pack, q.rows, Packs, width, S.model, S.concat_width()>(w.attention.output(), heads, 1, AddTo<width>{x});
    layer_norm<Pack, Packs, width, S.model>(x, B.norm == NormOrder::post ? w.norm1 : w.norm2, normed);
    feed_forward<Pack, q.rows, Packs, width, S.model, B.feed_forward, B.activation>(
        w.linear1.rows_from(0), w.linear2.rows_from(0), normed, hidden, x);
    if constexpr (B.norm == NormOrder::post) layer_norm<Pack, Packs, width, S.model>(x, w.norm2, x);
  }
};

}  // namespace kernel

// A layer by itself; Encoder runs a stack of them without leaving panels. Contract as MultiHeadAttention's.
template <Shape ShapeGiven, Block B, mask::Policy Mask = mask::None, class Layout = layout::InProj,
          class Score = score::Scaled, class Target = simd::Default>
struct EncoderLayer {
  static_assert(valid<ShapeGiven>());
  static constexpr Shape shape = ShapeGiven.complete();
  static_assert(shape.queries == shape.keys, "ladon: an encoder attends to itself, so it has as many keys as queries");
  static_assert(B.feed_forward > 0, "ladon: an encoder layer needs the hidden width of its feed-forward network");

  using Weights = EncoderLayerWeights<shape, B, Layout>;
  using Workspace = EncoderWorkspace<shape, B, Target>;
  using Options = RunOptions<shape, Mask, Score>;
  using Map = AttentionMap<shape>;
  using Input = Matrix<const float, shape.queries, shape.model>;
  using Output = Matrix<float, shape.queries, shape.model>;

  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace,
                            const Options& options = {}) noexcept {
    run_capturing(x, weights, y, workspace, options, kernel::CaptureNothing{});
  }
  static constexpr void run(Input x, const Weights& weights, Output y, Workspace& workspace, const Options& options,
                            Map attention) noexcept {
    run_capturing(x, weights, y, workspace, options, kernel::CaptureMap<shape>{attention.data});
  }

 private:
  template <class CaptureOf>
  static constexpr void run_capturing(Input x, const Weights& weights, Output y, Workspace& workspace,
                                      const Options& options, CaptureOf capture_of) noexcept {
    const Lengths lengths = options.lengths();
    float* const panels = workspace.attention.x.data;
    simd::with_packs<Target>([&]<class Simd>(Simd) {
      using Steps = kernel::LayerSteps<shape, B, Weights, Score, Target, Simd>;
      Steps::Attention::queries_in(x.data, lengths.longer(), panels);
      Steps::run(weights, lengths, options, workspace, capture_of);
      Steps::Attention::queries_out(panels, lengths.queries, y.data);
    });
  }
};

}  // namespace ladon::inline LADON_ABI
