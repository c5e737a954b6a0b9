// SPDX-License-Identifier: Apache-2.0
// One step of a product of bfloat16 weights and bfloat16 features. An instruction multiplies a pair of features by a
// pair of weights, and adds both products to a float32 sum:
//     vdpbf16ps   AVX512_BF16   sum = fma(x0, w0, fma(x1, w1, sum))    each fma is rounded to nearest
//     BFDOT       FEAT_BF16     sum = sum + (x0 * w0 + x1 * w1)        each addition is rounded to odd
//
// Rounding to odd: an inexact sum becomes the neighbour whose last bit is 1, so the error is less than 2^-23 of the
// sum. Both read subnormal numbers as 0, and return 0 instead of a subnormal sum. With the bit EBF of FPCR
// (FEAT_EBF16), BFDOT rounds to nearest and keeps subnormal numbers, so last bits depend on this bit.
//
// A Row is a register of 2 * lanes consecutive features or weights, for the product of a single token.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/dot_x86.hpp>

namespace LADON_NAMESPACE::detail::vec {

// The implementation for plain arrays.
template <class Pack>
struct TupleDot<BFloat16, Pack> {
  static constexpr std::size_t tuple_size = 2, features = 2;
  using Sums = Pack;
  using Features = const BFloat16*;
  struct Row {
    BFloat16 element[tuple_size * Pack::lanes];
  };

  static LADON_INLINE constexpr Features load(const BFloat16* panel) noexcept { return panel; }
  static LADON_INLINE constexpr const BFloat16* weights(const BFloat16* weight) noexcept { return weight; }
  static LADON_INLINE constexpr void add(Sums& sum, Features panel, const BFloat16* weight) noexcept {
    for (std::size_t j = tuple_size; j-- > 0;) {
      sum = fma(feature(panel, j), Pack::broadcast(to_float(weight[j])), sum);
    }
  }
  // Elements from number `count` on are 0.
  static LADON_INLINE constexpr Row load_row(const BFloat16* from,
                                             std::size_t count = tuple_size * Pack::lanes) noexcept {
    Row row{};
    for (std::size_t i = 0; i < count; ++i) row.element[i] = from[i];
    return row;
  }
  // Adds x[2 i] * weight[2 i] + x[2 i + 1] * weight[2 i + 1] to lane i.
  static LADON_INLINE constexpr void add_products(Sums& sum, const Row& x, const Row& weight) noexcept {
    for (std::size_t j = tuple_size; j-- > 0;) sum = fma(feature(x.element, j), feature(weight.element, j), sum);
  }
  // Rounds the features to bfloat16 and writes them to `panel` [lanes][2].
  static LADON_INLINE constexpr void store_tuple(const Pack (&x)[tuple_size], BFloat16* panel) noexcept {
    for (std::size_t j = 0; j < tuple_size; ++j) {
      float lane[Pack::lanes];
      x[j].store(lane);
      for (std::size_t i = 0; i < Pack::lanes; ++i) panel[tuple_size * i + j] = to_bfloat16(lane[i]);
    }
  }

 private:
  // Returns the pack whose lane i is elements[2 i + j].
  static LADON_INLINE constexpr Pack feature(const BFloat16* elements, std::size_t j) noexcept {
    float lane[Pack::lanes]{};
    for (std::size_t i = 0; i < Pack::lanes; ++i) lane[i] = to_float(elements[tuple_size * i + j]);
    return Pack::load(lane);
  }
};

#if LADON_HAS_XSIMD && LADON_BFLOAT16_DOT
// The instructions for a register of 2 * Lanes bfloat16 numbers. `pairs` rounds to (even[i], odd[i]). store_neighbours
// rounds and stores all lanes. For g++, the product is assembly, for the reason of add_dot in dot_x86.hpp.
template <std::size_t Lanes>
struct BFloat16Register;

template <>
struct BFloat16Register<4> {
  using Type = __m128i;
  static LADON_INLINE Type load_partial(const BFloat16* from, std::size_t count) noexcept {
    return _mm_maskz_loadu_epi16(static_cast<__mmask8>((1u << count) - 1), from);
  }
  static LADON_INLINE Type pairs(__m128 even, __m128 odd) noexcept {
    const auto halves = reinterpret_cast<Type>(_mm_cvtne2ps_pbh(odd, even));
    return _mm_unpacklo_epi16(halves, _mm_unpackhi_epi64(halves, halves));
  }
  static LADON_INLINE void store_neighbours(__m128 x, void* to) noexcept {
    _mm_storel_epi64(static_cast<Type*>(to), reinterpret_cast<Type>(_mm_cvtneps_pbh(x)));
  }
#if defined(__clang__)
  static LADON_INLINE __m128 add_products(__m128 sum, Type x, Type w) noexcept {
    return _mm_dpbf16_ps(sum, reinterpret_cast<__m128bh>(x), reinterpret_cast<__m128bh>(w));
  }
#endif
};

template <>
struct BFloat16Register<8> {
  using Type = __m256i;
  static LADON_INLINE Type load_partial(const BFloat16* from, std::size_t count) noexcept {
    return _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), from);
  }
  static LADON_INLINE Type pairs(__m256 even, __m256 odd) noexcept {
    const Type order = _mm256_setr_epi16(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    return _mm256_permutexvar_epi16(order, reinterpret_cast<Type>(_mm256_cvtne2ps_pbh(odd, even)));
  }
  static LADON_INLINE void store_neighbours(__m256 x, void* to) noexcept {
    X86Integers<4>::store(reinterpret_cast<__m128i>(_mm256_cvtneps_pbh(x)), to);
  }
#if defined(__clang__)
  static LADON_INLINE __m256 add_products(__m256 sum, Type x, Type w) noexcept {
    return _mm256_dpbf16_ps(sum, reinterpret_cast<__m256bh>(x), reinterpret_cast<__m256bh>(w));
  }
#endif
};

