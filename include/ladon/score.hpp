// SPDX-License-Identifier: Apache-2.0
// Score policies: how the score of a query q and a key k is computed. To change some members, derive from a policy:
//     struct Mine : ladon::score::Scaled {
//       static constexpr float scale(const ladon::Shape&) noexcept { return 0.25f; }
//       static constexpr float softcap = 50;
//     };
//
// Limits: the magnitudes of a score, and of a query times the scale, are at most 2.35e38. The number of keys times the
// largest magnitude of a value is below 3.4e38, because the softmax is normalised only at the end.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <numbers>

#include <ladon/detail/vec/array.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::score {

// log2(e). The kernels compute the softmax with powers of two, so they multiply the scale by log2(e).
inline constexpr double log2_e = std::numbers::log2e;

// The score q . k / sqrt(head_width), as in "Attention Is All You Need" (arXiv 1706.03762, section 3.2.1).
struct Scaled {
  // Returns the factor that multiplies q . k. Precondition: `shape` is complete.
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::vec::sqrt_newton(static_cast<float>(shape.head_width));
  }
  // If not 0, a score s becomes softcap * tanh(s / softcap) before the mask applies (Gemma 2, arXiv 2408.00118).
  static constexpr float softcap = 0;
  // Whether each head has an attention sink, as in gpt-oss: a learned logit without a value. Its exponential is added
  // to the sum of the softmax. The caller passes the logits as options.sinks [heads].
  static constexpr bool sinks = false;
};

// The score q . k / sqrt(shape.keys), even if fewer keys are active.
struct ScaledByKeys : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::vec::sqrt_newton(static_cast<float>(shape.keys));
  }
};

// The score q . k / sqrt(shape.model).
struct ScaledByModel : Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::vec::sqrt_newton(static_cast<float>(shape.model));
  }
};

}  // namespace LADON_NAMESPACE::score
#include <ladon/detail/config/quiet_end.hpp>
