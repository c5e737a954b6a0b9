// SPDX-License-Identifier: Apache-2.0
// One step of an int8 product in WebAssembly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

// All engines compute the products of a pair exactly. With relaxed SIMD, engines differ: a feature above 127 may count
// as negative, and the sum of two products may saturate. Zero points and levels therefore depend on the engine
// (token_scale.hpp).
template <class Element>
#if defined(__wasm_relaxed_simd__)
  requires(std::is_same_v<Element, std::int16_t> || std::is_same_v<Element, std::uint8_t>)
#else
  requires(std::is_same_v<Element, std::int16_t>)
#endif
struct TupleDot<Element, XsimdPack<4>> {
  static constexpr std::size_t tuple_size = tuple_features<Element>, features = tuple_size;
  using Pack = XsimdPack<4>;
  using Sums = IntegerSums<Pack>;
  using Features = v128_t;

  static LADON_INLINE Features load(const Element* panel) noexcept { return wasm_v128_load(panel); }
  template <class Weight>
  static LADON_INLINE v128_t weights(const Weight* weight) noexcept {
    return wasm_i32x4_splat(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, v128_t weights) noexcept {
#if defined(__wasm_relaxed_simd__)
    if constexpr (tuple_size == 4) {
      sum.sum = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, x, sum.sum);
      return;
    }
#endif
    sum.sum = wasm_i32x4_add(sum.sum, wasm_i32x4_dot_i16x8(x, weights));
  }
  static LADON_INLINE void add_products(Sums& sum, const Element* x, const std::int8_t* weight) noexcept {
    add(sum, load(x), tuple_size == 4 ? wasm_v128_load(weight) : wasm_i16x8_load8x8(weight));
  }
  // Packs the low bytes of four integers into one lane, or the low halves of two. From the lowest byte on:
  //     even    q0  *   q2  *
  //     odd     q1  *   q3  *
  //     bytes   q0  q1  q2  q3
  static LADON_INLINE void store_tuple(const Pack (&x)[tuple_size], [[maybe_unused]] const Pack& zero,
                                       Element* panel) noexcept {
    const auto merged = [&](std::size_t low, std::size_t high) LADON_INLINE_LAMBDA {
      const Pack offset = Pack::broadcast(round_to_low_bits);
      const v128_t upper = wasm_i32x4_shl((x[high] + offset).batch, 16);
      return wasm_v128_bitselect((x[low] + offset).batch, upper, wasm_i32x4_const_splat(0xffff));
    };
    if constexpr (tuple_size == 2) {
      wasm_v128_store(panel, merged(0, 1));
    } else {
      const v128_t odd = wasm_i16x8_shl(merged(1, 3), 8);
      const v128_t bytes = wasm_v128_bitselect(merged(0, 2), odd, wasm_i16x8_const_splat(0xff));
      const v128_t low_bytes = wasm_v128_and(wasm_i32x4_trunc_sat_f32x4(zero.batch), wasm_i32x4_const_splat(0xff));
      wasm_v128_store(panel, wasm_i8x16_add(bytes, wasm_i32x4_mul(low_bytes, wasm_i32x4_const_splat(0x01010101))));
    }
  }
};

}  // namespace LADON_NAMESPACE::detail::vec
