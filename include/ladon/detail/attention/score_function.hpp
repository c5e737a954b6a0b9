// How a score becomes an exponent of two: scale, soft cap, log2(e).
#pragma once

#include <ladon/detail/simd/elementary.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::detail {

// Softmax is computed with powers of two. Queries are multiplied by query_scale when they are stored; exponent() turns
// the product q . k into the exponent. A soft cap needs the quotient by itself, so log2(e) joins after tanh.
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

// The product itself, for capture.
struct ProductOnly {
  static constexpr bool capped = false;
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    return product;
  }
};

}  // namespace ladon::inline LADON_ABI::detail
