// SPDX-License-Identifier: Apache-2.0
// Quantises panels for int8 products on Cortex-M0+. A panel holds q (detail/panel/quantise.hpp) in 32 bits:
// [features][width]. With 16 bits, each multiply-add would need another instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/m0_float.hpp>
#include <ladon/detail/cortex_m/m0_products.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Element, class Simd>
inline constexpr bool uses_thumb1 = LADON_THUMB1 && std::is_same_v<Element, std::int32_t> && Simd::lanes == 1;

#if LADON_THUMB1

namespace thumb1 {

// For the few features that `quantised` cannot compute.
LADON_COLD inline std::int32_t quantised_with_floats(float x, float reciprocal, std::int32_t most) noexcept {
  return quantised_feature(x, reciprocal, most);
}

// The upper 16 bits of the mantissa of 1 / scale; and 284 - 8 - (the stored exponent of 1 / scale).
struct Quantisation {
  std::uint32_t reciprocal;
  std::int32_t shift;
};

// Returns the integer q of a feature. The function multiplies the upper 16 bits of both mantissas. The exact product
// lies between this product and (1 + 2^-14) times this product. If both bounds do not round to the same integer (less
// than 1% of the features), floats are used.
LADON_INLINE std::int32_t quantised(std::uint32_t bits, const Quantisation& how, float reciprocal,
                                    std::int32_t most) noexcept {
  const std::int32_t exponent = soft::exponent_of(bits);
  const std::uint32_t shift = static_cast<std::uint32_t>(how.shift - exponent);
  if (shift > 31) {
    if (exponent != 0 || bits << 1 == 0) return 0;
    return quantised_with_floats(ladon::bit_cast<float>(bits), reciprocal, most);
  }
  // |q| before rounding, in units of 1/256
  const std::uint32_t magnitude = ((soft::mantissa_of(bits) >> 16) * how.reciprocal) >> shift;
  const std::uint32_t integer = (magnitude + 127) >> 8;
  if ((magnitude + (magnitude >> 14) + 130) >> 8 != integer) {
    return quantised_with_floats(ladon::bit_cast<float>(bits), reciprocal, most);
  }
  const auto q = static_cast<std::int32_t>(integer);
  if ((bits >> 31) != 0) return -q;
  return q < most ? q : most;
}

}  // namespace thumb1

// Quantises the first Packs tokens of a panel [Features][Width].
template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
LADON_NOINLINE void quantise_panel(const float* panel, std::int32_t* to, float* scales, std::size_t) noexcept {
  for (std::size_t t = 0; t < Packs; ++t) {
    const auto token = scale_of_token<Features, FeatureBits>(panel + t, Width);
    const auto most = static_cast<std::int32_t>(token.most.lane[0]);
    const float reciprocal = token.reciprocal.lane[0];
    scales[t] = token.scale.lane[0];
    const auto bits = ladon::bit_cast<std::uint32_t>(reciprocal);
    if (soft::is_normal(bits)) {
      const thumb1::Quantisation how{soft::mantissa_of(bits) >> 16, 284 - 8 - soft::exponent_of(bits)};
      for (std::size_t i = 0; i < Features; ++i) {
        to[i * Width + t] =
            thumb1::quantised(ladon::bit_cast<std::uint32_t>(panel[i * Width + t]), how, reciprocal, most);
      }
    } else {
      for (std::size_t i = 0; i < Features; ++i) {
        to[i * Width + t] = thumb1::quantised_with_floats(panel[i * Width + t], reciprocal, most);
      }
    }
  }
}

#endif

}  // namespace LADON_NAMESPACE::detail::vec