template <>
struct BFloat16Register<16> {
  using Type = __m512i;
  static LADON_INLINE Type load_partial(const BFloat16* from, std::size_t count) noexcept {
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << count) - 1), from);
  }
  static LADON_INLINE Type pairs(__m512 even, __m512 odd) noexcept {
    alignas(64) static constexpr std::uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                            21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                            11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const auto halves = reinterpret_cast<Type>(_mm512_cvtne2ps_pbh(odd, even));
    return _mm512_permutexvar_epi16(_mm512_load_si512(order), halves);
  }
  static LADON_INLINE void store_neighbours(__m512 x, void* to) noexcept {
    X86Integers<8>::store(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)), to);
  }
#if defined(__clang__)
  static LADON_INLINE __m512 add_products(__m512 sum, Type x, Type w) noexcept {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(w));
  }
#endif
};

template <std::size_t Lanes>
struct TupleDot<BFloat16, XsimdPack<Lanes>> {
  static constexpr std::size_t tuple_size = 2, features = 2;
  using Pack = XsimdPack<Lanes>;
  using Sums = Pack;
  using Register = BFloat16Register<Lanes>;
  using Integers = X86Integers<Lanes>;
  using Row = typename Register::Type;
  using Features = Row;

  static LADON_INLINE Features load(const void* panel) noexcept { return Integers::load(panel); }
  static LADON_INLINE Row weights(const BFloat16* weight) noexcept {
    return Integers::broadcast(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE Row load_row(const BFloat16* from) noexcept { return Integers::load(from); }
  static LADON_INLINE Row load_row(const BFloat16* from, std::size_t count) noexcept {
    return Register::load_partial(from, count);
  }
  static LADON_INLINE void add(Sums& sum, Row x, Row weight) noexcept {
#if defined(__clang__)
    sum = typename Pack::Batch(Register::add_products(sum.batch, x, weight));
#else
    auto total = static_cast<typename Pack::Batch::register_type>(sum.batch);
    asm("vdpbf16ps {%2, %1, %0|%0, %1, %2}" : "+v"(total) : "v"(x), "v"(weight));
    sum = typename Pack::Batch(total);
#endif
  }
  static LADON_INLINE void add_products(Sums& sum, Row x, Row weight) noexcept { add(sum, x, weight); }
  static LADON_INLINE void store_tuple(const Pack (&x)[tuple_size], BFloat16* panel) noexcept {
    Integers::store(Register::pairs(x[0].batch, x[1].batch), panel);
  }
};
#endif

#if LADON_HAS_XSIMD && LADON_ARM_BFLOAT16_DOT
// One load reads the weights of four steps. Tiles with an even number of rows use BFMMLA, which rounds like two BFDOT.
// Tiles with an odd number of rows use BFDOT.
template <>
struct TupleDot<BFloat16, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 2, features = 2, steps = 4;
  using Pack = XsimdPack<4>;
  using Sums = Pack;
  using Row = bfloat16x8_t;
  using Features = Row;
  using Weights = Row;

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
    const float64x2_t a = vreinterpretq_f64_f32(first.batch), b = vreinterpretq_f64_f32(second.batch);
    first = Pack::Batch(vreinterpretq_f32_f64(vzip1q_f64(a, b)));
    second = Pack::Batch(vreinterpretq_f32_f64(vzip2q_f64(a, b)));
  }
  static LADON_INLINE void load_matrices(const BFloat16* panel, const BFloat16* next_step, Features& first,
                                         Features& second) noexcept {
    const int32x4_t a = vreinterpretq_s32_bf16(load_row(panel)), b = vreinterpretq_s32_bf16(load_row(next_step));
    first = vreinterpretq_bf16_s32(vzip1q_s32(a, b));
    second = vreinterpretq_bf16_s32(vzip2q_s32(a, b));
  }
  static LADON_INLINE void load_rows(const BFloat16* row, const BFloat16* next_row, Weights& first,
                                     Weights& second) noexcept {
    const int64x2_t a = vreinterpretq_s64_bf16(load_row(row)), b = vreinterpretq_s64_bf16(load_row(next_row));
    first = vreinterpretq_bf16_s64(vzip1q_s64(a, b));
    second = vreinterpretq_bf16_s64(vzip2q_s64(a, b));
  }
  // volatile, for the reason of add_matrix in dot_arm64.hpp.
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
  static LADON_INLINE void add_products(Sums& sum, Row x, Row weight) noexcept { add(sum, x, weight); }
  static LADON_INLINE void store_tuple(const Pack (&x)[tuple_size], BFloat16* panel) noexcept {
    const auto halves = [](const Pack& pack)
                            LADON_INLINE_LAMBDA { return vreinterpretq_u16_bf16(vcvtq_low_bf16_f32(pack.batch)); };
    vst1q_u16(reinterpret_cast<std::uint16_t*>(panel), vzip1q_u16(halves(x[0]), halves(x[1])));
  }
};
#endif

