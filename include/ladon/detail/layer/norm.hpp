// The norm of one panel, of either kind: LayerNorm (layer_norm.hpp) or RMSNorm (rms_norm.hpp); of a single token, both
// in normalize_one.hpp.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/layer_norm.hpp>
#include <ladon/detail/layer/norm_single_token.hpp>
#include <ladon/detail/layer/rms_norm.hpp>

namespace ladon::inline LADON_ABI::detail {

// in and out are [Features][T.width()] and may be one.
template <class Simd, Tiling T, std::size_t Packs, std::size_t Features, NormKind K>
LADON_INLINE constexpr void normalize(const float* in, const Norm<Features, K>& norm, float* out) noexcept {
  LADON_EXPECTS(norm.weight.data != nullptr, "ladon: a norm lacks its weight");
  if constexpr (K == NormKind::layer) LADON_EXPECTS(norm.bias.data != nullptr, "ladon: a LayerNorm lacks its bias");
  if constexpr (is_single_token<Simd, T>) {
    normalize_one<Simd>(in, norm, out);
  } else {
    normalize_panel<Simd, T, Packs>(in, norm, out);
  }
}

}  // namespace ladon::inline LADON_ABI::detail
