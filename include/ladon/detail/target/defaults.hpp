// SPDX-License-Identifier: Apache-2.0
// The constants of an unknown machine. Each target replaces constants that were measured on it. bench/tuning-log.md,
// "Constants of the targets", explains each constant. Kernels read some constants through Vectors
// (detail/vec/choose.hpp), which tests vary.
//
// In figures, (128,384,12) is 128 tokens, 384 features and 12 heads, 2 x 5 is a tile of 2 packs and 5 rows, and "peak"
// is the largest possible number of FMAs per second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/config/settings.hpp>

namespace LADON_NAMESPACE::detail {

// A panel holds width() tokens (detail/panel/panels.hpp). A tile holds the sums of tile_rows rows in registers.
struct PanelLayout {
  std::size_t lanes;
  std::size_t packs;
  std::size_t tile_rows;
  std::size_t tile_rows_of_one_pack = tile_rows;  // more rows hide latency
  bool halves_panels = false;                     // skips the second half of a panel if it has no tokens

  constexpr std::size_t width() const noexcept { return lanes * packs; }
  constexpr std::size_t panels(std::size_t tokens) const noexcept { return (tokens + width() - 1) / width(); }
  constexpr std::size_t tile_rows_for(std::size_t tile_packs) const noexcept {
    return tile_packs == 1 ? tile_rows_of_one_pack : tile_rows;
  }
  constexpr std::size_t packs_for(std::size_t tokens) const noexcept { return (tokens + lanes - 1) / lanes; }
  constexpr bool operator==(const PanelLayout&) const = default;
};
// A tile has Sums rows of one pack, or half as many rows of two packs.
template <std::size_t Sums, bool HalvesPanels = false>
constexpr PanelLayout one_or_two_packs(std::size_t tokens, std::size_t lanes) noexcept {
  return tokens <= lanes ? PanelLayout{lanes, 1, Sums} : PanelLayout{lanes, 2, Sums / 2, Sums, HalvesPanels};
}

namespace target {

inline constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

// How products take few tokens as rows (detail/panel/token_rows.hpp).
struct TokenRowRules {
  bool exist = false;
  std::size_t tile_tokens = 6;               // tokens of a tile with 4 rows of W
  std::size_t overhead_registers = 2;        // adding the lanes of a row's sum takes as long as this many products
  std::size_t most_beyond_pack = unlimited;  // tokens of the second pack that may be rows, if the first is full
  bool of_whole_panel = false;               // the tokens of both packs may be rows
};

struct Defaults {
  static constexpr std::size_t registers = 16;  // for benchmarks

  // Tiles.
  static constexpr std::size_t single_token_rows = 4;
  static constexpr std::size_t steps_per_iteration(std::size_t /*lanes*/, std::size_t /*packs*/) noexcept { return 1; }
  static constexpr bool advances_pointers = false;
  static constexpr bool separates_rows = false;
  static constexpr std::size_t inlined_product_weights = 0;
  static constexpr bool projections_share_code = true;
  static constexpr std::size_t shortest_folded_sum = 16;

  // Attention.
  static constexpr bool loads_constants = false;
  static constexpr std::size_t softmax_chains = 1;
  static constexpr bool exponentials_beside_values = false;
  static constexpr std::size_t exponential_packs_ahead = 8;
  // How many maxima each pack of scores has, so that max instructions do not wait for each other.
  static constexpr std::size_t score_maxima(std::size_t packs, std::size_t rows) noexcept {
    return packs == 1 && rows >= 8 ? 4 : 1;
  }
  // Attention of at most this many queries has features in the lanes. From 5 or 6 queries on, queries in lanes are
  // faster (AVX-512, AVX2 and SSE2 on Zen 4).
  static constexpr std::size_t most_few_queries = 4;
  static constexpr bool uses_block_floats = false;
  static constexpr bool attends_in_pairs = false;
  // How many packs of GELU are computed side by side, in a pass after the product. With 1, there is no such pass: the
  // epilogue of the product computes GELU.
  static constexpr std::size_t gelu_packs_together = 1;

  // Caches.
  static constexpr std::size_t cache_line_floats = 16;
  // Weights are prefetched or read ahead if their rows have at least this many elements.
  static constexpr std::size_t prefetched_row_floats = unlimited;
  static constexpr std::size_t read_ahead_floats = unlimited, read_ahead_int8 = unlimited;
  static constexpr std::size_t prefetch_distance_floats = 12 * cache_line_floats;
  static constexpr std::size_t near_prefetch_distance_floats = 4 * cache_line_floats;
  // Rows that are a multiple of aliasing_bytes apart share sets of the L1 cache.
  static constexpr std::size_t aliasing_bytes = 4096;
  static constexpr std::size_t most_aliasing_rows = unlimited;
  static constexpr std::size_t second_cache_bytes = 512 * 1024;  // half of a 1 MB cache
  // An input above second_cache_bytes is multiplied in parts of this size: 69 -> 74% of peak.
  static constexpr std::size_t panel_bytes_at_a_time = 256 * 1024;
  static constexpr std::size_t fewest_panels_at_a_time = 4;
  // Bytes of results that a linear map outside the layers computes before it converts them into rows. With 16 KB, an
  // int8 map of 128 tokens with 384 and 1536 features takes 1.20 times as long (Zen 5).
  static constexpr std::size_t result_bytes_at_a_time = 64 * 1024;
  // Bytes of a block of weights. The L2 cache keeps a block until all panels, and tokens that are rows (product.hpp),
  // have used it.
  static constexpr std::size_t block_bytes = 144 * 1024;
  // How many panels share each read of feed-forward weights that exceed second_cache_bytes: 67 -> 77% of peak.
  static constexpr std::size_t feed_forward_panels = 4;

