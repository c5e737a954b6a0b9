// RMSNorm of one panel (Zhang and Sennrich, arXiv 1910.07467): each token's features run down its own lane.
//
//     out[i][t] = in[i][t] / sqrt(mean of squares[t] + epsilon) * weight[i]
#pragma once

#include <cstddef>

#include <ladon/detail/simd/vectors.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI::detail {

// in and out are [Features][T.width()] and may be one.
template <class Simd, Tiling T, std::size_t Packs, std::size_t Features>
constexpr void normalize_panel(const float* in, const Norm<Features, NormKind::rms>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  const Pack share = Pack::broadcast(1.0f / static_cast<float>(Features));
  const auto at = [](std::size_t i, std::size_t v) { return i * T.width() + v * Pack::lanes; };
  Pack scale[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) scale[v] = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features; ++i) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      const Pack x = Pack::load(in + at(i, v));
      scale[v] = fma(x, x, scale[v]);
    }
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) {
    scale[v] = Pack::broadcast(1.0f) / sqrt(fma(scale[v], share, Pack::broadcast(norm.epsilon)));
  }
  for (std::size_t i = 0; i < Features; ++i) {
    const Pack weight = Pack::broadcast(norm.weight.data[i]);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      (Pack::load(in + at(i, v)) * scale[v] * weight).store(out + at(i, v));
    }
  }
}

}  // namespace ladon::inline LADON_ABI::detail
