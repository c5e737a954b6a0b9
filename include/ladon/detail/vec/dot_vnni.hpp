// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product on x86 with VNNI. vpdpbusd multiplies four unsigned features by four signed weights in
// each 32-bit lane, and adds the products without saturation.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/dot.hpp>

#if LADON_HAS_XSIMD && LADON_VNNI

namespace LADON_NAMESPACE::detail::vec {

// add_dot returns `sum` plus the products of unsigned `x` and signed `w`. add_dot_at takes the address of `w`, as the
// memory operand: otherwise, g++ would load the weights of several steps first, in an order that is slower.
//
// Assembly for g++: with the intrinsic, g++ 12 copies and spills accumulators (46% instead of 90% of peak, Zen 5).
// Without AVX-512, the prefix {vex} selects the encoding of AVX-VNNI.
#if defined(__clang__) && defined(__AVX512F__)
LADON_INLINE __m128i add_dot(__m128i sum, __m128i x, __m128i w) noexcept { return _mm_dpbusd_epi32(sum, x, w); }
LADON_INLINE __m256i add_dot(__m256i sum, __m256i x, __m256i w) noexcept { return _mm256_dpbusd_epi32(sum, x, w); }
LADON_INLINE __m512i add_dot(__m512i sum, __m512i x, __m512i w) noexcept { return _mm512_dpbusd_epi32(sum, x, w); }
#elif defined(__clang__)
LADON_INLINE __m128i add_dot(__m128i sum, __m128i x, __m128i w) noexcept { return _mm_dpbusd_avx_epi32(sum, x, w); }
LADON_INLINE __m256i add_dot(__m256i sum, __m256i x, __m256i w) noexcept { return _mm256_dpbusd_avx_epi32(sum, x, w); }
#else
#if defined(__AVX512F__)
#define LADON_VEX
#else
#define LADON_VEX "%{vex%} "
#endif
template <class Register>
LADON_INLINE Register add_dot(Register sum, Register x, Register w) noexcept {
  asm(LADON_VEX "vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(x), "v"(w));
  return sum;
}
#endif

template <class Register>
LADON_INLINE Register add_dot_at(Register sum, Register x, const std::int8_t* w) noexcept {
  struct Weights {
    std::int8_t bytes[sizeof(Register)];
  };
#if defined(__clang__)
  return add_dot(sum, x, ladon::bit_cast<Register>(*reinterpret_cast<const Weights*>(w)));
#else
  asm(LADON_VEX "vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(x), "m"(*reinterpret_cast<const Weights*>(w)));
  return sum;
#endif
}
#undef LADON_VEX

// store_tuple packs the low bytes of four integers into one lane. From the lowest byte on:
//     even    q0  *   q2  *
//     odd     q1  *   q3  *
//     bytes   q0  q1  q2  q3

template <>
struct TupleDot<std::uint8_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 4;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::uint8_t* panel, std::int32_t weights) noexcept {
    sum.sum = add_dot(sum.sum, load(panel), _mm_set1_epi32(weights));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = add_dot_at(sum.sum, load(x), weight);
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto rounded = [](const Pack& x) LADON_INLINE_LAMBDA {
      return _mm_castps_si128((x + Pack::broadcast(round_to_low_bits)).batch);
    };
    const auto merged = [](__m128i low, __m128i high)
                            LADON_INLINE_LAMBDA { return _mm_blend_epi16(low, _mm_slli_epi32(high, 16), 0b10101010); };
    const __m128i even = merged(rounded(features[0]), rounded(features[2])),
                  odd = merged(rounded(features[1]), rounded(features[3]));
    const __m128i bytes = _mm_or_si128(_mm_and_si128(even, _mm_set1_epi16(0xff)), _mm_slli_epi16(odd, 8));
    const __m128i zero_points = _mm_mullo_epi32(_mm_cvtps_epi32(zero.batch), _mm_set1_epi32(0x01010101));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(panel), _mm_add_epi8(bytes, zero_points));
  }

