// SPDX-License-Identifier: Apache-2.0
// Multiplies groups of 4-bit weights by the features of a single token. The weights are looked up in registers:
//     add(sum, x, row, groups, g)        adds the products of `together` groups, from number g on
//     add_last(sum, x, row, groups, g)   if `together` is 2: adds the products of one group
//     arrange<Inner>(features, x)        if `centres` exists: subtracts a number from all features, writes them to `x`
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
  static constexpr bool exists = false;
};

#if LADON_HAS_XSIMD && defined(__AVX2__)
// A register holds the codes of `together` groups: first halves of groups in the lower four bits, second halves in the
// upper four bits.
//
// Features of 16 bits were quantised to 8 bits, so those of a token lie in a range of 256 integers. Minus the number
// `centre`, they are bytes from -128 to 127. vpmaddubsw multiplies their magnitudes by the weights, which get the signs
// of the features. A sum of two products fits into 16 bits: 2 * 128 * 127. For each step, `x` has the magnitudes of the
// features, and behind them the features, as bytes.
template <class Element, std::size_t Lanes>
  requires(std::is_integral_v<Element> && (Lanes == 8 || (Lanes == 16 && sizeof(Element) == 1)))
struct Int4Dot<Element, XsimdPack<Lanes>> {
  using Sums = IntegerSums<XsimdPack<Lanes>>;
  using Integers = IntegerRegister<Lanes>;
  using Register = typename Integers::Type;
  static constexpr bool exists = true, centres = std::is_same_v<Element, std::int16_t>;
  static constexpr std::size_t together = Lanes / 4, step = together * int4_group, half = int4_group / 2;

  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    const Register tables = load_tables(row + groups * half + g / 2), low = Integers::broadcast(0x0f0f0f0f);
    // `hidden`: g++ 12 would load the codes twice, each time from two cache lines (AVX-512).
    const Register codes = hidden(Integers::load(row + g * half));
    add_products<step>(sum, x, 0, Integers::look_up(tables, Integers::bit_and(codes, low)));
    add_products<step>(sum, x, step / 2,
                       Integers::look_up(tables, Integers::bit_and(Integers::upper_halves(codes), low)));
  }
  static LADON_INLINE void add_last(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                                    std::size_t g) noexcept {
    const std::int8_t* const table = int4_tables[int4_table(row, groups, g)].data();
    add_products<int4_group>(sum, x, 0, look_up_int4_group(row + g * half, table));
  }

  template <std::size_t Inner>
  static std::int32_t arrange(const Element* features, Element* x) noexcept {
    std::int32_t centre = 0;
    if constexpr (centres) {
      Element least = features[0];
      for (std::size_t i = 1; i < Inner; ++i) least = features[i] < least ? features[i] : least;
      centre = least + 128;
    }
    constexpr std::size_t whole = Inner / int4_group * int4_group;
    for (std::size_t i = 0; i < whole; i += step) {
      const std::size_t size = whole - i < step ? whole - i : step;
      auto* const to = reinterpret_cast<std::uint8_t*>(x + i);
      for (std::size_t h = 0; h < size / half; ++h) {  // the first halves of all groups, then the second halves
        const std::size_t place = (h % 2 * size + h * half) / 2 / half * half;
        const __m128i bytes = load_bytes(features + i + h * half, centre);
        store(centres ? _mm_abs_epi8(bytes) : bytes, to + place);
        if constexpr (centres) store(bytes, to + size + place);
      }
    }
    for (std::size_t i = whole; i < Inner; ++i) x[i] = static_cast<Element>(features[i] - centre);
    return centre;
  }

 private:
  static LADON_INLINE Register load_tables(const std::uint8_t* numbers) noexcept {
    const auto pair = [&](std::size_t i)
                          LADON_INLINE_LAMBDA { return IntegerRegister<8>::load(int4_table_pairs[numbers[i]].data()); };
    if constexpr (Lanes == 8) {
      return pair(0);
    } else {
      return _mm512_inserti64x4(_mm512_castsi256_si512(pair(0)), pair(1), 1);
    }
  }
  static LADON_INLINE void store(__m128i bytes, std::uint8_t* to) noexcept { IntegerRegister<4>::store(bytes, to); }
  static LADON_INLINE __m128i load_bytes(const Element* features, [[maybe_unused]] std::int32_t centre) noexcept {
    if constexpr (centres) {
      const __m256i words =
          _mm256_sub_epi16(IntegerRegister<8>::load(features), _mm256_set1_epi16(static_cast<std::int16_t>(centre)));
      return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    } else {
      return IntegerRegister<4>::load(features);
    }
  }
  // Multiplies `weights` by the features of a step from number `first` on. Size is the number of features in the step.
  template <std::size_t Size>
  static LADON_INLINE void add_products(Sums& sum, const Element* x, std::size_t first, Register weights) noexcept {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x) + first;
    if constexpr (centres) weights = _mm256_sign_epi8(weights, Integers::load(bytes + Size));
    sum.sum = add_dot(sum.sum, Integers::load(bytes), weights);
  }
};
#elif LADON_HAS_XSIMD && (LADON_SSE4_1 || defined(__aarch64__) || defined(__wasm_simd128__))
// With 8-bit features, all loads and stores of `weight` have 16 bytes, so compilers keep `weight` in registers.
template <class Element, std::size_t Lanes>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<Lanes>> {
  using Dot = TupleDot<Element, XsimdPack<Lanes>>;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t step = Dot::tuple_size * Lanes;
  static constexpr bool exists = int4_group % step == 0;
  static constexpr std::size_t together = 1;

  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    alignas(16) std::int8_t weight[int4_group];
    look_up_int4_group(row + g * (int4_group / 2), int4_tables[int4_table(row, groups, g)].data(), weight);
    LADON_UNROLLED_FOR(s, int4_group / step) Dot::add_products(sum, x + s * step, weight + s * step);
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
