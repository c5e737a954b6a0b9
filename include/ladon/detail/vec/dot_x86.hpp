// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product on x86, for registers of 128, 256 and 512 bits. With VNNI, vpdpbusd multiplies four
// unsigned features by four signed weights in each 32-bit lane, and adds the products without saturation. Without VNNI,
// vpmaddwd multiplies a pair of 16-bit features by a pair of weights, and returns the sum of both products.
#pragma once

#include <immintrin.h>

namespace LADON_NAMESPACE::detail::vec {

// The instructions for a register of Lanes 32-bit integers.
//     merge_words(low, high)   the low 16 bits of each lane of `low`, and above them those of `high`
//     merge_bytes(even, odd)   the low 8 bits of each 16-bit word of `even`, and above them those of `odd`
//     words(from)              2 * Lanes bytes as words of 16 bits, with their signs
template <std::size_t Lanes>
struct X86Integers;

template <>
struct X86Integers<4> {
  using Type = __m128i;
  static LADON_INLINE Type load(const void* from) noexcept { return _mm_loadu_si128(static_cast<const Type*>(from)); }
  static LADON_INLINE void store(Type x, void* to) noexcept { _mm_storeu_si128(static_cast<Type*>(to), x); }
  static LADON_INLINE Type broadcast(std::int32_t x) noexcept { return _mm_set1_epi32(x); }
  static LADON_INLINE Type add(Type a, Type b) noexcept { return _mm_add_epi32(a, b); }
  static LADON_INLINE Type add_bytes(Type a, Type b) noexcept { return _mm_add_epi8(a, b); }
  static LADON_INLINE Type products_of_pairs(Type a, Type b) noexcept { return _mm_madd_epi16(a, b); }
  static LADON_INLINE Type bits(__m128 x) noexcept { return _mm_castps_si128(x); }
  static LADON_INLINE Type integers(__m128 x) noexcept { return _mm_cvtps_epi32(x); }
  static LADON_INLINE __m128 floats(Type x) noexcept { return _mm_cvtepi32_ps(x); }
  static LADON_INLINE Type merge_bytes(Type even, Type odd) noexcept {
    return _mm_or_si128(_mm_and_si128(even, _mm_set1_epi16(0xff)), _mm_slli_epi16(odd, 8));
  }
#if defined(__SSE4_1__)
  static LADON_INLINE Type multiply(Type a, Type b) noexcept { return _mm_mullo_epi32(a, b); }
  static LADON_INLINE Type words(const std::int8_t* from) noexcept {
    return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const Type*>(from)));
  }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    return _mm_blend_epi16(low, _mm_slli_epi32(high, 16), 0b10101010);
  }
#else
  static LADON_INLINE Type words(const std::int8_t* from) noexcept {
    const Type bytes = _mm_loadl_epi64(reinterpret_cast<const Type*>(from));
    return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
  }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    return _mm_or_si128(_mm_and_si128(low, _mm_set1_epi32(0xffff)), _mm_slli_epi32(high, 16));
  }
#endif
  static LADON_INLINE std::int32_t reduce_add(Type a) noexcept {
    const Type halves = _mm_add_epi32(a, _mm_shuffle_epi32(a, 0b01001110));
    return _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0b10110001)));
  }
};

#if defined(__AVX2__)
template <>
struct X86Integers<8> {
  using Type = __m256i;
  static LADON_INLINE Type load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const Type*>(from));
  }
  static LADON_INLINE void store(Type x, void* to) noexcept { _mm256_storeu_si256(static_cast<Type*>(to), x); }
  static LADON_INLINE Type broadcast(std::int32_t x) noexcept { return _mm256_set1_epi32(x); }
  static LADON_INLINE Type broadcast(std::int64_t x) noexcept { return _mm256_set1_epi64x(x); }
  static LADON_INLINE Type add(Type a, Type b) noexcept { return _mm256_add_epi32(a, b); }
  static LADON_INLINE Type add_bytes(Type a, Type b) noexcept { return _mm256_add_epi8(a, b); }
  static LADON_INLINE Type multiply(Type a, Type b) noexcept { return _mm256_mullo_epi32(a, b); }
  static LADON_INLINE Type products_of_pairs(Type a, Type b) noexcept { return _mm256_madd_epi16(a, b); }
  static LADON_INLINE Type bits(__m256 x) noexcept { return _mm256_castps_si256(x); }
  static LADON_INLINE Type integers(__m256 x) noexcept { return _mm256_cvtps_epi32(x); }
  static LADON_INLINE __m256 floats(Type x) noexcept { return _mm256_cvtepi32_ps(x); }
  static LADON_INLINE Type words(const std::int8_t* from) noexcept {
    return _mm256_cvtepi8_epi16(X86Integers<4>::load(from));
  }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0b10101010);
  }
  static LADON_INLINE Type merge_bytes(Type even, Type odd) noexcept {
    return _mm256_or_si256(_mm256_and_si256(even, _mm256_set1_epi16(0xff)), _mm256_slli_epi16(odd, 8));
  }
  static LADON_INLINE std::int32_t reduce_add(Type a) noexcept {
    return X86Integers<4>::reduce_add(_mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1)));
  }
