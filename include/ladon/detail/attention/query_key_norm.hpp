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

  template <PanelLayout P, std::size_t Packs, class AnyNorm>
  static constexpr void norm_head(const AnyNorm& norm, std::size_t head, float* panel) noexcept {
    NormOfHead<AnyNorm, shape.head_width> own{norm};
    if constexpr (kind.over == HeadNorm::each_head) {
      own.weight = decltype(own.weight)(norm.weight.data + head * shape.head_width);
      if constexpr (AnyNorm::biased) own.bias = decltype(own.bias)(norm.bias.data + head * shape.head_width);
    }
    normalize<Simd, P, Packs>(panel, own, panel);
  }
  template <PanelLayout P, std::size_t Packs>
  static constexpr void norm_query(const auto& call, std::size_t head, float* panel) noexcept {
    norm_head<P, Packs>(call.weights.query_norm, head, panel);
    scale_queries<P, shape.head_width>(panel);
  }
  // Computes the norm of the first `active` keys [panels][head width][keys of a panel] of a head.
  static constexpr void norm_keys(const Weights& w, std::size_t head, std::size_t active, float* keys) noexcept {
    for_panels<k, k, shape.keys>(active, [&]<PanelLayout, std::size_t Packs>(std::size_t from, std::size_t count) {
      for (std::size_t p = from; p < from + count; ++p)
        norm_head<k, Packs>(w.key_norm, head, keys + p * k.width() * shape.head_width);
    });
  }
  template <PanelLayout P, std::size_t Rows>
  static constexpr void scale_queries(float* panel) noexcept {
    constexpr float scale = ScoreFunction<shape, typename D::Score>::query_scale;
    for (std::size_t i = 0; i < Rows * P.width(); ++i) panel[i] *= scale;
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
      if constexpr (Queries) {
        normalize<Simd, P, Packs>(panel, w.query_norm, panel);
        scale_queries<P, rows>(panel);
      } else {
        normalize<Simd, P, Packs>(panel, w.key_norm, panel);
      }
    }
  }
  static constexpr void take_keys(const float* from, std::size_t head, std::size_t active, float* keys) noexcept {
    const auto copy = [&]<PanelLayout P, std::size_t>(std::size_t p, std::size_t) {
      const float* const panel = from + p * shape.key_rows() * k.width() + head * shape.head_width * P.width();
      for (std::size_t i = 0; i < shape.head_width * P.width(); ++i) {
        keys[(p * shape.head_width + i / P.width()) * k.width() + i % P.width()] = panel[i];
      }
    };
    for_panels<k, L::last_keys, shape.keys, 1>(active, copy);
  }
};

}  // namespace LADON_NAMESPACE::detail
