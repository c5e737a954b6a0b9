// SPDX-License-Identifier: Apache-2.0
// The dots of int8 and bfloat16 products on x86, for registers of 128, 256 and 512 bits. With VNNI, vpdpbusd multiplies
// four unsigned features by four signed weights in each 32-bit lane, and adds the products without saturation. Without
// VNNI, vpmaddubsw multiplies features of 7 bits, and adds two products in 16 bits. Features of 8 bits are then stored
// in 16 bits: vpmaddwd multiplies a pair of features by a pair of weights, and adds both products.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <immintrin.h>

namespace LADON_NAMESPACE::detail::vec {

// The instructions for a register of N 32-bit integers.
//     merge_words(low, high)   each lane: the low 16 bits of `low`, and above them the low 16 bits of `high`
//     merge_bytes(even, odd)   each 16-bit word: the low 8 bits of `even`, and above them the low 8 bits of `odd`
//     words(from)              2 * N signed bytes, widened to 16 bits
//     repeat_byte(x)           copies the lowest byte of a lane to all its bytes; the other bytes of `x` must be 0
//     add_neighbours(a)        N / 2 lanes: the sums of lanes 2 i and 2 i + 1
template <std::size_t N>
struct IntegerRegister {
  using Batch = xsimd::make_sized_batch_t<std::int32_t, N>;
  using Type = typename Batch::register_type;
  using Floats = typename XsimdPack<N>::Batch::register_type;
  using Half = IntegerRegister<N / 2>;

  // xsimd loads with lddqu. g++ does not merge an lddqu into the instruction that uses the register.
  static LADON_INLINE Type load(const void* from) noexcept { return load_as<Type>(from); }
  static LADON_INLINE void store(Type x, void* to) noexcept {
    Batch(x).store_unaligned(static_cast<std::int32_t*>(to));
  }
  static LADON_INLINE Type broadcast(std::int32_t x) noexcept { return Batch(x); }
  static LADON_INLINE Type add(Type a, Type b) noexcept { LADON_X86(add_epi32, a, b); }
  static LADON_INLINE Type add_bytes(Type a, Type b) noexcept { LADON_X86(add_epi8, a, b); }
  static LADON_INLINE Type multiply(Type a, Type b) noexcept { LADON_X86(mullo_epi32, a, b); }
  static LADON_INLINE Type bit_and(Type a, Type b) noexcept { return Batch(a) & Batch(b); }
  static LADON_INLINE Type upper_halves(Type x) noexcept { LADON_X86(srli_epi16, x, 4); }
  static LADON_INLINE Type look_up(Type table, Type number) noexcept { LADON_X86(shuffle_epi8, table, number); }
  // Multiplies the 16-bit words of `a` and `b`, and adds the two products of each lane to `sum`. Assembly for g++: with
  // intrinsics, g++ 12 multiplies all pairs of a step before it adds the first product, so products occupy as many
  // registers as sums.
  static LADON_INLINE Type add_products_of_pairs(Type sum, Type a, Type b) noexcept {
#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
    Type products;
    asm("vpmaddwd {%3, %2, %1|%1, %2, %3}\n\tvpaddd {%1, %0, %0|%0, %0, %1}"
        : "+v"(sum), "=&v"(products)
        : "v"(a), "v"(b));
    return sum;
#else
    return add(sum, products_of_pairs(a, b));
#endif
  }
  static LADON_INLINE Type repeat_byte(Type x) noexcept { return multiply(x, broadcast(0x01010101)); }
  static LADON_INLINE Type bits(Floats x) noexcept { return ladon::bit_cast<Type>(x); }
  static LADON_INLINE Type integers(Floats x) noexcept { LADON_X86(cvtps_epi32, x); }
  static LADON_INLINE Floats floats(Type x) noexcept { LADON_X86(cvtepi32_ps, x); }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    const Type above = raise_words(high);
#if LADON_SSE4_1
    if constexpr (N == 16) {
      return _mm512_mask_blend_epi16(0xaaaaaaaa, low, above);
    } else {
      LADON_X86(blend_epi16, low, above, 0b10101010);
    }
#else
    return (Batch(low) & Batch(0xffff)) | Batch(above);
#endif
  }
  static LADON_INLINE Type merge_bytes(Type even, Type odd) noexcept {
    return (Batch(even) & Batch(0x00ff00ff)) | Batch(raise_bytes(odd));
  }
  static LADON_INLINE Type words(const std::int8_t* from) noexcept {
    if constexpr (N > 4) {
      LADON_X86(cvtepi8_epi16, Half::load(from));
    } else {
      const Type bytes = _mm_loadl_epi64(reinterpret_cast<const Type*>(from));
#if LADON_SSE4_1
      return _mm_cvtepi8_epi16(bytes);
#else
      return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
#endif
    }
  }
  static LADON_INLINE std::int32_t reduce_add(Type a) noexcept {
    using Quad = IntegerRegister<4>;
    const __m128i quad = add_quads(a), halves = Quad::add(quad, _mm_shuffle_epi32(quad, 0b01001110));
    return _mm_cvtsi128_si32(Quad::add(halves, _mm_shuffle_epi32(halves, 0b10110001)));
  }
  // Lane j of the result is the sum over i of lane 4 i + j.
  static LADON_INLINE __m128i add_quads(Type a) noexcept {
    if constexpr (N == 16) {
      return Half::add_quads(Half::add(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1)));
    } else if constexpr (N == 8) {
      return Half::add(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    } else {
      return a;
    }
  }
  static LADON_INLINE __m128i reduce_add(Type a, Type b, Type c, Type d) noexcept {
    const Type ab = add(lower_words(a, b), upper_words(a, b)), cd = add(lower_words(c, d), upper_words(c, d));
    return add_quads(add(lower_pairs(ab, cd), upper_pairs(ab, cd)));
  }
  static LADON_INLINE auto add_neighbours(Type a) noexcept { LADON_X86(cvtepi64_epi32, add(a, upper_of_pairs(a))); }

