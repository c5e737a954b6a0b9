// SPDX-License-Identifier: Apache-2.0
// Constants for AVX-512: 32 registers of 16 floats. detail/target/defaults.hpp explains each constant. In comments,
// (16,32,4) means 16 tokens with 32 features in 4 heads. "% of peak" means percent of one core's peak multiply-add
// throughput. detail/target/layout.hpp explains tiles.
#pragma once

#include <cstddef>

#include <ladon/detail/target/x86.hpp>

// Kernels may be inlined, because 32 registers have room for values of the caller. Calls are expensive at small shapes:
// attention of 16 tokens with 32 features in 4 heads reaches 64% of peak FMA throughput with inlined kernels and 58%
// with separate functions.
#define LADON_KERNEL

namespace LADON_NAMESPACE::detail::target {

struct Avx512 : X86 {
  static constexpr std::size_t registers = 32;
  // Throughput of attention in % of peak FMA throughput, for tiles of packs x rows and for (tokens,features,heads), on
  // Zen 5:
  //   % of peak   (128,384,12)   (512,256,8)
  //   2 x 12      94             87
  //   3 x 8       84             87
  //
  // With tiles of 2 x 10 or 2 x 14 instead of 2 x 12, the throughput changes by at most one percentage point of the
  // peak.
  //
  // If all tokens fit into one pack, attention is equally fast with tiles of 8, 16 and 24 rows (16 tokens, 32 features,
  // 4 heads). If only the last panel has one pack, the tiles of the last panel have 16 rows. With 16 rows instead of
  // 12, attention of 48 tokens with 128 features in 4 heads reaches 77% of peak FMA throughput instead of 75% (Cascade
  // Lake).
  //
  // 9 to 12 tokens use only 12 lanes. With PanelLayout::used_lanes = 12, int8 products skip the other lanes.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (tokens > lanes) return {lanes, 2, 12, 16};
    return {lanes, 1, 16, 16, lanes == 16 && tokens <= 12 ? std::size_t(12) : lanes};
  }
#if !LADON_DETERMINISTIC && LADON_HAS_SHUFFLE && defined(__AVX512BW__)
  // For 17 to 24 tokens, two packs of 16 lanes leave up to 15 lanes idle. Three packs of 8 lanes leave at most 7 lanes
  // idle. In products with weights, each register of 16 lanes then computes two steps of 8 tokens, so two steps take
  // three multiply-adds instead of four. Scores and weighted sums use registers of 8 lanes. On Zen 5, an instruction
  // takes as long with 8 lanes as with 16, so three packs slow down scores and weighted sums. In a wide model, products
  // with weights take most of the time, so three packs are faster overall.
  //
  // For Zen 4, the table has the time with three packs, divided by the time with two packs. For Zen 5, the table has
  // the throughput of float32 in % of peak FMA throughput:
  //   (tokens,features,heads)     Zen 4 float32   Zen 4 int8   Zen 5 two packs   Zen 5 three packs
  //   (24,384,12)                 0.79            0.81         71%               87%
  //   (24,384,12), causal         0.80            0.84         -                 -
  //   encoder layer (24,384,12)   0.76            0.83         72%               90%
  //   (20,256,8)                  0.79            0.84         59%               71%
  //   (24,128,4)                  0.79            0.83         69.5%             80%
  //   (24,128,4), causal          0.82            0.89         -                 -
  //   (24,64,4)                   0.82            0.88         -                 -
  //   (24,64,4), causal           0.86            0.99         -                 -
  //   (17,64,4)                   0.85            0.93         46%               48%
  //   (24,32,4)                   0.85            0.86         55%               49%
  //   (24,32,4), causal           0.94            1.03         48%               35%
  static constexpr std::size_t narrowest_model_of_half_packs = 128;
#endif
  // With tiles of one pack, two steps per iteration are faster than one: attention of 16 tokens with 32 features in 4
  // heads reaches 57.7% of peak FMA throughput instead of 56.2%. Four steps are no faster than two, and take more code.
  // With tiles of two packs, a step has 24 multiply-adds, and one step per iteration is as fast as two.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t packs) noexcept {
    return packs == 1 && lanes > 1 ? 2 : 1;
  }
  // A product of at least `separate_function_weights` weights is a separate function. If g++ inlines a large product
  // into a function with many loops, g++ keeps an accumulator in memory. Example: attention of 256 tokens with 1024
  // features in 8 heads and a causal mask reaches 68% of peak FMA throughput with inlined products, and 94% with
  // separate functions (Zen 5). For smaller shapes, separate functions are a little slower. The table compares two
  // thresholds, in % of peak FMA throughput. The smaller threshold makes more products separate functions:
  //       threshold               32768 weights   4096 weights
  //       (64,128,4)              93.1%           92.0%
  //       (128,384,12), causal    93.3%           92.8%
  //
  // Even with a threshold of 32768 weights, g++ 12 (-mtune=generic) keeps an accumulator of a projection in memory if
  // scores have a softcap. This projection has 12288 weights: 32 x 384, for one of 12 heads. With a threshold of 8192,
  // the accumulator stays in a register (tests/instructions/tile_loops). The speed with a threshold of 8192 was not
  // measured.
  static constexpr std::size_t separate_function_weights = 8192;
  // The table compares kernels that compute 1, 2 or 4 query heads at the same time. In each case, 4 query heads share
  // 1024 keys and values of 64 features. The key/value cache lies in the L3 cache or in memory. The figures are the
  // bytes of keys and values per second, in % of the rate of a plain read of these bytes (Zen 4):
  //     precision   place      1 head   2 heads   4 heads
  //     float32     L3 cache   24.5     40.2      50.6
  //     bfloat16    L3 cache   18.4     25.0      26.6
  //     int8        L3 cache   7.3      10.7      12.7
  //     float32     memory     36       53        48
  //     bfloat16    memory     23       31        32
  //     int8        memory     8.0      11.8      13.7
  //
  // With 4 heads, each number of the cache takes 4 multiply-adds. Even from the L3 cache, multiply-adds therefore limit
  // the figures to about 60 for float32, 30 for bfloat16, and 15 for int8.
  static constexpr std::size_t single_query_heads = 4;
  static constexpr std::size_t single_query_sums = 16;
  // A panel of four tokens fills a quarter of each register in scores and weighted sums. The kernels for a single query
  // fill each register, because each lane has a key. If these kernels compute the last 3 tokens, the layers of KWT-1
  // (99 tokens, 64 features, 1 head) take 0.9% less time (Zen 4).
  static constexpr std::size_t most_last_queries = 4;
  // With 8 chains (packs of exponentials computed side by side) instead of 1, the softmax's loop takes 27% less time.
  // With 12 chains, the loop is no faster than with 8 (Cascade Lake).
  static constexpr std::size_t softmax_chains = 8;
