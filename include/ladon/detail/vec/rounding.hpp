// SPDX-License-Identifier: Apache-2.0
// Rounding to integers by an addition.
#pragma once

#include <ladon/detail/build/abi.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Adding this constant to a float x with |x| < 2^21 rounds x to the nearest integer, ties to even. The low 16 bits of
// the sum are the low 16 bits of this integer.
inline constexpr float round_to_low_bits = 0x1.8p23f;

}  // namespace LADON_NAMESPACE::detail::vec
