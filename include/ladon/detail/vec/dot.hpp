// SPDX-License-Identifier: Apache-2.0
// TupleDot computes one step of a product whose panels hold tuples. A tuple is a 32-bit lane with tuple_size features
// of a token:
//     sum[lane] += panel[lane][0] * weight[0] + ... + panel[lane][tuple_size - 1] * weight[tuple_size - 1]
//
// This file has int8 weights and integer sums, dot_bfloat16.hpp has bfloat16 weights and float sums. A feature is q, or
// q + zero (detail/panel/quantise.hpp). The target chooses its type, Int8Element:
//     Element        tuple_size   a feature is   instructions
//     std::int16_t   2            q              vpmaddwd (dot_x86.hpp), SMLAL (dot_arm64.hpp), i32x4.dot_i16x8_s
//     std::uint8_t   4            q + zero       vpdpbusd (dot_vnni.hpp), relaxed_dot_i8x16_i7x16_add_s (dot_wasm.hpp)
//     std::int8_t    4            q + zero       SDOT and SMMLA (dot_arm64.hpp)
//
// A sum of features q + zero starts at -zero times the sum of the row's weights. Microcontrollers have loops of their
// own (detail/cortex_m).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/detail/vec/integer_sums.hpp>
#include <ladon/detail/vec/quantisation_levels.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Element>
inline constexpr std::size_t tuple_features = sizeof(std::int32_t) / sizeof(Element);

LADON_INLINE constexpr std::uint32_t weight_bits(std::int8_t weight) noexcept {
  return static_cast<std::uint32_t>(std::int32_t{weight});
}
LADON_INLINE constexpr std::uint32_t weight_bits(BFloat16 weight) noexcept { return weight.bits; }

// Packs `count` weights into 32 bits, the first in the lowest bits. Missing weights are 0.
template <std::size_t TupleSize, class Weight>
LADON_INLINE constexpr std::int32_t tuple_of(const Weight* weight, std::size_t count = TupleSize) noexcept {
  constexpr std::size_t bits = 32 / TupleSize;
  std::uint32_t result = 0;
  LADON_UNROLL
  for (std::size_t j = 0; j < TupleSize; ++j) {
    const std::uint32_t each = j < count ? weight_bits(weight[j]) : 0;
    result |= (each & (~0u >> (32 - bits))) << (bits * j);
  }
  return static_cast<std::int32_t>(result);
}
// Returns tuple_of<TupleSize>(weight), with a single load where possible.
template <std::size_t TupleSize, class Weight>
LADON_INLINE constexpr std::int32_t load_tuple(const Weight* weight) noexcept {
  if constexpr (TupleSize * sizeof(Weight) == sizeof(std::int32_t) && std::endian::native == std::endian::little) {
    if (!std::is_constant_evaluated()) {
      std::int32_t result;
      std::memcpy(&result, weight, sizeof result);
      return result;
    }
  }
  return tuple_of<TupleSize>(weight);
}

// Returns `first` in the lower half, and `second` in the upper half.
LADON_INLINE constexpr std::int64_t two_tuples(std::int32_t first, std::int32_t second) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(first) |
                                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32);
}

// Returns the tuples of `weight` and of `weight` + TupleSize in the two halves.
template <std::size_t TupleSize>
LADON_INLINE std::int64_t load_two_tuples(const std::int8_t* weight) noexcept {
  if constexpr (TupleSize == sizeof(std::int32_t) && std::endian::native == std::endian::little) {
    std::int64_t result;
    std::memcpy(&result, weight, sizeof result);
    return result;
  }
  return two_tuples(load_tuple<TupleSize>(weight), load_tuple<TupleSize>(weight + TupleSize));
}

template <class Dot>
inline constexpr bool adds_folded = requires { &Dot::add_folded; };

// The implementation for plain arrays. The others give equal results, but may store a tuple in another order. They may
// have more members:
//     add_folded(sum, x, weights)               two steps for lanes / 2 tokens: lanes 2 i and 2 i + 1 hold token i
//     add_by_lane<Step>(sum, features, weights) a step whose weights are lane `Step` of a register of `steps` tuples
//     add_matrix(sum, features, weights)        two steps of two tokens and two rows
//
// For add_matrix, exchange_halves makes the sums of two rows the sums of tokens 0 and 1, and of tokens 2 and 3.
// load_matrices loads two steps as the operands for tokens 0 and 1, and 2 and 3. load_rows loads four steps of two rows
// as the operands of the first two and the last two steps.
template <class Element, class Pack>
struct TupleDot {
  static constexpr std::size_t tuple_size = tuple_features<Element>;
  using Sums = IntegerSums<Pack>;

  // `panel` is [lanes][tuple_size]. `weights` is a result of load_tuple.
  static LADON_INLINE constexpr void add(Sums& sum, const Element* panel, std::int32_t weights) noexcept {
    constexpr std::size_t bits = 32 / tuple_size;
    std::int32_t weight[tuple_size];
    LADON_UNROLL
    for (std::size_t j = 0; j < tuple_size; ++j) {
      weight[j] = static_cast<std::make_signed_t<Element>>(weights >> (bits * j));
    }
    LADON_UNROLL
    for (std::size_t i = 0; i < Pack::lanes; ++i) {
      std::int32_t products = 0;
      LADON_UNROLL
      for (std::size_t j = 0; j < tuple_size; ++j) products += feature_value(panel[tuple_size * i + j]) * weight[j];
      sum.lane[i] += products;
    }
  }
  // Adds x[i] * weight[i] for all i < tuple_size * lanes, each to any lane.
  static LADON_INLINE constexpr void add_products(Sums& sum, const Element* x, const std::int8_t* weight) noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < tuple_size * Pack::lanes; ++i)
      sum.lane[i / tuple_size] += feature_value(x[i]) * weight[i];
  }
  // Rounds the features to q, and writes q or q + zero to `panel` [lanes][tuple_size]. Precondition: q fits into 16
  // bits, and q + zero into Element.
  static LADON_INLINE constexpr void store_tuple(const Pack (&features)[tuple_size], [[maybe_unused]] const Pack& zero,
                                                 Element* panel) noexcept {
    float rounded[tuple_size][Pack::lanes], zero_points[Pack::lanes];
    for (std::size_t j = 0; j < tuple_size; ++j) {
      (features[j] + Pack::broadcast(round_to_low_bits)).store(rounded[j]);
    }
    zero.store(zero_points);
    for (std::size_t i = 0; i < Pack::lanes; ++i) {
      for (std::size_t j = 0; j < tuple_size; ++j) {
        const auto q = static_cast<std::int16_t>(ladon::bit_cast<std::uint32_t>(rounded[j][i]) & 0xffffu);
        panel[tuple_size * i + j] =
            static_cast<Element>(holds_zero_point<Element> ? q + static_cast<std::int32_t>(zero_points[i]) : q);
      }
    }
  }
};

}  // namespace LADON_NAMESPACE::detail::vec
