// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product in WebAssembly.
#pragma once

#include <wasm_simd128.h>

namespace LADON_NAMESPACE::detail::vec {

template <>
struct IntegerSums<XsimdPack<4>> {
  using Pack = XsimdPack<4>;
  v128_t sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {wasm_i32x4_const_splat(0)}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {wasm_v128_load(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {wasm_i32x4_mul(wasm_i32x4_trunc_sat_f32x4(factors.batch), wasm_i32x4_splat(-factor))};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept {
    const v128_t halves = wasm_i32x4_add(a.sum, wasm_i32x4_shuffle(a.sum, a.sum, 2, 3, 0, 1));
    return wasm_i32x4_extract_lane(halves, 0) + wasm_i32x4_extract_lane(halves, 1);
  }
  LADON_INLINE Pack to_float() const noexcept { return Pack::Batch(wasm_f32x4_convert_i32x4(sum)); }
};

#if defined(__wasm_relaxed_simd__)
// Engines differ: a feature above 127 may count as negative, and the sum of two products may saturate. Zero points and
// levels therefore depend on the engine (token_scale.hpp).
template <>
struct TupleDot<std::uint8_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 4, features = 4;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;
  using Features = v128_t;

  static LADON_INLINE Features load(const std::uint8_t* panel) noexcept { return wasm_v128_load(panel); }
  static LADON_INLINE v128_t weights(const std::int8_t* weight) noexcept {
    return wasm_i32x4_splat(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, v128_t weights) noexcept {
    sum.sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, x, sum.sum);
  }
  static LADON_INLINE void add_products(Sums& sum, const std::uint8_t* x, const std::int8_t* weight) noexcept {
    sum.sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(wasm_v128_load(weight), wasm_v128_load(x), sum.sum);
  }
  // Packs the low bytes of four integers into one lane. From the lowest byte on:
  //     even    q0  *   q2  *
  //     odd     q1  *   q3  *
  //     bytes   q0  q1  q2  q3
  static LADON_INLINE void store_tuple(const Pack (&x)[4], const Pack& zero, std::uint8_t* panel) noexcept {
    const auto rounded = [](const Pack& pack) LADON_INLINE_LAMBDA -> v128_t {
      return (pack + Pack::broadcast(round_to_low_bits)).batch;
    };
    const auto merged = [](v128_t low, v128_t high) LADON_INLINE_LAMBDA {
      return wasm_v128_bitselect(low, wasm_i32x4_shl(high, 16), wasm_i32x4_const_splat(0xffff));
    };
    const v128_t even = merged(rounded(x[0]), rounded(x[2])), odd = merged(rounded(x[1]), rounded(x[3]));
    const v128_t bytes = wasm_v128_bitselect(even, wasm_i16x8_shl(odd, 8), wasm_i16x8_const_splat(0xff));
    const v128_t low_bytes = wasm_v128_and(wasm_i32x4_trunc_sat_f32x4(zero.batch), wasm_i32x4_const_splat(0xff));
    wasm_v128_store(panel, wasm_i8x16_add(bytes, wasm_i32x4_mul(low_bytes, wasm_i32x4_const_splat(0x01010101))));
  }
};
#endif

// All engines compute the products of a pair exactly.
template <>
struct TupleDot<std::int16_t, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = 2, features = 2;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;
  using Features = v128_t;

  static LADON_INLINE Features load(const std::int16_t* panel) noexcept { return wasm_v128_load(panel); }
  template <class Weight>
  static LADON_INLINE v128_t weights(const Weight* weight) noexcept {
    return wasm_i32x4_splat(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, v128_t weights) noexcept {
    sum.sum = wasm_i32x4_add(sum.sum, wasm_i32x4_dot_i16x8(x, weights));
  }
  static LADON_INLINE void add_products(Sums& sum, const std::int16_t* x, const std::int8_t* weight) noexcept {
    sum.sum = wasm_i32x4_add(sum.sum, wasm_i32x4_dot_i16x8(wasm_v128_load(x), wasm_i16x8_load8x8(weight)));
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[2], const Pack&, std::int16_t* panel) noexcept {
    const auto rounded = [](const Pack& pack) LADON_INLINE_LAMBDA -> v128_t {
      return (pack + Pack::broadcast(round_to_low_bits)).batch;
    };
    wasm_v128_store(
        panel, wasm_v128_bitselect(rounded(x[0]), wasm_i32x4_shl(rounded(x[1]), 16), wasm_i32x4_const_splat(0xffff)));
  }
};

}  // namespace LADON_NAMESPACE::detail::vec
