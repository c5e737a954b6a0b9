// SPDX-License-Identifier: Apache-2.0
// The norm of one panel. `normalize` selects the kernel by the kind of norm and by the number of tokens:
//     several tokens    layer_norm.hpp or rms_norm.hpp, one token in each lane
//     a single token    norm_single_token.hpp, one feature in each lane
//
// The arrays and their shapes:
//     in, out    [Features][T.width()]; `in` and `out` may be the same array
//
// Special cases: lanes without a token are computed and ignored (detail/panel/panels.hpp). If the features of a single
// token do not fill whole packs, norm_single_token.hpp handles the last features.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/layer_norm.hpp>
#include <ladon/detail/layer/norm_single_token.hpp>
#include <ladon/detail/layer/rms_norm.hpp>

namespace LADON_NAMESPACE::detail {

// Writes the norm of the first `Packs` packs of the panel `in` to `out`.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Features, NormKind K, Bias B>
LADON_INLINE constexpr void normalize(const float* in, const Norm<Features, K, B>& norm, float* out) noexcept {
  LADON_EXPECTS(norm.weight.data != nullptr, "ladon: a norm lacks its weight", norm.caller);
  if constexpr (K == NormKind::layer && B == Bias::with) {
    LADON_EXPECTS(norm.bias.data != nullptr, "ladon: a LayerNorm lacks its bias", norm.caller);
  }
  if constexpr (is_single_token<Simd, T>) {
    normalize_single_token<Simd>(in, norm, out);
  } else {
    normalize_panel<Simd, T, Packs>(in, norm, out);
  }
}

}  // namespace LADON_NAMESPACE::detail
