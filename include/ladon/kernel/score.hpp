// Score: S^T[key][query] = K Q^T for a range of keys and one panel of queries, with the running maximum of each query.
//
//     keys    [panels][head width][KeyWidth]      broadcast: KeyWidth keys lie side by side, a row of S^T is a key
//     query   [head width][QueryWidth]            already scaled
//     scores  [keys of the range][QueryWidth]
//
// A tile whose keys are all in `clear` is stored as it is. In any other a key that a query may not see gets -inf, by
// select: whatever NaN stood there is gone.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/kernel/tile.hpp>
#include <ladon/mask.hpp>

namespace ladon::inline LADON_ABI::kernel {

template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t HeadWidth, class MaySee>
LADON_KERNEL constexpr void score(const float* keys, const float* query, Range range, Range clear, MaySee may_see,
                                  float* scores, Pack (&maximum)[Packs]) noexcept {
  const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
  for (std::size_t base = range.begin; base < range.end; base += KeyWidth) {
    const float* const panel = keys + base * HeadWidth;
    for_row_tiles<KeyWidth, MaxRows>([&]<std::size_t R>(std::size_t row) {
      const std::size_t key = base + row;
      if (key >= range.end) return;
      float* const out = scores + (key - range.begin) * QueryWidth;
      Tile<Pack, R, Packs> tile([](std::size_t, std::size_t) { return Pack::broadcast(0.0f); });
      tile.template accumulate<1, KeyWidth, QueryWidth>(HeadWidth, panel + row, query);
      Pack* const running = read_here(&maximum[0]);
      Pack largest[Packs];
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) largest[v] = running[v];
      const auto keep = [&](std::size_t r, std::size_t v, const Pack& s) {
        largest[v] = max(largest[v], s);
        s.store(out + r * QueryWidth + v * Pack::lanes);
      };
      if (clear.contains({key, key + R})) {
        tile.finish(keep);
      } else {
        tile.finish([&](std::size_t r, std::size_t v, const Pack& s) {
          if (key + r < range.end) keep(r, v, select(may_see(v, key + r), s, masked));
        });
      }
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) running[v] = largest[v];
    });
  }
}

}  // namespace ladon::inline LADON_ABI::kernel
