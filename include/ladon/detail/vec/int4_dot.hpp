// SPDX-License-Identifier: Apache-2.0
// Multiplies groups of 4-bit weights by the features of a single token. The weights are looked up in registers:
//     add(sum, x, row, groups, g)   adds the products of `together` groups, from number g on
//     arrange(features, x)          if `arranges`: orders the features of these groups as `add` reads them
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
// Features of 16 bits: words have the weights 0, 2, ... 30 in their lower bytes, and 1, 3, ... 31 in their upper bytes.
// Shifts separate these bytes in less time than vpmovsxbw, which moves data between halves of a register (Zen 3).
template <class Element>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<8>> {
  using Dot = TupleDot<Element, XsimdPack<8>>;
  using Sums = typename Dot::Sums;
  static constexpr bool exists = true, arranges = Dot::tuple_size == 2;
  static constexpr std::size_t together = 1;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* row, std::size_t groups,
                               std::size_t g) noexcept {
    const std::int8_t* const table = int4_tables[int4_table(row, groups, g)].data();
    const __m256i weights = look_up_int4_group(row + g * (int4_group / 2), table);
    if constexpr (arranges) {
      Dot::add(sum, Dot::load(x), _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8));
      Dot::add(sum, Dot::load(x + int4_group / 2), _mm256_srai_epi16(weights, 8));
    } else {
      Dot::add(sum, Dot::load(x), weights);
    }
  }
  static LADON_INLINE void arrange(const Element* features, Element* x) noexcept {
    for (std::size_t i = 0; i < int4_group / 2; ++i) {
      x[i] = features[2 * i];
      x[i + int4_group / 2] = features[2 * i + 1];
    }
  }
};
#endif

#if LADON_HAS_XSIMD && LADON_AVX512
// A register holds the codes of four groups: first halves of groups in the lower four bits, second halves in the upper
// four bits.
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
  static LADON_INLINE void arrange(const Element* features, Element* x) noexcept {
    constexpr std::size_t half = int4_group / 2;
    for (std::size_t g = 0; g < together; ++g) {
      std::memcpy(x + g * half, features + g * int4_group, half);
      std::memcpy(x + (together + g) * half, features + g * int4_group + half, half);
    }
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
