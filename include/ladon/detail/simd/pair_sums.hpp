// Sums of products of 16-bit integers, for int8 products. Lane i of a PairSums belongs to lane i of a Pack of floats.
// Two consecutive features of a token share a 32-bit lane, so one step adds two products to each lane:
//
//     sum[lane] += panel[lane][0] * pair[0] + panel[lane][1] * pair[1]
//
// A sum does not overflow: most_int8_features (detail/memory/weight_rows.hpp) limits the number of features.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/simd/vectors.hpp>

#if LADON_HAS_XSIMD && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ladon::inline LADON_ABI::detail::simd {

// Returns two 16-bit integers as one of 32 bits. `first` is the low half.
constexpr std::int32_t pair_of(std::int32_t first, std::int32_t second) noexcept {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(first) & 0xffffu) |
                                   (static_cast<std::uint32_t>(second) << 16));
}

// Adding this number to a float x with |x| < 2^21 rounds x to the nearest integer, and to the even one if two are
// equally near. The low 16 bits of the sum are then this integer.
inline constexpr float round_to_low_bits = 12582912.0f;  // 1.5 * 2^23

// The implementation for plain arrays. Every other implementation gives the same results.
template <class Pack>
struct PairSums {
  std::int32_t lane[Pack::lanes];

  static LADON_INLINE constexpr PairSums zero() noexcept {
    PairSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = 0;
    return result;
  }
  // Adds a step. `panel` is [lanes][2].
  LADON_INLINE constexpr void add(const std::int16_t* panel, std::int32_t pair) noexcept {
    const auto first = static_cast<std::int16_t>(pair & 0xffff), second = static_cast<std::int16_t>(pair >> 16);
    LADON_UNROLL
    for (std::size_t i = 0; i < Pack::lanes; ++i) lane[i] += panel[2 * i] * first + panel[2 * i + 1] * second;
  }
  // Adds the products of 2 * lanes integers at `x` and 2 * lanes weights at `weight`. Which lane gets a product, is
  // left to the implementation.
  LADON_INLINE constexpr void add_products(const std::int16_t* x, const std::int8_t* weight) noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < 2 * Pack::lanes; ++i) lane[i / 2] += x[i] * weight[i];
  }
  static LADON_INLINE constexpr PairSums load(const std::int32_t* sums) noexcept {
    PairSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = sums[i];
    return result;
  }
  // Returns the sum of all lanes.
  friend LADON_INLINE constexpr std::int32_t reduce_add(const PairSums& a) noexcept {
    std::int32_t total = 0;
    for (std::size_t i = 0; i < Pack::lanes; ++i) total += a.lane[i];
    return total;
  }
  // Returns the sums as floats, rounded to nearest.
  LADON_INLINE constexpr Pack to_float() const noexcept {
    float values[Pack::lanes];
    for (std::size_t i = 0; i < Pack::lanes; ++i) values[i] = static_cast<float>(lane[i]);
    return Pack::load(values);
  }
  // Rounds two features of each lane to integers and writes them to `panel` [lanes][2]. Precondition: the integers have
  // 16 bits.
  static LADON_INLINE constexpr void store_pairs(const Pack& first, const Pack& second, std::int16_t* panel) noexcept {
    float low[Pack::lanes], high[Pack::lanes];
    (first + Pack::broadcast(round_to_low_bits)).store(low);
    (second + Pack::broadcast(round_to_low_bits)).store(high);
    const auto integer = [](float sum) {
      return static_cast<std::int16_t>(ladon::bit_cast<std::uint32_t>(sum) & 0xffffu);
    };
    for (std::size_t i = 0; i < Pack::lanes; ++i) {
      panel[2 * i] = integer(low[i]);
      panel[2 * i + 1] = integer(high[i]);
    }
  }
};

#if LADON_HAS_XSIMD && defined(__SSE2__)
template <>
struct PairSums<XsimdPack<4>> {
  using Pack = XsimdPack<4>;
  __m128i sum;

  static LADON_INLINE PairSums zero() noexcept { return {_mm_setzero_si128()}; }
  LADON_INLINE void add(const std::int16_t* panel, std::int32_t pair) noexcept {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(panel));
    sum = _mm_add_epi32(sum, _mm_madd_epi16(x, _mm_set1_epi32(pair)));
  }
  LADON_INLINE void add_products(const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weight));
    const __m128i words = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
    sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)), words));
  }
  static LADON_INLINE PairSums load(const std::int32_t* sums) noexcept {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(sums))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const PairSums& a) noexcept {
    const __m128i halves = _mm_add_epi32(a.sum, _mm_shuffle_epi32(a.sum, 0b01001110));
    return _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0b10110001)));
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm_cvtepi32_ps(sum)); }
  static LADON_INLINE void store_pairs(const Pack& first, const Pack& second, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m128i low = _mm_castps_si128((first + offset).batch), high = _mm_castps_si128((second + offset).batch);
    const __m128i pairs = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi32(0xffff)), _mm_slli_epi32(high, 16));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(panel), pairs);
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX2__)
template <>
struct PairSums<XsimdPack<8>> {
  using Pack = XsimdPack<8>;
  __m256i sum;

  static LADON_INLINE PairSums zero() noexcept { return {_mm256_setzero_si256()}; }
  LADON_INLINE void add(const std::int16_t* panel, std::int32_t pair) noexcept {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_set1_epi32(pair)));
  }
  LADON_INLINE void add_products(const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m256i words = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weight)));
    const __m256i integers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(integers, words));
  }
  static LADON_INLINE PairSums load(const std::int32_t* sums) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const PairSums& a) noexcept {
    const __m128i low = _mm256_castsi256_si128(a.sum), high = _mm256_extracti128_si256(a.sum, 1);
    return reduce_add(PairSums<XsimdPack<4>>{_mm_add_epi32(low, high)});
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm256_cvtepi32_ps(sum)); }
  static LADON_INLINE void store_pairs(const Pack& first, const Pack& second, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m256i low = _mm256_castps_si256((first + offset).batch),
                  high = _mm256_castps_si256((second + offset).batch);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(panel),
                        _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0b10101010));
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX512BW__)
template <>
struct PairSums<XsimdPack<16>> {
  using Pack = XsimdPack<16>;
  __m512i sum;

  static LADON_INLINE PairSums zero() noexcept { return {_mm512_setzero_si512()}; }
  LADON_INLINE void add(const std::int16_t* panel, std::int32_t pair) noexcept {
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_loadu_si512(panel), _mm512_set1_epi32(pair)));
  }
  LADON_INLINE void add_products(const std::int16_t* x, const std::int8_t* weight) noexcept {
    const __m512i words = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight)));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_loadu_si512(x), words));
  }
  static LADON_INLINE PairSums load(const std::int32_t* sums) noexcept { return {_mm512_loadu_si512(sums)}; }
  friend LADON_INLINE std::int32_t reduce_add(const PairSums& a) noexcept {
    const __m256i low = _mm512_castsi512_si256(a.sum), high = _mm512_extracti64x4_epi64(a.sum, 1);
    return reduce_add(PairSums<XsimdPack<8>>{_mm256_add_epi32(low, high)});
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(_mm512_cvtepi32_ps(sum)); }
  static LADON_INLINE void store_pairs(const Pack& first, const Pack& second, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    const __m512i low = _mm512_castps_si512((first + offset).batch),
                  high = _mm512_castps_si512((second + offset).batch);
    _mm512_storeu_si512(panel,
                        _mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi32(0xffff)), _mm512_slli_epi32(high, 16)));
  }
};
#endif

}  // namespace ladon::inline LADON_ABI::detail::simd