// Packs whose lanes hold pairs of bfloat16 numbers, the first in the low half. Attention stores queries, keys, values
// and weights as pairs in arrays of floats.
//     to_pairs(first, second)     rounds two packs of floats to the pairs (first[i], second[i])
//     store_neighbours(x, to)     rounds lanes 2 i and 2 i + 1 to the pair to[i]
//     add_products(sum, a, b)     adds two products to each lane, with the rounding of TupleDot<BFloat16, Pack>
LADON_INLINE constexpr float to_pair(float first, float second) noexcept {
  const std::uint32_t low = to_bfloat16(first).bits, high = to_bfloat16(second).bits;
  return ladon::bit_cast<float>(high << 16 | low);
}
// Returns a pair whose other number is 0.
LADON_INLINE constexpr float only_first(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffffu);
}
LADON_INLINE constexpr float only_second(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffff0000u);
}
inline constexpr float pair_of_ones = to_pair(1, 1);

template <class Pack>
struct BFloat16Pairs {
  static LADON_INLINE constexpr Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return to_pair(first.lane[i], second.lane[i]); });
  }
  static LADON_INLINE constexpr void store_neighbours(const Pack& x, float* to) noexcept {
    for (std::size_t i = 0; i + 1 < Pack::lanes; i += 2) to[i / 2] = to_pair(x.lane[i], x.lane[i + 1]);
  }
  static LADON_INLINE constexpr void add_products(Pack& sum, const Pack& a, const Pack& b) noexcept {
    sum = fma(second_of(a), second_of(b), sum);
    sum = fma(first_of(a), first_of(b), sum);
  }

 private:
  static LADON_INLINE constexpr Pack first_of(const Pack& pairs) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pairs.lane[i]) << 16);
    });
  }
  static LADON_INLINE constexpr Pack second_of(const Pack& pairs) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return only_second(pairs.lane[i]); });
  }
};

#if LADON_HAS_XSIMD && LADON_BFLOAT16_DOT
template <std::size_t Lanes>
struct BFloat16Pairs<XsimdPack<Lanes>> {
  using Pack = XsimdPack<Lanes>;
  using Register = BFloat16Register<Lanes>;

  static LADON_INLINE Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    return typename Pack::Batch(floats(Register::pairs(first.batch, second.batch)));
  }
  static LADON_INLINE void store_neighbours(const Pack& x, float* to) noexcept {
    Register::store_neighbours(x.batch, to);
  }
  static LADON_INLINE void add_products(Pack& sum, const Pack& a, const Pack& b) noexcept {
    TupleDot<BFloat16, Pack>::add(sum, bits(a), bits(b));
  }

 private:
  using Floats = typename Pack::Batch::register_type;
  static LADON_INLINE Floats floats(typename Register::Type x) noexcept { return reinterpret_cast<Floats>(x); }
  static LADON_INLINE typename Register::Type bits(const Pack& x) noexcept {
    return reinterpret_cast<typename Register::Type>(static_cast<Floats>(x.batch));
  }
};
#endif

// A step of pairs in an array of floats: two features of each token, and two weights.
template <class Pack>
struct PairDot : FloatDot<Pack> {
  static LADON_INLINE constexpr void add(Pack& sum, const Pack& x, const Pack& weight) noexcept {
    BFloat16Pairs<Pack>::add_products(sum, x, weight);
  }
};

}  // namespace LADON_NAMESPACE::detail::vec