#if defined(__AVX512VL__)
  // Returns the sums of lanes 2 i and 2 i + 1.
  static LADON_INLINE __m128i add_neighbours(Type a) noexcept {
    return _mm256_cvtepi64_epi32(_mm256_add_epi32(a, _mm256_srli_epi64(a, 32)));
  }
#endif
};
#endif

#if defined(__AVX512BW__)
template <>
struct X86Integers<16> {
  using Type = __m512i;
  static LADON_INLINE Type load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  static LADON_INLINE void store(Type x, void* to) noexcept { _mm512_storeu_si512(to, x); }
  static LADON_INLINE Type broadcast(std::int32_t x) noexcept { return _mm512_set1_epi32(x); }
  static LADON_INLINE Type broadcast(std::int64_t x) noexcept { return _mm512_set1_epi64(x); }
  static LADON_INLINE Type add(Type a, Type b) noexcept { return _mm512_add_epi32(a, b); }
  static LADON_INLINE Type add_bytes(Type a, Type b) noexcept { return _mm512_add_epi8(a, b); }
  static LADON_INLINE Type multiply(Type a, Type b) noexcept { return _mm512_mullo_epi32(a, b); }
  static LADON_INLINE Type products_of_pairs(Type a, Type b) noexcept { return _mm512_madd_epi16(a, b); }
  static LADON_INLINE Type bits(__m512 x) noexcept { return _mm512_castps_si512(x); }
  static LADON_INLINE Type integers(__m512 x) noexcept { return _mm512_cvtps_epi32(x); }
  static LADON_INLINE __m512 floats(Type x) noexcept { return _mm512_cvtepi32_ps(x); }
  static LADON_INLINE Type words(const std::int8_t* from) noexcept {
    return _mm512_cvtepi8_epi16(X86Integers<8>::load(from));
  }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
  }
  static LADON_INLINE Type merge_bytes(Type even, Type odd) noexcept {
    return _mm512_or_si512(_mm512_and_si512(even, _mm512_set1_epi16(0xff)), _mm512_slli_epi16(odd, 8));
  }
  static LADON_INLINE std::int32_t reduce_add(Type a) noexcept {
    return X86Integers<8>::reduce_add(_mm256_add_epi32(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1)));
  }
  // Returns the sums of lanes 2 i and 2 i + 1.
  static LADON_INLINE __m256i add_neighbours(Type a) noexcept {
    return _mm512_cvtepi64_epi32(_mm512_add_epi32(a, _mm512_srli_epi64(a, 32)));
  }
};
#endif

// Whether X86Integers<Lanes> exists. Emscripten can also define __SSE2__, but WebAssembly has its own dots.
template <std::size_t Lanes>
inline constexpr bool has_x86_integers =
#if defined(__wasm__)
    false;
#else
    requires { sizeof(X86Integers<Lanes>); };
#endif

template <std::size_t Lanes>
  requires(has_x86_integers<Lanes>)