  static LADON_INLINE Type products_of_pairs(Type a, Type b) noexcept { LADON_X86(madd_epi16, a, b); }
#if LADON_SSE4_1
  // Multiplies unsigned bytes of `a` by signed bytes of `b`, and adds two products with saturation to 16 bits.
  static LADON_INLINE Type products_of_bytes(Type a, Type b) noexcept { LADON_X86(maddubs_epi16, a, b); }
#endif

 private:
  static LADON_INLINE Type raise_words(Type x) noexcept { LADON_X86(slli_epi32, x, 16); }
  static LADON_INLINE Type raise_bytes(Type x) noexcept { LADON_X86(slli_epi16, x, 8); }
  static LADON_INLINE Type lower_words(Type a, Type b) noexcept { LADON_X86(unpacklo_epi32, a, b); }
  static LADON_INLINE Type upper_words(Type a, Type b) noexcept { LADON_X86(unpackhi_epi32, a, b); }
  static LADON_INLINE Type lower_pairs(Type a, Type b) noexcept { LADON_X86(unpacklo_epi64, a, b); }
  static LADON_INLINE Type upper_pairs(Type a, Type b) noexcept { LADON_X86(unpackhi_epi64, a, b); }
  static LADON_INLINE Type upper_of_pairs(Type x) noexcept { LADON_X86(srli_epi64, x, 32); }
};

template <std::size_t Lanes>
inline constexpr bool has_integers =
#if defined(__AVX512BW__)
    Lanes == 16 ||
#endif
#if defined(__AVX2__)
    Lanes == 8 ||
#endif
    Lanes == 4;

