// Score: S^T[key][query] = K Q^T for a range of keys and one panel of queries, with the running maximum of each query.
//
//     keys    [panels][head width][KeyWidth]      broadcast: KeyWidth keys lie side by side, a row of S^T is a key
//     query   [head width][QueryWidth]            already scaled
//     scores  [keys of the range][QueryWidth]
//
// A tile whose keys are all in `unmasked` is stored without asking the mask what it hides. In any other a key that a
// query may not see gets -inf, by select: whatever NaN stood there is gone.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/simd/elementary.hpp>
#include <ladon/detail/target/tiling.hpp>
#include <ladon/score.hpp>

namespace ladon::inline LADON_ABI::detail {

// What queries are multiplied by as they are stored, and what then becomes of q . k on its way to an exponent of two.
// Softcap needs the quotient by itself, so log2(e) joins after it.
template <Shape S, class Score>
struct ScoreForm {
  static constexpr bool capped = Score::softcap != 0;
  static constexpr float query_scale =
      capped ? Score::scale(S) / (capped ? Score::softcap : 1.0f) : static_cast<float>(Score::scale(S) * score::log2_e);
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    if constexpr (capped) {
      return tanh(product) * Pack::broadcast(static_cast<float>(Score::softcap * score::log2_e));
    } else {
      return product;
    }
  }
};

// The product as it is: for capture.
struct ProductForm {
  static constexpr bool capped = false;
  template <class Pack>
  static LADON_INLINE constexpr Pack exponent(const Pack& product) noexcept {
    return product;
  }
};

// The exponents of a tile's products, in their place. A function by itself: in a tile's, the constants of tanh took
// registers from the sums (Zen 5, AVX-512, g++: (128,384,12) 87.8 -> 90.0% of peak so, (64,128,4) a third less code).
template <class Form, class Pack, std::size_t Packs, std::size_t QueryWidth>
LADON_NOINLINE constexpr void cap(float* scores, std::size_t rows) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      float* const at = scores + r * QueryWidth + v * Pack::lanes;
      Form::exponent(Pack::load(at)).store(at);
    }
  }
}

// Keys from `first_pack_keys_end` on are hidden from all queries of a panel's first pack. Where these are the latter
// half of a panel of keys, scores of that half are those of the last pack only (causal, on the diagonal: a quarter of
// the panel).
template <class Form, class Pack, Tiling T, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t HeadWidth, bool Halves = false, class BoundMask>
LADON_KERNEL constexpr void score(const float* keys, const float* query, const ScoreBlock& block, Range unmasked,
                                  const BoundMask& mask, float* scores, Pack (&maximum)[Packs],
                                  [[maybe_unused]] std::size_t first_pack_keys_end = 0) noexcept {
  const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
  const Range range = block.keys;
  constexpr std::size_t max_rows = T.rows_for(Packs);
  // Where a panel has one pack nothing else goes on while a tile's maxima wait for each other.
  constexpr std::size_t ways = Packs == 1 && max_rows >= 8 ? 4 : 1;
  typename BoundMask::template Scratch<KeyWidth, QueryWidth> scratch;
  for (std::size_t base = range.begin; base < range.end; base += KeyWidth) {
    const float* const panel = keys + base * HeadWidth;
    const auto lanes = mask.template lanes<Pack, QueryWidth>({block.head, block.queries, {base, range.end}}, scratch);
    const auto rows = [&]<std::size_t R, std::size_t First>(std::size_t row) {
      constexpr std::size_t packs = Packs - First;
      const std::size_t key = base + row;
      if (key >= range.end) return;
      float* const out = scores + (key - range.begin) * QueryWidth + First * Pack::lanes;
      Tile<Pack, R, packs> tile([](std::size_t, std::size_t) { return Pack::broadcast(0.0f); });
      tile.template accumulate<1, KeyWidth, QueryWidth>(HeadWidth, panel + row, query + First * Pack::lanes);
      Pack* const running = read_here(&maximum[0]) + First;
      Pack largest[ways][packs];
      LADON_UNROLL
      for (std::size_t i = 0; i < ways; ++i) {
        LADON_UNROLL
        for (std::size_t v = 0; v < packs; ++v) largest[i][v] = running[v];
      }
      const auto keep = [&](std::size_t r, std::size_t v, const Pack& s) {
        largest[r % ways][v] = max(largest[r % ways][v], s);
        s.store(out + r * QueryWidth + v * Pack::lanes);
      };
      const auto exponent = [&](std::size_t r, std::size_t v, const Pack& product) {
        if constexpr (Form::capped) {
          return lanes.add(First + v, key + r, Pack::load(out + r * QueryWidth + v * Pack::lanes));
        } else {
          return lanes.add(First + v, key + r, Form::exponent(product));
        }
      };
      if constexpr (Form::capped) {
        tile.finish([&](std::size_t r, std::size_t v, const Pack& product) {
          if (key + r < range.end) product.store(out + r * QueryWidth + v * Pack::lanes);
        });
        cap<Form, Pack, packs, QueryWidth>(out, range.end - key < R ? range.end - key : R);
      }
      if (unmasked.contains({key, key + R})) {
        tile.finish([&](std::size_t r, std::size_t v, const Pack& s) { keep(r, v, exponent(r, v, s)); });
      } else {
        tile.finish([&](std::size_t r, std::size_t v, const Pack& s) {
          if (key + r < range.end) keep(r, v, select(lanes.may_see(First + v, key + r), exponent(r, v, s), masked));
        });
      }
      LADON_UNROLL
      for (std::size_t v = 0; v < packs; ++v) {
        LADON_UNROLL
        for (std::size_t i = 1; i < ways; ++i) largest[0][v] = max(largest[0][v], largest[i][v]);
        running[v] = largest[0][v];
      }
    };
    if constexpr (Halves && KeyWidth > 1) {
      constexpr std::size_t half = KeyWidth / 2;
      if (first_pack_keys_end <= base + half) {
        for_row_tiles<half, max_rows>([&]<std::size_t R>(std::size_t row) { rows.template operator()<R, 0>(row); });
        for_row_tiles<KeyWidth - half, T.rows_for(1)>(
            [&]<std::size_t R>(std::size_t row) { rows.template operator()<R, 1>(half + row); });
        continue;
      }
    }
    for_row_tiles<KeyWidth, max_rows>([&]<std::size_t R>(std::size_t row) { rows.template operator()<R, 0>(row); });
  }
}

}  // namespace ladon::inline LADON_ABI::detail