#if LADON_VNNI
  // Tiles of int8 products are 2 packs x 12 rows, or 1 pack x 16 rows. 24 packs of sums, 2 packs of a panel and the
  // weights of a row fill 27 registers. A step of a tile of 2 x 12 has 24 vpdpbusd and 14 loads. Two vpdpbusd and two
  // loads start per cycle on Zen 5 and on Ice Lake servers, so vpdpbusd limits the loop. Modelled by llvm-mca 19 for an
  // Ice Lake server, the loop reaches 92% of the peak throughput of vpdpbusd. In kernels where g++ 12 copies an
  // accumulator in the loop, the loop reaches 89%.
  static constexpr std::size_t int8_tile_sums = 24;
#endif
#if LADON_BFLOAT16_DOT
  // Products take bfloat16 features, because the instruction vdpbf16ps multiplies pairs of bfloat16 numbers
  // (detail/vec/dot_bfloat16.hpp).
  static constexpr bool multiplies_bfloat16 = true;
#if !LADON_DETERMINISTIC
  // Attention of several queries multiplies pairs of bfloat16 numbers, too. The table has the time with pairs, divided
  // by the time with floats (Zen 4, g++ 12, medians of interleaved runs). The int8 weights of the encoder layers are
  // rotated:
  //   time with pairs / with floats     int8   bfloat16
  //   (512,256,8)                       0.67   0.71
  //   (128,384,12)                      0.84   0.89
  //   (32,384,12)                       0.95   0.97
  //   (8,384,12)                        1.00   not measured
  //   6 encoder layers (128,384,12)     0.94   0.96
  //   6 encoder layers (32,384,12)      0.98   0.99
  //   6 encoder layers (8,384,12)       0.99   0.98
  static constexpr bool attends_in_pairs = true;
#endif
#endif
#if defined(__FMA__) && !LADON_DETERMINISTIC
  // A loop that computes only exponentials leaves the multiply-add pipes half idle. In attention to many keys, this
  // loop is the main reason why attention does not reach the peak. AVX-512 therefore computes the exponentials in the
  // same loop as a tile of the weighted sum. The multiply-adds of the tile then fill the pipes. The 32 registers of
  // AVX-512 suffice for both, and 2^x from a table takes few multiplications (detail/vec/exp2_table.hpp).
  //
  // On Zen 5, a pack of exponentials takes 4.0 cycles in a loop of exponentials only (detail/vec/elementary.hpp).
  // Between the steps of a tile, a pack of exponentials takes only 2.4 more cycles. The exponentials of a key are
  // computed four keys before the tile uses them. With two or eight keys instead of four, attention is no faster.
  static constexpr bool exponentials_beside_values = true;
#endif
};
using Current = Avx512;

}  // namespace LADON_NAMESPACE::detail::target
