// What all x86 processors share.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

namespace ladon::inline LADON_ABI::detail::target {

struct X86 : Defaults {
#if defined(__SSE__) && defined(__GNUC__)
  // Weights of 256 features or more lie in a far cache, and a tile would wait for each of its rows (MiniLM, 7.1 MB a
  // layer, on a Cascade Lake: prefetching takes 0.75 of the time for 8 tokens, 0.80 for 32, 0.82 for 128). Narrower
  // weights are near.
  //
  // The distance of eight lines is for tiles of one pack (Zen 5, AVX-512, instead of the whole next tile: (16,256,8)
  // 83 -> 85% of peak, 12 encoder layers of (16,384,12) one after the other 73 -> 82%). Six lines are as fast; fewer
  // arrive too late from memory. For two packs the whole next tile is better ((32,256,8) 94%, eight lines 91%).
  static constexpr std::size_t prefetched_row_floats = 256;
#endif
  // The nearest cache has sets of 8 to 12 lines (Cascade Lake, AVX-512, 3072 hidden features: W2 alone 64 -> 69% of
  // peak, encoder layer (128,768,12) 73 -> 74%; (128,1024,16), where all rows alias, 62 -> 67%). AVX2 and SSE2, whose
  // tiles are lower except in a panel of one pack, were not measured.
  static constexpr std::size_t most_aliasing_rows = 8;
#if defined(__x86_64__)
  static constexpr std::size_t streams = 4;
#endif
};

}  // namespace ladon::inline LADON_ABI::detail::target
