// SPDX-License-Identifier: Apache-2.0
// Arithmetic for Cortex-M0+, which has no FPU and cannot count leading zeros. libgcc takes 129 instructions for a
// product of floats and 100 for a sum (g++ 12). The functions here are at least as accurate, but give other bits, so
// deterministic builds do not use them. Functions of floats require 0 < stored exponent < 255.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail::cortex_m::m0 {

LADON_INLINE std::int32_t exponent_of(std::uint32_t bits) noexcept {
  return static_cast<std::int32_t>((bits << 1) >> 24);
}
LADON_INLINE bool is_normal(std::uint32_t bits) noexcept {
  const std::int32_t exponent = exponent_of(bits);
  return exponent != 0 && exponent != 255;
}
// The mantissa, with the implicit first bit, in the upper 24 bits.
LADON_INLINE std::uint32_t mantissa_of(std::uint32_t bits) noexcept { return (bits << 8) | 0x80000000u; }

// Returns x >> count, or 0 for 32 <= count < 256.
LADON_INLINE std::uint32_t shift_right(std::uint32_t x, std::uint32_t count) noexcept {
#if LADON_THUMB1
  asm(".syntax unified\n\tlsrs %0, %0, %1" : "+l"(x) : "l"(count) : "cc");
  return x;
#else
  return count < 32 ? x >> count : 0;
#endif
}

// Returns the upper 32 bits of a * b, at most 2 too small.
LADON_INLINE std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint32_t a1 = a >> 16, a0 = a & 0xffff, b1 = b >> 16, b0 = b & 0xffff;
  return a1 * b1 + ((a1 * b0) >> 16) + ((a0 * b1) >> 16);
}

// Shifts `x` left by a multiple of 4 bits, until one of its highest 4 bits is 1. Returns the number of bits; 28 for 0.
LADON_INLINE std::int32_t normalise_nearly(std::uint32_t& x) noexcept {
  std::int32_t shift = 0;
  if (x >> 16 == 0) x <<= 16, shift = 16;
  if (x >> 24 == 0) x <<= 8, shift += 8;
  if (x >> 28 == 0) x <<= 4, shift += 4;
  return shift;
}

// Shifts `x` left until its highest bit is 1. Returns the number of bits; 31 for 0.
LADON_INLINE std::int32_t normalise(std::uint32_t& x) noexcept {
  std::int32_t shift = x >> 28 == 0 ? normalise_nearly(x) : 0;
  if (x >> 30 == 0) x <<= 2, shift += 2;
  if (x >> 31 == 0) x <<= 1, shift += 1;
  return shift;
}

// Returns magnitude * 2^(exponent - 127 - 31), with the sign bit of `sign`. Results of at least 2^128 are infinite, and
// results below 2^-126 are +0.
LADON_INLINE float to_float(std::uint32_t magnitude, std::uint32_t sign, std::int32_t exponent) noexcept {
  exponent -= normalise(magnitude);
  if (magnitude == 0 || exponent <= 0) return 0.0f;
  if (exponent >= 255) return ladon::bit_cast<float>((sign & 0x80000000u) | 0x7f800000u);
  // A carry correctly raises the exponent, at 254 to infinity.
  const std::uint32_t rounded = ((magnitude >> 7) + 1) >> 1;
  return ladon::bit_cast<float>((rounded + (static_cast<std::uint32_t>(exponent - 1) << 23)) | (sign & 0x80000000u));
}

// A row's factor and summand, for multiply_add. A sum is first shifted left by `sum_shift`, within 31 bits.
struct Affine {
  std::uint32_t row1;                         // the upper 16 bits of the mantissa of the factor
  std::uint32_t shift;                        // sum_shift
  std::uint32_t row0;                         // the lower 8 bits of the mantissa of the factor
  std::int32_t exponent;                      // the exponent of the factor - 95 - sum_shift
  std::int32_t summand, exponent_of_summand;  // the mantissa of the summand, with 30 bits and a sign