 private:
  static LADON_INLINE __m128i load(const void* from) noexcept {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
};

template <>
struct TupleDot<std::uint8_t, XsimdPack<8>> {
  static constexpr std::size_t tuple_size = 4;
  using Pack = XsimdPack<8>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::uint8_t* panel, std::int32_t weights) noexcept {
    sum.sum = add_dot(sum.sum, load(panel), _mm256_set1_epi32(weights));
  }
#if defined(__AVX512VL__)
  static LADON_INLINE void add_folded(Sums& sum, const Pack& integers, std::int64_t weights) noexcept {
    sum.sum = add_dot(sum.sum, _mm256_castps_si256(integers.batch), _mm256_set1_epi64x(weights));
  }
#endif
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = add_dot_at(sum.sum, load(x), weight);
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto rounded = [](const Pack& x) LADON_INLINE_LAMBDA {
      return _mm256_castps_si256((x + Pack::broadcast(round_to_low_bits)).batch);
    };
    const auto merged = [](__m256i low, __m256i high) LADON_INLINE_LAMBDA {
      return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0b10101010);
    };
    const __m256i even = merged(rounded(features[0]), rounded(features[2])),
                  odd = merged(rounded(features[1]), rounded(features[3]));
    const __m256i bytes = _mm256_or_si256(_mm256_and_si256(even, _mm256_set1_epi16(0xff)), _mm256_slli_epi16(odd, 8));
    const __m256i zero_points = _mm256_mullo_epi32(_mm256_cvtps_epi32(zero.batch), _mm256_set1_epi32(0x01010101));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(panel), _mm256_add_epi8(bytes, zero_points));
  }

 private:
  static LADON_INLINE __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
};

#if defined(__AVX512F__)
template <>
struct TupleDot<std::uint8_t, XsimdPack<16>> {
  static constexpr std::size_t tuple_size = 4;
  using Pack = XsimdPack<16>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::uint8_t* panel, std::int32_t weights) noexcept {
    sum.sum = add_dot(sum.sum, _mm512_loadu_si512(panel), _mm512_set1_epi32(weights));
  }
  static LADON_INLINE void add_folded(Sums& sum, const Pack& integers, std::int64_t weights) noexcept {
    sum.sum = add_dot(sum.sum, _mm512_castps_si512(integers.batch), _mm512_set1_epi64(weights));
  }
  // Like add_folded, for 8 tokens in `integers` and 4 tokens in `others`, with one broadcast.
  static LADON_INLINE void add_three_quarters(Sums& sum, IntegerSums<XsimdPack<8>>& other_sum, const Pack& integers,
                                              const XsimdPack<8>& others, std::int64_t weights) noexcept {
    const __m512i broadcast = _mm512_set1_epi64(weights);
    sum.sum = add_dot(sum.sum, _mm512_castps_si512(integers.batch), broadcast);
    other_sum.sum = add_dot(other_sum.sum, _mm256_castps_si256(others.batch), _mm512_castsi512_si256(broadcast));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = add_dot_at(sum.sum, _mm512_loadu_si512(x), weight);
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto rounded = [](const Pack& x) LADON_INLINE_LAMBDA {
      return _mm512_castps_si512((x + Pack::broadcast(round_to_low_bits)).batch);
    };
    const auto merged = [](__m512i low, __m512i high) LADON_INLINE_LAMBDA {
      return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
    };
    const __m512i even = merged(rounded(features[0]), rounded(features[2])),
                  odd = merged(rounded(features[1]), rounded(features[3]));
    const __m512i bytes = _mm512_or_si512(_mm512_and_si512(even, _mm512_set1_epi16(0xff)), _mm512_slli_epi16(odd, 8));
    const __m512i zero_points = _mm512_mullo_epi32(_mm512_cvtps_epi32(zero.batch), _mm512_set1_epi32(0x01010101));
    _mm512_storeu_si512(panel, _mm512_add_epi8(bytes, zero_points));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec

#endif
