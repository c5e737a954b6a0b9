// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product on x86 without VNNI. vpmaddwd multiplies a pair of 16-bit features by a pair of weights,
// and returns the sum of both products.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/dot.hpp>

namespace LADON_NAMESPACE::detail::vec {

#if LADON_HAS_XSIMD && defined(__SSE2__) && !defined(__wasm__)
template <>
struct TupleDot<std::int16_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 2;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::int16_t* panel, std::int32_t weights) noexcept {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(panel));
    sum.sum = _mm_add_epi32(sum.sum, _mm_madd_epi16(x, _mm_set1_epi32(weights)));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weight));
    const __m128i words = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
    sum.sum = _mm_add_epi32(sum.sum, _mm_madd_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)), words));
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[2], const Pack&, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m128i low = _mm_castps_si128((features[0] + offset).batch),
                  high = _mm_castps_si128((features[1] + offset).batch);
    const __m128i pairs = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi32(0xffff)), _mm_slli_epi32(high, 16));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(panel), pairs);
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX2__)
template <>
struct TupleDot<std::int16_t, XsimdPack<8>> {
  static constexpr std::size_t tuple_size = 2;
  using Pack = XsimdPack<8>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::int16_t* panel, std::int32_t weights) noexcept {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel));
    sum.sum = _mm256_add_epi32(sum.sum, _mm256_madd_epi16(x, _mm256_set1_epi32(weights)));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weight)));
    const __m256i integers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    sum.sum = _mm256_add_epi32(sum.sum, _mm256_madd_epi16(integers, words));
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[2], const Pack&, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m256i low = _mm256_castps_si256((features[0] + offset).batch),
                  high = _mm256_castps_si256((features[1] + offset).batch);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(panel),
                        _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0b10101010));
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX512BW__)
template <>
struct TupleDot<std::int16_t, XsimdPack<16>> {
  static constexpr std::size_t tuple_size = 2;
  using Pack = XsimdPack<16>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::int16_t* panel, std::int32_t weights) noexcept {
    sum.sum = _mm512_add_epi32(sum.sum, _mm512_madd_epi16(_mm512_loadu_si512(panel), _mm512_set1_epi32(weights)));
  }
  static LADON_INLINE void add_folded(Sums& sum, const Pack& integers, std::int64_t weights) noexcept {
    const __m512i products = _mm512_madd_epi16(_mm512_castps_si512(integers.batch), _mm512_set1_epi64(weights));
    sum.sum = _mm512_add_epi32(sum.sum, products);
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m512i words = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight)));
    sum.sum = _mm512_add_epi32(sum.sum, _mm512_madd_epi16(_mm512_loadu_si512(x), words));
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[2], const Pack&, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m512i low = _mm512_castps_si512((features[0] + offset).batch),
                  high = _mm512_castps_si512((features[1] + offset).batch);
    _mm512_storeu_si512(panel,
                        _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi32(0xffff)), _mm512_slli_epi32(high, 16)));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
