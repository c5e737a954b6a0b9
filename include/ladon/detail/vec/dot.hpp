// SPDX-License-Identifier: Apache-2.0
// TupleDot computes one step of a product whose panels hold tuples. A tuple is a 32-bit lane with tuple_size
// consecutive features of one token. A step adds the products of a tuple to the sum in each lane:
//     sum[lane] += panel[lane][0] * weight[0] + ... + panel[lane][tuple_size - 1] * weight[tuple_size - 1]
//
// This file has the products of int8 weights, whose sums are integers. bfloat16_dot.hpp has the products of bfloat16
// weights, whose sums are floats. For bfloat16 weights, tuple_size is 2.
//
// With int8 weights, each feature is quantised to a signed integer q. Some instructions take features of 8 bits, which
// hold q + zero. `zero` is the zero point of the token (detail/panel/quantise.hpp). The type of a quantised feature
// determines tuple_size. The target chooses the type (Int8Element in detail/target):
//     Element        tuple_size   a feature is   instructions
//     std::int16_t   2            q              x86: vpmaddwd and vpaddd (pair_dot.hpp); 64-bit Arm: SMLAL
//                                                (neon_dot.hpp); WebAssembly: i32x4.dot_i16x8_s (wasm_dot.hpp)
//     std::uint8_t   4            q + zero       x86 with VNNI: vpdpbusd (quad_dot.hpp); WebAssembly with relaxed SIMD:
//                                                i32x4.relaxed_dot_i8x16_i7x16_add_s (wasm_dot.hpp)
//     std::int8_t    4            q + zero       64-bit Arm with dot product: SDOT, and SMMLA with I8MM (neon_dot.hpp)
//
// At run time, microcontrollers do not use TupleDot. Their loops, and the order of their features, are in int8_dsp.hpp
// (SMLAD), int8_helium.hpp (VMLADAVA), int8_thumb1.hpp (Cortex-M0+) and int8_quantise_one_lane.hpp (plain integers).
//
// If features are q + zero, a sum contains the additional term zero * (sum of the row's weights). The sum therefore
// starts at the negative of this term (IntegerSums::negative_products).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/integer_sums.hpp>
#include <ladon/detail/vec/quantisation_levels.hpp>
#include <ladon/detail/vec/rounding.hpp>

namespace LADON_NAMESPACE::detail::vec {

// How many features share a 32-bit lane.
template <class Element>
inline constexpr std::size_t tuple_features = sizeof(std::int32_t) / sizeof(Element);

// Returns the bits of a weight. An int8 weight is extended to 32 bits with its sign.
LADON_INLINE constexpr std::uint32_t weight_bits(std::int8_t weight) noexcept {
  return static_cast<std::uint32_t>(std::int32_t{weight});
}
LADON_INLINE constexpr std::uint32_t weight_bits(BFloat16 weight) noexcept { return weight.bits; }

// Packs `count` weights into a 32-bit integer, 32 / TupleSize bits for each weight, beginning with the lowest bits. If
// `count` is less than TupleSize, the missing weights are 0.
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
// Returns tuple_of<TupleSize>(weight), with a single load if the machine is little-endian and TupleSize weights have 32
// bits.
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

// Returns `first` in the lower half and `second` in the upper half of 64 bits.
LADON_INLINE constexpr std::int64_t two_tuples(std::int32_t first, std::int32_t second) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(first) |
                                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(second)) << 32);
}

// Returns load_tuple<TupleSize>(weight) in the lower half, and load_tuple<TupleSize>(weight + TupleSize) in the upper
// half.
template <std::size_t TupleSize>
LADON_INLINE std::int64_t load_two_tuples(const std::int8_t* weight) noexcept {
  if constexpr (TupleSize == sizeof(std::int32_t) && std::endian::native == std::endian::little) {
    std::int64_t result;
    std::memcpy(&result, weight, sizeof result);
    return result;
  }
  return two_tuples(load_tuple<TupleSize>(weight), load_tuple<TupleSize>(weight + TupleSize));
}

// Whether TupleDot for these types has the function add_folded (below).
template <class Dot>
inline constexpr bool adds_folded = requires { &Dot::add_folded; };

// The implementation for plain arrays. All other implementations give equal results. They need not store the integers
// of a tuple in the order [lanes][tuple_size], because only functions of the same implementation read the integers.
//
// For the widest register of the target, TupleDot may also have a function for folded products
// (detail/product/product_int8.hpp):
//     add_folded(sum, integers, weights)      adds two steps for lanes / 2 tokens. Lanes 2 i and 2 i + 1 of
//                                             `integers` hold the tuples of token i. `weights` has the weights of the
//                                             two tuples (load_two_tuples)
//
// If an instruction of the target multiplies by one lane of a register of weights, TupleDot also has these members:
//     steps                                       the number of steps for which a register holds weights
//     load_features(panel)                        loads the features of a step
//     load_weights(weight)                        loads tuple_size * steps weights
//     add_by_lane<Step>(sum, features, weights)   adds a step to `sum`. Step is 0 for the first weights of the register
//
// If an instruction of the target multiplies the weights of two rows by the features of two tokens, TupleDot also has
// these members. A matrix is a register with the features of two tokens for two steps, or with the weights of two rows
// for two steps. The first half of the register belongs to the first token or row.
//     exchange_halves(a, b)                   exchanges the upper half of `a` and the lower half of `b`. If `a` and `b`
//                                             are the sums of two rows, `a` then has the sums of tokens 0 and 1 for
//                                             both rows, and `b` has the sums of tokens 2 and 3
//     load_matrices(panel, next_step, first, second)   loads the features of two steps. `first` becomes the matrix of
//                                             tokens 0 and 1, and `second` the matrix of tokens 2 and 3
//     load_rows(row, next_row, first, second) loads the weights of four steps of two rows. `first` becomes the matrix
//                                             of the first two steps, and `second` the matrix of the other two steps
//     add_matrix(sum, features, weights)      adds two steps to a sum that exchange_halves has changed
template <class Element, class Pack>
struct TupleDot {
  static constexpr std::size_t tuple_size = tuple_features<Element>;
  using Sums = IntegerSums<Pack>;

  // Adds a step to `sum`. `panel` is [lanes][tuple_size]. `weights` is the result of tuple_of or load_tuple.
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
  // Adds the products x[i] * weight[i] to `sum`, for all i < tuple_size * lanes. The caller adds all lanes later, so
  // each implementation may add a product to any lane.
  static LADON_INLINE constexpr void add_products(Sums& sum, const Element* x, const std::int8_t* weight) noexcept {
    LADON_UNROLL
    for (std::size_t i = 0; i < tuple_size * Pack::lanes; ++i)
      sum.lane[i / tuple_size] += feature_value(x[i]) * weight[i];
  }
  // Rounds the tuple of features in each lane to integers q, and writes q or q + zero to `panel` [lanes][tuple_size].
  // Precondition: q fits into 16 bits, and q + zero fits into Element.
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
