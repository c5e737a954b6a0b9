// LayerNorm of one panel (Ba, Kiros and Hinton, arXiv 1607.06450): each token's features run down its own lane.
//
//     out[i][t] = (in[i][t] - mean[t]) / sqrt(variance[t] + epsilon) * weight[i] + bias[i]
//
// The variance is that of the deviations from the mean (two passes): a sum of squares cancels.
#pragma once

#include <cstddef>

#include <ladon/detail/simd/vectors.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI::detail {

// in and out are [Features][T.width()] and may be one.
template <class Simd, Tiling T, std::size_t Packs, std::size_t Features>
constexpr void normalize_panel(const float* in, const Norm<Features>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  const Pack share = Pack::broadcast(1.0f / static_cast<float>(Features));
  const auto at = [](std::size_t i, std::size_t v) { return i * T.width() + v * Pack::lanes; };
  Pack mean[Packs], scale[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) mean[v] = scale[v] = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) mean[v] = mean[v] + Pack::load(in + at(i, v));
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) mean[v] = mean[v] * share;
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      const Pack deviation = Pack::load(in + at(i, v)) - mean[v];
      scale[v] = fma(deviation, deviation, scale[v]);
    }
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) {
    scale[v] = Pack::broadcast(1.0f) / sqrt(fma(scale[v], share, Pack::broadcast(norm.epsilon)));
  }
  for (std::size_t i = 0; i < Features; ++i) {
    const Pack weight = Pack::broadcast(norm.weight.data[i]), bias = Pack::broadcast(norm.bias.data[i]);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      fma((Pack::load(in + at(i, v)) - mean[v]) * scale[v], weight, bias).store(out + at(i, v));
    }
  }
}

}  // namespace ladon::inline LADON_ABI::detail
