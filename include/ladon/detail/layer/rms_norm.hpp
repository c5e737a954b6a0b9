// SPDX-License-Identifier: Apache-2.0
// The RMSNorm (Zhang and Sennrich, arXiv 1910.07467) of one panel, with one token t in each lane:
//     out[i][t] = in[i][t] / sqrt(mean of squares[t] + epsilon) * weight[i]
//
// The arrays and their shapes:
//     in, out    [Features][T.width()]; `in` and `out` may be the same array
//     weight     [Features]
//     scale      [Packs] packs in registers, one number per token: 1 / sqrt(mean of squares + epsilon)
//
// All features of a token are in the same lane, so no sum crosses lanes.
//
// A panel (detail/panel/panels.hpp) consists of whole packs, so the kernel needs no partial loads and stores. The
// panel's tokens fill `Packs` packs. In the last panel of a shape, this number may be lower, because the panel may have
// fewer tokens. Lanes without a token are computed and ignored.
//
// All loops are in one function, normalize_panel. layer_norm.hpp gives the reason.
#pragma once

#include <cstddef>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Writes the RMSNorm of the first `Packs` packs of the panel `in` to `out`.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Features, Bias B>
constexpr void normalize_panel(const float* in, const Norm<Features, NormKind::rms, B>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  const Pack inverse_features = Pack::broadcast(1.0f / static_cast<float>(Features));
  const auto offset = [](std::size_t i, std::size_t v) { return i * T.width() + v * Pack::lanes; };
  Pack scale[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) scale[v] = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      const Pack x = Pack::load(in + offset(i, v));
      scale[v] = fma(x, x, scale[v]);
    }
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) {
    scale[v] = Pack::broadcast(1.0f) / sqrt(fma(scale[v], inverse_features, Pack::broadcast(norm.epsilon)));
  }
  for (std::size_t i = 0; i < Features; ++i) {
    const Pack weight = Pack::broadcast(norm.weight.data[i]);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      (Pack::load(in + offset(i, v)) * scale[v] * weight).store(out + offset(i, v));
    }
  }
}

}  // namespace LADON_NAMESPACE::detail
