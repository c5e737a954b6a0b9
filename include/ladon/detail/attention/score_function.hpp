// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ladon/detail/vec/elementary.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// Converts a product q . k into an exponent of two, because the softmax is computed with powers of two. query_scale
// multiplies each query before it is stored. exponent() converts the product of such a query and a key.
//     without softcap   query_scale = scale * log2(e)     exponent(product) = product
//     with softcap      query_scale = scale / softcap     exponent(product) = tanh(product) * softcap * log2(e)
template <Shape S, class Score>
struct ScoreFunction {
  static constexpr bool capped = Score::softcap != 0;
  static constexpr float query_scale =
      capped ? Score::scale(S) / (capped ? Score::softcap : 1.0f) : static_cast<float>(Score::scale(S) * score::log2_e);
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    if constexpr (capped) {
      return tanh(product) * Pack::broadcast(static_cast<float>(Score::softcap * score::log2_e));
    } else {
      return product;
    }
  }
};

// Captures scores before the softcap.
struct ProductOnly {
  static constexpr bool capped = false;
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    return product;
  }
};

}  // namespace LADON_NAMESPACE::detail
