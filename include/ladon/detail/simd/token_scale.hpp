// The scale and the zero point of a quantised token. detail/memory/int8_panels.hpp defines both.
#pragma once

#include <limits>

#include <ladon/detail/simd/group_dot.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// How the tokens of one pack are quantised. `reciprocal` is 1 / scale, or 0 for a token whose q are all 0. The integers
// are clamped to `least` .. `most`.
template <class Pack>
struct TokenScale {
  Pack scale, reciprocal, least, most;
};

// Returns the scales of tokens whose features are between `low` <= 0 and `high` >= 0. `finite` says which tokens have
// only finite features.
template <int ActivationBits, class Pack>
LADON_INLINE constexpr TokenScale<Pack> scale_of_range(const Pack& low, const Pack& high,
                                                       const typename Pack::Mask& finite) noexcept {
  constexpr auto levels = static_cast<float>((1 << ActivationBits) - 1);
  const Pack zeros = Pack::broadcast(0.0f);
  // Divided before the subtraction, because high - low may overflow.
  const Pack scale = high / Pack::broadcast(levels) - low / Pack::broadcast(levels);
  const auto usable = finite & (Pack::broadcast(std::numeric_limits<float>::min()) <= scale);
  const Pack reciprocal = select(usable, Pack::broadcast(1.0f) / select(usable, scale, Pack::broadcast(1.0f)), zeros);
  const Pack rounding = Pack::broadcast(round_to_low_bits);
  const Pack zero = (select(usable, zeros - low, zeros) * reciprocal + rounding) - rounding;
  const Pack nan = Pack::broadcast(std::numeric_limits<float>::quiet_NaN());
  return {select(finite, select(usable, scale, zeros), nan), reciprocal, zeros - zero, Pack::broadcast(levels) - zero};
}

}  // namespace ladon::inline LADON_ABI::detail::simd