  Affine() = default;
  LADON_INLINE Affine(float factor, float added, std::uint32_t sum_shift) noexcept : shift(sum_shift) {
    const auto bits = ladon::bit_cast<std::uint32_t>(factor), added_bits = ladon::bit_cast<std::uint32_t>(added);
    row1 = mantissa_of(bits) >> 16;
    row0 = bits & 0xff;
    exponent = exponent_of(bits) - 95 - static_cast<std::int32_t>(sum_shift);
    const auto magnitude = static_cast<std::int32_t>(mantissa_of(added_bits) >> 2);
    summand = added_bits << 1 == 0 ? 0 : (added_bits >> 31) != 0 ? -magnitude : magnitude;
    exponent_of_summand = exponent_of(added_bits);
  }
  // Whether the operands are normal, and the factor positive. `added` may be 0.
  static LADON_INLINE bool takes(float factor, float added) noexcept {
    const auto bits = ladon::bit_cast<std::uint32_t>(factor), added_bits = ladon::bit_cast<std::uint32_t>(added);
    return (bits >> 31) == 0 && is_normal(bits) && (added_bits << 1 == 0 || is_normal(added_bits));
  }
};

#if LADON_THUMB1
// The begin and the end of a function that uses r4 - r11. LADON_THUMB1_POP also restores r3.
#define LADON_THUMB1_PUSH \
  ".syntax unified\n\tpush {r3-r7, lr}\n\tmov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\tpush {r4-r7}\n\t"
#define LADON_THUMB1_POP "pop {r4-r7}\n\tmov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\tpop {r3-r7, pc}"

// Computes results[4 r + t] = sums[t][r] * factors[t] * factor of row r + summand of row r. Precondition: Affine::takes
// is true for each row. Returns 0, or another number if a factor or a result is 0, subnormal, infinite or NaN. The
// results are then incomplete.
//
// A result takes 93 instructions (126 in C++, g++ 12). The product is truncated to 31 bits, so small sums are first
// shifted left. The error is at most 0.45 * 2^-24 * (3 |product| + |result|).
//     r4            |sum|, then the product and the result: r4 * 2^(r7 - 127 - 29)
//     r6            0, or -1 if r4 belongs to a negative number
//     r8, r9, r10   the upper 16 and the lower 8 bits of the mantissa of factors[t], and the exponent of factors[t]
//     r11, r12, lr  the addresses of the next sum, the next row and the next result
//     stack         rows_end, rows, the next factor, the next token's results, factors_end
__attribute__((naked, noinline)) inline std::uint32_t multiply_add(const std::int32_t* /*sums*/,
                                                                   const float* /*factors*/, const Affine* /*rows*/,
                                                                   float* /*results*/, const Affine* /*rows_end*/,
                                                                   const float* /*factors_end*/) noexcept {
  asm volatile(
      LADON_THUMB1_PUSH
      "ldr r4, [sp, #44]\n\tpush {r4}\n\tldr r4, [sp, #44]\n\t"
      "mov r11, r0\n\tmov r5, r2\n\tmov r6, r1\n\tmov r7, r3\n\tpush {r4-r7}\n"
      "1:\n\t"
      "ldr r0, [sp, #8]\n\tldmia r0!, {r5}\n\tstr r0, [sp, #8]\n\t"
      "lsrs r7, r5, #23\n\tsubs r0, r7, #1\n\tcmp r0, #253\n\tbhi 8f\n\t"
      "mov r10, r7\n\tuxtb r0, r5\n\tmov r9, r0\n\t"
      "lsls r1, r5, #9\n\tlsrs r1, r1, #17\n\tmovs r0, #1\n\tlsls r0, r0, #15\n\tadds r1, r1, r0\n\tmov r8, r1\n\t"
      "ldr r2, [sp, #4]\n\tmov r12, r2\n\t"
      "ldr r0, [sp, #12]\n\tmov lr, r0\n\tadds r0, r0, #4\n\tstr r0, [sp, #12]\n"
      "2:\n\t"
      "mov r0, r11\n\tldmia r0!, {r4}\n\tmov r11, r0\n\t"
      "asrs r6, r4, #31\n\teors r4, r6\n\tsubs r4, r4, r6\n\t"
      "mov r2, r12\n\tldmia r2!, {r1, r3, r5, r7}\n\tlsls r4, r3\n\tadd r7, r10\n\t"
      // Shift a small sum to the left.
      "lsrs r0, r4, #27\n\tbne 7f\n"
      "6:\n\t"
      "subs r7, #4\n\tlsls r4, r4, #4\n\tbeq 7f\n\tlsrs r0, r4, #27\n\tbeq 6b\n"
      "7:\n\t"
      // r1 = the upper 32 bits of the product of the two factors
      "mov r0, r9\n\tmuls r0, r1, r0\n\tmov r3, r8\n\tmuls r5, r3, r5\n\tadds r0, r0, r5\n\tlsrs r0, r0, #8\n\t"
      "muls r1, r3, r1\n\tadds r1, r1, r0\n\t"
      // r4 = the upper 31 bits of r4 * r1, with the sign of the sum (r6)
      "uxth r0, r4\n\tlsrs r4, r4, #16\n\tuxth r3, r1\n\tlsrs r1, r1, #16\n\t"
      "muls r3, r4, r3\n\tmuls r0, r1, r0\n\tmuls r4, r1, r4\n\t"
      "lsrs r3, r3, #16\n\tlsrs r0, r0, #16\n\tadds r4, r4, r3\n\tadds r4, r4, r0\n\t"
      "lsrs r4, r4, #1\n\teors r4, r6\n\tsubs r4, r4, r6\n\t"
      // Align the number with the smaller exponent. Then add.
      "beq 3f\n\t"
      "ldmia r2!, {r0, r1}\n\tsubs r3, r7, r1\n\tbmi 4f\n\t"
      "asrs r0, r3\n\tb 5f\n"
      "3:\n\t"
      "ldmia r2!, {r0, r7}\n\tb 5f\n"
      "4:\n\t"
      "rsbs r3, r3, #0\n\tmov r7, r1\n\tcmp r3, #31\n\tble 4f\n\tmovs r3, #31\n"
      "4:\n\t"
      "asrs r4, r3\n"
      "5:\n\t"
      "mov r12, r2\n\t"
      "adds r4, r4, r0\n\tbeq 8f\n\t"
      // Convert r4 to a float.
      "asrs r6, r4, #31\n\teors r4, r6\n\tsubs r4, r4, r6\n\t"
      "lsrs r0, r4, #24\n\tbne 6f\n\tlsls r4, r4, #8\n\tsubs r7, #8\n\t"
      "lsrs r0, r4, #24\n\tbne 6f\n\tlsls r4, r4, #8\n\tsubs r7, #8\n\t"
      "lsrs r0, r4, #24\n\tbne 6f\n\tlsls r4, r4, #8\n\tsubs r7, #8\n"
      "6:\n\t"
      "lsrs r0, r4, #28\n\tbne 6f\n\tlsls r4, r4, #4\n\tsubs r7, #4\n"
      "6:\n\t"
      "lsrs r0, r4, #30\n\tbne 6f\n\tlsls r4, r4, #2\n\tsubs r7, #2\n"
      "6:\n\t"
      "cmp r4, #0\n\tbmi 6f\n\tlsls r4, r4, #1\n\tsubs r7, #1\n"
      "6:\n\t"
      "adds r7, #1\n\tcmp r7, #252\n\tbhi 8f\n\t"
      "lsls r7, r7, #23\n\tlsrs r4, r4, #8\n\tadcs r4, r7\n\tlsls r6, r6, #31\n\torrs r4, r6\n\t"
      "mov r0, lr\n\tstr r4, [r0]\n\tadds r0, #16\n\tmov lr, r0\n\t"
      "ldr r0, [sp]\n\tcmp r2, r0\n\tbne 2b\n\t"
      "ldr r0, [sp, #8]\n\tldr r1, [sp, #16]\n\tcmp r0, r1\n\tbne 1b\n\t"
      "movs r0, #0\n\tb 9f\n"
      "8:\n\t"
      "movs r0, #1\n"
      "9:\n\t"
      "add sp, #20\n\t" LADON_THUMB1_POP);
}
#endif

