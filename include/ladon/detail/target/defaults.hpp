// SPDX-License-Identifier: Apache-2.0
// Defines all constants that depend on the machine, with the values for an unknown machine. The struct of each target
// derives from Defaults and replaces the constants that were measured on this target. If no figure is given for a
// constant, the constant was chosen by reasoning and was not measured.
//
// Figures in this folder: (16,32,4) is attention of 16 tokens with 32 features in 4 heads. "% of peak" is the
// throughput in percent of one core's peak throughput of multiply-adds.
//
// A pack is a vector register of floats (detail/vec/choose.hpp). detail/panel/panels.hpp explains panels, and
// detail/target/layout.hpp explains tiles. A step of a product is the work for one value of the inner index: one
// multiply-add for each accumulator of a tile.
//
// Tests also compile kernels for numbers of lanes that the machine does not have. Kernels therefore read the following
// constants through their template arguments Vectors and Simd (detail/vec/choose.hpp):
//     panels and tiles   panel_layout, single_token_rows, narrowest_model_of_half_packs, rows_of_half_packs
//     attention          softmax_chains, exponentials_beside_values, attends_in_pairs, uses_block_floats
//     precisions         multiplies_bfloat16, Int8Element, int8_block, widens_int8
//
// Kernels read all other constants from target::Current.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/layout.hpp>

namespace LADON_NAMESPACE::detail::target {

inline constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

struct Defaults {
  // How many vector registers the target has. Only the benchmarks use this number.
  static constexpr std::size_t registers = 16;

  // --- Tiles ---------------------------------------------------------------------------------------------------------

  // How many rows a tile has for a single token. Panels then have the width 1.
  static constexpr std::size_t single_token_rows = 4;
  // From this width of the model on, tokens that fill one and a half registers are stored in three packs of half a
  // register. Products with weights then compute two steps in each register (detail/product/folded_tile.hpp).
  static constexpr std::size_t narrowest_model_of_half_packs = unlimited;
  // How many rows a tile has if a panel consists of three packs of half a register.
  static constexpr std::size_t rows_of_half_packs = 8;
  // How many steps one iteration of the micro-kernel's loop takes: 1 or 2.
  static constexpr std::size_t steps_per_iteration(std::size_t /*lanes*/, std::size_t /*packs*/) noexcept { return 1; }
  // Whether the micro-kernel's loop advances two pointers, to the weights and to the panel. If false, the loop computes
  // addresses from an index.
  static constexpr bool advances_pointers = false;
  // Whether the queries of all heads are projected in one product.
  static constexpr bool joins_queries = false;
  // How many packs of a panel stay in registers during a step. If a tile has more packs, each row of the tile loads the
  // remaining packs again.
  static constexpr std::size_t resident_packs = unlimited;
  // A product of at least this many weights is a separate function, even if the target inlines kernels.
  static constexpr std::size_t separate_function_weights = unlimited;
  // A product of few tokens is folded if each sum has at least this many steps. A step multiplies one float feature, or
  // two bfloat16 features, of each token. In a folded product, several steps share one register
  // (detail/product/folded_tile.hpp). Throughput in % of peak FMA throughput on Zen 5, for
  // (tokens,features,heads). The rows are attention, unless a row says "encoder layer":
  //   % of peak                           not folded   folded
  //   AVX-512   (8,256,8)                 40%          74%
  //   AVX-512   (8,64,4)                  42%          69%
  //   AVX-512   (8,16,2)                  32%          38%
  //   AVX-512   (4,256,8)                 21%          53%
  //   AVX-512   encoder layer (8,384,12)  43%          78%
  //   AVX2      (4,256,8)                 42%          74%
  //
  // Folded products with fewer than 16 steps were not measured.
  static constexpr std::size_t shortest_folded_sum = 16;

  // --- Softmax -------------------------------------------------------------------------------------------------------

  // Whether the constants of exp2 and other functions are loaded from memory where they are used, instead of staying in
  // registers.
  static constexpr bool loads_constants = false;
  // How exp2_of_nonpositive multiplies 1 + p f by a power of two, s. If true, it computes p (f s) + s, otherwise (p f +
  // 1) s. With p (f s) + s, the product f s need not wait for the polynomial p, so each exponential takes one
  // multiplication less time. On a target that flushes subnormals to zero, the constant must be false, because f s may
  // be subnormal if the result is not. In a deterministic build, the constant must be false.
  static constexpr bool scales_fraction = false;
  // How many packs of exponentials are computed side by side to hide latency.
  static constexpr std::size_t softmax_chains = 1;
  // Whether the exponentials are computed in the same loop as the first tile of the weighted sum of values.
  static constexpr bool exponentials_beside_values = false;
  // How many packs of exponentials a tile of the weighted sum computes in advance, if exponentials_beside_values is
  // true.
  static constexpr std::size_t exponential_packs_ahead = 8;
  // How many separate maxima a tile of scores keeps for each pack of queries, to combine them at the end. With a single
  // maximum, each max instruction waits for the result of the previous one. A tile of one pack and at least 8 rows
  // therefore keeps four maxima.
  static constexpr std::size_t score_maxima(std::size_t packs, std::size_t rows) noexcept {
    return packs == 1 && rows >= 8 ? 4 : 1;
  }

