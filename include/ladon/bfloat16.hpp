// SPDX-License-Identifier: Apache-2.0
// The number format bfloat16: the upper 16 bits of a float32.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE {

// The elements of a BF16 tensor in a checkpoint are these bits.
struct BFloat16 {
  std::uint16_t bits;
};

// Returns the value as a float32, exactly.
LADON_INLINE constexpr float to_float(BFloat16 x) noexcept {
  return ladon::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

// Returns x, for code that works with both element types.
LADON_INLINE constexpr float to_float(float x) noexcept { return x; }

// Rounds to the nearest bfloat16, ties to even. Large numbers become infinite, and NaN stays NaN.
constexpr BFloat16 to_bfloat16(float x) noexcept {
  const std::uint32_t bits = ladon::bit_cast<std::uint32_t>(x);
  if (x != x) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};  // a signalling NaN becomes quiet
  const std::uint32_t last_bit = (bits >> 16) & 1u;
  return {static_cast<std::uint16_t>((bits + 0x7fffu + last_bit) >> 16)};
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
