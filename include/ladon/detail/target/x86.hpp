// SPDX-License-Identifier: Apache-2.0
// The constants that all x86 processors share.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

namespace LADON_NAMESPACE::detail::target {

struct X86 : Defaults {
#if LADON_VNNI
  // Features are unsigned, because vpdpbusd multiplies unsigned 8-bit features by 8-bit weights
  // (detail/vec/dot_vnni.hpp).
  using Int8Element = std::uint8_t;
#else
  static constexpr bool widens_int8 = true;
#endif
#if !defined(__AVX512F__) && !LADON_VNNI
  // Without VNNI, each product occupies a register until it is added to its sum. Tiles therefore have few rows. The
  // table has the time with float32 weights divided by the time with int8 weights, for (tokens,features,heads) and for
  // int8 tiles of two packs and 3 to 6 rows (AVX2, Zen 3):
  //     time float32 / time int8    3 rows   4 rows   5 rows   6 rows
  //     attention (128,384,12)      1.24     1.25     0.95     0.89
  //     encoder layer (128,384,12)  1.20     1.23     0.86     0.89
  //     attention (512,256,8)       1.09     1.13     0.97     0.92
  static constexpr std::size_t int8_tile_sums = 8;
#endif
#if defined(__SSE__) && defined(__GNUC__)
  // Weights are prefetched if a row has 256 features or more. Weights with such long rows usually do not fit into the
  // L1 and L2 caches, and a tile would wait for each row. Weights with shorter rows usually fit. MiniLM has 7.1 MB of
  // weights per layer. Time of MiniLM with prefetching, divided by the time without prefetching (Cascade Lake):
  //     8 tokens   0.75
  //    32 tokens   0.80
  //   128 tokens   0.82
  //
  // Tiles of one pack and folded tiles prefetch their own rows of weights. Tiles of two packs prefetch the rows of the
  // next tile. The table has the throughput of both kinds of prefetching in % of peak FMA throughput for
  // (tokens,features,heads), on Zen 5 with AVX-512. Own rows are prefetched eight lines ahead:
  //   tile        attention or layers                        own rows   rows of the next tile
  //   one pack    (16,256,8)                                 85%        83%
  //   one pack    12 encoder layers (16,384,12) in sequence  82%        73%
  //   two packs   (32,256,8)                                 91%        94%
  //
  // Zen 5 needs to prefetch at least six lines ahead, or the lines arrive too late from memory. Eight lines are as fast
  // as six. Zen 4 needs twelve lines. A Zen 4 core can fetch only few lines into the L1 cache at the same time, so each
  // line is prefetched twice: twelve lines ahead into the L2 cache, and four lines ahead from the L2 cache into the L1
  // cache. The table has the time of six encoder layers of MiniLM with both prefetches (Zen 4, weights in the L3
  // cache). The time is divided by the time with only one prefetch, twelve lines ahead, into the L2 cache or into the
  // L1 cache:
  //     weights    target    tokens   both / only into L2   both / only into L1
  //     float32    SSE2      4        0.79                  -
  //     float32    AVX2      8        0.85                  -
  //     float32    AVX-512   4        0.88                  -
  //     float32    AVX-512   8        0.86                  -
  //     float32    AVX-512   16       -                     0.92
  //     float32    AVX-512   24       -                     0.98
  //     bfloat16   AVX-512   4        0.93                  -
  //     bfloat16   AVX-512   8        0.82                  -
  //     bfloat16   AVX-512   16       -                     0.99
  //
  // Some int8 tiles read the weights in place. These tiles prefetch lines of weights between the steps of the product
  // (steps_with_prefetch in detail/product/product_int8.hpp). A burst, which prefetches all lines of the next tile
  // before the last panel, is slower. A burst fills the queue of outstanding lines, and the processor then waits. A
  // sampling profiler showed that bursts took 7 to 10% of the time of the products of the feed-forward network. The
  // table has the time of six encoder layers of MiniLM (10.6 MB of int8 weights) with prefetches between steps, divided
  // by the time with bursts into the L2 cache (Zen 4, AVX-512 VNNI, interleaved runs):
  //     tokens                               8      16     24     32     128
  //     rows of the next tile, L2 cache      0.79   0.88   0.93   0.90   0.95
  //     rows of the next tile, L1 cache      0.76   0.84   0.92   0.85   0.93
  //     own rows, 12 lines ahead, L1 cache   0.76   0.85   0.91   0.84   0.93
  //
  // With own rows 6 or 24 lines ahead instead of 12, the time changes by at most 1%.
  static constexpr std::size_t prefetched_row_floats = 256;
#endif
  // If rows of weights are a multiple of 4096 bytes apart, the elements of one column compete for one set of the L1
  // cache. A set has 8 to 12 lines, so the lines of more than 8 such rows could evict each other. A tile therefore has
  // at most 8 such rows. Throughput in % of peak FMA throughput on a Cascade Lake with AVX-512, for
  // (tokens,features,heads):
  //                                                       without limit   with limit
  //   W2 of a feed-forward network, 3072 hidden features  64%             69%
  //   encoder layer (128,768,12)                          73%             74%
  //   encoder layer (128,1024,16), where all rows alias   62%             67%
  //
  // The limit was not measured on AVX2 and SSE2. There, it affects only tiles of one pack: all other tiles have at most
  // 6 rows.
  static constexpr std::size_t most_aliasing_rows = 8;
#if defined(__x86_64__)
  static constexpr std::size_t streams = 4;
  static constexpr bool prefetches_page_starts = true;
  static constexpr std::size_t single_query_heads = 2;
#endif
};

}  // namespace LADON_NAMESPACE::detail::target