// results[t] = sums[t] * factors[t] * 2^(exponents[t] + bias - 127 - 31). Factors are positive and normal; null means
// 1.
template <std::size_t Count>
LADON_NOINLINE void to_floats(const std::int32_t* sums, const std::int32_t* exponents, std::int32_t bias,
                              const float* factors, float* results) noexcept {
  LADON_ROLLED_FOR(t, Count) {
    const auto sum = static_cast<std::uint32_t>(sums[t]);
    std::uint32_t magnitude = sums[t] < 0 ? 0u - sum : sum;
    std::int32_t exponent = exponents[t] + bias;
    if (factors != nullptr) {
      const auto bits = ladon::bit_cast<std::uint32_t>(factors[t]);
      exponent += exponent_of(bits) - 126 - normalise_nearly(magnitude);
      magnitude = multiply_high(magnitude, mantissa_of(bits));
    }
    results[t] = to_float(magnitude, sum, exponent);
  }
}

// Entry j is 2^(31 + j/32), rounded.
inline constexpr std::uint32_t powers[32] = {
    0x80000000u, 0x82cd8699u, 0x85aac368u, 0x88980e81u, 0x8b95c1e4u, 0x8ea4398bu, 0x91c3d374u, 0x94f4efa9u,
    0x9837f052u, 0x9b8d39bau, 0x9ef53261u, 0xa2704303u, 0xa5fed6aau, 0xa9a15ab5u, 0xad583eeau, 0xb123f582u,
    0xb504f334u, 0xb8fbaf47u, 0xbd08a39fu, 0xc12c4ccau, 0xc5672a11u, 0xc9b9bd86u, 0xce248c15u, 0xd2a81d92u,
    0xd744fccbu, 0xdbfbb798u, 0xe0ccdeecu, 0xe5b906e7u, 0xeac0c6e8u, 0xefe4b99cu, 0xf5257d15u, 0xfa83b2dbu};

