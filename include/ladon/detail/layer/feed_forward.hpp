// SPDX-License-Identifier: Apache-2.0
// The feed-forward network of a few panels (detail/panel/panels.hpp):
//     plain    y = W2 f(W1 in + b1) + b2
//     gated    y = W2 (f(Wg in + bg) * (W1 in + b1)) + b2        Shazeer, arXiv 2002.05202
//
// The arrays:
//     in       [panels][model][width]   tokens or their norms
//     hidden   [panels][chunk][width]   scratch: the hidden features of one chunk
//     sums     [panels][model][width]   scratch: W2 times the earlier chunks of `hidden`
//     out      [panels][model][width]   receives y (SublayerEpilogue); `in` and `out` may be the same array
//
// Several panels share each read of the weights, because W1 and W2 are often too large for caches. `hidden` has room
// for about one panel, so with n panels, a chunk has 1/n of the hidden features. Chunks do not change the order of
// additions. Int8 weights have one chunk, because one scale quantises all hidden features of a token, and `hidden` then
// has room for all panels.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/layer/activation.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

struct FeedForwardPlan {
  std::size_t panels;  // how many panels one pass over the weights multiplies
  std::size_t chunk;   // how many hidden features a chunk has
};

// Plans how many panels share a read of the weights. float32 and bfloat16 weights: several panels if W1 and W2, counted
// as float32, exceed target::Current::second_cache_bytes. But one panel if the target has no vectors, the layer has one
// token, or `sums`, which lies in LayerPanels::heads, would not fit. Int8 weights: the panels of
// int8_feed_forward_tokens or int4_feed_forward_tokens tokens. EncoderScratch::panels may lower the number.
template <class Layer>
inline constexpr FeedForwardPlan feed_forward_plan = [] {
  using target::Current;
  using Precision = typename Layer::Precision;
  constexpr Shape shape = Layer::shape;
  constexpr std::size_t hidden = Layer::model.feed_forward;
  constexpr PanelLayout t = ShapeLayout<shape, typename Layer::Vectors>::queries;
  constexpr std::size_t query_panels = t.panels(shape.queries);
  if (precision::is_int8<Precision>) {
    constexpr std::size_t tokens =
        precision::is_int4<Precision> ? Current::int4_feed_forward_tokens : Current::int8_feed_forward_tokens;
    constexpr std::size_t most = tokens / t.width();
    return FeedForwardPlan{most < 1 ? 1 : most < query_panels ? most : query_panels, hidden};
  }
  constexpr std::size_t weight_bytes = 2 * shape.model * hidden * sizeof(float);
  constexpr bool exceeds_cache =
      weight_bytes > Current::second_cache_bytes && Layer::Vectors::lanes > 1 && t.width() > 1;
  constexpr bool shares_weights = exceeds_cache && shape.concat_width() >= shape.model;
  constexpr std::size_t panels = !shares_weights                               ? 1
                                 : query_panels < Current::feed_forward_panels ? query_panels
                                                                               : Current::feed_forward_panels;
  return FeedForwardPlan{panels, (hidden + panels - 1) / panels};
}();

// Whether the output of a sublayer is stored before it is added to x, because the output has a norm or scales.
template <class Layer>
inline constexpr bool changes_output = Layer::model.norms_output() || Layer::model.layer_scale;

template <class Layer>
struct ScaledForResidual {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& sum) const noexcept {
    return sum * Pack::broadcast(Layer::model.residual_scale);
  }
};
template <class Layer>
using ResidualTransform =
    std::conditional_t<Layer::model.residual_scale == 1 || changes_output<Layer>, Unchanged, ScaledForResidual<Layer>>;
// The epilogue of the last product of a sublayer. If changes_output is true, stores the output. Otherwise, adds the
// output to `out`, the residual.
template <class Layer, std::size_t Width>
using SublayerEpilogue =
    Epilogue<Width, ResidualTransform<Layer>, changes_output<Layer> ? Combine::replace : Combine::add>;

template <class Layer, class Simd, PanelLayout T, std::size_t Packs>
struct FeedForward {
  static constexpr Model config = Layer::model;
  static constexpr std::size_t chunk = feed_forward_plan<Layer>.chunk;
  static constexpr std::size_t width = T.width();
  static constexpr std::size_t hidden_width = config.feed_forward, model = config.model;
  static constexpr std::size_t stride = model * width;  // how many floats a panel of `in`, `sums` or `out` has
  static constexpr std::size_t chunks = (hidden_width + chunk - 1) / chunk;

  std::size_t panels;
  std::size_t tokens;  // the tokens of these panels
  float* hidden;
  float* sums;
  float* out;

