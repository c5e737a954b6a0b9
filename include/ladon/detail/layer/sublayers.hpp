// SPDX-License-Identifier: Apache-2.0
// All steps of encoder and decoder layers except attention: output projection, residual connections, norms and
// feed-forward network. Each call handles a few panels.
//
// The arrays and their shapes:
//     x         [panels][model][width]          residual, updated in place
//     normed    [panels][model][width]          input of the next sublayer; in post-LN, normed and x are the same array
//     heads     [panels][concat width][width]   output of all heads; scratch memory after project_add_norm
//     hidden    [panels][chunk][width]          scratch memory of the feed-forward network
//
// Special cases: lanes without a token are computed and ignored (detail/panel/panels.hpp). The last panel may have
// another layout than the other panels, so each function gets the layout P of its panels. for_panels describes P and
// Packs.
#pragma once

#include <cstddef>

#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/panel/panels.hpp>

namespace LADON_NAMESPACE::detail {

template <Shape S, Model Config, class Vectors, class Simd, class Precision>
struct Sublayers {
  static constexpr PanelLayout t = ShapeLayout<S, Vectors>::queries;
  static constexpr FeedForwardPlan plan = feed_forward_plan<S, Config, Vectors, Precision>;
  static constexpr std::size_t width = t.width();
  static constexpr std::size_t stride = S.model * width;                 // how many floats a panel of x has
  static constexpr std::size_t heads_stride = S.concat_width() * width;  // how many floats a panel of heads has
  using NormOf = typename ladon::NormOf<Config>::Type;

  // Computes the output projection and adds its result to the residual: x += output(heads). Then computes the input of
  // the next sublayer: normed = norm(x). `output` has the weights of the output projection, and `heads` is a view of
  // the input of this projection.
  // In post-LN, `norm` is the norm after attention. In pre-LN, `norm` is the norm before the next sublayer.
  template <PanelLayout P, std::size_t Packs, class Output, class Heads>
  static constexpr void project_add_norm(const Output& output, Heads heads, std::size_t panels, float* x,
                                         const NormOf& norm, float* normed) noexcept {
    matmul<Simd, P, Packs, S.model, S.concat_width()>(output, heads, panels,
                                                      Epilogue<P.width(), Unchanged, Combine::add>{x, stride});
    normalize_panels<P, Packs>(norm, x, panels, normed);
  }

  // Computes x += W2 f(W1 normed), or the gated variant (feed_forward.hpp). In post-LN, the function then sets x to
  // norm(x). `normed` is a view of the input of the first product. `sums` is scratch memory of the same size as x.
  template <PanelLayout P, std::size_t Packs, class LayerWeights, class Normed, class Scratch>
  static constexpr void add_feed_forward(const LayerWeights& w, Normed normed, std::size_t panels, Scratch& scratch,
                                         float* sums, float* x, const NormOf& norm) noexcept {
    FeedForward<Simd, P, Packs, Config, plan.chunk>{panels, scratch.hidden(), sums, x}.run(w, normed,
                                                                                           scratch.hidden_input);
    if constexpr (Config.norm == NormOrder::post) normalize_panels<P, Packs>(norm, x, panels, x);
  }

  // Computes out = norm(in) for each panel that holds one of the first `active` tokens and belongs to `share`.
  template <class CallShare = WholeCall>
  static constexpr void norm_all(const NormOf& norm, const float* in, std::size_t active, float* out,
                                 CallShare share = {}) noexcept {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      normalize_panels<P, Packs>(norm, in + first * stride, count, out + first * stride);
    };
    for_panels<t, ShapeLayout<S, Vectors>::last_queries, S.queries>(active, run, share);
  }

 private:
  // Computes out = norm(in) for each of the `panels` panels.
  template <PanelLayout P, std::size_t Packs>
  static constexpr void normalize_panels(const NormOf& norm, const float* in, std::size_t panels, float* out) noexcept {
    for (std::size_t p = 0; p < panels; ++p) normalize<Simd, P, Packs>(in + p * stride, norm, out + p * stride);
  }
};

}  // namespace LADON_NAMESPACE::detail
