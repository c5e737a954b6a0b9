// How a score is made of a query and a key, as small types; deriving from one changes a part of it:
//
//     struct Mine : ladon::score::Scaled {
//       static constexpr float scale(const ladon::Shape&) noexcept { return 0.25f; }
//       static constexpr float softcap = 50;
//     };
#pragma once

#include <cstddef>

#include <ladon/detail/simd/pack_array.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::score {

// Softmax is computed with powers of two: log2(e) joins the scale, so that 2^s is e^(scale * q . k).
inline constexpr double log2_e = 1.4426950408889634074;

// q . k / sqrt(head width), as in "Attention Is All You Need", 3.2.1.
struct Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.head_width));
  }
  // Where it is not 0, a score s becomes softcap * tanh(s / softcap), before any mask (Gemma 2, arXiv 2408.00118).
  static constexpr float softcap = 0;
  // Whether each head has a learned logit that takes part in the softmax's sum and has no value ("attention sink",
  // as in gpt-oss): given to a run as options.sinks [heads].
  static constexpr bool sinks = false;
};

// q . k / sqrt(keys of the shape)
struct ScaledByKeys : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.keys));
  }
};

// q . k / sqrt(model width)
struct ScaledByModel : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::simd::sqrt_newton(static_cast<float>(shape.model));
  }
};

}  // namespace ladon::inline LADON_ABI::score