  // Whether attention with int8 weights computes with integers, on a target without an FPU
  // (detail/cortex_m/m0_attention.hpp).
  static constexpr bool uses_block_floats = false;

  // Whether attention with bfloat16 or int8 weights computes with pairs of bfloat16 numbers
  // (detail/attention/bfloat16_attention.hpp).
  static constexpr bool attends_in_pairs = false;

  // --- Activations ---------------------------------------------------------------------------------------------------

  // How many packs of GELU are computed side by side after a product, to hide latency. If the number is 1, the epilogue
  // of the product computes GELU, one pack after another.
  static constexpr std::size_t gelu_packs_together = 1;

  // --- Caches --------------------------------------------------------------------------------------------------------

  static constexpr std::size_t cache_line_floats = 16;
  // Weights are prefetched if neighbouring rows are at least this many floats apart. For a matrix with contiguous
  // columns, the distance between neighbouring columns counts. With `unlimited`, nothing is prefetched.
  static constexpr std::size_t prefetched_row_floats = unlimited;
  // A target without a prefetch instruction can read ahead in the weights of the next tile (read_ahead in
  // detail/build/compiler.hpp). It reads ahead if rows of float32 weights have at least read_ahead_floats features,
  // or if rows of int8 weights have at least read_ahead_int8 features. The weights of a tile must be contiguous.
  static constexpr std::size_t read_ahead_floats = unlimited, read_ahead_int8 = unlimited;
  // Tiles of one pack and folded tiles prefetch their own rows of weights twice. The first prefetch, into the L2 cache,
  // is prefetch_distance_floats floats ahead of the step that uses the weights. The second prefetch, into the L1 cache,
  // is near_prefetch_distance_floats floats ahead.
  static constexpr std::size_t prefetch_distance_floats = 12 * cache_line_floats;
  static constexpr std::size_t near_prefetch_distance_floats = 4 * cache_line_floats;
  // If rows of weights are a multiple of `aliasing_bytes` apart, the elements of one column compete for the same set of
  // the L1 cache. A tile then has at most `most_aliasing_rows` rows.
  static constexpr std::size_t aliasing_bytes = 4096;
  static constexpr std::size_t most_aliasing_rows = unlimited;
  // How many bytes of the L2 cache one product may use: half of the 1 MB that a core of Zen 4, Zen 5 or Cascade Lake
  // servers has. The other half is left for other data.
  static constexpr std::size_t second_cache_bytes = 512 * 1024;
  // If all input panels of a product together exceed `second_cache_bytes`, the product takes only some panels at a
  // time: as many panels as `panel_bytes_at_a_time` bytes hold, but at least `fewest_panels_at_a_time` panels.
  // Attention of 1024 tokens with 512 features in 8 heads reaches 69% of peak FMA throughput with all panels at a time,
  // and 74% with four panels at a time (Cascade Lake).
  static constexpr std::size_t panel_bytes_at_a_time = 256 * 1024;
  static constexpr std::size_t fewest_panels_at_a_time = 4;
  // If the weights of a feed-forward network exceed `second_cache_bytes`, each weight is read once for this many
  // panels. With a single panel, all weights would be read again for every panel. The table has the throughput of
  // encoder layers (tokens,features,heads) in % of peak, on a Cascade Lake, with and without prefetching of weights
  // (`prefetched_row_floats`). The feed-forward weights of (128,768,12) have 18.9 MB:
  //   % of peak                           one panel   four panels
  //   (128,768,12), without prefetching   56%         74%
  //   (128,768,12), with prefetching      67%         77%
  //   (128,384,12), without prefetching   82%         82%
  //   (128,384,12), with prefetching      84%         86%
  static constexpr std::size_t feed_forward_panels = 4;

  // --- bfloat16 weights ----------------------------------------------------------------------------------------------

