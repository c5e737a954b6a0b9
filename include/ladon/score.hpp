// Score policies. A score policy is a type that determines the score of a query q and a key k. The members are the
// scale, the softcap and the attention sinks. A derived type changes members of a score policy:
//
//     struct Mine : ladon::score::Scaled {
//       static constexpr float scale(const ladon::Shape&) noexcept { return 0.25f; }
//       static constexpr float softcap = 50;
//     };
//
// Implementation: detail/attention/score_function.hpp has the scale and the cap, detail/attention/attend.hpp the sinks.
#pragma once

#include <cstddef>

#include <ladon/detail/simd/pack_array.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::score {

// log2(e). The kernels compute the softmax with powers of two. They multiply the scale by log2(e), so that 2^s equals
// e^(scale * q . k).
inline constexpr double log2_e = 1.4426950408889634074;

// q . k / sqrt(head_width), as in "Attention Is All You Need" (arXiv 1706.03762, section 3.2.1).
struct Scaled {
  // Returns the factor of q . k. The shape is complete.
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.head_width));
  }
  // If not 0, a score s becomes softcap * tanh(s / softcap) before the mask (Gemma 2, arXiv 2408.00118).
  static constexpr float softcap = 0;
  // Whether each head has an attention sink, as in gpt-oss: a learned logit that is added to the softmax's sum and has
  // no value. The caller passes the logits as options.sinks [heads].
  static constexpr bool sinks = false;
};

// q . k / sqrt(shape.keys). The scale does not depend on a call's active keys.
struct ScaledByKeys : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.keys));
  }
};

// q . k / sqrt(shape.model).
struct ScaledByModel : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.model));
  }
};

}  // namespace ladon::inline LADON_ABI::score
