// The seam: everything above sees a target as a type that says how many lanes its registers hold, how many registers
// there are, and which pack computes with N of those lanes.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/simd/pack_array.hpp>
#include <ladon/detail/target/compiler.hpp>

// NEON of 32 bits flushes subnormals to zero, so it can't give the bits of the others.
#if defined(__SSE2__) || defined(_M_X64) || defined(__aarch64__) || defined(__wasm_simd128__) || \
    (defined(__ARM_NEON) && !LADON_DETERMINISTIC)
#define LADON_TARGET_HAS_VECTORS
#endif

// Helium flushes them, too.
#if !defined(LADON_ARRAY_LANES) && !LADON_DETERMINISTIC && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define LADON_HAS_HELIUM 1
#include <ladon/detail/simd/pack_helium.hpp>
#else
#define LADON_HAS_HELIUM 0
#endif

// Vectors by xsimd where the compiler's target has a SIMD set that xsimd knows and xsimd is there; plain arrays
// otherwise, or where LADON_ARRAY_LANES asks for them. Where nobody asked and xsimd is missing (LADON_HAS_XSIMD=0 says
// that it is) there is a note, for the processor could do many times as much.
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
#include <ladon/detail/simd/pack_xsimd.hpp>
#else
#pragma message(                                                                                       \
    "ladon: no xsimd, so plain arrays compute instead of vectors: put xsimd 8.1 to 14 on the include " \
    "path, or define LADON_ARRAY_LANES=1 for the same without this note")
#endif
#endif

namespace ladon::inline LADON_ABI::detail::simd {

// Plain arrays of at most Lanes floats. One lane fills the registers of a Cortex-M's FPU; more lanes are for checking
// other targets' code paths anywhere, and small tiles of them compile in a sixth of the time.
template <std::size_t Lanes>
struct Array {
  static constexpr std::size_t lanes = Lanes;
  static constexpr std::size_t registers = Lanes == 1 ? 32 : 8;
  static constexpr bool fused = fma_is_fused;
  template <std::size_t N>
  static constexpr bool has = N <= Lanes;
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

#if LADON_HAS_XSIMD
template <std::size_t N>
struct VectorPack {
  using Type = XsimdPack<N>;
};
template <>
struct VectorPack<1> {
  using Type = ArrayPack<1>;  // one float is no vector
};
struct Vector {
  static constexpr std::size_t lanes = xsimd::batch<float>::size;
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr std::size_t registers = 32;
#else
  static constexpr std::size_t registers = 16;
#endif
#if defined(__wasm_relaxed_simd__)
  static constexpr bool fused = !LADON_DETERMINISTIC;  // wherever the machine can
#else
  static constexpr bool fused = fma_is_fused;
#endif
  template <std::size_t N>
  static constexpr bool has = has_register<N>;
  template <std::size_t N>
  using Pack = typename VectorPack<N>::Type;
};
using Default = Vector;
#elif LADON_HAS_HELIUM
template <std::size_t N>
struct HeliumPackOf {
  using Type = HeliumPack;
};
template <>
struct HeliumPackOf<1> {
  using Type = ArrayPack<1>;  // one float is no vector
};
struct Helium {
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t registers = 8;
  static constexpr bool fused = true;
  template <std::size_t N>
  static constexpr bool has = N == 1 || N == 4;
  template <std::size_t N>
    requires(has<N>)
  using Pack = typename HeliumPackOf<N>::Type;
};
using Default = Helium;
#elif defined(LADON_ARRAY_LANES)
using Default = Array<LADON_ARRAY_LANES>;
#else
using Default = Array<1>;
#endif

// The packs that constant evaluation computes with.
struct ArrayPacks {
  static constexpr std::size_t lanes = 1;  // no more than that is needed
  template <std::size_t N>
  using Pack = ArrayPack<N>;
};

// Calls f with what has the template Pack<N>: the target at run time, plain arrays in constant evaluation.
template <class Target, class F>
LADON_INLINE constexpr void with_packs(F f) noexcept {
  if (std::is_constant_evaluated()) {
    f(ArrayPacks{});
  } else {
    f(Target{});
  }
}

// The pack of N floats of the default target.
template <class T, std::size_t N>
  requires(std::is_same_v<T, float>)
using Pack = typename Default::template Pack<N>;

}  // namespace ladon::inline LADON_ABI::detail::simd
