// SPDX-License-Identifier: Apache-2.0
// The scale and the zero point of a quantised token. detail/memory/int8_panels.hpp defines both.
// detail/memory/panels.hpp defines packs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <ladon/detail/simd/group_dot.hpp>
#include <ladon/detail/simd/pack_array.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// The scales and limits of the tokens of one pack, one token in each lane. `reciprocal` is 1 / scale, or 0 for a token
// whose integers q are all 0. The integers q of a token lie in `least` .. `most`.
template <class Pack>
struct TokenScale {
  Pack scale, reciprocal, least, most;
};

// Returns the TokenScale of tokens whose features lie between `low` <= 0 and `high` >= 0. `finite` is true in the lanes
// of tokens that have only finite features.
template <int ActivationBits, class Pack>
LADON_INLINE constexpr TokenScale<Pack> scale_of_range(const Pack& low, const Pack& high,
                                                       const typename Pack::Mask& finite) noexcept {
  const Pack levels = Pack::broadcast(activation_levels<ActivationBits>());
  const Pack zeros = Pack::broadcast(0.0f);
  // `high` and `low` are divided before the subtraction, because high - low may overflow.
  const Pack scale = high / levels - low / levels;
  const auto usable = finite & (Pack::broadcast(std::numeric_limits<float>::min()) <= scale);
  const Pack reciprocal = select(usable, Pack::broadcast(1.0f) / select(usable, scale, Pack::broadcast(1.0f)), zeros);
  const Pack rounding = Pack::broadcast(round_to_low_bits);
  Pack scaled = select(usable, zeros - low, zeros) * reciprocal;
  // The call of min() does not change the zero point. It separates the product from the sum. Without min(), and without
  // -ffp-contract=off, g++ would fuse product and sum into an fma, which does not round the product. But quantise_pack
  // (detail/memory/int8_panels.hpp) rounds the product. The smallest q could then be token.least - 1, and q + zero
  // would wrap around from 0 to 255.
  if constexpr (Pack::lanes > 1) scaled = min(scaled, levels);
  const Pack zero = (scaled + rounding) - rounding;
  const Pack nan = Pack::broadcast(std::numeric_limits<float>::quiet_NaN());
  return {select(finite, select(usable, scale, zeros), nan), reciprocal, zeros - zero, levels - zero};
}

// The next functions are for targets that quantise one token at a time.

LADON_INLINE std::uint32_t load_word(const void* from) noexcept {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Returns the TokenScale of one token. The features of the token are `stride` floats apart.
//
// The function compares the bits of floats as integers. The reason is that a Cortex-M4 has no instruction for the
// maximum of two floats, and a Cortex-M0+ has no FPU. If the bits of positive floats are read as signed integers, a
// larger float gives a larger integer. If the bits of negative floats are read as unsigned integers, a larger magnitude
// gives a larger integer. Infinity and NaN give the largest integers, so `high` or `low` shows an infinity or a NaN.
template <std::size_t Features, int ActivationBits>
LADON_INLINE TokenScale<ArrayPack<1>> scale_of_token(const float* features, std::size_t stride) noexcept {
  std::int32_t high = 0;
  std::uint32_t low = 0x80000000u;  // -0
#pragma GCC unroll 4
  for (std::size_t i = 0; i < Features; ++i) {
    const auto bits = ladon::bit_cast<std::uint32_t>(features[i * stride]);
    if (static_cast<std::int32_t>(bits) > high) high = static_cast<std::int32_t>(bits);
    if (bits > low) low = bits;
  }
  const bool finite = high < 0x7f800000 && low < 0xff800000u;
  return scale_of_range<ActivationBits>(ArrayPack<1>{ladon::bit_cast<float>(low)},
                                        ArrayPack<1>{ladon::bit_cast<float>(high)}, ArrayPack<1>::Mask{finite});
}

// Returns the integer q of the feature `x`: x * reciprocal, rounded, but at most `most`, the largest q of the token.
// scale_of_range computes the smallest q of the token in the same way from the lowest feature (or 0), and a greater x
// never gets a smaller q. No lower clamp is therefore needed.
LADON_INLINE std::int16_t quantised_feature(float x, float reciprocal, std::int32_t most) noexcept {
  const auto bits = ladon::bit_cast<std::uint32_t>(x * reciprocal + round_to_low_bits);
  const std::int32_t q = static_cast<std::int16_t>(bits & 0xffffu);
  return static_cast<std::int16_t>(q < most ? q : most);
}

// Returns a + b modulo 2^32. If a token has an infinite or NaN feature, its integers may be any 16 bits, so its sums
// may overflow. Without the modulo, an overflow would be undefined behaviour.
LADON_INLINE std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

}  // namespace ladon::inline LADON_ABI::detail::simd
