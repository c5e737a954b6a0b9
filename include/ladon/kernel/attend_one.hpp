// Attend, for a single query: lanes lie along the keys, as panels of K^T and V^T have them, and what sums over keys
// crosses the lanes once, at its end. Same masks, same scores, same panels as attend.hpp.
//
//     query   [head width]        scores  [keys], scratch        out  [value width]
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/kernel/score.hpp>
#include <ladon/kernel/tile_sizes.hpp>

namespace ladon::inline LADON_ABI::kernel {

// q . k of one pack of keys. Four sums, to hide the latency of an fma.
template <class Pack, std::size_t KeyWidth, std::size_t HeadWidth>
LADON_INLINE constexpr Pack score_keys(const float* keys, const float* query) noexcept {
  Pack sum[4];
  LADON_UNROLL
  for (std::size_t c = 0; c < 4; ++c) sum[c] = Pack::broadcast(0.0f);
  std::size_t i = 0;
  for (; i + 4 <= HeadWidth; i += 4) {
    LADON_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      sum[c] = fma(Pack::broadcast(query[i + c]), Pack::load(keys + (i + c) * KeyWidth), sum[c]);
    }
  }
  for (; i < HeadWidth; ++i) sum[0] = fma(Pack::broadcast(query[i]), Pack::load(keys + i * KeyWidth), sum[0]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// What the mask says of the keys of one panel, key by key.
template <std::size_t KeyWidth, class Bound>
constexpr void mask_keys(const Bound& mask, const Slice& slice, float* scores) noexcept {
  using One = simd::ArrayPack<1>;
  typename Bound::template Scratch<KeyWidth, 1> scratch;
  const auto lanes = mask.template lanes<One, 1>(slice, scratch);
  for (std::size_t key = slice.keys.begin; key < slice.keys.end; ++key) {
    float& score = scores[key - slice.keys.begin];
    score =
        lanes.may_see(0, key).lane[0] ? lanes.add(0, key, One{score}).lane[0] : -std::numeric_limits<float>::infinity();
  }
}

// out[row] = factor * sum over keys of value[row][key] * p[key]. Lanes outside `seen` hold no key: whatever lies there
// in V must not count.
template <class Pack, Tiling K, std::size_t ValueWidth>
LADON_KERNEL constexpr void weigh_one(const float* values, const float* p, Range seen, float factor,
                                      float* out) noexcept {
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  const std::size_t start = seen.begin / width * width;
  for_row_tiles<ValueWidth, lanes>([&]<std::size_t R>(std::size_t row) {
    Pack sum[lanes];
    LADON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r) sum[r] = Pack::broadcast(0.0f);
    for (std::size_t base = start; base < seen.end; base += lanes) {
      const Pack weight = Pack::load(p + base - start);
      const float* const panel = values + base / width * width * ValueWidth + row * width + base % width;
      if (seen.contains({base, base + lanes})) {
        LADON_UNROLL
        for (std::size_t r = 0; r < R; ++r) sum[r] = fma(Pack::load(panel + r * width), weight, sum[r]);
      } else {
        const Pack key = Pack::lane_index() + Pack::broadcast(static_cast<float>(base));
        const auto counts = (key < Pack::broadcast(static_cast<float>(seen.end))) &
                            (Pack::broadcast(static_cast<float>(seen.begin)) <= key);
        LADON_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
          sum[r] = select(counts, fma(Pack::load(panel + r * width), weight, sum[r]), sum[r]);
        }
      }
    }
    const Pack total = Pack::add_rows(sum) * Pack::broadcast(factor);
    if constexpr (R == lanes) {
      total.store(out + row);
    } else {
      total.store_partial(out + row, R);
    }
  });
}

// Precondition: values that the mask hides are finite (attend.hpp has the other case).
template <Shape S, class Score, class Pack, Tiling K, class Bound>
constexpr void attend_one(const float* keys, const float* values, std::size_t head, float sink, const float* query,
                          const Bound& mask, float* scores, float* out) noexcept {
  using Form = ScoreForm<S, Score>;
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  const float masked = -std::numeric_limits<float>::infinity();
  const VisibleKeys visible = mask.panel({0, 1});
  const Range seen = visible.seen;
  const std::size_t start = seen.begin / width * width;
  Pack largest = Pack::broadcast(Score::sinks ? sink : masked);
  for (std::size_t base = start; base < seen.end; base += width) {
    float* const row = scores + base - start;
    LADON_UNROLL
    for (std::size_t v = 0; v < K.packs; ++v) {
      Form::exponent(score_keys<Pack, width, S.head_width>(keys + base * S.head_width + v * lanes, query))
          .store(row + v * lanes);
    }
    const Range range = Range{base, base + width} & Range{0, seen.end};
    if (Bound::adds || !visible.clear.contains(range)) mask_keys<width>(mask, {head, {0, 1}, range}, row);
    for (std::size_t key = range.end; key < base + width; ++key) row[key - base] = masked;
    LADON_UNROLL
    for (std::size_t v = 0; v < K.packs; ++v) largest = max(largest, Pack::load(row + v * lanes));
  }
  const float maximum = reduce_max(largest);
  const Pack shift = Pack::broadcast(maximum == masked ? 0.0f : maximum);
  Pack total = Pack::broadcast(0.0f);
  for (std::size_t i = 0; start + i < seen.end; i += lanes) {
    const Pack p = exp2_of_nonpositive(Pack::load(scores + i) - shift);
    total = total + p;
    p.store(scores + i);
  }
  float sum = reduce_add(total);
  if constexpr (Score::sinks)
    sum += exp2_of_nonpositive(simd::ArrayPack<1>{sink - (maximum == masked ? 0.0f : maximum)}).lane[0];
  weigh_one<Pack, K, S.value_width>(values, scores, seen, 1.0f / (sum == 0 ? 1.0f : sum), out);
}

}  // namespace ladon::inline LADON_ABI::kernel