  // Precisions.
  // How many weights of a row are converted to floats at a time, on the stack.
  static constexpr std::size_t widened_features = 2048;
  // Bytes of expanded 4-bit weights on the stack.
  static constexpr std::size_t expanded_bytes = 16 * 1024;
  static constexpr bool multiplies_bfloat16 = false;
  static constexpr std::size_t bfloat16_tile_sums = unlimited;
  // The type of a quantised feature in panels (detail/panel/int8_panels.hpp): q in 16 or 32 bits, or in 8 bits q +
  // zero, where `zero` is the zero point of the token.
  using Int8Element = std::int16_t;
  static constexpr bool multiplies_7_bits = false;  // features of 7 bits are bytes, even if Int8Element is wider
  static constexpr std::size_t int8_block = 1;
  static constexpr bool widens_int8 = false;
  static constexpr std::size_t int8_tile_sums = 24;
  // The hidden features of a feed-forward network overwrite the keys.
  static constexpr bool hidden_in_keys = false;
  // How many tokens of a feed-forward network, at least those of a panel, share a read of int8 weights, or an expansion
  // of 4-bit weights. With 64 instead of 0, 4-bit MiniLM of 128 tokens takes 0.96 of the time on AVX-512, 0.9 on AVX2,
  // and 0.8 in WebAssembly.
  static constexpr std::size_t int8_feed_forward_tokens = 0;
  static constexpr std::size_t int4_feed_forward_tokens = 64;

  // Few tokens as rows (detail/panel/token_rows.hpp). Element is the type of the features.
  template <class Element>
  static constexpr TokenRowRules token_rows{};
  // Whether this number of tokens becomes quads (detail/vec/token_quads.hpp). The tokens are all of a panel, or those
  // after its first pack.
  template <class Element>
  static constexpr bool are_quads(std::size_t) noexcept {
    return false;
  }
  static constexpr std::size_t fewest_row_floats = 256;  // shorter rows would only add compile time

  // `run_text` computes texts of at most this many tokens with a second, smaller Encoder of the same weights
  // (ladon/model/text.hpp). 0: no second Encoder.
  static constexpr std::size_t short_text_tokens = 0;

  // A single token. Four streams are 1.2 times as fast as one.
  static constexpr std::size_t streams = 1;
  static constexpr std::size_t single_stream_bytes = 32 * 1024;
  static constexpr std::size_t fewest_streamed_inner_packs = 8;
  static constexpr std::size_t fewest_streamed_row_packs = 4;
  static constexpr std::size_t streamed_columns = 1024;  // 4 KB of sums stay in the L1 cache
  static constexpr bool prefetches_page_starts = false;
  static constexpr std::size_t single_query_heads = 1;
  static constexpr std::size_t single_query_sums = 8;
  // Eight dot products together hide the latency of an FMA.
  static constexpr std::size_t dot_product_packs(std::size_t lanes) noexcept { return lanes < 8 ? 2 : 1; }
  static constexpr std::size_t column_packs = 8;
};

struct SmallMemory : Defaults {
  static constexpr std::size_t widened_features = 64, expanded_bytes = 1024, result_bytes_at_a_time = 8 * 1024;
};

// For packs that are arrays. Only tests, POWER and RISC-V with vectors have arrays of several lanes.
template <std::size_t Lanes>
struct PlainArrays : Defaults {
  static constexpr std::size_t registers = Lanes == 1 ? 32 : 8;
  // 16 sums and 8 operands fit into 32 registers.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    if (Lanes == 1) return {1, 4, 4};
    return tokens <= lanes ? PanelLayout{lanes, 1, 4} : PanelLayout{lanes, 2, 3};
  }
  static constexpr std::size_t single_token_rows = Lanes == 1 ? 8 : 4;
  static constexpr bool uses_block_floats = LADON_THUMB1 && Lanes == 1 && !LADON_DETERMINISTIC;
  // A Cortex-M0+ multiplies only whole registers.
  using Int8Element = std::conditional_t<LADON_THUMB1 && Lanes == 1, std::int32_t, std::int16_t>;
};

}  // namespace target
}  // namespace LADON_NAMESPACE::detail
