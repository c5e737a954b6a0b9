// SPDX-License-Identifier: Apache-2.0
// Int8 products with Helium: VMLADAVA.S8 multiplies 16 pairs of 8-bit integers and adds all products to a general
// register. This file has the inner loops and the quantisation.
//
// The bytes are signed. A quantised panel therefore holds s = q + z instead of the feature q
// (detail/panel/quantise.hpp), with z = the zero point of the token + offset. The arrays of a panel:
//     data         [packs][features / 16][4 tokens][16]   all packs of a panel have equally many bytes
//     parameters   [2][width]                             scale as a float; z as an integer of 32 bits
// For a single token, `data` is [features], and `parameters` is [2]. The bytes after the last feature may have any
// values: the loops multiply them by 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::vec {

#if LADON_HAS_HELIUM
template <class Element, class Simd>
inline constexpr bool uses_helium = std::is_same_v<Element, std::uint8_t> && std::is_base_of_v<HeliumVectors, Simd>;
#else
template <class Element, class Simd>
inline constexpr bool uses_helium = false;
#endif

#if LADON_HAS_HELIUM

namespace helium {

template <int FeatureBits>
inline constexpr std::int32_t offset = FeatureBits == 8 ? -128 : 0;

LADON_INLINE HeliumPack pack_of(int32x4_t bits) noexcept { return {vreinterpretq_f32_s32(bits)}; }
LADON_INLINE int32x4_t load_integers(const void* from) noexcept {
  typedef int32x4_t InMemory __attribute__((aligned(4), may_alias));
  return *static_cast<const InMemory*>(from);
}
LADON_INLINE void store_integers(int32x4_t integers, void* to) noexcept {
  typedef int32x4_t InMemory __attribute__((aligned(4), may_alias));
  *static_cast<InMemory*>(to) = integers;
}

// The lowest and the highest feature so far, compared as integers. Positive floats have the order of signed integers,
// and the most negative float is the largest unsigned integer. Infinities and NaN are even larger, so they end up in a
// bound.
struct Range {
  int32x4_t high = vdupq_n_s32(0);
  uint32x4_t low = vdupq_n_u32(0x80000000u);  // -0

