// SPDX-License-Identifier: Apache-2.0
// The norms of queries and keys (QueryKeyNormKind in weights.hpp). A norm over the features of one head is computed
// next to the rotary embedding of the head. A norm over all heads needs the projections of all heads, so project_all
// computes projections and norm before the attention of the first head.
#pragma once

#include <cstddef>

#include <ladon/detail/attention/operands.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

template <class AnyNorm, std::size_t HeadWidth>
struct NormOfHead : AnyNorm {
  static constexpr std::size_t size = HeadWidth;
};

template <class D, class Simd>
struct QueryKeyNormSteps {
  static constexpr Shape shape = D::shape;
  using Weights = typename D::Weights;
  using L = ShapeLayout<shape, typename D::Vectors>;
  static constexpr PanelLayout k = L::keys;
  static constexpr QueryKeyNormKind kind = Weights::query_key_norm;
  // `all`: the norm is over all heads. `heads`: the norm is over each head, before (first) or after (last) the rotary
  // embedding.
  static constexpr bool all = kind.over == HeadNorm::all, heads = kind.over != HeadNorm::none && !all;
  static constexpr bool first = heads && !kind.after_rotation, last = heads && !first;

  template <bool Queries>
  static constexpr const auto& norm_of(const Weights& w) noexcept {
    if constexpr (Queries) {
      return w.query_norm;
    } else {
      return w.key_norm;
    }
  }
  // Computes the norm of one head of queries, which are then scaled, or of keys.
  template <bool Queries, PanelLayout P, std::size_t Packs>
  static constexpr void norm_head(const Weights& w, std::size_t head, float* panel) noexcept {
    const auto& norm = norm_of<Queries>(w);
    using AnyNorm = std::remove_cvref_t<decltype(norm)>;
    NormOfHead<AnyNorm, shape.head_width> own{norm};
    if constexpr (kind.over == HeadNorm::each_head) {
      own.weight = decltype(own.weight)(norm.weight.data + head * shape.head_width);
      if constexpr (AnyNorm::biased) own.bias = decltype(own.bias)(norm.bias.data + head * shape.head_width);
    }
    normalize<Simd, P, Packs>(panel, own, panel);
    if constexpr (Queries) scale_queries<shape, typename D::Score>(panel, shape.head_width * P.width());
  }
  // Projects the queries or the keys of all heads, and computes their norm over all heads: `out` [panels][heads * head
  // width][width of T].
  template <bool Queries, PanelLayout T = L::queries, PanelLayout Last = L::last_queries,
            std::size_t Tokens = shape.queries, class CallShare = WholeCall>
  static constexpr void project_all(const Weights& w, auto input, std::size_t active, float* out,
                                    CallShare share = {}) noexcept {
    constexpr std::size_t inner = Queries ? shape.model : shape.key_model;
    constexpr std::size_t stride = T.width() * (Queries ? shape.query_rows() : shape.key_rows());
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t from, std::size_t count) {
      project_panels<Queries, P, Packs, inner, stride>(w, input.template panels_from<inner, T.width()>(from), count,
                                                       out + from * stride);
    };
    for_panels<T, Last, Tokens, panels_at_a_time<Simd, T, Tokens, inner>>(active, run, share);
  }
  template <bool Queries, PanelLayout P, std::size_t Packs, std::size_t Inner, std::size_t Stride>
  static constexpr void project_panels(const Weights& w, auto x, std::size_t count, float* out) noexcept {
    constexpr std::size_t rows = Queries ? shape.query_rows() : shape.key_rows();
    constexpr std::size_t together = Weights::heads_adjacent ? rows : shape.head_width;
    const auto rows_of = [&](std::size_t head) {
      if constexpr (Queries) {
        return w.query(head);
      } else {
        return w.key(head);
      }
    };
    for (std::size_t row = 0; row < rows; row += together) {
      matmul<Simd, P, Packs, together, Inner>(rows_of(row / shape.head_width), x, count,
                                              StoreProjected<P.width()>{out + row * P.width(), Stride});
    }
    for (std::size_t p = 0; p < count; ++p) {
      float* const panel = out + p * Stride;
      normalize<Simd, P, Packs>(panel, norm_of<Queries>(w), panel);
      if constexpr (Queries) scale_queries<shape, typename D::Score>(panel, rows * P.width());
    }
  }
  static constexpr void take_keys(const float* from, std::size_t head, std::size_t active, float* keys) noexcept {
    const auto copy = [&]<PanelLayout P, std::size_t>(std::size_t p, Range) {
      const float* const panel = from + p * shape.key_rows() * k.width() + head * shape.head_width * P.width();
      for (std::size_t i = 0; i < shape.head_width * P.width(); ++i) {
        keys[(p * shape.head_width + i / P.width()) * k.width() + i % P.width()] = panel[i];
      }
    };
    for_each_panel<k, L::last_keys, shape.keys>(active, copy);
  }
};

}  // namespace LADON_NAMESPACE::detail
