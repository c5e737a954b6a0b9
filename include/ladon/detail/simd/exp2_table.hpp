// A table of powers of two that fits into one register, for targets on which one instruction looks up all lanes of a
// pack in a register.
#pragma once

#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// Whether the softmax computes 2^x with the table. The target needs one instruction that looks up all lanes in a
// register, and enough registers for a matrix product's tile beside the table. AVX2 has the instruction. But its loop
// of exponentials takes the same time with and without the table, so AVX2 does not use the table.
//
// On a target with the table, packs of every width use the table, so that all packs give the same bits. A deterministic
// build never uses the table, because other targets have no table.
#if defined(__AVX512F__) && defined(__FMA__) && !LADON_DETERMINISTIC
inline constexpr bool uses_exp2_table = true;
#else
inline constexpr bool uses_exp2_table = false;
#endif

// Entry j is the bits of 2^(j/8), correctly rounded, minus j * 2^20. For k = 8 n + j, the sum of entry j and k * 2^20
// is the bits of 2^(k/8). The table contains the eight entries twice, because the register has sixteen lanes.
alignas(64) inline constexpr std::uint32_t exp2_eighths[16] = {
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7,
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};

}  // namespace ladon::inline LADON_ABI::detail::simd