// Returns 2^(x / 2^24) * 2^31 for 0 <= x < 2^24. The relative error is at most 2^-26.
LADON_INLINE std::uint32_t power(std::uint32_t x) noexcept {
  const std::uint32_t entry = powers[x >> 19], rest = x & 0x7ffff;
  // 2^y - 1 = y (ln 2 + y (ln^2 2 / 2 + y ln^3 2 / 6)), with y = rest / 2^24 < 1/32
  const std::uint32_t f = rest >> 3;                                               // y in units of 2^-21
  const std::uint32_t second = 15744 + (3638 * f >> 21);                           // in units of 2^-16
  const std::uint32_t slope = 726817 + (second * f >> 17);                         // in units of 2^-20
  const std::uint32_t growth = (slope >> 8) * rest + ((slope & 255) * rest >> 8);  // in units of 2^-36
  return entry + multiply_high(entry, growth >> 4);
}

#if LADON_THUMB1
// For assembly: multiplies the words at r0, whose number is in r3, by the features of four tokens at r1. Adds the
// products to the sums, and advances r0 and r1. The loop takes 78 instructions for 32 multiply-adds:
//     r8 - r11   the sums
//     r2, r3     two weights
//     r4 - r7    a feature of each token; MULS overwrites the feature
//     r12        the end of the last complete block of eight weights, then of all weights
__attribute__((naked, noinline)) inline void add_words() noexcept {
#define LADON_THUMB1_FEATURE(weight)                          \
  "ldmia r1!, {r4-r7}\n\t"                                    \
  "muls r4, " weight ", r4\n\tadd r8, r4\n\tmuls r5, " weight \
  ", r5\n\tadd r9, r5\n\t"                                    \
  "muls r6, " weight ", r6\n\tadd r10, r6\n\tmuls r7, " weight ", r7\n\tadd r11, r7\n\t"
#define LADON_THUMB1_PAIR "ldmia r0!, {r2, r3}\n\t" LADON_THUMB1_FEATURE("r2") LADON_THUMB1_FEATURE("r3")
  asm volatile(
      ".syntax unified\n\t"
      "movs r2, #7\n\tands r2, r3\n\tpush {r2}\n\tsubs r3, r3, r2\n\tbeq 2f\n\t"
      "lsls r3, r3, #2\n\tadds r3, r3, r0\n\tmov r12, r3\n"
      "1:\n\t"
      LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR LADON_THUMB1_PAIR
      "cmp r0, r12\n\tbne 1b\n"
      "2:\n\t"
      "pop {r3}\n\tlsls r3, r3, #2\n\tbeq 4f\n\tadds r3, r3, r0\n\tmov r12, r3\n"
      "3:\n\t"
      "ldmia r0!, {r2}\n\t" LADON_THUMB1_FEATURE("r2")
      "cmp r0, r12\n\tbne 3b\n"
      "4:\n\t"
      "bx lr");
}

// sums[t] += sum over i < count of x[i][t] * row[i], for four tokens
__attribute__((naked, noinline)) inline void add_4_tokens(const std::int32_t* /*row*/, const std::int32_t* /*x*/,
                                                          std::size_t /*count*/, std::int32_t* /*sums*/) noexcept {
  asm volatile(LADON_THUMB1_PUSH
               "ldmia r3!, {r4-r7}\n\t"
               "mov r8, r4\n\tmov r9, r5\n\tmov r10, r6\n\tmov r11, r7\n\t"
               "mov r3, r2\n\t"
               "bl %c[add_words]\n\t"
               "ldr r3, [sp, #16]\n\t"
               "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"
               "stmia r3!, {r4-r7}\n\t" LADON_THUMB1_POP
               :
               : [add_words] "i"(&add_words));
}

