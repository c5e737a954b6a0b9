// What encoder and decoder layers do besides attending: residuals, norms, feed-forward, a panel at a time.
//
//     x, normed  [model][width], one panel; in post-LN they are one and the same
//     heads      [concat width][width]     hidden  [feed-forward width][width]
#pragma once

#include <cstddef>

#include <ladon/kernel/feed_forward.hpp>
#include <ladon/kernel/normalize.hpp>
#include <ladon/layer_form.hpp>
#include <ladon/panels.hpp>

namespace ladon::inline LADON_ABI::kernel {

template <Shape S, LayerForm Form, class Simd, Tiling T>
struct Sublayers {
  static constexpr std::size_t width = T.width();
  static constexpr std::size_t stride = S.model * width;                 // from a panel of x to the next
  static constexpr std::size_t heads_stride = S.concat_width() * width;  // from a panel of heads to the next
  using NormOf = Norm<S.model, Form.norm_kind>;

  // x += output(heads), then normed = norm(x): this sublayer's norm in post-LN, the next one's in pre-LN.
  template <std::size_t Packs, class Output>
  static constexpr void add_attention(const Output& output, const float* heads, float* x, const NormOf& norm,
                                      float* normed) noexcept {
    project<Simd, T, Packs, S.model, S.concat_width()>(output, heads, 1, AddTo<width>{x});
    normalize<Simd, T, Packs>(x, norm, normed);
  }

  // x += W2 f(W1 normed), and post-LN normalises it.
  template <std::size_t Packs, class Layer>
  static constexpr void add_feed_forward(const Layer& w, const float* normed, float* hidden, float* x,
                                         const NormOf& norm) noexcept {
    if constexpr (Form.gated) {
      gated_feed_forward<Simd, T, Packs, S.model, Form.feed_forward, Form.activation>(
          w.gate.rows_from(0), w.linear1.rows_from(0), w.linear2.rows_from(0), normed, hidden, x);
    } else {
      feed_forward<Simd, T, Packs, S.model, Form.feed_forward, Form.activation>(
          w.linear1.rows_from(0), w.linear2.rows_from(0), normed, hidden, x);
    }
    if constexpr (Form.norm == NormOrder::post) normalize<Simd, T, Packs>(x, norm, x);
  }

  // Of every panel, out = norm(in).
  template <class Part = WholeCall>
  static constexpr void norm_all(const NormOf& norm, const float* in, std::size_t active, float* out,
                                 Part part = {}) noexcept {
    const auto one = [&]<std::size_t Packs>(std::size_t p) {
      normalize<Simd, T, Packs>(in + p * stride, norm, out + p * stride);
    };
    each_panel(active, one, part);
  }

  // Calls f.operator()<Packs>(panel) for every panel with one of the first `active` tokens that `part` has.
  template <class F, class Part = WholeCall>
  static LADON_INLINE constexpr void each_panel(std::size_t active, F f, Part part = {}) noexcept {
    const auto run = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      for (std::size_t p = first; p < first + count; ++p) f.template operator()<Packs>(p);
    };
    for_panels<T, S.queries>(active, run, part);
  }
};

}  // namespace ladon::inline LADON_ABI::kernel
