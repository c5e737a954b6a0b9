// Weigh: O^T[value][query] = sum over keys of V^T[value][key] P^T[key][query], for a range of keys and one panel of
// queries; over the blocks of a long row it goes on where the block before left off.
//
//     values  [panels][value width][KeyWidth]     broadcast
//     p       [keys of the range][QueryWidth]
//     out     [value width][QueryWidth]
#pragma once

#include <cstddef>

#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/mask/key_ranges.hpp>

namespace ladon::inline LADON_ABI::detail {

// What happens to the sums of the blocks before this one, and to the new sums as they are stored.
template <class Pack, std::size_t Packs>
struct Rescale {
  bool first;  // nothing was summed before
  const Pack (&before)[Packs];
  const Pack (&after)[Packs];
};

// What goes on beside the products of a tile: nothing.
struct NothingBeside {
  static constexpr std::size_t ahead = 0;
  constexpr void last_pack(std::size_t, std::size_t) noexcept {}
  constexpr void end() noexcept {}
};

// Or the exponentials of p, so many keys before they are multiplied. By themselves they leave the pipes for products
// half idle, and they are the largest part of what is missing to the peak in long rows (Zen 5: a pack takes 4.6 cycles
// alone, 2.4 beside a tile; two or eight keys ahead instead of four no less). What is to become of the sums is known
// after the last of them.
template <class Pack, std::size_t Packs, std::size_t QueryWidth>
struct ExponentialsBeside {
  static constexpr std::size_t ahead = 8 / Packs;
  RunningSoftmax<Pack, Packs>& softmax;
  float* scores;
  bool last;  // of the blocks
  Pack (&after)[Packs];
  Pack total[Packs];

  LADON_INLINE constexpr ExponentialsBeside(RunningSoftmax<Pack, Packs>& running, float* range_scores, bool is_last,
                                            Pack (&multipliers)[Packs]) noexcept
      : softmax(running), scores(range_scores), last(is_last), after(multipliers) {
    for (std::size_t v = 0; v < Packs; ++v) total[v] = softmax.sum[v];
  }
  LADON_INLINE constexpr void key(std::size_t k) noexcept {
    softmax.template exponentials_of_key<QueryWidth>(scores + k * QueryWidth, total);
  }
  LADON_INLINE constexpr void last_pack(std::size_t first, std::size_t keys) noexcept {
    softmax.template exponentials_of_last_pack<QueryWidth>(scores + first * QueryWidth, keys, total);
  }
  LADON_INLINE constexpr void end() noexcept {
    for (std::size_t v = 0; v < Packs; ++v) softmax.sum[v] = total[v];
    softmax.multipliers(last, after);
  }
};

// So many rows of O^T, of which `values` and `sums` are the first.
template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t ValueWidth, class Beside>
LADON_INLINE constexpr void weigh_tile(const float* values, const float* p, Range range, Rescale<Pack, Packs> rescale,
                                       float* sums, Beside beside, std::size_t keys_end = 0) noexcept {
  Tile<Pack, Rows, Packs> tile([&](std::size_t r, std::size_t v) {
    return rescale.first ? Pack::broadcast(0.0f)
                         : Pack::load(sums + r * QueryWidth + v * Pack::lanes) * rescale.before[v];
  });
  std::size_t base = range.begin;
#if defined(LADON_TILE_PANELS)
  if constexpr (KeyWidth == 4 && Rows == 4 && Packs == 4) {
    if (!std::is_constant_evaluated()) {
      tile.template accumulate_panels<KeyWidth * ValueWidth, QueryWidth>(range.end - range.begin,
                                                                         values + base * ValueWidth, p);
      base += (range.end - range.begin) / 4 * 4;
    }
  }
#endif
  [[maybe_unused]] const std::size_t all_keys = range.end - range.begin;
  [[maybe_unused]] std::size_t made = 0;
  if constexpr (Beside::ahead > 0) {
    for (; made < Beside::ahead && made < all_keys; ++made) beside.key(made);
  }
  for (; base < range.end; base += KeyWidth) {
    const std::size_t keys = range.end - base < KeyWidth ? range.end - base : KeyWidth;
    const float* const from = values + base * ValueWidth;
    const float* const weights = p + (base - range.begin) * QueryWidth;
    std::size_t done = 0;
    if constexpr (Beside::ahead > 0) {
      done = keys < all_keys - made ? keys : all_keys - made;
      tile.template accumulate_beside<KeyWidth, 1, QueryWidth>(done, from, weights,
                                                               [&](std::size_t k) { beside.key(made + k); });
      made += done;
    }
    tile.template accumulate<KeyWidth, 1, QueryWidth>(keys - done, from + done, weights + done * QueryWidth);
  }
  if constexpr (Packs > 1) {
    if (range.end < keys_end) beside.last_pack(all_keys, keys_end - range.end);
    for (std::size_t key = range.end; key < keys_end;) {
      const std::size_t panel = key / KeyWidth * KeyWidth;
      const std::size_t end = panel + KeyWidth < keys_end ? panel + KeyWidth : keys_end;
      tile.template accumulate_last_pack<KeyWidth, 1, QueryWidth>(
          end - key, values + panel * ValueWidth + (key - panel), p + (key - range.begin) * QueryWidth);
      key = end;
    }
  }
  beside.end();
  Pack after[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) after[v] = read_here(&rescale.after[0])[v];
  tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) {
    (sum * after[v]).store(sums + r * QueryWidth + v * Pack::lanes);
  });
}

