// Every constant that depends on the machine, with the value for a machine of which nothing else is known. A target's
// own file derives from this struct and replaces what was measured there.
//
// A constant without a figure was chosen by reasoning and was not measured.
//
// Tests compile kernels for other numbers of lanes than the machine's. Constants that depend on the registers are
// therefore read from the kernels' template argument `Target` (detail/simd/vectors.hpp): tiling, single_token_rows,
// softmax_chains, exponentials_beside_values. All other constants are read from target::Current.
#pragma once

#include <cstddef>

#include <ladon/detail/target/tiling.hpp>

namespace ladon::inline LADON_ABI::detail::target {

inline constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

struct Defaults {
  // Vector registers. Only the benchmarks use this number.
  static constexpr std::size_t registers = 16;

  // --- Tiles ---------------------------------------------------------------------------------------------------------

  // Rows of a tile for a single token, where the packs have several lanes but the panel has one token.
  static constexpr std::size_t single_token_rows = 4;
  // Steps of the inner index that one iteration of the micro-kernel's loop takes, 1 or 2.
  static constexpr std::size_t steps_per_iteration(std::size_t /*lanes*/, std::size_t /*packs*/) noexcept { return 1; }
  // Whether the micro-kernel advances two pointers instead of computing addresses from an index.
  static constexpr bool advances_pointers = false;
  // Packs of a panel row that stay in registers during a step. A wider tile reads the other packs again for each row.
  static constexpr std::size_t resident_packs = unlimited;
  // A product of at least this many weights is a separate function even where kernels are inlined.
  static constexpr std::size_t separate_function_weights = unlimited;
  // The shortest inner index for which a few tokens fold several steps into one register. On Zen 5 folding raises the
  // share of peak of whole attention as follows. AVX-512: (8,256,8) 40 -> 74%, (8,64,4) 42 -> 69%, (8,16,2) 32 -> 38%,
  // (4,256,8) 21 -> 53%, encoder layer (8,384,12) 43 -> 78%. AVX2: (4,256,8) 42 -> 74%. Shorter sums were not tried.
  static constexpr std::size_t shortest_folded_sum = 16;

  // --- Softmax -------------------------------------------------------------------------------------------------------

  // Packs of exponentials that are computed side by side to hide latency.
  static constexpr std::size_t softmax_chains = 1;
  // Whether the exponentials are computed next to the first tile of the weighted sum.
  static constexpr bool exponentials_beside_values = false;
  // Packs of exponentials that are computed before the tile needs them.
  static constexpr std::size_t exponential_packs_ahead = 8;
  // Independent running maxima of a tile of scores. A panel of one pack has no other work while a maximum waits.
  static constexpr std::size_t score_maxima(std::size_t packs, std::size_t rows) noexcept {
    return packs == 1 && rows >= 8 ? 4 : 1;
  }

  // --- Caches --------------------------------------------------------------------------------------------------------

  static constexpr std::size_t cache_line_floats = 16;
  // A weight matrix of at least this many floats in a tile row's stride is prefetched; `unlimited`: none is.
  static constexpr std::size_t prefetched_row_floats = unlimited;
  // How far ahead of its use a row is prefetched by tiles of one pack.
  static constexpr std::size_t prefetch_distance_floats = 8 * cache_line_floats;
  // Rows of weights that are `aliasing_bytes` apart share a set of the nearest cache. A tile has at most
  // `most_aliasing_rows` of them.
  static constexpr std::size_t aliasing_bytes = 4096;
  static constexpr std::size_t most_aliasing_rows = unlimited;
  // The part of the second cache that one product may count on. Servers of today have at least 1 MB of it.
  static constexpr std::size_t second_cache_bytes = 512 * 1024;
  // Panels that do not fit there are taken in groups of `panel_group_bytes`, at least `fewest_grouped_panels` at a time
  // ((1024,512,8) on a Cascade Lake: all panels for each tile of rows 69% of peak, four panels 74%).
  static constexpr std::size_t panel_group_bytes = 256 * 1024;
  static constexpr std::size_t fewest_grouped_panels = 4;
  // Panels that share the weights of a feed-forward network that does not fit into `second_cache_bytes` (encoder layer
  // (128,768,12), 18.9 MB of these weights, on a Cascade Lake: 1 panel 56%, 4 panels 74% of peak; (128,384,12) 82%
  // with both; with prefetching 67 -> 77% and 84 -> 86%).
  static constexpr std::size_t feed_forward_panels = 4;

  // --- A single token ------------------------------------------------------------------------------------------------

  // Places of memory that are read at the same time, each without a gap ("A token at a time, from memory" in
  // bench/README.md: one core reads a fifth faster from four places than from one).
  static constexpr std::size_t streams = 1;
  // Matrices of at most this size are read as one stream, because starting and ending a stream costs too much.
  static constexpr std::size_t single_stream_bytes = 32 * 1024;
  // A matrix in several streams has at least this many packs in a row where rows are contiguous ...
  static constexpr std::size_t fewest_streamed_inner_packs = 8;
  // ... and at least this many packs of rows where columns are.
  static constexpr std::size_t fewest_streamed_row_packs = 4;
  // Columns whose sums stay in the nearest cache while several rows are added: 4 KB.
  static constexpr std::size_t streamed_columns = 1024;
  // Packs of rows whose dot products are computed at the same time: at least eight sums hide the latency of an fma.
  static constexpr std::size_t dot_product_packs(std::size_t lanes) noexcept { return lanes < 8 ? 2 : 1; }
  // Packs of columns that are summed at the same time.
  static constexpr std::size_t column_packs = 8;
};

}  // namespace ladon::inline LADON_ABI::detail::target
