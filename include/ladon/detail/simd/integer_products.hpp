// SPDX-License-Identifier: Apache-2.0
// The product of one row and four tokens, all integers of 32 bits, for Cortex-M0+. Int8 products
// (detail/linear/cortex_m/int8_thumb1_tile.hpp) and attention (detail/attention/block_floats.hpp) use this product. On
// all other targets, a C++ function computes the product, for tests.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd::thumb1 {

// Adds the products of one row and four tokens to the sums:
//     sums[t] += sum over i of x[i][t] * row[i]      i = 0 .. count - 1
//
//     r8 - r11   the sums
//     r2, r3     two weights
//     r4 - r7    a feature of each token; a multiplication overwrites the feature
//     r12        the end of the whole blocks of eight features
//
// For eight features, the loop takes 78 instructions for 32 multiply-adds: 2.4 for each. Each multiply-add takes a MULS
// and an addition. MULS overwrites the feature, so each row must load the features again: one LDM loads four features.
#if LADON_THUMB1
__attribute__((naked, noinline)) inline void add_4_tokens(const std::int32_t* /*row*/, const std::int32_t* /*x*/,
                                                          std::size_t /*count*/, std::int32_t* /*sums*/) noexcept {
#define LADON_THUMB1_FEATURE(weight)                          \
  "ldmia r1!, {r4-r7}\n\t"                                    \
  "muls r4, " weight ", r4\n\tadd r8, r4\n\tmuls r5, " weight \
  ", r5\n\tadd r9, r5\n\t"                                    \
  "muls r6, " weight ", r6\n\tadd r10, r6\n\tmuls r7, " weight ", r7\n\tadd r11, r7\n\t"
#define LADON_THUMB1_PAIR "ldmia r0!, {r2, r3}\n\t" LADON_THUMB1_FEATURE("r2") LADON_THUMB1_FEATURE("r3")
  asm volatile(
      ".syntax unified\n\t"
      "push {r3-r7, lr}\n\t"
      "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"
      "push {r4-r7}\n\t"
      "ldmia r3!, {r4-r7}\n\t"
      "mov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"
      "lsls r2, r2, #2\n\t"
      "adds r2, r2, r0\n\t"  // the end of the row
      "push {r2}\n\t"
      "subs r2, r2, r0\n\t"
      "lsrs r2, r2, #5\n\tlsls r2, r2, #5\n\t"
      "beq 2f\n\t"
      "adds r2, r2, r0\n\tmov r12, r2\n"
      "1:\n\t"
      LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR
      "cmp r0, r12\n\t"
      "bne 1b\n"
      "2:\n\t"
      "pop {r3}\n"
      "3:\n\t"
      "cmp r0, r3\n\t"
      "beq 4f\n\t"
      "ldmia r0!, {r2}\n\t" LADON_THUMB1_FEATURE("r2")
      "b 3b\n"
      "4:\n\t"
      "pop {r4-r7}\n\t"
      "pop {r3}\n\t"
      "mov r0, r8\n\tmov r1, r9\n\tmov r2, r10\n\t"
      "stmia r3!, {r0-r2}\n\t"
      "mov r0, r11\n\t"
      "str r0, [r3]\n\t"
      "mov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"
      "pop {r4-r7, pc}");
#undef LADON_THUMB1_PAIR
#undef LADON_THUMB1_FEATURE
}
#else
inline void add_4_tokens(const std::int32_t* row, const std::int32_t* x, std::size_t count,
                         std::int32_t* sums) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < 4; ++t) sums[t] += x[4 * i + t] * row[i];
  }
}
#endif

}  // namespace ladon::inline LADON_ABI::detail::simd::thumb1