struct IntegerSums<XsimdPack<Lanes>> {
  using Pack = XsimdPack<Lanes>;
  using Integers = X86Integers<Lanes>;
  typename Integers::Type sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {typename Integers::Type{}}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {Integers::load(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {Integers::multiply(Integers::integers(factors.batch), Integers::broadcast(-factor))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept { return Integers::reduce_add(a.sum); }
  LADON_INLINE Pack to_float() const noexcept { return typename Pack::Batch(Integers::floats(sum)); }

  // Returns `start` plus the sums of lanes 2 i and 2 i + 1, which belong to token i.
  LADON_INLINE IntegerSums<XsimdPack<Lanes / 2>> add_steps(
      const IntegerSums<XsimdPack<Lanes / 2>>& start) const noexcept
    requires(Lanes > 4)
  {
    return {X86Integers<Lanes / 2>::add(start.sum, Integers::add_neighbours(sum))};
  }
#if defined(__AVX512BW__)
  // Returns *this plus `first`.add_steps in the lower half of the lanes, and `rest`.add_steps in the third quarter.
  LADON_INLINE IntegerSums plus_three_quarters(const IntegerSums& first,
                                               const IntegerSums<XsimdPack<8>>& rest) const noexcept
    requires(Lanes == 16)
  {
    const __m256i low = Integers::add_neighbours(first.sum);
    const __m256i high = _mm256_zextsi128_si256(X86Integers<8>::add_neighbours(rest.sum));
    return {Integers::add(sum, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1))};
  }
#endif
};

template <std::size_t Lanes>
  requires(has_x86_integers<Lanes>)
struct TupleDot<std::int16_t, XsimdPack<Lanes>> {
  static constexpr std::size_t tuple_size = 2, features = 2;
  using Pack = XsimdPack<Lanes>;
  using Sums = IntegerSums<Pack>;
  using Integers = X86Integers<Lanes>;
  using Features = typename Integers::Type;

  static LADON_INLINE Features load(const void* panel) noexcept { return Integers::load(panel); }
  template <class Weight>
  static LADON_INLINE Features weights(const Weight* weight) noexcept {
    return Integers::broadcast(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, Features weights) noexcept {
    sum.sum = Integers::add(sum.sum, Integers::products_of_pairs(x, weights));
  }
#if defined(__AVX512BW__)
  static LADON_INLINE void add_folded(Sums& sum, const Pack& x, std::int64_t weights) noexcept
    requires(Lanes == 16)
  {
    add(sum, Integers::bits(x.batch), Integers::broadcast(weights));
  }
#endif
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    add(sum, load(x), Integers::words(weight));
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[2], const Pack&, std::int16_t* panel) noexcept {
    const Pack offset = Pack::broadcast(round_to_low_bits);
    Integers::store(Integers::merge_words(Integers::bits((x[0] + offset).batch), Integers::bits((x[1] + offset).batch)),
                    panel);
  }
};

#if LADON_VNNI
// Returns `sum` plus the products of unsigned `x` and signed `w`. add_dot_at takes the address of `w`, as the memory
// operand: otherwise, g++ would load the weights of several steps first, in an order that is slower.
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

template <std::size_t Lanes>
  requires(has_x86_integers<Lanes>)
struct TupleDot<std::uint8_t, XsimdPack<Lanes>> {
  static constexpr std::size_t tuple_size = 4, features = 4;
  using Pack = XsimdPack<Lanes>;
  using Sums = IntegerSums<Pack>;
  using Integers = X86Integers<Lanes>;
  using Features = typename Integers::Type;

  static LADON_INLINE Features load(const void* panel) noexcept { return Integers::load(panel); }
  static LADON_INLINE Features weights(const std::int8_t* weight) noexcept {
    return Integers::broadcast(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, Features weights) noexcept {
    sum.sum = add_dot(sum.sum, x, weights);
  }
#if defined(__AVX512VL__)
  static LADON_INLINE void add_folded(Sums& sum, const Pack& x, std::int64_t weights) noexcept
    requires(Lanes > 4)
  {
    add(sum, Integers::bits(x.batch), Integers::broadcast(weights));
  }
  // Like add_folded, for 8 tokens in `x` and 4 tokens in `others`, with one broadcast.
  static LADON_INLINE void add_three_quarters(Sums& sum, IntegerSums<XsimdPack<8>>& other_sum, const Pack& x,
                                              const XsimdPack<8>& others, std::int64_t weights) noexcept
    requires(Lanes == 16)
  {
    const auto broadcast = Integers::broadcast(weights);
    add(sum, Integers::bits(x.batch), broadcast);
    other_sum.sum = add_dot(other_sum.sum, X86Integers<8>::bits(others.batch), _mm512_castsi512_si256(broadcast));
  }
#endif
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = add_dot_at(sum.sum, load(x), weight);
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto words = [&](std::size_t low, std::size_t high) LADON_INLINE_LAMBDA {
      const Pack offset = Pack::broadcast(round_to_low_bits);
      return Integers::merge_words(Integers::bits((x[low] + offset).batch), Integers::bits((x[high] + offset).batch));
    };
    const auto zeros = Integers::multiply(Integers::integers(zero.batch), Integers::broadcast(0x01010101));
    Integers::store(Integers::add_bytes(Integers::merge_bytes(words(0, 2), words(1, 3)), zeros), panel);
  }
};
#endif

#if LADON_BFLOAT16_DOT
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

}  // namespace LADON_NAMESPACE::detail::vec