// Three rows of int8 weights are packed into two rows `a` and `b` of 32-bit words, to save multiplications:
//     a[i] = row[0][i] + 2^11 row[2][i]        b[i] = row[1][i] + 2^22 row[2][i]
//
// A row's sum S[r] over 32 quantised features q with |q| <= 255 has 20 bits and a sign. A and B are the sums of the
// packed rows, modulo 2^32. With S[2] = c + 2^10 d:
//     B = S[1] + 2^22 S[2]             the lower 22 bits are S[1], the upper 10 bits are c
//     A - 2^11 c = S[0] + 2^21 d       the lower 21 bits are S[0], the upper 11 bits are d
//
// The words of a tile: [blocks][2][features of the block].
inline constexpr std::size_t packed_block = 32;
LADON_INLINE std::int32_t packed_a(std::int32_t row0, std::int32_t row2) noexcept { return row0 + row2 * 2048; }
LADON_INLINE std::int32_t packed_b(std::int32_t row1, std::int32_t row2) noexcept { return row1 + row2 * 4194304; }

// sums[t][r] += sum over i < count of x[i][t] * row[r][i], for four tokens and three packed rows. Precondition:
// count > 0. Eight features take 2 * 78 instructions for 96 multiply-adds. A block of 32 features takes about 133 more
// instructions: 76 instructions separate its 12 sums.
//     r0, r1     the addresses of the next words and of the next features
//     r2 - r12   as in add_words
//     stack      how many features are left and how many the block has; the address of the sums
__attribute__((naked, noinline)) inline void add_3_packed_rows(const std::int32_t* /*words*/, const std::int32_t* /*x*/,
                                                               std::size_t /*count*/,
                                                               std::int32_t (* /*sums*/)[3]) noexcept {
#define LADON_THUMB1_CLEAR "movs r4, #0\n\tmov r8, r4\n\tmov r9, r4\n\tmov r10, r4\n\tmov r11, r4\n\t"
// Adds the sums S of one token to its `sums` at r3, and advances r3. After the first line, r4 = A and r5 = B (see
// packed_block).
#define LADON_THUMB1_SEPARATE(b)                                                                               \
  "pop {r4}\n\tmov r5, " b                                                                                     \
  "\n\t"                                                                                                       \
  "lsls r6, r5, #10\n\tasrs r6, r6, #10\n\tsubs r5, r5, r6\n\tlsrs r7, r5, #11\n\tsubs r4, r4, r7\n\t"         \
  "lsls r7, r4, #11\n\tasrs r7, r7, #11\n\tsubs r4, r4, r7\n\tasrs r4, r4, #11\n\tlsrs r5, r5, #22\n\t"        \
  "adds r4, r4, r5\n\t"                                                                                        \
  "ldmia r3!, {r0-r2}\n\tsubs r3, #12\n\tadds r0, r0, r7\n\tadds r1, r1, r6\n\tadds r2, r2, r4\n\tstmia r3!, " \
  "{r0-r2}\n\t"
  asm volatile(
      LADON_THUMB1_PUSH
      "1:\n\t"
      "movs r3, %[block]\n\tcmp r2, r3\n\tbhs 2f\n\tmov r3, r2\n"
      "2:\n\t"
      "subs r2, r2, r3\n\tpush {r2, r3}\n\t"
      LADON_THUMB1_CLEAR "bl %c[add_words]\n\t"
      "mov r4, r8\n\tmov r5, r9\n\tmov r6, r10\n\tmov r7, r11\n\t"
      "push {r4-r7}\n\t"
      "ldr r3, [sp, #20]\n\tlsls r2, r3, #4\n\tsubs r1, r1, r2\n\t"  // back to the first feature of the block
      LADON_THUMB1_CLEAR "bl %c[add_words]\n\t"
      "mov r12, r0\n\tmov lr, r1\n\tldr r3, [sp, #40]\n\t"
      LADON_THUMB1_SEPARATE("r8") LADON_THUMB1_SEPARATE("r9")
      LADON_THUMB1_SEPARATE("r10") LADON_THUMB1_SEPARATE("r11")
      "mov r0, r12\n\tmov r1, lr\n\tpop {r2, r3}\n\t"
      "cmp r2, #0\n\tbne 1b\n\t"
      LADON_THUMB1_POP
      :
      : [block] "i"(packed_block), [add_words] "i"(&add_words));
}
#else
inline void add_4_tokens(const std::int32_t* row, const std::int32_t* x, std::size_t count,
                         std::int32_t* sums) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < 4; ++t) sums[t] += x[4 * i + t] * row[i];
  }
}
#endif

}  // namespace LADON_NAMESPACE::detail::cortex_m::m0
