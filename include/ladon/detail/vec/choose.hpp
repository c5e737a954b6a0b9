// SPDX-License-Identifier: Apache-2.0
// Chooses the packs that Ladon computes with: xsimd's vectors, Helium's vectors or plain arrays. A pack is a vector of
// floats, usually one vector register (pack_array.hpp). A struct such as XsimdVectors describes the chosen packs. The
// kernels get this struct as the template argument Vectors. Another template argument, Simd, is Vectors at run time,
// and ConstantPacks in constant evaluation (with_packs). The struct has these members:
//     lanes        how many floats the widest register has
//     has<N>       whether there is a register of N floats
//     Pack<N>      the pack of N floats
//
// The struct also has the members of Defaults (detail/target/defaults.hpp), for example the function
// panel_layout(tokens, lanes). ConstantPacks has only the members `lanes`, Pack<N> and widens_int8.
//
// detail/panel/panels.hpp defines panels, and detail/target/layout.hpp tiles.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/vec/array.hpp>

// A deterministic build does not use 32-bit NEON, which flushes subnormals to zero: results would differ from other
// targets.
#if defined(__SSE2__) || defined(_M_X64) || defined(__aarch64__) || defined(__wasm_simd128__) || \
    (defined(__ARM_NEON) && !LADON_DETERMINISTIC)
#define LADON_TARGET_HAS_VECTORS
#endif

// A deterministic build does not use Helium, because Helium flushes subnormals to zero.
#if !defined(LADON_ARRAY_LANES) && !LADON_DETERMINISTIC && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define LADON_HAS_HELIUM 1
#include <ladon/detail/vec/helium.hpp>
#else
#define LADON_HAS_HELIUM 0
#endif

// Ladon computes with xsimd's vectors if xsimd is installed and supports the target. LADON_ARRAY_LANES selects plain
// arrays instead. If xsimd is missing or LADON_HAS_XSIMD is 0, Ladon also computes with plain arrays. The compiler then
// prints a note if the target has vectors and LADON_ARRAY_LANES is not defined, because vectors are many times as fast.
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

// The vectors of a target that computes with plain arrays: each pack is an array of at most Lanes floats.
template <std::size_t Lanes>
struct ArrayVectors : target::PlainArrays<Lanes> {
  static constexpr std::size_t lanes = Lanes;
  template <std::size_t N>
  static constexpr bool has = N <= Lanes;
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

#if LADON_HAS_XSIMD
struct XsimdVectors : target::Current {
  static constexpr std::size_t lanes = xsimd::batch<float>::size;
  template <std::size_t N>
  static constexpr bool has = has_register<N>;
  template <std::size_t N>
  struct PackOf {
    using Type = XsimdPack<N>;
  };
  template <std::size_t N>
    requires(N == 1)
  struct PackOf<N> {
    using Type = ArrayPack<1>;  // xsimd has no batch of one float
  };
  template <std::size_t N>
  using Pack = typename PackOf<N>::Type;
};
using NativeVectors = XsimdVectors;
#elif LADON_HAS_HELIUM
struct HeliumVectors : target::Current {
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
#else
using NativeVectors = ArrayVectors<1>;
#endif

// The packs that constant evaluation computes with.
struct ConstantPacks {
  static constexpr std::size_t lanes = 1;  // but Pack<N> exists for every N
  static constexpr bool widens_int8 = false;
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

// Calls f(Vectors{}) at run time and f(ConstantPacks{}) in constant evaluation. `f` computes with the packs of its
// argument.
template <class Vectors, class F>
LADON_INLINE constexpr void with_packs(F f) noexcept {
#if LADON_CONSTANT_EVALUATION
  if (std::is_constant_evaluated()) return f(ConstantPacks{});
#endif
  f(Vectors{});
}

// Returns the number of lanes of the narrowest register that has at least `tokens` lanes. If every register has fewer
// lanes than `tokens`, returns the number of lanes of the widest register.
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

// Returns the layout of `tokens` tokens in panels, and the shape of a tile of products of these tokens. `model` is the
// width of a token in the products with weights, or 0 if there are no such products. If `tokens` tokens fill one and a
// half registers and `model` is at least Vectors::narrowest_model_of_half_packs, a panel has three packs of half a
// register. For a single token, a panel has the width 1: in products, the lanes then hold different features or keys
// instead of different tokens (detail/product/single.hpp, detail/attention/single.hpp). Sums across lanes
// depend on the number of lanes, so a deterministic build treats a single token like several tokens.
template <class Vectors>
constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t model = 0) noexcept {
  if (tokens == 1 && !LADON_DETERMINISTIC) return {1, 1, Vectors::single_token_rows};
  if (model >= Vectors::narrowest_model_of_half_packs && tokens > Vectors::lanes && tokens <= 3 * Vectors::lanes / 2) {
    return {Vectors::lanes / 2, 3, Vectors::rows_of_half_packs};
  }
  return Vectors::panel_layout(tokens, vec::lanes_for<Vectors>(tokens));
}

// Returns the layout of the last panel of `tokens` tokens. All other panels have the layout panel_layout(tokens,
// model). The last panel has the layout that its tokens would have as a separate sequence, so few tokens use narrow
// packs and folded products (detail/product/folded_tile.hpp). There are two exceptions:
// - A single token in the last panel has the layout of two tokens, because the kernels for a single token compute only
//   whole sequences.
// - With one lane, there are no narrower packs. The last panel then has the layout of the other panels.
//
// The table has the time of encoder layers with last_panel_layout, divided by the time without it. Without it, the last
// panel has one pack of 16 lanes. Each time is the quickest of three or more alternating series (Zen 4, AVX-512).
// (99,64,1) means 99 tokens with 64 features in 1 head:
//   relative time                  tokens of the last panel   float32   bfloat16   int8
//   12 layers of KWT-1 (99,64,1)   3                          0.92      -          0.92
//   3 layers (99,384,12)           3                          0.92      0.89       0.91
//   3 layers (70,384,12)           6                          0.95      -          -
template <class Vectors>
constexpr PanelLayout last_panel_layout(std::size_t tokens, std::size_t model = 0) noexcept {
  const PanelLayout whole = panel_layout<Vectors>(tokens, model);
  const std::size_t rest = tokens % whole.width();
  if (rest == 0 || whole.lanes == 1) return whole;
  return panel_layout<Vectors>(rest == 1 ? 2 : rest, model);
}

// Whether products of tokens with the layout T use the kernels for a single token.
template <class Simd, PanelLayout T>
inline constexpr bool is_single_token = T.width() == 1 && Simd::lanes > 1 && !LADON_DETERMINISTIC;

}  // namespace LADON_NAMESPACE::detail
