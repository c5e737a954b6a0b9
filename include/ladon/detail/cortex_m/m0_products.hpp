// SPDX-License-Identifier: Apache-2.0
// Products of rows and the features of four tokens in 32-bit integers, for int8 products and attention on Cortex-M0+.
// On all other targets, there is only a C++ function for one row, which tests call.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec::thumb1 {

// Adds the products of one row and four tokens to the sums:
//     sums[t] += sum over i < count of x[i][t] * row[i]
//
// Registers of the loop, which takes 78 instructions for 32 multiply-adds:
//     r8 - r11   the sums
//     r2, r3     two weights
//     r4 - r7    a feature of each token; MULS overwrites the feature
//     r12        the end of the last complete block of eight weights
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
}

// To save multiplications, three rows of int8 weights are packed into two rows `a` and `b` of 32-bit words:
//     a[i] = row[0][i] + 2^11 row[2][i]        b[i] = row[1][i] + 2^22 row[2][i]
//
// The sums S of 32 features q with |q| <= 255 have 20 bits and a sign. They follow from the sums A and B of the packed
// rows, modulo 2^32. c are the lower 10 bits of S[2], and d its upper bits:
//     B = S[1] + 2^22 S[2]             the lower 22 bits are S[1], the upper 10 bits are c
//     A - 2^11 c = S[0] + 2^21 d       the lower 21 bits are S[0], the upper 11 bits are d
//
// The words of a tile, with blocks of at most packed_block features: [blocks][2][features of the block].
inline constexpr std::size_t packed_block = 32;
LADON_INLINE std::int32_t packed_a(std::int32_t row0, std::int32_t row2) noexcept { return row0 + row2 * 2048; }
LADON_INLINE std::int32_t packed_b(std::int32_t row1, std::int32_t row2) noexcept { return row1 + row2 * 4194304; }

// Adds the products of three packed rows and four tokens to the sums. Precondition: count > 0.
//     sums[t][r] += sum over i < count of x[i][t] * row[r][i]
//
// Eight features take 2 * 78 instructions for 96 multiply-adds. Another 6 separate the sums, for each block and each
// sum.
//     r0, r1     the addresses of the next words and of the next features
//     r2 - r12   as in add_4_tokens
//     stack      how many features are left, how many features the block has, and the address of the sums
__attribute__((naked, noinline)) inline void add_3_packed_rows(const std::int32_t* /*words*/, const std::int32_t* /*x*/,
                                                               std::size_t /*count*/,
                                                               std::int32_t (* /*sums*/)[3]) noexcept {
// r4 = A, r5 = B, r3 = the address of the three sums of a token
#define LADON_THUMB1_SEPARATE(b)                                                                               \
  "pop {r4}\n\tmov r5, " b                                                                                     \
  "\n\t"                                                                                                       \
  "lsls r6, r5, #10\n\tasrs r6, r6, #10\n\tsubs r5, r5, r6\n\tlsrs r7, r5, #11\n\tsubs r4, r4, r7\n\t"         \
  "lsls r7, r4, #11\n\tasrs r7, r7, #11\n\tsubs r4, r4, r7\n\tasrs r4, r4, #11\n\tlsrs r5, r5, #22\n\t"        \
  "adds r4, r4, r5\n\t"                                                                                        \
  "ldmia r3!, {r0-r2}\n\tsubs r3, #12\n\tadds r0, r0, r7\n\tadds r1, r1, r6\n\tadds r2, r2, r4\n\tstmia r3!, " \
  "{r0-r2}\n\t"
  asm volatile(
      ".syntax unified\n\t"
      "push {r4-r7, lr}\n\t"
      "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"
      "push {r4-r7}\n\t"
      "push {r3}\n"
      "1:\n\t"
      "movs r3, %[block]\n\tcmp r2, r3\n\tbhs 2f\n\tmov r3, r2\n"
      "2:\n\t"
      "subs r2, r2, r3\n\tpush {r2, r3}\n\t"
      "bl 5f\n\t"
      "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"
      "push {r4-r7}\n\t"
      "ldr r3, [sp, #20]\n\tlsls r2, r3, #4\n\tsubs r1, r1, r2\n\t"  // back to the first feature of the block
      "bl 5f\n\t"
      "mov r12, r0\n\tmov lr, r1\n\tldr r3, [sp, #24]\n\t"
      LADON_THUMB1_SEPARATE("r8") LADON_THUMB1_SEPARATE("r9")
      LADON_THUMB1_SEPARATE("r10") LADON_THUMB1_SEPARATE("r11")
      "mov r0, r12\n\tmov r1, lr\n\tpop {r2, r3}\n\t"
      "cmp r2, #0\n\tbne 1b\n\t"
      "pop {r3-r7}\n\t"
      "mov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"
      "pop {r4-r7, pc}\n"
      // A subroutine: multiplies r3 words of a row by the features of four tokens, and leaves the sums in r8 - r11.
      "5:\n\t"
      "movs r4, #0\n\tmov r8, r4\n\tmov r9, r4\n\tmov r10, r4\n\tmov r11, r4\n\t"
      "movs r2, #7\n\tands r2, r3\n\tpush {r2}\n\tsubs r3, r3, r2\n\tbeq 7f\n\t"
      "lsls r3, r3, #2\n\tadds r3, r3, r0\n\tmov r12, r3\n"
      "6:\n\t"
      LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR
      "cmp r0, r12\n\tbne 6b\n"
      "7:\n\t"
      "pop {r3}\n\tlsls r3, r3, #2\n\tbeq 9f\n\tadds r3, r3, r0\n\tmov r12, r3\n"
      "8:\n\t"
      "ldmia r0!, {r2}\n\t" LADON_THUMB1_FEATURE("r2")
      "cmp r0, r12\n\tbne 8b\n"
      "9:\n\t"
      "bx lr"
      :
      : [block] "i"(packed_block));
#undef LADON_THUMB1_SEPARATE
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

}  // namespace LADON_NAMESPACE::detail::vec::thumb1
