// The constants that all x86 processors share.
#pragma once

#include <cstddef>

#include <ladon/detail/target/defaults.hpp>

namespace ladon::inline LADON_ABI::detail::target {

struct X86 : Defaults {
#if defined(__SSE__) && defined(__GNUC__)
  // Weights of 256 features or more lie in a far cache, and a tile would wait for each of its rows. Prefetching reduces
  // the time of MiniLM (7.1 MB of weights per layer) on a Cascade Lake to 0.75 for 8 tokens, to 0.80 for 32 and to 0.82
  // for 128. Weights of fewer features are near.
  //
  // Tiles of one pack prefetch eight cache lines ahead in their own rows. The alternative is to prefetch the whole next
  // tile (Zen 5, AVX-512, next tile -> eight lines: (16,256,8) 83 -> 85% of peak, 12 encoder layers of (16,384,12) one
  // after the other 73 -> 82%). Six lines are as fast. Fewer lines arrive too late from memory. For tiles of two packs,
  // the whole next tile is better ((32,256,8): 94%, with eight lines 91%).
  static constexpr std::size_t prefetched_row_floats = 256;
#endif
  // A set of the L1 cache has 8 to 12 lines. Shares of peak on a Cascade Lake with AVX-512, without -> with this limit:
  //
  //   W2 alone, 3072 hidden features                      64 -> 69%
  //   encoder layer (128,768,12)                          73 -> 74%
  //   encoder layer (128,1024,16), where all rows alias   62 -> 67%
  //
  // AVX2 and SSE2 were not measured. Their tiles have fewer rows, except in a panel of one pack.
  static constexpr std::size_t most_aliasing_rows = 8;
#if defined(__x86_64__)
  static constexpr std::size_t streams = 4;
#endif
};

}  // namespace ladon::inline LADON_ABI::detail::target
