// SPDX-License-Identifier: Apache-2.0
// The dots of int8 and bfloat16 products on 64-bit Arm. SDOT and SMLAL multiply features by one lane of a register of
// weights, which holds several steps. SMMLA multiplies two rows of eight weights by two tokens of eight features. SMMLA
// reads the panels of SDOT: a tile interleaves the features of two steps when it loads them.
#pragma once

#include <arm_neon.h>

namespace LADON_NAMESPACE::detail::vec {

template <>
struct IntegerSums<XsimdPack<4>> {
  using Pack = XsimdPack<4>;
  int32x4_t sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {vdupq_n_s32(0)}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {vld1q_s32(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {vmulq_n_s32(vnegq_s32(vcvtq_s32_f32(factors.batch)), factor)};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept { return vaddvq_s32(a.sum); }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(vcvtq_f32_s32(sum)); }
};

template <std::size_t TupleSize, class SumsType, class Register>
struct Arm64Dot {
  static constexpr std::size_t tuple_size = TupleSize, features = TupleSize, steps = 4;
  using Pack = XsimdPack<4>;
  using Sums = SumsType;
  using Features = Register;
  using Weights = Register;

  // `first` gets the lower halves of both registers, and `second` the upper halves.
  template <class Halves>
  static LADON_INLINE void interleave_halves(Halves& first, Halves& second) noexcept {
    const auto a = ladon::bit_cast<int64x2_t>(first), b = ladon::bit_cast<int64x2_t>(second);
    first = ladon::bit_cast<Halves>(vzip1q_s64(a, b));
    second = ladon::bit_cast<Halves>(vzip2q_s64(a, b));
  }
  // Registers a0 a1 a2 a3 and b0 b1 b2 b3 become a0 b0 a1 b1 and a2 b2 a3 b3.
  static LADON_INLINE void interleave_words(Register& first, Register& second) noexcept {
    const auto a = ladon::bit_cast<int32x4_t>(first), b = ladon::bit_cast<int32x4_t>(second);
    first = ladon::bit_cast<Register>(vzip1q_s32(a, b));
    second = ladon::bit_cast<Register>(vzip2q_s32(a, b));
  }
};

#if LADON_ARM_DOT
// SDOT multiplies four signed features by four signed weights.
template <>
struct TupleDot<std::int8_t, XsimdPack<4>> : Arm64Dot<4, IntegerSums<XsimdPack<4>>, int8x16_t> {
  static LADON_INLINE Features load(const std::int8_t* panel) noexcept { return vld1q_s8(panel); }
  static LADON_INLINE Weights load_weights(const std::int8_t* weight) noexcept { return vld1q_s8(weight); }
  template <std::size_t Step>
  static LADON_INLINE void add_by_lane(Sums& sum, Features x, Weights weights) noexcept {
    sum.sum = vdotq_laneq_s32(sum.sum, x, weights, Step);
  }
#if LADON_ARM_I8MM
  static LADON_INLINE void exchange_halves(Sums& first, Sums& second) noexcept {
    interleave_halves(first.sum, second.sum);
  }
  static LADON_INLINE void add_matrix(Sums& sum, Features x, Weights weights) noexcept {
    // volatile: with the intrinsic, g++ 12 loads the weights of all rows before the first SMMLA, and spills sums.
    asm volatile("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum.sum) : "w"(weights), "w"(x));
  }
#endif
  static LADON_INLINE Weights weights(const std::int8_t* weight) noexcept {
    return vreinterpretq_s8_s32(vdupq_n_s32(load_tuple<tuple_size>(weight)));
  }
  static LADON_INLINE void add(Sums& sum, Features x, Weights weights) noexcept {
    sum.sum = vdotq_s32(sum.sum, x, weights);
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = vdotq_s32(sum.sum, vld1q_s8(x), vld1q_s8(weight));
  }
  // SLI inserts each feature above the previous features of its lane.
  static LADON_INLINE void store_tuple(const Pack (&x)[4], const Pack& zero, std::int8_t* panel) noexcept {
    const auto rounded = [](const Pack& pack) LADON_INLINE_LAMBDA {
      return vreinterpretq_s32_f32((pack + Pack::broadcast(round_to_low_bits)).batch);
    };
    int32x4_t bytes = rounded(x[0]);
    bytes = vsliq_n_s32(bytes, rounded(x[1]), 8);
    bytes = vsliq_n_s32(bytes, rounded(x[2]), 16);
    bytes = vsliq_n_s32(bytes, rounded(x[3]), 24);
    const int32x4_t zero_points = vmulq_n_s32(vandq_s32(vcvtq_s32_f32(zero.batch), vdupq_n_s32(0xff)), 0x01010101);
    vst1q_s8(panel, vaddq_s8(vreinterpretq_s8_s32(bytes), vreinterpretq_s8_s32(zero_points)));
  }
};
#endif

// SMLAL multiplies a weight by one feature of each of four tokens, so tuples are stored as [tuple_size][lanes].
template <>
struct TupleDot<std::int16_t, XsimdPack<4>> : Arm64Dot<2, IntegerSums<XsimdPack<4>>, int16x8_t> {
  static LADON_INLINE Features load(const std::int16_t* panel) noexcept { return vld1q_s16(panel); }
  static LADON_INLINE Weights load_weights(const std::int8_t* weight) noexcept { return vmovl_s8(vld1_s8(weight)); }
  template <std::size_t Step>
  static LADON_INLINE void add_by_lane(Sums& sum, Features x, Weights weights) noexcept {
    sum.sum = vmlal_laneq_s16(sum.sum, vget_low_s16(x), weights, 2 * Step);
    sum.sum = vmlal_high_laneq_s16(sum.sum, x, weights, 2 * Step + 1);
  }
  static LADON_INLINE Weights weights(const std::int8_t* weight) noexcept {
    return vreinterpretq_s16_s32(vdupq_n_s32(load_tuple<tuple_size>(weight)));
  }
  static LADON_INLINE void add(Sums& sum, Features x, Weights weights) noexcept { add_by_lane<0>(sum, x, weights); }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    const int16x8_t integers = vld1q_s16(x), weights = load_weights(weight);
    sum.sum = vmlal_s16(sum.sum, vget_low_s16(integers), vget_low_s16(weights));
    sum.sum = vmlal_high_s16(sum.sum, integers, weights);
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[2], const Pack&, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const int16x8_t first = vreinterpretq_s16_f32((x[0] + offset).batch),
                    second = vreinterpretq_s16_f32((x[1] + offset).batch);
    vst1q_s16(panel, vuzp1q_s16(first, second));
  }
};

#if LADON_ARM_BFLOAT16_DOT
// Tiles with an even number of rows use BFMMLA, which rounds like two BFDOT instructions. Other tiles use BFDOT.
template <>
struct TupleDot<BFloat16, XsimdPack<4>> : Arm64Dot<2, XsimdPack<4>, bfloat16x8_t> {
  using Row = bfloat16x8_t;

