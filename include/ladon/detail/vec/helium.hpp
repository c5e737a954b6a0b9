// SPDX-License-Identifier: Apache-2.0
// A pack in one register of Helium (MVE, on Cortex-M55 and M85), which xsimd does not support. array.hpp documents the
// interface. Helium always flushes subnormals to zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_mve.h>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>

namespace LADON_NAMESPACE::detail::vec {

struct HeliumPack;

// A float that stands for four equal lanes. Some vector instructions read such a float from a general register.
struct HeliumBroadcast {
  float value;
  LADON_INLINE operator HeliumPack() const noexcept;
};

struct HeliumPack {
  static constexpr std::size_t lanes = 4;
  using Arg = const HeliumPack&;
  float32x4_t vector;
  // `load` and `store` access memory as InMemory. With intrinsics, g++ 12 assumes that integers are accessed, and may
  // reorder the access with accesses of floats. load_partial and store_partial use intrinsics, so they call keep_order.
  typedef float32x4_t InMemory __attribute__((aligned(alignof(float)), may_alias));

  // Four equal bits for each lane.
  struct Mask {
    mve_pred16_t bits;
    friend LADON_INLINE Mask operator&(const Mask& a, const Mask& b) noexcept {
      return {static_cast<mve_pred16_t>(a.bits & b.bits)};
    }
    friend LADON_INLINE Mask operator!(const Mask& a) noexcept { return {static_cast<mve_pred16_t>(~a.bits)}; }
  };

  static LADON_INLINE HeliumBroadcast broadcast(float x) noexcept { return {x}; }
  static LADON_INLINE HeliumPack lane_index() noexcept { return {float32x4_t{0, 1, 2, 3}}; }
  static LADON_INLINE Mask lanes_of(std::uint32_t bits) noexcept {
    const std::uint32_t four_bits = bits & 0xf;
    const std::uint32_t first_bit_of_lane = (four_bits | four_bits << 3 | four_bits << 6 | four_bits << 9) & 0x1111;
    return {static_cast<mve_pred16_t>(first_bit_of_lane * 0xf)};
  }
  static LADON_INLINE Mask every_lane(bool value) noexcept { return {static_cast<mve_pred16_t>(value ? 0xffff : 0)}; }
  static LADON_INLINE HeliumPack load(const float* from) noexcept { return {*reinterpret_cast<const InMemory*>(from)}; }
  static LADON_INLINE HeliumPack load_partial(const float* from, std::size_t n) noexcept {
    keep_order();
    const HeliumPack loaded{vldrwq_z_f32(from, vctp32q(n))};
    keep_order();
    return loaded;
  }
  LADON_INLINE void store(float* to) const noexcept { *reinterpret_cast<InMemory*>(to) = vector; }
  LADON_INLINE void store_partial(float* to, std::size_t n) const noexcept {
    keep_order();
    vstrwq_p_f32(to, vector, vctp32q(n));
    keep_order();
  }

