// SPDX-License-Identifier: Apache-2.0
// Constants for WebAssembly modules with relaxed SIMD, with SIMD, and without SIMD. The engine that runs the module
// chooses the registers. An engine on x86 has 16 vector registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/x86.hpp>

#define LADON_KERNEL LADON_NOINLINE
// The loop over the coefficients of a polynomial is not unrolled. If it were unrolled, LLVM would compute one pack
// after another, and each instruction would wait for the result of the previous instruction.
#define LADON_UNROLL_COEFFICIENTS _Pragma("clang loop unroll(disable)")
// The body of a tile is inlined. As a separate function, it would have all operands in memory, and load them again
// after each store.
#define LADON_TILE_LAMBDA LADON_INLINE_LAMBDA
// Kernels take structs by reference, because a copy of a struct is slow: a struct of two pointers is written by two
// stores of 32 bits and copied by one load of 64 bits. The processor cannot forward two stores to one load, so the load
// waits for the stores. matmul_panels takes structs by value, so LADON_PRODUCT inlines it into its callers.
#define LADON_ARGUMENT const&
#define LADON_PRODUCT LADON_INLINE

namespace LADON_NAMESPACE::detail::target {

// The engine may run on x86 or on Arm. `most_aliasing_rows` has the value for x86, because only x86 needs this limit
// (neon.hpp has none). A matrix is always read in one stream, because WebAssembly has no prefetch instruction and
// modules should be small.
struct Wasm : Defaults {
#if defined(__wasm_relaxed_simd__) && !LADON_DETERMINISTIC
  // Throughput of attention in % of the peak of 42 GFLOP/s, for tiles of packs x rows and for (tokens,features,heads).
  // Measured with relaxed SIMD in Chromium 156 on a Xeon, when the body of a tile was still a separate function:
  //   % of peak   (128,384,12)   (512,256,8)   (128,768,12)
  //   2 x 4       76             66            76
  //   2 x 5       79             68            83
  //   2 x 6       79             67            73
  //
  // Throughput of attention in % of the peak of 58 GFLOP/s, measured with relaxed SIMD in Chromium 156 on Zen 4, with
  // the body of a tile inlined:
  //   % of peak   (64,128,4)   (128,384,12)   (512,256,8)   (128,768,12)
  //   2 x 4       80           -              -             -
  //   2 x 5       84           81             80            89
  //   2 x 6       87           83             83            92
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 12} : PanelLayout{lanes, 2, 6, 12};
  }
#else
  // Tiles of 2 x 5 take 540 more bytes of code than tiles of 2 x 4. The table has the throughput of attention in % of
  // the peak of 22 GFLOP/s, for tiles of packs x rows and for (tokens,features,heads), measured without relaxed SIMD in
  // Chromium 156 on a Xeon:
  //   % of peak   (128,384,12)   (512,256,8)
  //   2 x 4       97             84
  //   2 x 5       98             85
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens <= lanes ? PanelLayout{lanes, 1, 8} : PanelLayout{lanes, 2, 4, 8};
  }
#endif
  // The queries of all heads are projected in one product, because a product with more rows has larger tiles. A
  // multiply-add takes 4 cycles, and the processor starts two multiply-adds in a cycle, so a tile needs 8 sums to hide
  // the latency. More sums also hide other delays. Share of the ceiling that the loop of one product reaches with 2
  // packs x 4, 5 and 6 rows (relaxed SIMD, 128 steps, V8 of Node 26, Zen 4): 91, 94 and 98%. A product for one head of
  // 8 features has tiles of 4 rows, and for one head of 32 features tiles of 5 and 6 rows.
  static constexpr bool joins_queries = true;
#if defined(__wasm_relaxed_simd__)
  using Int8Element = std::uint8_t;
#elif defined(__wasm_simd128__)
  static constexpr bool widens_int8 = true;
#endif
  // Tiles of int8 products are 2 packs x 4 rows, or 1 pack x 8 rows.
  static constexpr std::size_t int8_tile_sums = 8;
  // A tile converts 1024 features of each row of weights at a time, half as many as on other targets. The converted
  // weights lie on the stack, and a module has a stack of only 64 KB: a tile of 12 rows takes about 48 KB.
  static constexpr std::size_t widened_features = 1024;
  // The loop advances pointers instead of an index. A load of WebAssembly adds only a constant offset to a pointer, so
  // with an index, every load would need an instruction that computes the address. Attention of 128 tokens with 384
  // features in 12 heads reaches 65% of peak FMA throughput with an index, and 79% with pointers (relaxed SIMD,
  // Chromium).
  static constexpr bool advances_pointers = true;
  static constexpr std::size_t single_query_heads = 2;
#if defined(__wasm_simd128__)
  // For a v128.const in a loop, V8 generates three instructions in each iteration: a move into a general-purpose
  // register, a move into a vector register, and a shuffle. Loading the constant from memory with a broadcast is one
  // instruction.
  static constexpr bool loads_constants = true;
  // A tile of 4 rows of float32 weights, or of int8 weights that are read in place, waits for weights that are not in
  // the L2 cache. The wait is longest with few tokens, because a tile then uses its weights only a few times. Time of
  // MiniLM without reading ahead, divided by the time with reading ahead (V8 of Node 26, Zen 4, interleaved runs):
  //   weights                    8 tokens   16 tokens   32 tokens   128 tokens
  //   float32, SIMD              1.39       1.15        1.08        1.05
  //   float32, relaxed SIMD      1.06       0.99        0.99        0.99
  //   int8, relaxed SIMD         1.31       1.15        1.06        0.99
  //
  // Int8 products with SIMD convert the weights of a tile in advance (TuplesIn16Bits). They would be 1 to 5% slower.
  // With rows of 256 features, the modules of KWT-1 would be 4 to 5% larger.
#if defined(__wasm_relaxed_simd__)
  static constexpr std::size_t read_ahead_int8 = 384;
#else
  static constexpr std::size_t read_ahead_floats = 384;
#endif
  static constexpr std::size_t softmax_chains = 4;
  static constexpr bool scales_fraction = !LADON_DETERMINISTIC;
  static constexpr std::size_t gelu_packs_together = 8;
#endif
  static constexpr std::size_t separate_function_weights = 0;
  static constexpr std::size_t most_aliasing_rows = X86::most_aliasing_rows;
};
using Current = Wasm;

}  // namespace LADON_NAMESPACE::detail::target
