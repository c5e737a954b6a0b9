// What encoder and decoder layers do besides attending: residuals, norms, feed-forward, a few panels at a time.
//
//     x, normed  [panels][model][width]; in post-LN they are one and the same
//     heads      [panels][concat width][width], which afterwards is scratch     hidden  scratch
#pragma once

#include <cstddef>

#include <ladon/detail/layer/feed_forward.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/memory/panels.hpp>
#include <ladon/layer_config.hpp>

namespace ladon::inline LADON_ABI::detail {

template <Shape S, LayerConfig Form, class Target, class Simd>
struct Sublayers {
  static constexpr Tiling t = PanelLayout<S, Target>::queries;
  static constexpr FeedForwardPlan plan = feed_forward_plan<S, Form, Target>;
  static constexpr std::size_t width = t.width();
  static constexpr std::size_t stride = S.model * width;                 // from a panel of x to the next
  static constexpr std::size_t heads_stride = S.concat_width() * width;  // from a panel of heads to the next
  using NormOf = Norm<S.model, Form.norm_kind>;

  // x += output(heads), then normed = norm(x): this sublayer's norm in post-LN, the next one's in pre-LN.
  template <std::size_t Packs, class Output>
  static constexpr void add_attention(const Output& output, const float* heads, std::size_t panels, float* x,
                                      const NormOf& norm, float* normed) noexcept {
    matmul<Simd, t, Packs, S.model, S.concat_width()>(output, heads, panels,
                                                      Epilogue<width, Unchanged, Combine::add>{x, stride});
    norm_each<Packs>(norm, x, panels, normed);
  }

  // x += W2 f(W1 normed), and post-LN normalises it.
  template <std::size_t Packs, class Layer>
  static constexpr void add_feed_forward(const Layer& w, const float* normed, std::size_t panels, float* hidden,
                                         float* sums, float* x, const NormOf& norm) noexcept {
    FeedForward<Simd, t, Packs, S.model, Form, plan.chunk>{panels, normed, hidden, sums, x}.run(w);
    if constexpr (Form.norm == NormOrder::post) norm_each<Packs>(norm, x, panels, x);
  }

  // Of every panel, out = norm(in).
  template <class Part = WholeCall>
  static constexpr void norm_all(const NormOf& norm, const float* in, std::size_t active, float* out,
                                 Part part = {}) noexcept {
    const auto run = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      norm_each<Packs>(norm, in + first * stride, count, out + first * stride);
    };
    for_panels<t, S.queries>(active, run, part);
  }

 private:
  template <std::size_t Packs>
  static constexpr void norm_each(const NormOf& norm, const float* in, std::size_t panels, float* out) noexcept {
    for (std::size_t p = 0; p < panels; ++p) normalize<Simd, t, Packs>(in + p * stride, norm, out + p * stride);
  }
};

}  // namespace ladon::inline LADON_ABI::detail