  LADON_INLINE void add(int32x4_t bits) noexcept {
    high = vmaxq_s32(high, bits);
    low = vmaxq_u32(low, vreinterpretq_u32_s32(bits));
  }
  // Adds `eights` blocks of eight features of four tokens. Precondition: eights > 0. A block takes 26 instructions (g++
  // 12: 33, because it stores the range in each iteration).
  template <std::size_t Width>
  LADON_INLINE void add_eights(const float* features, std::size_t eights) noexcept {
    asm("dls lr, %[eights]\n"
        "1:\n\t"
        ".irp i, 0, 1, 2, 3, 4, 5, 6, 7\n\t"
        "vldrw.u32 q0, [%[features], #\\i * %c[bytes]]\n\tvmax.s32 %q[high], %q[high], q0\n\t"
        "vmax.u32 %q[low], %q[low], q0\n\t"
        ".endr\n\t"
        "add %[features], #8 * %c[bytes]\n\t"
        "le lr, 1b"
        : [high] "+w"(high), [low] "+w"(low), [features] "+r"(features)
        : [eights] "r"(eights), [bytes] "i"(sizeof(float) * Width)
        : "q0", "lr", "memory");
  }
};

// For four tokens: 1 / scale; and z, in both halves of the word.
struct Quantisation {
  float reciprocal[4];
  std::uint32_t zero[4];
};
// Writes the scale and z of four tokens. If the function were inlined, g++ 12 would spill its constants for each pack.
template <int FeatureBits>
LADON_NOINLINE void quantisation_of(const Range& range, float* scales, float* zero_points, Quantisation& how) noexcept {
  const HeliumPack high = pack_of(range.high), low = pack_of(vreinterpretq_s32_u32(range.low));
  const HeliumPack none = HeliumPack::broadcast(0.0f);
  const auto token = scale_of_range<FeatureBits>(low, high, (high - high == none) & (low - low == none));
  const int32x4_t zero = vsubq_s32(vdupq_n_s32(offset<FeatureBits>), vcvtq_s32_f32(token.least.vector));
  token.scale.store(scales);
  token.reciprocal.store(how.reciprocal);
  store_integers(zero, zero_points);
  store_integers(vsliq_n_s32(vandq_s32(zero, vdupq_n_s32(0xffff)), zero, 16), how.zero);
}

// Quantises `blocks` blocks of 16 features of four tokens. Precondition: blocks > 0. Registers of the loop:
//     q0 - q3   four features of each token, one token in each lane
//     q6, q7    the reciprocals, and z
//     r12       round_to_low_bits
//
// vfmas rounds x * reciprocal + round_to_low_bits once; the lowest 16 bits are q. scale_of_range rounds the product
// first, so s may be -129. vqmovnb and vqmovnt limit s to -128 .. 127.
template <std::size_t Width>
LADON_NOINLINE void quantise_blocks(const float* panel, std::size_t blocks, const Quantisation& how,
                                    std::uint8_t* bytes) noexcept {
#define LADON_HELIUM_PAIR(a, b, row)                                                \
  "vldrw.u32 " a ", [r0, #(" #row ") * %c[bytes]]\n\tvldrw.u32 " b ", [r0, #(" #row \
  " + 2) * %c[bytes]]\n\t"                                                          \
  "vfmas.f32 " a ", q6, r12\n\tvfmas.f32 " b                                        \
  ", q6, r12\n\t"                                                                   \
  "vmovnt.i32 " a ", " b "\n\tvadd.i16 " a ", " a ", q7\n\t"
#define LADON_HELIUM_QUAD(q, row) \
  LADON_HELIUM_PAIR(q, "q4", row) \
  LADON_HELIUM_PAIR("q4", "q5", row + 1) "vqmovnb.s16 " q ", " q "\n\tvqmovnt.s16 " q ", q4\n\t"
  register const float* from asm("r0") = panel;
  register std::uint8_t* to asm("r1") = bytes;
  register std::size_t left asm("r2") = blocks;
  register const Quantisation* quantisation asm("r3") = &how;
  register float rounding asm("r12") = round_to_low_bits;
  asm volatile(
      "vldrw.u32 q6, [r3]\n\t"
      "vldrw.u32 q7, [r3, #16]\n"
      "1:\n\t"
      LADON_HELIUM_QUAD("q0", 0) LADON_HELIUM_QUAD("q1", 4) LADON_HELIUM_QUAD("q2", 8) LADON_HELIUM_QUAD("q3", 12)
      "vst40.32 {q0, q1, q2, q3}, [r1]\n\t"
      "vst41.32 {q0, q1, q2, q3}, [r1]\n\t"
      "vst42.32 {q0, q1, q2, q3}, [r1]\n\t"
      "vst43.32 {q0, q1, q2, q3}, [r1]!\n\t"
      "add r0, #16 * %c[bytes]\n\t"
      "subs r2, #1\n\t"
      "bne 1b"
      : "+r"(from), "+r"(to), "+r"(left)
      : "r"(quantisation), "r"(rounding), [bytes] "i"(sizeof(float) * Width)
      : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#undef LADON_HELIUM_QUAD
#undef LADON_HELIUM_PAIR
}

// Quantises the last Count < 16 features of four tokens. The remaining bytes of the block are not written.
template <std::size_t Count, std::size_t Width>
LADON_NOINLINE void quantise_rest(const float* panel, const Quantisation& how, std::uint8_t* to) noexcept {
  const HeliumPack reciprocal = HeliumPack::load(how.reciprocal);
  const int32x4_t zero = vshrq_n_s32(load_integers(how.zero), 16);
  for (std::size_t i = 0; i < Count; ++i) {
    const int32x4_t q = vcvtnq_s32_f32((HeliumPack::load(panel + i * Width) * reciprocal).vector);
    const int32x4_t s = vminq_s32(vaddq_s32(q, zero), vdupq_n_s32(127));
    for (std::size_t t = 0; t < 4; ++t) to[16 * t + i] = static_cast<std::uint8_t>(s[t]);
  }
}

template <std::size_t Features, std::size_t Width, int FeatureBits>
LADON_INLINE void quantise_pack(const float* panel, std::uint8_t* to, float* parameters) noexcept {
  Range range;
  constexpr std::size_t eights = Features / 8;
  if constexpr (eights > 0) range.add_eights<Width>(panel, eights);
  for (std::size_t i = 8 * eights; i < Features; ++i) range.add(load_integers(panel + i * Width));
  Quantisation how;
  quantisation_of<FeatureBits>(range, parameters, parameters + Width, how);
  constexpr std::size_t whole = Features / 16 * 16;
  if constexpr (whole > 0) quantise_blocks<Width>(panel, Features / 16, how, to);
  if constexpr (whole < Features) quantise_rest<Features - whole, Width>(panel + whole * Width, how, to + 4 * whole);
}

template <std::size_t Features, int FeatureBits>
LADON_INLINE void quantise_single(const float* from, std::uint8_t* to, float* parameters) noexcept {
  constexpr std::size_t whole = Features / 4 * 4;
  Range range;
  for (std::size_t i = 0; i < whole; i += 4) range.add(load_integers(from + i));
  const HeliumPack last = HeliumPack::load_partial(from + whole, Features - whole);
  range.add(vreinterpretq_s32_f32(last.vector));
  const auto high = ladon::bit_cast<float>(vmaxvq_s32(0, range.high));
  const auto low = ladon::bit_cast<float>(vmaxvq_u32(0, range.low));
  const bool finite = high - high == 0 && low - low == 0;
  const auto token = scale_of_range<FeatureBits>(ArrayPack<1>{low}, ArrayPack<1>{high}, ArrayPack<1>::Mask{finite});
  const std::int32_t zero = offset<FeatureBits> - static_cast<std::int32_t>(token.least.lane[0]);
  parameters[0] = token.scale.lane[0];
  parameters[1] = ladon::bit_cast<float>(zero);
  const HeliumPack reciprocal = HeliumPack::broadcast(token.reciprocal.lane[0]);
  const auto store = [&](const HeliumPack& x, std::size_t i) LADON_INLINE_LAMBDA {
    const int32x4_t q = vcvtnq_s32_f32((x * reciprocal).vector);
    vstrbq_s32(reinterpret_cast<std::int8_t*>(to + i), vminq_s32(vaddq_n_s32(q, zero), vdupq_n_s32(127)));
  };
  for (std::size_t i = 0; i < whole; i += 4) store(HeliumPack::load(from + i), i);
  if constexpr (whole < Features) store(last, whole);
  asm volatile("" ::: "memory");
}

// The arguments of sums_of_2x4. Only the rows change from tile to tile.
struct SumsArguments {
  const std::int8_t *row0, *row1;
  std::size_t gap;  // the bytes between the features of two packs
  const void* end;  // the end of the sums
  std::int32_t zeros[8];

  LADON_INLINE SumsArguments(std::size_t inner, std::size_t pack_stride, const void* sums_end) noexcept
      : gap(pack_stride - 4 * ((inner + 15) / 16 * 16)), end(sums_end) {
    // g++ 12 would call memset for an initialiser.
    for (std::size_t i = 0; i < 8; i += 4) store_integers(vdupq_n_s32(0), zeros + i);
  }
};

// Computes the sums of two rows and all packs of four tokens:
//     sums[pack][r][t] = sum over i < Inner of x[pack][i / 16][t][i % 16] * row[r][i]
//
// Registers of the loop:
//     r0, r2, r4, r6      the sums of row 0
//     r8, r10, r12, lr    the sums of row 1; VMLADAVA adds to registers with an even number only
//     q0, q1              16 weights of each row
//     q2, q3              16 features of a token
//
// 16 features take 14 instructions, or for short rows, whose weights stay in registers, 12 and another 2.5 to load and
// store the sums. A low-overhead loop would occupy lr: with 6 sums, a sum takes 2 instructions instead of 1.75.
template <std::size_t Inner>
LADON_NOINLINE void sums_of_2x4(const std::uint8_t* x, const SumsArguments& arguments,
                                std::int32_t (*sums)[2][4]) noexcept {
#define LADON_HELIUM_16(load) \
  load("q0", "r3") "vldrb.u8 q2, [r1], #16\n\tvmladava.s8 r0, q0, q2\n\t" load("q1", "r5")         \
  "vmladava.s8 r8, q1, q2\n\tvldrb.u8 q3, [r1], #16\n\tvmladava.s8 r2, q0, q3\n\t"                 \
  "vldrb.u8 q2, [r1], #16\n\tvmladava.s8 r10, q1, q3\n\tvmladava.s8 r4, q0, q2\n\t"                \
  "vldrb.u8 q3, [r1], #16\n\tvmladava.s8 r12, q1, q2\n\tvmladava.s8 r6, q0, q3\n\tvmladava.s8 lr, q1, q3\n\t"
#define LADON_HELIUM_ALL(q, row) "vldrb.u8 " q ", [" row "], #16\n\t"
#define LADON_HELIUM_SOME(q, row) "vpst\n\tvldrbt.u8 " q ", [" row "]\n\t"
// LADON_HELIUM_TOKEN multiplies the features of one token by 32 weights of each row, or by 16 if no more are left.
// `first` is the first instruction: vmladav starts a sum at 0, and vmladava adds to a sum.
#define LADON_HELIUM_TOKEN(first, sum0, sum1, offset)      \
  "vldrb.u8 q4, [r1, #" offset "]\n\t" first " " sum0      \
  ", q0, q4\n\t"                                           \
  ".if 32 * \\pass + 16 < %c[features]\n\t"                \
  "vldrb.u8 q5, [r1, #64 + " offset "]\n\t" first " " sum1 \
  ", q1, q4\n\t"                                           \
  "vmladava.s8 " sum0 ", q2, q5\n\tvmladava.s8 " sum1      \
  ", q3, q5\n\t"                                           \
  ".else\n\t" first " " sum1 ", q1, q4\n\t.endif\n\t"
#define LADON_HELIUM_32(first)                 \
  LADON_HELIUM_TOKEN(first, "r0", "r8", "0")   \
  LADON_HELIUM_TOKEN(first, "r2", "r10", "16") \
  LADON_HELIUM_TOKEN(first, "r4", "r12", "32") LADON_HELIUM_TOKEN(first, "r6", "lr", "48")
  constexpr std::size_t blocks = Inner / 16, rest = Inner % 16;
  register const void* r0 asm("r0") = &arguments;
  register const std::uint8_t* r1 asm("r1") = x;
  register std::int32_t(*r2)[2][4] asm("r2") = sums;
  if constexpr (rest == 0 && blocks <= 4) {
    // Rows of at most 64 weights: during a pass over all packs, q0 - q3 hold 32 weights of each row. A second pass adds
    // the products of the remaining weights.
    asm volatile(
        "push {r4-r11, lr}\n\t"
        "ldrd r3, r5, [r0]\n\t"
        "ldrd r11, r7, [r0, #8]\n\t"  // the gap and the end
        "add r11, #4 * %c[features]\n\t"
        "push {r1, r2}\n\t"
        ".irp pass, 0, 1\n\t"
        ".if 32 * \\pass < %c[features]\n\t"
        "vldrb.u8 q0, [r3, #32 * \\pass]\n\tvldrb.u8 q1, [r5, #32 * \\pass]\n\t"
        ".if 32 * \\pass + 16 < %c[features]\n\t"
        "vldrb.u8 q2, [r3, #32 * \\pass + 16]\n\tvldrb.u8 q3, [r5, #32 * \\pass + 16]\n\t"
        ".endif\n\t"
        ".if \\pass == 0\n\t"
        "mov r9, r2\n\t"
        ".else\n\t"
        "pop {r1, r9}\n\tadd r1, #128\n\t"
        ".endif\n"
        "1:\n\t"
        ".if \\pass == 0\n\t"
        LADON_HELIUM_32("vmladav.s8")
        ".else\n\t"
        "ldm r9, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
        LADON_HELIUM_32("vmladava.s8")
        ".endif\n\t"
        "stmia r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
        "add r1, r11\n\t"
        "cmp r9, r7\n\t"
        "bne 1b\n\t"
        ".endif\n\t"
        ".endr\n\t"
        ".if %c[features] <= 32\n\t"
        "add sp, #8\n\t"
        ".endif\n\t"
        "pop {r4-r11, lr}"
        : "+r"(r0), "+r"(r1), "+r"(r2)
        : [features] "i"(Inner)
        : "r3", "r12", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
    return;
  }
  asm volatile(
      "push {r4-r11, lr}\n\t"
      "push {r0}\n\t"
      "mov r9, r2\n"
      "1:\n\t"
      "ldr r11, [sp]\n\t"
      "ldrd r3, r5, [r11]\n\t"
      "add r11, #16\n\t"
      "ldm r11, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
      ".if %c[fours] > 0\n\t"
      ".if %c[fours] > 1\n\t"
      "mov r7, #%c[fours]\n"
      "2:\n\t"
      ".endif\n\t"
      LADON_HELIUM_16(LADON_HELIUM_ALL) LADON_HELIUM_16(LADON_HELIUM_ALL)
      LADON_HELIUM_16(LADON_HELIUM_ALL) LADON_HELIUM_16(LADON_HELIUM_ALL)
      ".if %c[fours] > 1\n\t"
      "subs r7, #1\n\t"
      "bne 2b\n\t"
      ".endif\n\t"
      ".endif\n\t"
      ".rept %c[ones]\n\t"
      LADON_HELIUM_16(LADON_HELIUM_ALL)
      ".endr\n\t"
      ".if %c[rest] > 0\n\t"
      "mov r7, #%c[rest]\n\t"
      "vctp.8 r7\n\t"
      LADON_HELIUM_16(LADON_HELIUM_SOME)
      ".endif\n\t"
      "stmia r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
      "ldrd r3, r5, [r11, #-8]\n\t"  // the gap and the end
      "add r1, r3\n\t"
      "cmp r9, r5\n\t"
      "bne 1b\n\t"
      "add sp, #4\n\t"
      "pop {r4-r11, lr}"
      : "+r"(r0), "+r"(r1), "+r"(r2)
      : [fours] "i"(blocks / 4), [ones] "i"(blocks % 4), [rest] "i"(rest)
      : "r3", "r12", "q0", "q1", "q2", "q3", "cc", "memory");
#undef LADON_HELIUM_32
#undef LADON_HELIUM_TOKEN
#undef LADON_HELIUM_SOME
#undef LADON_HELIUM_ALL
#undef LADON_HELIUM_16
}

template <std::size_t Rows, std::size_t Inner, std::size_t RowStride>
LADON_INLINE void sums_of_single(const std::int8_t* rows, const std::uint8_t* features, std::int32_t* sums) noexcept {
  const auto* x = reinterpret_cast<const std::int8_t*>(features);
  std::int32_t sum[Rows] = {};
  for (std::size_t i = 0; i < Inner; i += 16) {
    const mve_pred16_t left = vctp8q(Inner - i);
    const int8x16_t values = vldrbq_z_s8(x + i, left);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      sum[r] = vmladavaq_s8(sum[r], vldrbq_z_s8(rows + r * RowStride + i, left), values);
    }
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sums[r] = sum[r];
}

}  // namespace helium

// Quantises the first Packs packs of four tokens of a panel [Features][Width], or a single token if Width is 1.
template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
LADON_NOINLINE void quantise_panel(const float* panel, std::uint8_t* to, float* parameters,
                                   std::size_t stride) noexcept {
  if constexpr (Width == 1) {
    helium::quantise_single<Features, FeatureBits>(panel, to, parameters);
  } else {
    for (std::size_t v = 0; v < Packs; ++v) {
      helium::quantise_pack<Features, Width, FeatureBits>(panel + 4 * v, to + v * (stride / (Width / 4)),
                                                          parameters + 4 * v);
    }
  }
}

#endif

}  // namespace LADON_NAMESPACE::detail::vec
