// SPDX-License-Identifier: Apache-2.0
// The product of groups of 4-bit weights and the features of a single token, which looks up the weights in registers:
//     add(sum, x, codes, table)   adds the products of a group
//     arrange(features, x)        brings the features of a group into the order that add expects, if `arranges`
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/int4.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Plain arrays have no such product: they expand rows.
template <class Element, class Pack>
struct Int4Dot {
  static constexpr bool exists = false, arranges = false;
};

#if LADON_HAS_XSIMD && (LADON_SSE4_1 || defined(__aarch64__) || defined(__wasm_simd128__))
// Compilers keep `weight` in registers, because it is stored and loaded by 16 bytes.
template <class Element, std::size_t Lanes>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<Lanes>> {
  using Dot = TupleDot<Element, XsimdPack<Lanes>>;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t step = Dot::tuple_size * Lanes;
  static constexpr bool exists = int4_group % step == 0, arranges = false;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* codes,
                               const std::int8_t* table) noexcept {
    alignas(16) std::int8_t weight[int4_group];
    look_up_int4_group(codes, table, weight);
    LADON_UNROLLED_FOR(s, int4_group / step) Dot::add_products(sum, x + s * step, weight + s * step);
  }
};
#endif

#if LADON_HAS_XSIMD && defined(__AVX2__)
// The lower bytes of words are the weights 0, 2, ... 30, and the upper bytes are the others. Shifts separate them in
// less time than vpmovsxbw, which moves data between the halves of a register (Zen 3).
template <class Element>
  requires(std::is_integral_v<Element>)
struct Int4Dot<Element, XsimdPack<8>> {
  using Dot = TupleDot<Element, XsimdPack<8>>;
  using Sums = typename Dot::Sums;
  static constexpr bool exists = true, arranges = Dot::tuple_size == 2;

  static LADON_INLINE Sums zero() noexcept { return Sums::zero(); }
  static LADON_INLINE void add(Sums& sum, const Element* x, const std::uint8_t* codes,
                               const std::int8_t* table) noexcept {
    const __m256i weights = look_up_int4_group(codes, table);
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

}  // namespace LADON_NAMESPACE::detail::vec
