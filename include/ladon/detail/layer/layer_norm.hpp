// SPDX-License-Identifier: Apache-2.0
// The LayerNorm (Ba, Kiros and Hinton, arXiv 1607.06450) of one panel, with one token t in each lane:
//     out[i][t] = (in[i][t] - mean[t]) / sqrt(variance[t] + epsilon) * weight[i] + bias[i]
//
// The arrays and their shapes:
//     in, out         [Features][T.width()]; `in` and `out` may be the same array
//     weight, bias    [Features]; without a bias, bias[i] is 0
//     mean, scale     [Packs] packs in registers, one number per token; scale is 1 / sqrt(variance + epsilon)
//
// All features of a token are in the same lane, so no sum crosses lanes. The variance is computed in a second pass,
// from the deviations from the mean. The formula (mean of squares) - mean^2 would be less accurate, because the
// subtraction cancels digits.
//
// A panel (detail/panel/panels.hpp) consists of whole packs, so the kernel needs no partial loads and stores. The
// panel's tokens fill `Packs` packs. In the last panel of a shape, this number may be lower, because the panel may have
// fewer tokens. Lanes without a token are computed and ignored.
//
// All loops are in one function, normalize_panel. An always-inline function for each loop was tried and rejected. It
// changed the inlining decisions of g++ 12 in the whole layer: for seven encoder layers on AVX-512, the machine code of
// 24 of 45 functions changed. The speed was not measured.
#pragma once

#include <cstddef>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Writes the LayerNorm of the first `Packs` packs of the panel `in` to `out`.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Features, Bias B>
constexpr void normalize_panel(const float* in, const Norm<Features, NormKind::layer, B>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  const Pack inverse_features = Pack::broadcast(1.0f / static_cast<float>(Features));
  const auto offset = [](std::size_t i, std::size_t v) { return i * T.width() + v * Pack::lanes; };
  Pack mean[Packs], scale[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) mean[v] = scale[v] = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) mean[v] = mean[v] + Pack::load(in + offset(i, v));
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) mean[v] = mean[v] * inverse_features;
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      const Pack deviation = Pack::load(in + offset(i, v)) - mean[v];
      scale[v] = fma(deviation, deviation, scale[v]);
    }
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) {
    scale[v] = Pack::broadcast(1.0f) / sqrt(fma(scale[v], inverse_features, Pack::broadcast(norm.epsilon)));
  }
  for (std::size_t i = 0; i < Features; ++i) {
    const Pack weight = Pack::broadcast(norm.weight.data[i]);
    Pack bias = Pack::broadcast(0.0f);
    if constexpr (B == Bias::with) bias = Pack::broadcast(norm.bias.data[i]);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      fma((Pack::load(in + offset(i, v)) - mean[v]) * scale[v], weight, bias).store(out + offset(i, v));
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
