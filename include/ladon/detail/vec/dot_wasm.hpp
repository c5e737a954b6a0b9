// SPDX-License-Identifier: Apache-2.0
// The instructions of int8 products in WebAssembly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <wasm_simd128.h>

namespace LADON_NAMESPACE::detail::vec {

// dot_x86.hpp documents the functions. A lane in merge_bytes(even, odd), from the lowest byte on (*: unused):
//     even      q0  *   q2  *
//     odd       q1  *   q3  *
//     result    q0  q1  q2  q3
template <std::size_t N>
struct IntegerRegister {
  using Type = v128_t;

  static LADON_INLINE Type load(const void* from) noexcept { return wasm_v128_load(from); }
  static LADON_INLINE void store(Type x, void* to) noexcept { wasm_v128_store(to, x); }
  static LADON_INLINE Type broadcast(std::int32_t x) noexcept { return wasm_i32x4_splat(x); }
  static LADON_INLINE Type add(Type a, Type b) noexcept { return wasm_i32x4_add(a, b); }
  static LADON_INLINE Type add_bytes(Type a, Type b) noexcept { return wasm_i8x16_add(a, b); }
  static LADON_INLINE Type multiply(Type a, Type b) noexcept { return wasm_i32x4_mul(a, b); }
  static LADON_INLINE Type add_products_of_pairs(Type sum, Type a, Type b) noexcept {
    return add(sum, wasm_i32x4_dot_i16x8(a, b));
  }
  static LADON_INLINE Type repeat_byte(Type x) noexcept {
    return multiply(wasm_v128_and(x, broadcast(0xff)), broadcast(0x01010101));
  }
  static LADON_INLINE Type bits(Type x) noexcept { return x; }
  static LADON_INLINE Type integers(Type x) noexcept { return wasm_i32x4_trunc_sat_f32x4(x); }
  static LADON_INLINE Type floats(Type x) noexcept { return wasm_f32x4_convert_i32x4(x); }
  static LADON_INLINE Type merge_words(Type low, Type high) noexcept {
    return wasm_v128_bitselect(low, wasm_i32x4_shl(high, 16), wasm_i32x4_const_splat(0xffff));
  }
  static LADON_INLINE Type merge_bytes(Type even, Type odd) noexcept {
    return wasm_v128_bitselect(even, wasm_i16x8_shl(odd, 8), wasm_i16x8_const_splat(0xff));
  }
  static LADON_INLINE Type words(const std::int8_t* from) noexcept { return wasm_i16x8_load8x8(from); }
  static LADON_INLINE std::int32_t reduce_add(Type a) noexcept {
    const Type halves = add(a, wasm_i32x4_shuffle(a, a, 2, 3, 0, 1));
    return wasm_i32x4_extract_lane(halves, 0) + wasm_i32x4_extract_lane(halves, 1);
  }
};
template <std::size_t Lanes>
inline constexpr bool has_integers = Lanes == 4;

// With relaxed SIMD, engines differ: a feature above 127 may count as negative, and the sum of two products may
// saturate. Zero points and levels therefore depend on the engine (token_scale.hpp).
#if defined(__wasm_relaxed_simd__)
inline constexpr bool multiplies_bytes = true;
template <class Weights>
LADON_INLINE v128_t add_dot(v128_t sum, v128_t x, const Weights& w) noexcept {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(ladon::bit_cast<v128_t>(w), x, sum);
}
#else
inline constexpr bool multiplies_bytes = false;
#endif

}  // namespace LADON_NAMESPACE::detail::vec
