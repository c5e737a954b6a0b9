// SPDX-License-Identifier: Apache-2.0
// Powers of two in a vector register, looked up for every lane.
#pragma once

#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

// True also for narrower packs, so that all have the same bits. AVX2 is not faster with a table.
#if defined(__AVX512F__) && defined(__FMA__) && !LADON_DETERMINISTIC
inline constexpr bool uses_exp2_table = true;
#else
inline constexpr bool uses_exp2_table = false;
#endif

// The bits of 2^(j/8) minus j * 2^20, twice. With k = 8 n + j, entry j plus k * 2^20 is 2^(k/8).
alignas(64) inline constexpr std::uint32_t exp2_eighths[16] = {
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7,
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};

}  // namespace LADON_NAMESPACE::detail::vec
