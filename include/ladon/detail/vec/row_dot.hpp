// SPDX-License-Identifier: Apache-2.0
// Dot products of rows of weights and rows of tokens, whose elements lie in the lanes (detail/product/token_rows.hpp).
// Here, a quad is four neighbouring lanes. The functions:
//     features                   how many features a step has
//     load(row), weights(row)    loads the features, or the weights, of a step
//     add(sum, x, w)             adds the products of a step to the lanes of `sum`
//     add_quads(sum)             lane 4 q + i becomes the sum of quad q of sum[i]
//     add_lanes(sum)             lane 4 q + i becomes the sum of lanes i, i + 4, i + 8 and so on of sum[q]
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Feature, class PackType>
struct RowDotRegister;

#if LADON_HAS_XSIMD && LADON_HAS_SHUFFLE && LADON_SSE2
// Shuffles take packs of floats, so integer sums are passed as floats with the same bits.
template <class Feature, class PackType>
struct RowDotRegister {
  using Pack = PackType;
  static constexpr bool floats = std::is_same_v<Feature, float>, integers = std::is_integral_v<Feature>;
  using Dot = std::conditional_t<floats, FloatDot<Pack>, TupleDot<Feature, Pack>>;
  using Sums = typename Dot::Sums;
  using Register = typename Dot::Features;
  static constexpr std::size_t lanes = Pack::lanes, features = sizeof(float) / sizeof(Feature) * lanes;

  static LADON_INLINE Register load(const Feature* row) noexcept {
    if constexpr (floats) return keep_in_register(Dot::load(row));
    return Dot::load(row);
  }
  // Without keep_in_register and `hidden`, g++ 12 would load the weights again for each token.
  template <class Weight>
  static LADON_INLINE Register weights(const Weight* row) noexcept {
    if constexpr (floats) {
      return keep_in_register(load_as_float<Pack>(row));
    } else if constexpr (!integers) {
      return keep_in_register(Dot::load(row));
    } else if constexpr (sizeof(Weight) < sizeof(Feature)) {
      return hidden(IntegerRegister<lanes>::words(row));
    } else {
      return hidden(Dot::load(row));
    }
  }
  static LADON_INLINE void add(Sums& sum, Register x, Register w) noexcept { Dot::add(sum, x, w); }

  static LADON_INLINE Pack add_quads(const Sums (&sum)[4]) noexcept {
    const Pack a = pairs(bits(sum[0]), bits(sum[1])), b = pairs(bits(sum[2]), bits(sum[3]));
    return plus(pick_of_fours<0, 1, 4, 5>(a, b), pick_of_fours<2, 3, 6, 7>(a, b));
  }
  static LADON_INLINE Pack add_lanes(const Pack (&sum)[lanes / 4]) noexcept {
    if constexpr (lanes == 4) {
      return sum[0];
    } else if constexpr (lanes == 8) {
      return plus(combine_quads<0, 0>(sum[0], sum[1]), combine_quads<1, 1>(sum[0], sum[1]));
    } else {
      const Pack a = plus(combine_quads<0, 1>(sum[0], sum[1]), combine_quads<2, 3>(sum[0], sum[1]));
      const Pack b = plus(combine_quads<0, 1>(sum[2], sum[3]), combine_quads<2, 3>(sum[2], sum[3]));
      return plus(combine_quads<0, 2>(a, b), combine_quads<1, 3>(a, b));
    }
  }

 private:
  static LADON_INLINE Pack bits(const Sums& sum) noexcept {
    if constexpr (integers) {
      return ladon::bit_cast<typename IntegerRegister<lanes>::Floats>(sum.sum);
    } else {
      return sum;
    }
  }
  static LADON_INLINE Pack plus(const Pack& a, const Pack& b) noexcept {
    if constexpr (integers) {
      return bits(Sums::of_bits(a) + Sums::of_bits(b));
    } else {
      return a + b;
    }
  }
  // Returns [a0 + a2, b0 + b2, a1 + a3, b1 + b3] in each quad.
  static LADON_INLINE Pack pairs(const Pack& a, const Pack& b) noexcept {
    return plus(pick_of_fours<0, 4, 1, 5>(a, b), pick_of_fours<2, 6, 3, 7>(a, b));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
