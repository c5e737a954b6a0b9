// SPDX-License-Identifier: Apache-2.0
// The steps of encoder and decoder layers except attention, for the panels `first` to `first` + `count` - 1 of
// LayerPanels (workspace.hpp):
//     x         [panels][model][width]          residual, updated in place
//     normed    [panels][model][width]          pre-LN only: norm(x), the input of the next sublayer
//     heads     [panels][concat width][width]   output of all heads; scratch memory after add_attention
//
// The last panel may have another layout P (for_panels in detail/panel/panels.hpp).
#pragma once

#include <cstddef>

#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/layer/workspace.hpp>
#include <ladon/detail/panel/panels.hpp>

namespace LADON_NAMESPACE::detail {

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

}  // namespace LADON_NAMESPACE::detail
