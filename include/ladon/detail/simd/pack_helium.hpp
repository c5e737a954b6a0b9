// A pack of four lanes in one vector register of Helium (MVE, Cortex-M55 and M85), by intrinsics: xsimd does not know
// it. These instructions flush subnormals to zero, whatever FPSCR says.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_mve.h>

#include <ladon/detail/simd/pack_array.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

struct MvePack;

// A number for every lane that stays in a general register where an instruction can take it from there.
struct MveBroadcast {
  float value;
  LADON_INLINE operator MvePack() const noexcept;
};

struct MvePack {
  static constexpr std::size_t lanes = 4;
  float32x4_t vector;
  // g++ 12 takes the intrinsics that load and store for accesses of integers, and moves those of floats past them.
  typedef float32x4_t InMemory __attribute__((aligned(alignof(float)), may_alias));

  // Four bits a lane, as VPR has them.
  struct Mask {
    mve_pred16_t bits;
    friend LADON_INLINE Mask operator&(const Mask& a, const Mask& b) noexcept {
      return {static_cast<mve_pred16_t>(a.bits & b.bits)};
    }
    friend LADON_INLINE Mask operator!(const Mask& a) noexcept { return {static_cast<mve_pred16_t>(~a.bits)}; }
  };

  static LADON_INLINE MveBroadcast broadcast(float x) noexcept { return {x}; }
  static LADON_INLINE MvePack lane_index() noexcept { return {float32x4_t{0, 1, 2, 3}}; }
  // A mask whose lane i is bit i.
  static LADON_INLINE Mask lanes_of(std::uint32_t bits) noexcept {
    const std::uint32_t own = bits & 0xf;
    const std::uint32_t first_of_four = (own | own << 3 | own << 6 | own << 9) & 0x1111;
    return {static_cast<mve_pred16_t>(first_of_four * 0xf)};
  }
  // A mask that is the same in every lane.
  static LADON_INLINE Mask every_lane(bool value) noexcept { return {static_cast<mve_pred16_t>(value ? 0xffff : 0)}; }
  static LADON_INLINE MvePack load(const float* from) noexcept { return {*reinterpret_cast<const InMemory*>(from)}; }
  static LADON_INLINE MvePack load_partial(const float* from, std::size_t n) noexcept {
    keep_order();
    const MvePack loaded{vldrwq_z_f32(from, vctp32q(n))};
    keep_order();
    return loaded;
  }
  LADON_INLINE void store(float* to) const noexcept { *reinterpret_cast<InMemory*>(to) = vector; }
  LADON_INLINE void store_partial(float* to, std::size_t n) const noexcept {
    keep_order();
    vstrwq_p_f32(to, vector, vctp32q(n));
    keep_order();
  }

