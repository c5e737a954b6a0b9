// SPDX-License-Identifier: Apache-2.0
// The sums of an int8 product: a pack of 32-bit integers. They do not overflow, because most_int8_features limits the
// number of features.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/choose.hpp>

#if LADON_HAS_XSIMD && defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif LADON_HAS_XSIMD && defined(__SSE2__)
#include <immintrin.h>
#elif LADON_HAS_XSIMD && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace LADON_NAMESPACE::detail::vec {

template <class Pack>
struct IntegerSums {
  std::int32_t lane[Pack::lanes];

  static LADON_INLINE constexpr IntegerSums zero() noexcept {
    IntegerSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = 0;
    return result;
  }
  static LADON_INLINE constexpr IntegerSums load(const std::int32_t* sums) noexcept {
    IntegerSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = sums[i];
    return result;
  }
  // Returns -factors[i] * factor. `factors` holds integers. Precondition: the results fit into 32 bits.
  static LADON_INLINE constexpr IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    float values[Pack::lanes];
    factors.store(values);
    IntegerSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = static_cast<std::int32_t>(values[i]) * -factor;
    return result;
  }
  // Returns the sum of all lanes.
  friend LADON_INLINE constexpr std::int32_t reduce_add(const IntegerSums& a) noexcept {
    std::int32_t total = 0;
    for (std::size_t i = 0; i < Pack::lanes; ++i) total += a.lane[i];
    return total;
  }
  // Rounds to nearest.
  LADON_INLINE constexpr Pack to_float() const noexcept {
    float values[Pack::lanes];
    for (std::size_t i = 0; i < Pack::lanes; ++i) values[i] = static_cast<float>(lane[i]);
    return Pack::load(values);
  }
};

// WebAssembly first: Emscripten can also define the macros of SSE.
#if LADON_HAS_XSIMD && defined(__wasm_simd128__)
template <>
struct IntegerSums<XsimdPack<4>> {
  using Pack = XsimdPack<4>;
  v128_t sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {wasm_i32x4_const_splat(0)}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {wasm_v128_load(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {wasm_i32x4_mul(wasm_i32x4_trunc_sat_f32x4(factors.batch), wasm_i32x4_splat(-factor))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept {
    const v128_t halves = wasm_i32x4_add(a.sum, wasm_i32x4_shuffle(a.sum, a.sum, 2, 3, 0, 1));
    return wasm_i32x4_extract_lane(halves, 0) + wasm_i32x4_extract_lane(halves, 1);
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(wasm_f32x4_convert_i32x4(sum)); }
};
#elif LADON_HAS_XSIMD && defined(__SSE2__)
// SSE2 has no product of 32-bit integers. All targets with features of 8 bits have SSE4.1.
template <>
struct IntegerSums<XsimdPack<4>> {
  using Pack = XsimdPack<4>;
  __m128i sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {_mm_setzero_si128()}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums))};
  }
#if defined(__SSE4_1__)
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {_mm_mullo_epi32(_mm_cvtps_epi32(factors.batch), _mm_set1_epi32(-factor))};
  }
#endif
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept {
    const __m128i halves = _mm_add_epi32(a.sum, _mm_shuffle_epi32(a.sum, 0b01001110));
    return _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0b10110001)));
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm_cvtepi32_ps(sum)); }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX2__)
template <>
struct IntegerSums<XsimdPack<8>> {
  using Pack = XsimdPack<8>;
  __m256i sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {_mm256_setzero_si256()}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums))};
  }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {_mm256_mullo_epi32(_mm256_cvtps_epi32(factors.batch), _mm256_set1_epi32(-factor))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept {
    const __m128i low = _mm256_castsi256_si128(a.sum), high = _mm256_extracti128_si256(a.sum, 1);
    return reduce_add(IntegerSums<XsimdPack<4>>{_mm_add_epi32(low, high)});
  }
#if defined(__AVX512VL__)
  // Returns `start` plus the sums of lanes 2 i and 2 i + 1, which belong to token i.
  LADON_INLINE IntegerSums<XsimdPack<4>> add_steps(const IntegerSums<XsimdPack<4>>& start) const noexcept {
    const __m256i both = _mm256_add_epi32(sum, _mm256_srli_epi64(sum, 32));
    return {_mm_add_epi32(start.sum, _mm256_cvtepi64_epi32(both))};
  }
#endif
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm256_cvtepi32_ps(sum)); }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX512BW__)
template <>
struct IntegerSums<XsimdPack<16>> {
  using Pack = XsimdPack<16>;
  __m512i sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {_mm512_setzero_si512()}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {_mm512_loadu_si512(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {_mm512_mullo_epi32(_mm512_cvtps_epi32(factors.batch), _mm512_set1_epi32(-factor))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept {
    const __m256i low = _mm512_castsi512_si256(a.sum), high = _mm512_extracti64x4_epi64(a.sum, 1);
    return reduce_add(IntegerSums<XsimdPack<8>>{_mm256_add_epi32(low, high)});
  }
  LADON_INLINE IntegerSums<XsimdPack<8>> add_steps(const IntegerSums<XsimdPack<8>>& start) const noexcept {
    const __m512i both = _mm512_add_epi32(sum, _mm512_srli_epi64(sum, 32));
    return {_mm256_add_epi32(start.sum, _mm512_cvtepi64_epi32(both))};
  }
  // Returns *this plus `first`.add_steps in the lower half of the lanes, and `rest`.add_steps in the third quarter.
  LADON_INLINE IntegerSums plus_three_quarters(const IntegerSums& first,
                                               const IntegerSums<XsimdPack<8>>& rest) const noexcept {
    const auto low = first.add_steps(IntegerSums<XsimdPack<8>>::zero());
    const auto high = rest.add_steps(IntegerSums<XsimdPack<4>>::zero());
    const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low.sum), _mm256_zextsi128_si256(high.sum), 1);
    return {_mm512_add_epi32(sum, all)};
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm512_cvtepi32_ps(sum)); }
};
#endif

#if LADON_HAS_XSIMD && defined(__aarch64__)
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
#endif

}  // namespace LADON_NAMESPACE::detail::vec
