// SPDX-License-Identifier: Apache-2.0
// Multiplies groups of 4-bit weights by the features of a single token. The weights are looked up in registers:
//     add(sum, x, row, groups, g)        adds the products of `together` groups, from number g on
//     add_last(sum, x, row, groups, g)   if `together` is 2: adds the products of one group
//     arrange<Inner>(features, x)        if `arranges`: subtracts a number from all features, writes them to `x`
//                                        [Inner] in the order of `add`, and returns the number
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/int4.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Plain arrays expand whole rows instead.
template <class Element, class Pack>
struct Int4Dot {
  static constexpr bool exists = false, arranges = false;
};

#if LADON_HAS_XSIMD && (LADON_SSE4_1 || defined(__aarch64__) || defined(__wasm_simd128__))
// With 8-bit features, all loads and stores of `weight` have 16 bytes, so compilers keep `weight` in registers.
template <class Element, std::size_t Lanes>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<Lanes>> {
  using Dot = TupleDot<Element, XsimdPack<Lanes>>;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t step = Dot::tuple_size * Lanes;
  static constexpr bool exists = int4_group % step == 0, arranges = false;
  static constexpr std::size_t together = 1;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    alignas(16) std::int8_t weight[int4_group];
    look_up_int4_group(row + g * (int4_group / 2), int4_tables[int4_table(row, groups, g)].data(), weight);
    LADON_UNROLLED_FOR(s, int4_group / step) Dot::add_products(sum, x + s * step, weight + s * step);
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX2__)
// A register holds the codes of two groups. The lower four bits of its bytes hold the first half of each group, the
// upper four bits the second half.
//
// Features of 16 bits were quantised to 8 bits, so those of a token lie in a range of 256 integers. Minus the number
// `centre`, they are bytes from -128 to 127. vpmaddubsw multiplies their magnitudes by the weights, which get the signs
// of the features. A sum of two products fits into 16 bits: 2 * 128 * 127. For each step, `x` has the magnitudes of the
// features, and behind them the features, as bytes.
template <class Element>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<8>> {
  using Sums = IntegerSums<XsimdPack<8>>;
  static constexpr bool exists = true, arranges = true, centres = std::is_same_v<Element, std::int16_t>;
  static constexpr std::size_t together = 2, step = together * int4_group;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    const std::uint8_t both = row[groups * (int4_group / 2) + g / 2];
    const __m256i tables = load(int4_table_pairs[both].data()), low = _mm256_set1_epi8(15);
    const __m256i codes = load(row + g * (int4_group / 2));
    const __m256i first = _mm256_and_si256(codes, low), second = _mm256_and_si256(_mm256_srli_epi16(codes, 4), low);
    add_products<step>(sum, x, 0, _mm256_shuffle_epi8(tables, first));
    add_products<step>(sum, x, int4_group, _mm256_shuffle_epi8(tables, second));
  }
  static LADON_INLINE void add_last(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                                    std::size_t g) noexcept {
    const std::int8_t* const table = int4_tables[int4_table(row, groups, g)].data();
    add_products<int4_group>(sum, x, 0, look_up_int4_group(row + g * (int4_group / 2), table));
  }

  template <std::size_t Inner>
  static std::int32_t arrange(const Element* features, Element* x) noexcept {
    std::int32_t centre = 0;
    if constexpr (centres) {
      Element least = features[0];
      for (std::size_t i = 1; i < Inner; ++i) least = features[i] < least ? features[i] : least;
      centre = least + 128;
    }
    constexpr std::size_t whole = Inner / int4_group * int4_group, half = int4_group / 2;
    for (std::size_t i = 0; i < whole; i += step) {
      const std::size_t size = whole - i < step ? int4_group : step;
      auto* const to = reinterpret_cast<std::uint8_t*>(x + i);
      for (std::size_t quarter = 0; quarter < size / half; ++quarter) {
        // The quarters of a step with two groups have the order 0, 2, 1, 3.
        const std::size_t from = size == step && quarter % 3 != 0 ? 3 - quarter : quarter;
        const __m128i bytes = load_bytes(features + i + from * half, centre);
        store(centres ? _mm_abs_epi8(bytes) : bytes, to + quarter * half);
        if constexpr (centres) store(bytes, to + size + quarter * half);
      }
    }
    for (std::size_t i = whole; i < Inner; ++i) x[i] = static_cast<Element>(features[i] - centre);
    return centre;
  }

 private:
  static LADON_INLINE __m256i load(const void* from) noexcept { return IntegerRegister<8>::load(from); }
  static LADON_INLINE void store(__m128i bytes, std::uint8_t* to) noexcept { IntegerRegister<4>::store(bytes, to); }
  static LADON_INLINE __m128i load_bytes(const Element* features, [[maybe_unused]] std::int32_t centre) noexcept {
    if constexpr (centres) {
      const __m256i words = _mm256_sub_epi16(load(features), _mm256_set1_epi16(static_cast<std::int16_t>(centre)));
      return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    } else {
      return IntegerRegister<4>::load(features);
    }
  }
  // Multiplies `weights` by the features of a step from number `first` on. Size is the number of features in the step.
  template <std::size_t Size>
  static LADON_INLINE void add_products(Sums& sum, const Element* x, std::size_t first, __m256i weights) noexcept {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x) + first;
    if constexpr (centres) weights = _mm256_sign_epi8(weights, load(bytes + Size));
    sum.sum = add_dot(sum.sum, load(bytes), weights);
  }
};
#endif

#if LADON_HAS_XSIMD && LADON_AVX512
// A register holds the codes of four groups. The lower four bits of its bytes hold the first half of each group, the
// upper four bits the second half.
template <class Element>
  requires(std::is_integral_v<Element> && sizeof(Element) == 1)
struct Int4Dot<Element, XsimdPack<16>> {
  using Dot = TupleDot<Element, XsimdPack<16>>;
  using Sums = typename Dot::Sums;
  static constexpr bool exists = true, arranges = true;
  static constexpr std::size_t together = 4;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    const std::uint8_t* const numbers = row + groups * (int4_group / 2) + g / 2;
    const auto pair = [&](std::size_t i) LADON_INLINE_LAMBDA {
      return _mm256_load_si256(reinterpret_cast<const __m256i*>(int4_table_pairs[numbers[i]].data()));
    };
    const __m512i tables = _mm512_inserti64x4(_mm512_castsi256_si512(pair(0)), pair(1), 1);
    // `hidden`: g++ 12 would load the codes twice, each time from two cache lines.
    const __m512i codes = hidden(_mm512_loadu_si512(row + g * (int4_group / 2))), low = _mm512_set1_epi8(15);
    const __m512i first = _mm512_and_si512(codes, low), second = _mm512_and_si512(_mm512_srli_epi16(codes, 4), low);
    Dot::add(sum, Dot::load(x), _mm512_shuffle_epi8(tables, first));
    Dot::add(sum, Dot::load(x + 2 * int4_group), _mm512_shuffle_epi8(tables, second));
  }
  template <std::size_t Inner>
  static std::int32_t arrange(const Element* features, Element* x) noexcept {
    constexpr std::size_t half = int4_group / 2, whole = Inner / int4_group * int4_group;
    for (std::size_t i = 0; i < whole; i += together * int4_group) {
      for (std::size_t g = 0; g < together; ++g) {
        std::memcpy(x + i + g * half, features + i + g * int4_group, half);
        std::memcpy(x + i + (together + g) * half, features + i + g * int4_group + half, half);
      }
    }
    for (std::size_t i = whole; i < Inner; ++i) x[i] = features[i];
    return 0;
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