  friend LADON_INLINE MvePack operator+(const MvePack& a, const MvePack& b) noexcept {
    return {vaddq_f32(a.vector, b.vector)};
  }
  friend LADON_INLINE MvePack operator-(const MvePack& a, const MvePack& b) noexcept {
    return {vsubq_f32(a.vector, b.vector)};
  }
  friend LADON_INLINE MvePack operator*(const MvePack& a, const MvePack& b) noexcept {
    return {vmulq_f32(a.vector, b.vector)};
  }
  // There is no division and no root of vectors: the lanes are the scalar registers that the FPU has anyway.
  friend LADON_INLINE MvePack operator/(const MvePack& a, const MvePack& b) noexcept {
    return each_lane([&](std::size_t i) { return a.vector[i] / b.vector[i]; });
  }
  friend LADON_INLINE MvePack sqrt(const MvePack& a) noexcept {
    return each_lane([&](std::size_t i) { return sqrt_scalar(a.vector[i]); });
  }
  friend LADON_INLINE MvePack fma(const MvePack& a, const MvePack& b, const MvePack& c) noexcept {
    return {vfmaq_f32(c.vector, a.vector, b.vector)};
  }
  friend LADON_INLINE MvePack operator+(const MvePack& a, const MveBroadcast& b) noexcept {
    return {vaddq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE MvePack operator-(const MvePack& a, const MveBroadcast& b) noexcept {
    return {vsubq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE MvePack operator*(const MvePack& a, const MveBroadcast& b) noexcept {
    return {vmulq_n_f32(a.vector, b.value)};
  }
  friend LADON_INLINE MvePack fma(const MveBroadcast& a, const MvePack& b, const MvePack& c) noexcept {
    return {vfmaq_n_f32(c.vector, b.vector, a.value)};
  }
  friend LADON_INLINE MvePack fma(const MvePack& a, const MvePack& b, const MveBroadcast& c) noexcept {
    return {vfmasq_n_f32(a.vector, b.vector, c.value)};
  }
  friend LADON_INLINE MvePack fma(const MveBroadcast& a, const MvePack& b, const MveBroadcast& c) noexcept {
    return fma(MvePack(a), b, c);
  }

  // A NaN in b stays. (vmaxnm and vminnm drop it.)
  friend LADON_INLINE MvePack max(const MvePack& a, const MvePack& b) noexcept { return select(b < a, a, b); }
  friend LADON_INLINE MvePack min(const MvePack& a, const MvePack& b) noexcept { return select(a < b, a, b); }
  // "Less" of these instructions is "not greater or equal", so true of a NaN: "greater" is what is meant.
  friend LADON_INLINE Mask operator<(const MvePack& a, const MvePack& b) noexcept {
    return {vcmpgtq_f32(b.vector, a.vector)};
  }
  friend LADON_INLINE Mask operator<=(const MvePack& a, const MvePack& b) noexcept {
    return {vcmpgeq_f32(b.vector, a.vector)};
  }
  friend LADON_INLINE Mask operator==(const MvePack& a, const MvePack& b) noexcept {
    return {vcmpeqq_f32(a.vector, b.vector)};
  }
  friend LADON_INLINE MvePack select(const Mask& where, const MvePack& a, const MvePack& b) noexcept {
    return {vpselq_f32(a.vector, b.vector, where.bits)};
  }

  // The magnitude of a with the sign of b.
  friend LADON_INLINE MvePack copy_sign(const MvePack& a, const MvePack& b) noexcept {
    const uint32x4_t sign = vshrq_n_u32(vreinterpretq_u32_f32(b.vector), 31);
    return {vreinterpretq_f32_u32(vsliq_n_u32(vreinterpretq_u32_f32(a.vector), sign, 31))};
  }
  // The bits of a, 23 to the left: the low byte of the significand becomes the exponent of a power of two.
  friend LADON_INLINE MvePack low_bits_to_exponent(const MvePack& a) noexcept {
    return {vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a.vector), 23))};
  }

  // Lane j of row i becomes lane i of row j: what is stored row by row comes back every fourth float at a time.
  static LADON_INLINE void transpose(MvePack (&row)[4]) noexcept {
    float square[16];
    LADON_UNROLL
    for (std::size_t i = 0; i < 4; ++i) row[i].store(square + 4 * i);
    const float32x4x4_t columns = vld4q_f32(square);
    LADON_UNROLL
    for (std::size_t i = 0; i < 4; ++i) row[i].vector = columns.val[i];
  }
  // Lane r of the result is the sum of row r's lanes.
  static LADON_INLINE MvePack add_rows(MvePack (&row)[4]) noexcept {
    transpose(row);
    return (row[0] + row[1]) + (row[2] + row[3]);
  }

  friend LADON_INLINE float reduce_max(const MvePack& a) noexcept {
    return greater(greater(a.vector[0], a.vector[1]), greater(a.vector[2], a.vector[3]));
  }
  friend LADON_INLINE float reduce_add(const MvePack& a) noexcept {
    return (a.vector[0] + a.vector[1]) + (a.vector[2] + a.vector[3]);
  }

 private:
  static LADON_INLINE void keep_order() noexcept { asm volatile("" ::: "memory"); }
  template <class F>
  static LADON_INLINE MvePack each_lane(F f) noexcept {
    return {float32x4_t{f(0), f(1), f(2), f(3)}};
  }
};

LADON_INLINE MveBroadcast::operator MvePack() const noexcept { return {vdupq_n_f32(value)}; }

}  // namespace ladon::inline LADON_ABI::detail::simd
