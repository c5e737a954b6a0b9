// SPDX-License-Identifier: Apache-2.0
// Score policies. A score policy is a type that determines how the score of a query q and a key k is computed. The type
// has three members: the function `scale` and the constants `softcap` and `sinks`. To change some of the members,
// derive from an existing policy:
//     struct Mine : ladon::score::Scaled {
//       static constexpr float scale(const ladon::Shape&) noexcept { return 0.25f; }
//       static constexpr float softcap = 50;
//     };
//
// Scores and values have limits, because the kernels compute with floats. A score whose magnitude exceeds 2.35e38
// overflows when the kernels multiply it by log2(e). The kernels normalise the softmax only at the end: until then, a
// weighted sum of values can be as large as the number of keys times the largest magnitude of a value. This product
// must stay below 3.4e38.
//
// Implementation: detail/attention/operands.hpp computes the scale and the softcap, and
// detail/attention/block.hpp computes the sinks.
#pragma once

#include <cstddef>
#include <numbers>

#include <ladon/detail/vec/array.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::score {

// log2(e). The kernels compute the softmax with powers of two instead of powers of e. The kernels multiply the scale by
// log2(e), so that 2^(log2(e) * scale * q . k) equals e^(scale * q . k).
inline constexpr double log2_e = std::numbers::log2e;

// The score q . k / sqrt(head_width), as in "Attention Is All You Need" (arXiv 1706.03762, section 3.2.1).
struct Scaled {
  // Returns the factor that multiplies q . k. Precondition: `shape` is complete (Shape::complete).
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / detail::vec::sqrt_newton(static_cast<float>(shape.head_width));
  }
  // If softcap is not 0, a score s becomes softcap * tanh(s / softcap) before the mask applies (Gemma 2, arXiv
  // 2408.00118).
  static constexpr float softcap = 0;
  // Whether each head has an attention sink, as in gpt-oss. A sink is a learned logit. The exponential of the logit is
  // added to the sum of the softmax. A sink has no value vector, so a sink only reduces the attention weights. The
  // caller passes the logits as options.sinks [heads].
  static constexpr bool sinks = false;
};

// The score q . k / sqrt(shape.keys). The scale depends on the shape only, and not on the number of active keys of a
// call.
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
