// What happens to a score before its mask, as small types.
#pragma once

#include <cstddef>

#include <ladon/shape.hpp>
#include <ladon/simd/pack_array.hpp>

namespace ladon::inline LADON_ABI::score {

// q . k / sqrt(head width), as in "Attention Is All You Need", 3.2.1.
struct Scaled {
  static constexpr float scale(const Shape& shape) noexcept {
    return 1.0f / simd::sqrt_newton(static_cast<float>(shape.head_width));
  }
};

// Softmax is computed with powers of two: log2(e) joins the scale, so that 2^s is e^(scale * q . k).
inline constexpr double log2_e = 1.4426950408889634074;

}  // namespace ladon::inline LADON_ABI::score