  friend LADON_INLINE HeliumPack operator+(Arg a, Arg b) noexcept { return {vaddq_f32(a.vector, b.vector)}; }
  friend LADON_INLINE HeliumPack operator-(Arg a, Arg b) noexcept { return {vsubq_f32(a.vector, b.vector)}; }
  friend LADON_INLINE HeliumPack operator*(Arg a, Arg b) noexcept { return {vmulq_f32(a.vector, b.vector)}; }
  // The FPU divides lane by lane. q0 and q1 consist of its registers s0 to s7, so 4 instructions are enough. From C++,
  // g++ 12 needs 25.
  friend LADON_INLINE HeliumPack operator/(Arg a, Arg b) noexcept {
    register float32x4_t quotient asm("q0") = a.vector;
    register float32x4_t divisor asm("q1") = b.vector;
    asm("vdiv.f32 s0, s0, s4\n\tvdiv.f32 s1, s1, s5\n\tvdiv.f32 s2, s2, s6\n\tvdiv.f32 s3, s3, s7"
        : "+w"(quotient)
        : "w"(divisor));
    return {quotient};
  }
  friend LADON_INLINE HeliumPack sqrt(Arg a) noexcept {
    register float32x4_t root asm("q0") = a.vector;
    asm("vsqrt.f32 s0, s0\n\tvsqrt.f32 s1, s1\n\tvsqrt.f32 s2, s2\n\tvsqrt.f32 s3, s3" : "+w"(root));
    return {root};
  }
  friend LADON_INLINE HeliumPack fma(Arg a, Arg b, Arg c) noexcept { return {vfmaq_f32(c.vector, a.vector, b.vector)}; }
  friend LADON_INLINE HeliumPack in_order(HeliumPack sum) noexcept {
    asm("" : "+w"(sum.vector));
    return sum;
  }
  friend LADON_INLINE HeliumPack operator+(Arg a, HeliumBroadcast b) noexcept {
    return {vaddq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE HeliumPack operator-(Arg a, HeliumBroadcast b) noexcept {
    return {vsubq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE HeliumPack operator*(Arg a, HeliumBroadcast b) noexcept {
    return {vmulq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE HeliumPack fma(HeliumBroadcast a, Arg b, Arg c) noexcept {
    return {vfmaq_n_f32(c.vector, b.vector, a.value)};
  }
  friend LADON_INLINE HeliumPack fma(Arg a, Arg b, HeliumBroadcast c) noexcept {
    return {vfmasq_n_f32(a.vector, b.vector, c.value)};
  }
  friend LADON_INLINE HeliumPack fma(HeliumBroadcast a, Arg b, HeliumBroadcast c) noexcept {
    return fma(HeliumPack(a), b, c);
  }

  // From C++, g++ 12 would copy the comparison to a general register.
  static LADON_INLINE HeliumPack if_greater(Arg x, Arg y, Arg a, Arg b) noexcept {
    HeliumPack result;
    asm("vcmp.f32 gt, %q1, %q2\n\tvpsel %q0, %q3, %q4"
        : "=w"(result.vector)
        : "w"(x.vector), "w"(y.vector), "w"(a.vector), "w"(b.vector)
        : "p0");
    return result;
  }
  // vmaxnm and vminnm would lose a NaN in `b`.
  friend LADON_INLINE HeliumPack maximum(Arg a, Arg b) noexcept { return if_greater(a, b, a, b); }
  friend LADON_INLINE HeliumPack minimum(Arg a, Arg b) noexcept { return if_greater(b, a, a, b); }
  // Tests b > a, because Helium's condition "less" is true for NaN.
  friend LADON_INLINE Mask operator<(Arg a, Arg b) noexcept { return {vcmpgtq_f32(b.vector, a.vector)}; }
  friend LADON_INLINE Mask operator<=(Arg a, Arg b) noexcept { return {vcmpgeq_f32(b.vector, a.vector)}; }
  friend LADON_INLINE Mask operator==(Arg a, Arg b) noexcept { return {vcmpeqq_f32(a.vector, b.vector)}; }
  friend LADON_INLINE HeliumPack blend(const Mask& where, Arg a, Arg b) noexcept {
    return {vpselq_f32(a.vector, b.vector, where.bits)};
  }

  friend LADON_INLINE HeliumPack copy_sign(Arg a, Arg b) noexcept {
    const uint32x4_t sign = vshrq_n_u32(vreinterpretq_u32_f32(b.vector), 31);
    return {vreinterpretq_f32_u32(vsliq_n_u32(vreinterpretq_u32_f32(a.vector), sign, 31))};
  }
  friend LADON_INLINE HeliumPack low_bits_to_exponent(Arg a) noexcept {
    return {vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a.vector), 23))};
  }

  // vld4 loads the floats i, i + 4, i + 8 and i + 12 into row i.
  static LADON_INLINE void transpose(HeliumPack (&row)[4]) noexcept {
    float square[16];
    LADON_UNROLLED_FOR(i, 4) row[i].store(square + 4 * i);
    const float32x4x4_t columns = vld4q_f32(square);
    LADON_UNROLLED_FOR(i, 4) row[i].vector = columns.val[i];
  }
  static LADON_INLINE HeliumPack add_rows(HeliumPack (&row)[4]) noexcept {
    transpose(row);
    return (row[0] + row[1]) + (row[2] + row[3]);
  }

  friend LADON_INLINE float reduce_max(Arg a) noexcept {
    return max_scalar(max_scalar(a.vector[0], a.vector[1]), max_scalar(a.vector[2], a.vector[3]));
  }
  friend LADON_INLINE float reduce_add(Arg a) noexcept {
    return (a.vector[0] + a.vector[1]) + (a.vector[2] + a.vector[3]);
  }

 private:
  // See InMemory.
  static LADON_INLINE void keep_order() noexcept { asm volatile("" ::: "memory"); }
};

LADON_INLINE HeliumBroadcast::operator HeliumPack() const noexcept { return {vdupq_n_f32(value)}; }

}  // namespace LADON_NAMESPACE::detail::vec