template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t ValueWidth>
LADON_KERNEL constexpr void weigh(const float* values, const float* p, Range range, Rescale<Pack, Packs> rescale,
                                  float* out) noexcept {
  for_row_tiles<ValueWidth, MaxRows>([&]<std::size_t R>(std::size_t row) {
    weigh_tile<Pack, R, Packs, QueryWidth, KeyWidth, ValueWidth>(values + row * KeyWidth, p, range, rescale,
                                                                 out + row * QueryWidth, NothingBeside{});
  });
}

// The same out of scores, which become p beside the first tile, the lowest there is, for it leaves registers. Keys from
// the range's end to `keys_end` count for the last pack only, where there are Halves. A function by itself: inlined,
// g++ had no registers left for the first tile ((512,256,8) 91.3 -> 88.6% of peak on Zen 5).
template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t ValueWidth, bool Halves>
LADON_NOINLINE constexpr void weigh_scores(const float* values, float* scores, Range range, std::size_t keys_end,
                                           RunningSoftmax<Pack, Packs>& softmax, bool first, bool last,
                                           Pack (&after)[Packs], float* out) noexcept {
  constexpr std::size_t rows = ValueWidth / ((ValueWidth + MaxRows - 1) / MaxRows);
  const Rescale<Pack, Packs> rescale{first, softmax.correction, after};
  const std::size_t end = Halves ? keys_end : 0;
  weigh_tile<Pack, rows, Packs, QueryWidth, KeyWidth, ValueWidth>(
      values, scores, range, rescale, out, ExponentialsBeside<Pack, Packs, QueryWidth>(softmax, scores, last, after),
      end);
  if constexpr (ValueWidth > rows) {
    for_row_tiles<ValueWidth - rows, MaxRows>([&]<std::size_t R>(std::size_t row) {
      weigh_tile<Pack, R, Packs, QueryWidth, KeyWidth, ValueWidth>(values + (rows + row) * KeyWidth, scores, range,
                                                                   rescale, out + (rows + row) * QueryWidth,
                                                                   NothingBeside{}, end);
    });
  }
}

// The same where some V is infinite or NaN and some query may not see it. There 0 * V is NaN, so a sum takes a key up
// only where its query may see that key. Rare, hence written for size: one row at a time, in the same order of keys.
template <class Pack, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth, std::size_t ValueWidth,
          class BoundMask>
LADON_NOINLINE constexpr void weigh_selected(const float* values, const float* p, const ScoreBlock& block,
                                             Rescale<Pack, Packs> rescale, const BoundMask& mask, float* out) noexcept {
  const auto each_sum = [&](auto change) {
    for (std::size_t row = 0; row < ValueWidth; ++row) {
      for (std::size_t v = 0; v < Packs; ++v) {
        float* const at = out + row * QueryWidth + v * Pack::lanes;
        change(row, v, rescale.first ? Pack::broadcast(0.0f) : Pack::load(at)).store(at);
      }
    }
    rescale.first = false;
  };
  if (!rescale.first) each_sum([&](std::size_t, std::size_t v, const Pack& sum) { return sum * rescale.before[v]; });
  typename BoundMask::template Scratch<KeyWidth, QueryWidth> scratch;
  for (std::size_t base = block.keys.begin; base < block.keys.end; base += KeyWidth) {
    const Range range = Range{base, base + KeyWidth} & block.keys;
    const auto lanes = mask.template lanes<Pack, QueryWidth>({block.head, block.queries, range}, scratch);
    each_sum([&](std::size_t row, std::size_t v, Pack sum) {
      const float* const value = values + base * ValueWidth + row * KeyWidth;
      for (std::size_t key = range.begin; key < range.end; ++key) {
        const Pack weight = Pack::load(p + (key - block.keys.begin) * QueryWidth + v * Pack::lanes);
        sum = select(lanes.may_see(v, key), fma(Pack::broadcast(value[key - base]), weight, sum), sum);
      }
      return sum;
    });
  }
  each_sum([&](std::size_t, std::size_t v, const Pack& sum) { return sum * rescale.after[v]; });
}

// Whether no value of the first `keys` keys is infinite or NaN: x * 0 is 0 only for finite x.
template <class Pack, std::size_t KeyWidth, std::size_t ValueWidth>
constexpr bool all_finite(const float* values, std::size_t keys) noexcept {
  Pack zeros = Pack::broadcast(0.0f);
  for (std::size_t base = 0; base < keys; base += KeyWidth) {
    const std::size_t used = keys - base < KeyWidth ? keys - base : KeyWidth;
    for (std::size_t row = 0; row < ValueWidth; ++row) {
      const float* const from = values + base * ValueWidth + row * KeyWidth;
      for (std::size_t i = 0; i < used; i += Pack::lanes) {
        zeros = fma(Pack::load(from + i), Pack::broadcast(0.0f), zeros);
      }
    }
  }
  return reduce_add(zeros) == 0.0f;
}

}  // namespace ladon::inline LADON_ABI::detail
