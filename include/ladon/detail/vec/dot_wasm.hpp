// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product in WebAssembly.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/vec/dot.hpp>

#if LADON_HAS_XSIMD && defined(__wasm_simd128__)
#include <wasm_simd128.h>

namespace LADON_NAMESPACE::detail::vec {

#if defined(__wasm_relaxed_simd__)
// Engines differ: a feature above 127 may count as negative, and the sum of two products may saturate. Zero points and
// levels therefore depend on the engine (quantisation_levels.hpp).
template <>
struct TupleDot<std::uint8_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 4;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::uint8_t* panel, std::int32_t weights) noexcept {
    sum.sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_i32x4_splat(weights), wasm_v128_load(panel), sum.sum);
  }
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_v128_load(weight), wasm_v128_load(x), sum.sum);
  }
  // Packs the low bytes of four integers into one lane. From the lowest byte on:
  //     even    q0  *   q2  *
  //     odd     q1  *   q3  *
  //     bytes   q0  q1  q2  q3
  static LADON_INLINE void store_tuple(const Pack (&features)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto rounded = [](const Pack& x)
                             LADON_INLINE_LAMBDA -> v128_t { return (x + Pack::broadcast(round_to_low_bits)).batch; };
    const auto merged = [](v128_t low, v128_t high) LADON_INLINE_LAMBDA {
      return wasm_v128_bitselect(low, wasm_i32x4_shl(high, 16), wasm_i32x4_const_splat(0xffff));
    };
    const v128_t even = merged(rounded(features[0]), rounded(features[2])),
                 odd = merged(rounded(features[1]), rounded(features[3]));
    const v128_t bytes = wasm_v128_bitselect(even, wasm_i16x8_shl(odd, 8), wasm_i16x8_const_splat(0xff));
    const v128_t low_bytes = wasm_v128_and(wasm_i32x4_trunc_sat_f32x4(zero.batch), wasm_i32x4_const_splat(0xff));
    wasm_v128_store(panel, wasm_i8x16_add(bytes, wasm_i32x4_mul(low_bytes, wasm_i32x4_const_splat(0x01010101))));
  }
};
#endif

// All engines compute the products of a pair exactly.
template <>
struct TupleDot<std::int16_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 2;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;

  static LADON_INLINE void add(Sums& sum, const std::int16_t* panel, std::int32_t weights) noexcept {
    sum.sum = wasm_i32x4_add(sum.sum, wasm_i32x4_dot_i16x8(wasm_v128_load(panel), wasm_i32x4_splat(weights)));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    sum.sum = wasm_i32x4_add(sum.sum, wasm_i32x4_dot_i16x8(wasm_v128_load(x), wasm_i16x8_load8x8(weight)));
  }
  static LADON_INLINE void store_tuple(const Pack (&features)[2], const Pack&, std::int16_t* panel) noexcept {
    const auto rounded = [](const Pack& x)
                             LADON_INLINE_LAMBDA -> v128_t { return (x + Pack::broadcast(round_to_low_bits)).batch; };
    wasm_v128_store(panel, wasm_v128_bitselect(rounded(features[0]), wasm_i32x4_shl(rounded(features[1]), 16),
                                               wasm_i32x4_const_splat(0xffff)));
  }
};

}  // namespace LADON_NAMESPACE::detail::vec

#endif