inline constexpr bool multiplies_bytes = LADON_SSE4_1;
#if LADON_VNNI
// Returns `sum` plus the products of unsigned `x` and signed `w`. `w` is a register, or Bytes, which become a memory
// operand. Without the memory operand, g++ 12 would change the order of the loads, and read memory more slowly.
//
// Assembly for g++: with the intrinsic, g++ 12 copies and spills accumulators (46% instead of 90% of peak, Zen 5).
// Without AVX-512, the prefix {vex} selects the encoding of AVX-VNNI.
template <class Register, class Weights>
LADON_INLINE Register add_dot(Register sum, Register x, const Weights& w) noexcept {
#if !defined(__GNUC__) || defined(__clang__)
  constexpr std::size_t N = sizeof(Register) / 4;
#if defined(__AVX512F__)
  LADON_X86(dpbusd_epi32, sum, x, ladon::bit_cast<Register>(w));
#else
  LADON_X86(dpbusd_avx_epi32, sum, x, ladon::bit_cast<Register>(w));
#endif
#else
#if defined(__AVX512F__)
#define LADON_VPDPBUSD "vpdpbusd {%2, %1, %0|%0, %1, %2}"
#else
#define LADON_VPDPBUSD "%{vex%} vpdpbusd {%2, %1, %0|%0, %1, %2}"
#endif
  if constexpr (std::is_same_v<Weights, Register>) {
    asm(LADON_VPDPBUSD : "+v"(sum) : "v"(x), "v"(w));
  } else {
    asm(LADON_VPDPBUSD : "+v"(sum) : "v"(x), "m"(w));
  }
  return sum;
#endif
}
#elif LADON_SSE4_1
// add_dot for features of 7 bits: vpmaddubsw adds two products in 16 bits, and would saturate with 8 bits.
template <class Register, class Weights>
LADON_INLINE Register add_dot(Register sum, Register x, const Weights& w) noexcept {
  using Integers = IntegerRegister<sizeof(Register) / 4>;
  const auto ones = Integers::broadcast(std::int32_t{0x00010001});
#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
  Register products;
#define LADON_ADD_DOT                                                          \
  "vpmaddubsw {%3, %2, %1|%1, %2, %3}\n\tvpmaddwd {%4, %1, %1|%1, %1, %4}\n\t" \
  "vpaddd {%1, %0, %0|%0, %0, %1}"
  if constexpr (std::is_same_v<Weights, Register>) {
    asm(LADON_ADD_DOT : "+v"(sum), "=&v"(products) : "v"(x), "v"(w), "v"(ones));
  } else {
    asm(LADON_ADD_DOT : "+v"(sum), "=&v"(products) : "v"(x), "m"(w), "v"(ones));
  }
  return sum;
#else
  return Integers::add(sum,
                       Integers::products_of_pairs(Integers::products_of_bytes(x, ladon::bit_cast<Register>(w)), ones));
#endif
}
#endif

#if LADON_BFLOAT16_DOT
// For g++, add_products is assembly, because with the intrinsic, g++ 12 copies and spills accumulators.
template <std::size_t N>
struct BFloat16Pairs<XsimdPack<N>> {
  using Pack = XsimdPack<N>;
  using Integers = IntegerRegister<N>;
  using Type = typename Integers::Type;
  using Floats = typename Integers::Floats;

  // An integer broadcast: bench/tuning-log.md.
  static LADON_INLINE Pack broadcast(std::int32_t pair) noexcept {
    return ladon::bit_cast<Floats>(Integers::broadcast(pair));
  }
  static LADON_INLINE Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    alignas(64) static constexpr auto order = [] {
      std::array<std::uint16_t, 2 * N> lane{};
      for (std::size_t i = 0; i < 2 * N; ++i) lane[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * N);
      return lane;
    }();
    const auto halves = ladon::bit_cast<Type>(round_two(second.batch, first.batch));
    return ladon::bit_cast<Floats>(permuted(Integers::load(order.data()), halves));
  }
  static LADON_INLINE void store(const Pack& pairs, BFloat16* to) noexcept {
    Integers::store(Integers::bits(pairs.batch), to);
  }
  static LADON_INLINE void store_neighbours(const Pack& x, float* to) noexcept {
    const auto halves = to_bfloat16s(x.batch);
    std::memcpy(to, &halves, N * sizeof(BFloat16));
  }
  static LADON_INLINE void add_products(Pack& sum, const Pack& a, const Pack& b) noexcept {
    sum = add(sum.batch, a.batch, b.batch);
  }

 private:
  static LADON_INLINE Floats add(Floats sum, Floats a, Floats b) noexcept {
#if !defined(__GNUC__) || defined(__clang__)
    using Pairs = decltype(round_two(sum, sum));
    LADON_X86(dpbf16_ps, sum, ladon::bit_cast<Pairs>(a), ladon::bit_cast<Pairs>(b));
#else
    asm("vdpbf16ps {%2, %1, %0|%0, %1, %2}" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
#endif
  }
  static LADON_INLINE Type permuted(Type order, Type a) noexcept { LADON_X86(permutexvar_epi16, order, a); }
  static LADON_INLINE auto to_bfloat16s(Floats x) noexcept { LADON_X86(cvtneps_pbh, x); }
  static LADON_INLINE auto round_two(Floats high, Floats low) noexcept { LADON_X86(cvtne2ps_pbh, high, low); }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
