// SPDX-License-Identifier: Apache-2.0
// The quantisation of int8 products with Helium (detail/cortex_m/helium_int8.hpp).
//
// The bytes are signed. A panel therefore holds s = q + z instead of the quantised feature q
// (detail/panel/int8_panels.hpp), with z = the zero point of the token + offset. The arrays of a panel:
//     data         [packs][features / 16][4 tokens][16]   all packs of a panel have equally many bytes
//     parameters   [2][width]                             scale as a float; z as an integer of 32 bits
// For a single token, `data` is [features], and `parameters` [2]. Loops multiply bytes after the last feature by 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/token_scale.hpp>

#if LADON_HAS_HELIUM

namespace LADON_NAMESPACE::detail::cortex_m::helium {

using Pack = vec::HeliumPack;

template <int FeatureBits>
inline constexpr std::int32_t offset = FeatureBits == 8 ? -128 : 0;

LADON_INLINE Pack pack_of(int32x4_t bits) noexcept { return {vreinterpretq_f32_s32(bits)}; }
LADON_INLINE int32x4_t load_integers(const void* from) noexcept {
  typedef int32x4_t InMemory __attribute__((aligned(4), may_alias));
  return *static_cast<const InMemory*>(from);
}
LADON_INLINE void store_integers(int32x4_t integers, void* to) noexcept {
  typedef int32x4_t InMemory __attribute__((aligned(4), may_alias));
  *static_cast<InMemory*>(to) = integers;
}

// The lowest and the highest feature so far, compared as integers. Positive floats have the order of signed integers,
// and the most negative float is the largest unsigned integer. Infinities and NaN exceed all finite floats, so `high`
// or `low` keeps them.
struct FeatureRange {
  int32x4_t high = vdupq_n_s32(0);
  uint32x4_t low = vdupq_n_u32(0x80000000u);  // -0