  static LADON_INLINE Row load_row(const BFloat16* from) noexcept {
    return vreinterpretq_bf16_u16(vld1q_u16(reinterpret_cast<const std::uint16_t*>(from)));
  }
  static LADON_INLINE Row load_row(const BFloat16* from, std::size_t count) noexcept {
    BFloat16 row[tuple_size * Pack::lanes] = {};
    for (std::size_t i = 0; i < count; ++i) row[i] = from[i];
    return load_row(row);
  }
  static LADON_INLINE Features load(const BFloat16* panel) noexcept { return load_row(panel); }
  static LADON_INLINE Weights load_weights(const BFloat16* weight) noexcept { return load_row(weight); }
  template <std::size_t Step>
  static LADON_INLINE void add_by_lane(Sums& sum, Features x, Weights weights) noexcept {
#if defined(__clang__)
    // With the intrinsic, clang++ 19 broadcasts each pair of weights into a register, and spills registers.
    float32x4_t total = sum.batch;
    asm("bfdot %0.4s, %1.8h, %2.2h[%3]" : "+w"(total) : "w"(x), "w"(weights), "i"(Step));
    sum = Pack::Batch(total);
#else
    sum = Pack::Batch(vbfdotq_laneq_f32(sum.batch, x, weights, Step));
#endif
  }
  static LADON_INLINE void exchange_halves(Sums& first, Sums& second) noexcept {
    interleave_halves(first.batch.data, second.batch.data);
  }
  // volatile, as for smmla: g++ 12 must not load the weights of all rows first, and spill sums.
  static LADON_INLINE void add_matrix(Sums& sum, Features x, Weights weights) noexcept {
    float32x4_t total = sum.batch;
    asm volatile("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(total) : "w"(weights), "w"(x));
    sum = Pack::Batch(total);
  }
  static LADON_INLINE Weights weights(const BFloat16* weight) noexcept {
    return vreinterpretq_bf16_s32(vdupq_n_s32(load_tuple<tuple_size>(weight)));
  }
  static LADON_INLINE void add(Sums& sum, Row x, Row weight) noexcept {
    sum = Pack::Batch(vbfdotq_f32(sum.batch, x, weight));
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[tuple_size], BFloat16* panel) noexcept {
    const auto halves = [](const Pack& pack)
                            LADON_INLINE_LAMBDA { return vreinterpretq_u16_bf16(vcvtq_low_bf16_f32(pack.batch)); };
    vst1q_u16(reinterpret_cast<std::uint16_t*>(panel), vzip1q_u16(halves(x[0]), halves(x[1])));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
