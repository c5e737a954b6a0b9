// SPDX-License-Identifier: Apache-2.0
// Constants for WebAssembly, measured in V8 on x86. defaults.hpp explains the figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

// If the loop over coefficients were unrolled, LLVM would compute one pack after another instead of side by side.
#define LADON_UNROLL_COEFFICIENTS _Pragma("clang loop unroll(disable)")
// By reference: copying a struct loads 64 bits, which wait for stores of 32 bits.
#define LADON_ARGUMENT const&

namespace LADON_NAMESPACE::detail::target {

struct Wasm : Defaults {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
  static constexpr std::size_t tile_sums = 12;  // 2 x 6: 87% of peak at (64,128,4) on Zen 4; 2 x 5: 84%
#else
  static constexpr std::size_t tile_sums = 8;  // 2 x 4: 84% of peak at (512,256,8), Xeon; 2 x 5: 85%, 540 bytes more
#endif
  static constexpr auto panel_layout = one_or_two_packs<tile_sums>;
#if defined(__wasm_relaxed_simd__)
  using Int8Element = std::uint8_t;
#elif defined(__wasm_simd128__)
  static constexpr bool widens_int8 = true;
  static constexpr std::size_t int8_feed_forward_tokens = 64;  // fewer conversions to 16 bits: 0.89 of MiniLM's time
#endif
  static constexpr std::size_t int8_tile_sums = 8;
  static constexpr std::size_t widened_features = 1024;  // 12 rows take 48 of 64 KB of stack
  static constexpr bool advances_pointers = true;        // (128,384,12): 65 -> 79% of peak
  static constexpr std::size_t single_query_heads = 2;
#if defined(__wasm_simd128__) && !defined(__wasm_relaxed_simd__)
  static constexpr bool separates_rows = true;  // (64,128,4): 1.3 times as fast in JavaScriptCore
#endif
#if defined(__wasm_simd128__)
  static constexpr bool loads_constants = true;  // v128.const in a loop is three instructions
  // With reading ahead, MiniLM of 8 tokens is 1.31 (int8) or 1.39 (float32) times as fast (Zen 4).
#if defined(__wasm_relaxed_simd__)
  static constexpr std::size_t read_ahead_int8 = 384;
#else
  static constexpr std::size_t read_ahead_floats = 384;
#endif
  static constexpr std::size_t softmax_chains = 4;
  static constexpr std::size_t gelu_packs_together = 8;
#endif
  static constexpr std::size_t most_aliasing_rows = 8;  // measured for x86 (x86.hpp)
};
using Current = Wasm;

}  // namespace LADON_NAMESPACE::detail::target
