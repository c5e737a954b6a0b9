// SPDX-License-Identifier: Apache-2.0
// A table of powers of two that fits into one vector register. The table is for targets with an instruction that looks
// up one entry for every lane of a pack. detail/target/layout.hpp defines tiles.
#pragma once

#include <cstdint>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Whether the softmax computes 2^x with the table. This requires an instruction that looks up one entry for every lane,
// and enough registers for the table and a tile of a matrix product. AVX2 has the instruction, but its loop of
// exponentials is not faster with the table.
//
// On a target with the table, packs of every width use the table, so that the results are bit-identical for all widths.
// A deterministic build never uses the table, because results must be equal on all targets, and some have no table.
#if defined(__AVX512F__) && defined(__FMA__) && !LADON_DETERMINISTIC
inline constexpr bool uses_exp2_table = true;
#else
inline constexpr bool uses_exp2_table = false;
#endif

// Entry j contains the bits of 2^(j/8), correctly rounded, minus j * 2^20. To get the bits of 2^(k/8) with k = 8 n + j,
// add k * 2^20 to entry j. k * 2^20 is j * 2^20 + n * 2^23: the first term completes the bits of 2^(j/8), and the
// second term adds n to the exponent. The table contains its eight entries twice, because the register has sixteen
// lanes.
alignas(64) inline constexpr std::uint32_t exp2_eighths[16] = {
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7,
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};

}  // namespace LADON_NAMESPACE::detail::vec
