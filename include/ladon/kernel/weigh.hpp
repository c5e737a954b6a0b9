// Weigh: O^T[value][query] = sum over keys of V^T[value][key] P^T[key][query], for a range of keys and one panel of
// queries; over the blocks of a long row it goes on where the block before left off.
//
//     values  [panels][value width][KeyWidth]     broadcast
//     p       [keys of the range][QueryWidth]
//     out     [value width][QueryWidth]
#pragma once

#include <cstddef>

#include <ladon/kernel/tile.hpp>
#include <ladon/mask/policy.hpp>

namespace ladon::inline LADON_ABI::kernel {

// What happens to the sums of the blocks before this one, and to the new sums as they are stored.
template <class Pack, std::size_t Packs>
struct Rescale {
  bool first;  // nothing was summed before
  const Pack (&before)[Packs];
  const Pack (&after)[Packs];
};

template <class Pack, std::size_t MaxRows, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth,
          std::size_t ValueWidth>
LADON_KERNEL constexpr void weigh(const float* values, const float* p, Range range, Rescale<Pack, Packs> rescale,
                                  float* out) noexcept {
  for_row_tiles<ValueWidth, MaxRows>([&]<std::size_t R>(std::size_t row) {
    float* const sums = out + row * QueryWidth;
    Tile<Pack, R, Packs> tile([&](std::size_t r, std::size_t v) {
      return rescale.first ? Pack::broadcast(0.0f)
                           : Pack::load(sums + r * QueryWidth + v * Pack::lanes) * rescale.before[v];
    });
    std::size_t base = range.begin;
#if defined(LADON_TILE_PANELS)
    if constexpr (KeyWidth == 4 && R == 4 && Packs == 4) {
      if (!std::is_constant_evaluated()) {
        tile.template accumulate_panels<KeyWidth * ValueWidth, QueryWidth>(
            range.end - range.begin, values + base * ValueWidth + row * KeyWidth, p);
        base += (range.end - range.begin) / 4 * 4;
      }
    }
#endif
    for (; base < range.end; base += KeyWidth) {
      const std::size_t keys = range.end - base < KeyWidth ? range.end - base : KeyWidth;
      tile.template accumulate<KeyWidth, 1, QueryWidth>(keys, values + base * ValueWidth + row * KeyWidth,
                                                        p + (base - range.begin) * QueryWidth);
    }
    Pack after[Packs];
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) after[v] = read_here(&rescale.after[0])[v];
    tile.finish([&](std::size_t r, std::size_t v, const Pack& sum) {
      (sum * after[v]).store(sums + r * QueryWidth + v * Pack::lanes);
    });
  });
}

// The same where some V is infinite or NaN and some query may not see it. There 0 * V is NaN, so a sum takes a key up
// only where its query may see that key. Rare, hence written for size: one row at a time, in the same order of keys.
template <class Pack, std::size_t Packs, std::size_t QueryWidth, std::size_t KeyWidth, std::size_t ValueWidth,
          class Bound>
LADON_NOINLINE constexpr void weigh_selected(const float* values, const float* p, const Slice& slice,
                                             Rescale<Pack, Packs> rescale, const Bound& mask, float* out) noexcept {
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
  typename Bound::template Scratch<KeyWidth, QueryWidth> scratch;
  for (std::size_t base = slice.keys.begin; base < slice.keys.end; base += KeyWidth) {
    const Range range = Range{base, base + KeyWidth} & slice.keys;
    const auto lanes = mask.template lanes<Pack, QueryWidth>({slice.head, slice.queries, range}, scratch);
    each_sum([&](std::size_t row, std::size_t v, Pack sum) {
      const float* const value = values + base * ValueWidth + row * KeyWidth;
      for (std::size_t key = range.begin; key < range.end; ++key) {
        const Pack weight = Pack::load(p + (key - slice.keys.begin) * QueryWidth + v * Pack::lanes);
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

}  // namespace ladon::inline LADON_ABI::kernel
