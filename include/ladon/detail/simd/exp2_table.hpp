// Powers of two from a register, for packs on targets that look a register up by an instruction.
#pragma once

#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// Whether the softmax's 2^x comes from the table: where one instruction picks each lane from a register, and registers
// are enough for a tile beside it. (AVX2 has the instruction: its loop of exponentials takes as long with the table as
// without.) On such a target every pack does so, one lane as well as sixteen, so that their bits agree; where all
// targets shall give the same bits, none does.
#if defined(__AVX512F__) && defined(__FMA__) && !LADON_DETERMINISTIC
inline constexpr bool has_lookup = true;
#else
inline constexpr bool has_lookup = false;
#endif

// The bits of 2^(j/8), less j * 2^20: with k * 2^20 added, for k = 8 n + j, they are those of 2^(k/8), correctly
// rounded. Twice, for sixteen lanes.
alignas(64) inline constexpr std::uint32_t exp2_eighths[16] = {
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7,
    0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7, 0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};

}  // namespace ladon::inline LADON_ABI::detail::simd