  // `hidden_input` receives the converted input of the second product (detail/panel/product_input.hpp).
  template <class LayerWeights, class In, class HiddenInput>
  constexpr void run(const LayerWeights& w, In in, HiddenInput& hidden_input) const noexcept {
    const SublayerEpilogue<Layer, width> to_out{out, stride};
    if constexpr (chunks == 1) {
      first_linear<hidden_width>(w, in, 0);
      second_linear<hidden_width>(w.linear2.rows_from(0), hidden_input, to_out);
    } else {
      const Epilogue<width> store_sums{sums, stride};
      first_linear<chunk>(w, in, 0);
      second_linear<chunk>(w.linear2.rows_from(0), hidden_input, store_sums);
      // Later chunks start at the sums of earlier chunks.
      const WeightRows w2{w.linear2.rows_from(0).weight, PartialSums<width>{sums, stride}};
      for (std::size_t c = 1; c + 1 < chunks; ++c) {
        first_linear<chunk>(w, in, c * chunk);
        second_linear<chunk>(w2.columns_from(c * chunk), hidden_input, store_sums);
      }
      constexpr std::size_t last = (chunks - 1) * chunk;
      first_linear<hidden_width - last>(w, in, last);
      second_linear<hidden_width - last>(w2.columns_from(last), hidden_input, to_out);
    }
  }

 private:
  // Computes Count hidden features of every panel, from feature number `first` on.
  template <std::size_t Count, class LayerWeights, class In>
  constexpr void first_linear(const LayerWeights& w, In in, std::size_t first) const noexcept {
    // Whether the second product rounds, too.
    constexpr bool rounded = is_quantised<In> || std::is_same_v<typename In::Lanes, BFloat16PanelsView>;
    using Activation = Activate<config.activation, rounded>;
    const Epilogue<width, Activation> store_activated{hidden, Count * width, Activation::of(w)};
    if constexpr (activates_later && !config.gated) {
      matmul<Simd, T, Packs, Count, model>(w.linear1.rows_from(first), in, panels,
                                           Epilogue<width, Unchanged>{hidden, Count * width});
      for (std::size_t p = 0; p < panels; ++p)
        activate_panel<Count * width>(Activation::of(w), hidden + p * Count * width);
    } else if constexpr (config.gated) {
      matmul<Simd, T, Packs, Count, model>(w.gate.rows_from(first), in, panels, store_activated);
      matmul<Simd, T, Packs, Count, model>(w.linear1.rows_from(first), in, panels,
                                           Epilogue<width, Unchanged, Combine::multiply>{hidden, Count * width});
    } else {
      matmul<Simd, T, Packs, Count, model>(w.linear1.rows_from(first), in, panels, store_activated);
    }
  }

  // Whether activate_panel applies the activation after the product, instead of the epilogue: if rows of a panel are
  // narrower than a register, or if the target computes GELU of several packs side by side.
  static constexpr bool activates_later = T.width() > 1 &&
                                          (T.width() < Simd::lanes || (config.activation == Activation::gelu &&
                                                                       target::Current::gelu_packs_together > 1));

  template <std::size_t Size, class Activation>
  static constexpr void activate_panel(Activation activation, float* at) noexcept {
    using Wide = typename Simd::template Pack<Simd::lanes>;
    using Narrow = typename Simd::template Pack<T.lanes>;
    constexpr std::size_t together = target::Current::gelu_packs_together, step = together * Wide::lanes;
    constexpr std::size_t most = Size / step * step, whole = Size / Wide::lanes * Wide::lanes;
    for (std::size_t i = 0; i < most; i += step) activate_packs<Wide, together>(activation, at + i);
    for (std::size_t i = most; i < whole; i += Wide::lanes) activate_packs<Wide, 1>(activation, at + i);
    for (std::size_t i = whole; i < Size; i += Narrow::lanes) activate_packs<Narrow, 1>(activation, at + i);
  }
  template <class Pack, std::size_t N>
  static LADON_INLINE constexpr void activate_packs(const auto& activation, float* at) noexcept {
    Pack x[N];
    LADON_UNROLLED_FOR(i, N) x[i] = Pack::load(at + i * Pack::lanes);
    activation.apply(x);
    LADON_UNROLLED_FOR(i, N) x[i].store(at + i * Pack::lanes);
  }

  // Multiplies Count columns of W2 by `hidden`.
  template <std::size_t Count, class Rows, class HiddenInput, class Epilogue>
  constexpr void second_linear(const Rows& columns, HiddenInput& hidden_input, Epilogue epilogue) const noexcept {
    matmul<Simd, T, Packs, model, Count>(
        columns, hidden_input.template convert<Simd, T, Packs, Count>(hidden, 0, panels, tokens), panels, epilogue);
  }
};

}  // namespace LADON_NAMESPACE::detail
