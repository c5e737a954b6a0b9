// SPDX-License-Identifier: Apache-2.0
// Chooses the packs that Ladon computes with: xsimd's vectors, Helium's vectors or plain arrays. Kernels get the choice
// as the template argument Vectors, with the members of Defaults (detail/target/defaults.hpp), and:
//     lanes     how many floats the widest register has
//     has<N>    whether there is a register of N floats
//     Pack<N>   the pack of N floats
//     Unit      the matrix unit, or NoMatrixUnit
//
// The template argument Simd is Vectors at run time, and ConstantPacks in constant evaluation.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/matrix_unit.hpp>

// Deterministic builds do not use 32-bit NEON and Helium, which flush subnormals to zero.
#if LADON_SSE2 || defined(__aarch64__) || defined(__wasm_simd128__) || (defined(__ARM_NEON) && !LADON_DETERMINISTIC)
#define LADON_TARGET_HAS_VECTORS
#endif

#if LADON_HELIUM && !defined(LADON_ARRAY_LANES) && !LADON_DETERMINISTIC
#define LADON_HAS_HELIUM 1
#include <ladon/detail/vec/helium.hpp>
#else
#define LADON_HAS_HELIUM 0
#endif

// LADON_ARRAY_LANES, or LADON_HAS_XSIMD=0, selects plain arrays.
#if defined(LADON_ARRAY_LANES) || !defined(LADON_TARGET_HAS_VECTORS)
#undef LADON_HAS_XSIMD
#define LADON_HAS_XSIMD 0
#else
#if !defined(LADON_HAS_XSIMD) && __has_include(<xsimd/xsimd.hpp>)
#define LADON_HAS_XSIMD 1
#elif !defined(LADON_HAS_XSIMD)
#define LADON_HAS_XSIMD 0
#endif
#if LADON_HAS_XSIMD
#include <ladon/detail/vec/xsimd.hpp>
#else
#pragma message(                                                                                       \
    "ladon: no xsimd, so plain arrays compute instead of vectors: put xsimd 8.1 to 14 on the include " \
    "path, or define LADON_ARRAY_LANES=1 for the same without this note")
#endif
#endif

namespace LADON_NAMESPACE::detail::vec {

template <std::size_t Lanes, class Target = target::PlainArrays<Lanes>>
struct ArrayVectors : Target {
  using Unit = NoMatrixUnit;
  static constexpr std::size_t lanes = Lanes;
  template <std::size_t N>
  static constexpr bool has = N <= Lanes;
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

#if LADON_HAS_XSIMD
struct XsimdVectors : target::Current {
  using Unit = MatrixUnit;
  static constexpr std::size_t lanes = xsimd::batch<float>::size;
  template <std::size_t N>
  static constexpr bool has = has_register<N>;
  template <std::size_t N>
  using Pack = std::conditional_t<N == 1, ArrayPack<1>, XsimdPack<N>>;  // xsimd has no batch of one float
};
using NativeVectors = XsimdVectors;
#elif LADON_HAS_HELIUM
struct HeliumVectors : target::Current {
  using Unit = NoMatrixUnit;
  static constexpr std::size_t lanes = 4;
  template <std::size_t N>
  static constexpr bool has = N == 1 || N == 4;
  template <std::size_t N>
    requires(has<N>)
  using Pack = std::conditional_t<N == 1, ArrayPack<1>, HeliumPack>;
};
using NativeVectors = HeliumVectors;
#elif defined(LADON_ARRAY_LANES)
using NativeVectors = ArrayVectors<LADON_ARRAY_LANES>;
#elif defined(__VSX__)
using NativeVectors = ArrayVectors<4, target::Current>;  // compilers keep the arrays in vector registers
#elif defined(__riscv_vector)
using NativeVectors = ArrayVectors<16, target::Current>;
#define LADON_HAS_INT8_VECTORS
using Int8Vectors = ArrayVectors<1>;  // with one lane, compilers vectorise loops over features
#else
using NativeVectors = ArrayVectors<1>;
#endif
#if !defined(LADON_HAS_INT8_VECTORS)
using Int8Vectors = NativeVectors;
#endif

struct ConstantPacks {
  using Unit = NoMatrixUnit;
  static constexpr std::size_t lanes = 1;  // but Pack<N> exists for every N
  static constexpr bool widens_int8 = false;
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

// The type of a quantised feature of 7 or 8 bits (detail/vec/dot.hpp).
template <class Vectors, int Bits>
using Int8Element =
    std::conditional_t<Bits == 7 && Vectors::multiplies_7_bits, std::uint8_t, typename Vectors::Int8Element>;

template <class Vectors, class F>
LADON_INLINE constexpr void with_packs(F f) noexcept {
#if LADON_CONSTANT_EVALUATION
  // With std::is_constant_evaluated, g++ 12 also optimises the code for ConstantPacks: 1.17 times the compile time.
  if (__builtin_is_constant_evaluated()) return f(ConstantPacks{});
#endif
  f(Vectors{});
}

// Returns the lanes of the narrowest register with at least `tokens` lanes, or of the widest register if none has.
template <class Vectors, std::size_t Lanes = Vectors::lanes>
constexpr std::size_t lanes_for(std::size_t tokens) noexcept {
  if constexpr (Lanes > 1) {
    if constexpr (Vectors::template has<Lanes / 2>) {
      if (tokens <= Lanes / 2) return lanes_for<Vectors, Lanes / 2>(tokens);
    }
  }
  return Lanes;
}

}  // namespace LADON_NAMESPACE::detail::vec

namespace LADON_NAMESPACE::detail {

// Returns the layout of `tokens` tokens. The panel of a single token has width 1, because lanes then hold features or
// keys. The sum of all lanes depends on the number of lanes, so deterministic builds treat a single token like several
// tokens.
template <class Vectors>
constexpr PanelLayout panel_layout(std::size_t tokens) noexcept {
  if (tokens == 1 && !LADON_DETERMINISTIC) return {1, 1, Vectors::single_token_rows};
  return Vectors::panel_layout(tokens, vec::lanes_for<Vectors>(tokens));
}

// Returns the layout of the last panel: the layout that a sequence of only the remaining tokens would have. With this
// narrower panel, KWT-1 (99 tokens) takes 0.92 of the time (Zen 4). One remaining token counts as two, because kernels
// for a single token compute only whole sequences.
template <class Vectors>
constexpr PanelLayout last_panel_layout(std::size_t tokens) noexcept {
  const PanelLayout whole = panel_layout<Vectors>(tokens);
  const std::size_t rest = tokens % whole.width();
  if (rest == 0 || whole.lanes == 1) return whole;
  return panel_layout<Vectors>(rest == 1 ? 2 : rest);
}

template <class Simd, PanelLayout T>
inline constexpr bool is_single_token = T.width() == 1 && Simd::lanes > 1 && !LADON_DETERMINISTIC;

}  // namespace LADON_NAMESPACE::detail