  // How many features of each row of weights a tile converts to floats at a time (detail/product/widened_rows.hpp). The
  // floats lie on the stack.
  static constexpr std::size_t widened_features = 2048;
  // The value for microcontrollers, which have small stacks: 64 features of 8 rows take 2 KB.
  static constexpr std::size_t widened_features_on_small_stack = 64;
  // Whether the target multiplies bfloat16 weights by bfloat16 features (detail/vec/dot_bfloat16.hpp). If true, the
  // inputs of products are rounded to bfloat16 (detail/panel/bfloat16.hpp). If false, products convert the
  // weights to floats.
  static constexpr bool multiplies_bfloat16 = false;
  // How many packs of sums a tile has at most, if the target multiplies bfloat16 weights by bfloat16 features.
  static constexpr std::size_t bfloat16_tile_sums = unlimited;

  // --- int8 weights --------------------------------------------------------------------------------------------------

  // The type of a quantised feature: std::int16_t or std::int32_t for q, or an integer of 8 bits for q + zero
  // (detail/panel/quantise.hpp defines q and zero). sizeof(std::int32_t) divided by the size of the type is the
  // number of features that share a 32-bit lane (detail/vec/dot.hpp).
  using Int8Element = std::int16_t;
  // The features of a quantised token are stored in blocks of this many features.
  static constexpr std::size_t int8_block = 1;
  // Whether a tile of an int8 product converts its weights to 16 bits before the first panel
  // (detail/product/product_int8.hpp). The converted weights lie on the stack.
  static constexpr bool widens_int8 = false;
  // How many packs of sums a tile of an int8 product has at most.
  static constexpr std::size_t int8_tile_sums = 24;
  // If hidden_in_keys is true, a feed-forward network reads each int8 weight once for this many panels. If the memory
  // of the keys has no room for the hidden features of this many panels, the network takes as many panels as fit.
  static constexpr std::size_t int8_feed_forward_panels = 1;

  // --- Workspace -----------------------------------------------------------------------------------------------------

  // Whether the hidden features of a feed-forward network are stored in the memory of the keys, if there is enough
  // room. The keys may be overwritten, because no step after attention reads them. True only on microcontrollers, where
  // memory is scarce. If false, the hidden features have separate memory, which stays in the L1 or L2 cache.
  static constexpr bool hidden_in_keys = false;

  // --- A single token ------------------------------------------------------------------------------------------------

  // How many streams the product of a single token reads from a large matrix. A stream is a contiguous part of the
  // matrix. All streams are read at the same time. With four streams, one core reads 1.2 times as many bytes per second
  // as with one stream (docs/tuning-log.md, "A token at a time").
  static constexpr std::size_t streams = 1;
  // A matrix of at most this many bytes is read as one stream, because starting and ending several streams would cost
  // too much time.
  static constexpr std::size_t single_stream_bytes = 32 * 1024;
  // If a matrix has contiguous rows, several streams are used only if the weights of a row fill at least this many
  // packs. Matrices with shorter rows are read as one stream.
  static constexpr std::size_t fewest_streamed_inner_packs = 8;
  // If a matrix has contiguous columns, several streams are used only if its outputs (one for each row) fill at least
  // this many packs. Matrices with fewer rows are read as one stream.
  static constexpr std::size_t fewest_streamed_row_packs = 4;
  // How many outputs are computed at the same time if a matrix with contiguous columns is read in several streams. The
  // sums of these outputs take 4 KB and stay in the L1 cache.
  static constexpr std::size_t streamed_columns = 1024;
  // Whether streams prefetch the first lines of each page (prefetch_page_starts in detail/build/compiler.hpp).
  static constexpr bool prefetches_page_starts = false;
  // How many query heads that share keys and values are computed at the same time. The kernels for a single query then
  // read each pack of keys and values once for several heads (detail/attention/single.hpp).
  static constexpr std::size_t single_query_heads = 1;
  // If a short last panel has at most this many queries, the kernels for a single query compute these queries. Each
  // query then takes the place of a query head (MultiHeadSteps::attend_last_queries).
  static constexpr std::size_t most_last_queries = 0;
  // How many packs of sums the kernels for several heads keep in registers. The sums leave room for the other operands.
  static constexpr std::size_t single_query_sums = 8;
  // How many packs of dot products are computed at the same time from a matrix with contiguous rows. A pack has one dot
  // product in each lane. At least eight dot products at the same time are needed to hide the latency of an FMA.
  static constexpr std::size_t dot_product_packs(std::size_t lanes) noexcept { return lanes < 8 ? 2 : 1; }
  // How many packs of outputs are computed at the same time if a matrix with contiguous columns is read in one stream.
  static constexpr std::size_t column_packs = 8;
};

}  // namespace LADON_NAMESPACE::detail::target