  LADON_INLINE void add(int32x4_t bits) noexcept {
    high = vmaxq_s32(high, bits);
    low = vmaxq_u32(low, vreinterpretq_u32_s32(bits));
  }
};

// For four tokens: 1 / scale, and z in both halves of a word.
struct Quantisation {
  float reciprocal[4];
  std::uint32_t zero[4];
};
// Writes the scale and z of four tokens. A separate function: inlined, g++ 12 spills its constants for each pack.
template <int FeatureBits>
LADON_NOINLINE void quantisation_of(const FeatureRange& range, float* scales, float* zero_points,
                                    Quantisation& how) noexcept {
  const Pack high = pack_of(range.high), low = pack_of(vreinterpretq_s32_u32(range.low));
  const Pack none = Pack::broadcast(0.0f);
  const auto token = vec::scale_of_range<FeatureBits>(low, high, (high - high == none) & (low - low == none));
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
// vfmas rounds x * reciprocal + round_to_low_bits once, and its lowest 16 bits are q. scale_of_range, which computes z,
// rounds the product first. s may therefore be -129, so vqmovnb and vqmovnt limit s to -128 .. 127.
template <std::size_t Width>
LADON_NOINLINE void quantise_blocks(const float* panel, std::size_t blocks, const Quantisation& how,
                                    std::uint8_t* bytes) noexcept {
#define LADON_HELIUM_QUANTISE_2(a, b, row)                                          \
  "vldrw.u32 " a ", [r0, #(" #row ") * %c[bytes]]\n\tvldrw.u32 " b ", [r0, #(" #row \
  " + 2) * %c[bytes]]\n\t"                                                          \
  "vfmas.f32 " a ", q6, r12\n\tvfmas.f32 " b                                        \
  ", q6, r12\n\t"                                                                   \
  "vmovnt.i32 " a ", " b "\n\tvadd.i16 " a ", " a ", q7\n\t"
#define LADON_HELIUM_QUANTISE_4(q, row) \
  LADON_HELIUM_QUANTISE_2(q, "q4", row) \
  LADON_HELIUM_QUANTISE_2("q4", "q5", row + 1) "vqmovnb.s16 " q ", " q "\n\tvqmovnt.s16 " q ", q4\n\t"
  register const float* from asm("r0") = panel;
  register std::uint8_t* to asm("r1") = bytes;
  register std::size_t left asm("r2") = blocks;
  register const Quantisation* quantisation asm("r3") = &how;
  register float rounding asm("r12") = vec::round_to_low_bits;
  asm volatile(
      "vldrw.u32 q6, [r3]\n\t"
      "vldrw.u32 q7, [r3, #16]\n"
      "1:\n\t"
      LADON_HELIUM_QUANTISE_4("q0", 0) LADON_HELIUM_QUANTISE_4("q1", 4) LADON_HELIUM_QUANTISE_4("q2", 8) LADON_HELIUM_QUANTISE_4("q3", 12)
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
}

// Quantises the last Count < 16 features of four tokens.
template <std::size_t Count, std::size_t Width>
LADON_NOINLINE void quantise_rest(const float* panel, const Quantisation& how, std::uint8_t* to) noexcept {
  const Pack reciprocal = Pack::load(how.reciprocal);
  const int32x4_t zero = vshrq_n_s32(load_integers(how.zero), 16);
  for (std::size_t i = 0; i < Count; ++i) {
    const int32x4_t q = vcvtnq_s32_f32((Pack::load(panel + i * Width) * reciprocal).vector);
    const int32x4_t s = vminq_s32(vaddq_s32(q, zero), vdupq_n_s32(127));
    for (std::size_t t = 0; t < 4; ++t) to[16 * t + i] = static_cast<std::uint8_t>(s[t]);
  }
}

template <std::size_t Features, std::size_t Width, int FeatureBits>
LADON_INLINE void quantise_pack(const float* panel, std::uint8_t* to, float* parameters) noexcept {
  FeatureRange range;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Features; ++i) range.add(load_integers(panel + i * Width));
  Quantisation how;
  quantisation_of<FeatureBits>(range, parameters, parameters + Width, how);
  constexpr std::size_t whole = Features / 16 * 16;
  if constexpr (whole > 0) quantise_blocks<Width>(panel, Features / 16, how, to);
  if constexpr (whole < Features) quantise_rest<Features - whole, Width>(panel + whole * Width, how, to + 4 * whole);
}

template <std::size_t Features, int FeatureBits>
LADON_INLINE void quantise_single(const float* from, std::uint8_t* to, float* parameters) noexcept {
  constexpr std::size_t whole = Features / 4 * 4;
  FeatureRange range;
  for (std::size_t i = 0; i < whole; i += 4) range.add(load_integers(from + i));
  const Pack last = Pack::load_partial(from + whole, Features - whole);
  range.add(vreinterpretq_s32_f32(last.vector));
  const auto high = ladon::bit_cast<float>(vmaxvq_s32(0, range.high));
  const auto low = ladon::bit_cast<float>(vmaxvq_u32(0, range.low));
  const bool finite = high - high == 0 && low - low == 0;
  const auto token = vec::scale_of_range<FeatureBits>(vec::ArrayPack<1>{low}, vec::ArrayPack<1>{high},
                                                      vec::ArrayPack<1>::Mask{finite});
  const std::int32_t zero = offset<FeatureBits> - static_cast<std::int32_t>(token.least.lane[0]);
  parameters[0] = token.scale.lane[0];
  parameters[1] = ladon::bit_cast<float>(zero);
  const Pack reciprocal = Pack::broadcast(token.reciprocal.lane[0]);
  const auto store = [&](const Pack& x, std::size_t i) LADON_INLINE_LAMBDA {
    const int32x4_t q = vcvtnq_s32_f32((x * reciprocal).vector);
    vstrbq_s32(reinterpret_cast<std::int8_t*>(to + i), vminq_s32(vaddq_n_s32(q, zero), vdupq_n_s32(127)));
  };
  for (std::size_t i = 0; i < whole; i += 4) store(Pack::load(from + i), i);
  if constexpr (whole < Features) store(last, whole);
  asm volatile("" ::: "memory");
}

}  // namespace LADON_NAMESPACE::detail::cortex_m::helium

#endif
