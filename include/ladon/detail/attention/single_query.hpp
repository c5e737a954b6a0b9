// Attend, for a single query: lanes lie along the keys, as panels of K^T and V^T have them, and what sums over keys
// crosses the lanes once, at its end. Same masks, same scores, same panels as attend.hpp.
//
//     query   [head width]        scores  [keys], scratch        out  [value width]
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/attention/head.hpp>
#include <ladon/detail/attention/scores.hpp>
#include <ladon/detail/linear/streams.hpp>
#include <ladon/detail/target/tiling.hpp>

namespace ladon::inline LADON_ABI::detail {

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

// The same of several panels, each `stride` behind the one before: sums enough to hide that latency.
template <class Pack, std::size_t Packs, std::size_t HeadWidth>
LADON_INLINE constexpr void score_panels(const float* keys, std::size_t stride, const float* query,
                                         Pack (&sum)[runs][Packs]) noexcept {
  constexpr std::size_t width = Packs * Pack::lanes;
  LADON_UNROLL
  for (std::size_t r = 0; r < runs * Packs; ++r) sum[r / Packs][r % Packs] = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < HeadWidth; ++i) {
    const Pack x = Pack::broadcast(query[i]);
    LADON_UNROLL
    for (std::size_t r = 0; r < runs * Packs; ++r) {
      const float* const from = keys + r / Packs * stride + i * width + r % Packs * Pack::lanes;
      sum[r / Packs][r % Packs] = fma(x, Pack::load(from), sum[r / Packs][r % Packs]);
    }
  }
}

// What the mask says of the keys of one panel, key by key.
template <std::size_t KeyWidth, class BoundMask>
constexpr void mask_keys(const BoundMask& mask, const ScoreBlock& block, float* scores) noexcept {
  using One = simd::ArrayPack<1>;
  typename BoundMask::template Scratch<KeyWidth, 1> scratch;
  const auto lanes = mask.template lanes<One, 1>(block, scratch);
  for (std::size_t key = block.keys.begin; key < block.keys.end; ++key) {
    float& score = scores[key - block.keys.begin];
    score =
        lanes.may_see(0, key).lane[0] ? lanes.add(0, key, One{score}).lane[0] : -std::numeric_limits<float>::infinity();
  }
}

// sum[row] += value[row][key] * p[key] over the keys of `panels`, all of which count: as many as there are runs at
// once.
template <class Pack, std::size_t Packs, std::size_t ValueWidth>
LADON_KERNEL constexpr void weigh_runs(const float* values, const float* p, std::size_t panels_a_run,
                                       Pack (&sum)[ValueWidth]) noexcept {
  constexpr std::size_t lanes = Pack::lanes, width = Packs * lanes;
  for (std::size_t panel = 0; panel < panels_a_run; ++panel) {
    Pack weight[runs][Packs];
    LADON_UNROLL
    for (std::size_t r = 0; r < runs * Packs; ++r) {
      weight[r / Packs][r % Packs] = Pack::load(p + (r / Packs * panels_a_run + panel) * width + r % Packs * lanes);
    }
    for (std::size_t row = 0; row < ValueWidth; ++row) {
      const float* const from = values + (panel * ValueWidth + row) * width;
      Pack own = sum[row];
      LADON_UNROLL
      for (std::size_t r = 0; r < runs * Packs; ++r) {
        const float* const at = from + r / Packs * panels_a_run * ValueWidth * width + r % Packs * lanes;
        own = fma(Pack::load(at), weight[r / Packs][r % Packs], own);
      }
      sum[row] = own;
    }
  }
}

// sum[row] += value[row][key] * p[key] over the keys of `bases`, which are whole packs from those of p's first key on.
// Lanes outside `seen` hold no key: whatever lies there in V must not count. Nor must, with Selected, keys whose p is
// negative.
template <class Pack, std::size_t R, std::size_t Width, std::size_t ValueWidth, bool Selected>
LADON_INLINE constexpr void weigh_rows(const float* values, const float* p, std::size_t start, Range bases, Range seen,
                                       Pack (&sum)[Pack::lanes]) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t base = bases.begin; base < bases.end; base += lanes) {
    const Pack weight = Pack::load(p + base - start);
    const float* const panel = values + base / Width * Width * ValueWidth + base % Width;
    if (!Selected && seen.contains({base, base + lanes})) {
      LADON_UNROLL
      for (std::size_t r = 0; r < R; ++r) sum[r] = fma(Pack::load(panel + r * Width), weight, sum[r]);
    } else {
      const Pack key = Pack::lane_index() + Pack::broadcast(static_cast<float>(base));
      const auto counts = (key < Pack::broadcast(static_cast<float>(seen.end))) &
                          (Pack::broadcast(static_cast<float>(seen.begin)) <= key) & (Pack::broadcast(0.0f) <= weight);
      LADON_UNROLL
      for (std::size_t r = 0; r < R; ++r) {
        sum[r] = select(counts, fma(Pack::load(panel + r * Width), weight, sum[r]), sum[r]);
      }
    }
  }
}

// out[row] = factor * sum over the keys seen of value[row][key] * p[key], p from a whole panel on.
template <class Pack, Tiling K, std::size_t ValueWidth, bool Selected, bool InRuns>
LADON_KERNEL constexpr void weigh_one(const float* values, const float* p, Range seen, float factor,
                                      float* out) noexcept {
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  const std::size_t start = seen.begin / width * width;
  constexpr std::size_t kept = InRuns && !Selected ? ValueWidth : 1;
  Pack before[kept];
  Range done{start, start};
  if constexpr (InRuns && !Selected) {
    const std::size_t first = (seen.begin + width - 1) / width, end = seen.end / width;
    const std::size_t panels_a_run = first < end ? (end - first) / runs : 0;
    for (std::size_t row = 0; row < ValueWidth; ++row) before[row] = Pack::broadcast(0.0f);
    if (panels_a_run > 0) {
      done = {first * width, (first + runs * panels_a_run) * width};
      weigh_runs<Pack, K.packs, ValueWidth>(values + done.begin * ValueWidth, p + done.begin - start, panels_a_run,
                                            before);
    }
  }
  for_row_tiles<ValueWidth, lanes>([&]<std::size_t R>(std::size_t row) {
    Pack sum[lanes];
    LADON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r) sum[r] = r < R && kept > 1 ? before[row + r] : Pack::broadcast(0.0f);
    const float* const from = values + row * width;
    if constexpr (kept > 1) {
      weigh_rows<Pack, R, width, ValueWidth, Selected>(from, p, start, {start, done.begin}, seen, sum);
    }
    weigh_rows<Pack, R, width, ValueWidth, Selected>(from, p, start, {done.end, seen.end}, seen, sum);
    const Pack total = Pack::add_rows(sum) * Pack::broadcast(factor);
    if constexpr (R == lanes) {
      total.store(out + row);
    } else {
      total.store_partial(out + row, R);
    }
  });
}

// Products of the panel of keys at `base` are in `row`: -inf where the mask says no; the maximum so far.
template <class Pack, Tiling K, class BoundMask>
LADON_INLINE constexpr Pack mask_panel(std::size_t head, const KeyRanges& ranges, const BoundMask& mask,
                                       std::size_t base, float* row, Pack largest) noexcept {
  constexpr std::size_t width = K.width();
  const Range range = Range{base, base + width} & Range{0, ranges.visible.end};
  if (BoundMask::adds_to_scores || !ranges.unmasked.contains(range)) mask_keys<width>(mask, {head, {0, 1}, range}, row);
  for (std::size_t key = range.end; key < base + width; ++key) {
    row[key - base] = -std::numeric_limits<float>::infinity();
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < K.packs; ++v) largest = max(largest, Pack::load(row + v * Pack::lanes));
  return largest;
}

// Scores of the keys that the query sees, from a whole panel on, -inf where the mask says no; their maximum.
template <class Form, class Pack, Tiling K, std::size_t HeadWidth, bool InRuns, class BoundMask>
LADON_KERNEL constexpr Pack score_one(const float* keys, std::size_t head, const float* query, const KeyRanges& ranges,
                                      const BoundMask& mask, float* scores, Pack largest) noexcept {
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  const std::size_t start = ranges.visible.begin / width * width;
  std::size_t base = start;
  if constexpr (InRuns) {
    const std::size_t count = ranges.visible.end > start ? (ranges.visible.end - start + width - 1) / width : 0;
    const std::size_t run = count / runs * width;
    for (; base < start + run; base += width) {
      Pack sum[runs][K.packs];
      score_panels<Pack, K.packs, HeadWidth>(keys + base * HeadWidth, run * HeadWidth, query, sum);
      LADON_UNROLL
      for (std::size_t r = 0; r < runs * K.packs; ++r) {
        Form::exponent(sum[r / K.packs][r % K.packs])
            .store(scores + base - start + r / K.packs * run + r % K.packs * lanes);
      }
    }
    base = start + runs * run;
    for (std::size_t at = start; at < base; at += width) {
      largest = mask_panel<Pack, K>(head, ranges, mask, at, scores + at - start, largest);
    }
  }
  for (; base < ranges.visible.end; base += width) {
    float* const row = scores + base - start;
    LADON_UNROLL
    for (std::size_t v = 0; v < K.packs; ++v) {
      Form::exponent(score_keys<Pack, width, HeadWidth>(keys + base * HeadWidth + v * lanes, query))
          .store(row + v * lanes);
    }
    largest = mask_panel<Pack, K>(head, ranges, mask, base, row, largest);
  }
  return largest;
}

template <class Score, class Pack>
struct SoftmaxOfOne {
  float shift;
  Pack total;

  constexpr explicit SoftmaxOfOne(const Pack& largest) noexcept : total(Pack::broadcast(0.0f)) {
    const float maximum = reduce_max(largest);
    shift = maximum == -std::numeric_limits<float>::infinity() ? 0.0f : maximum;
  }
  // Scores become 2^(s - maximum), and with Mark those that are hidden -1.
  template <bool Mark>
  constexpr void exponentials(float* scores, std::size_t count) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < count; i += Pack::lanes) {
      const Pack s = Pack::load(scores + i);
      const Pack p = exp2_of_nonpositive(s - Pack::broadcast(shift));
      total = total + p;
      if constexpr (Mark) {
        select(s == masked, Pack::broadcast(-1.0f), p).store(scores + i);
      } else {
        p.store(scores + i);
      }
    }
  }
  constexpr float reciprocal_sum(float sink) const noexcept {
    float sum = reduce_add(total);
    if constexpr (Score::sinks) sum += exp2_of_nonpositive(simd::ArrayPack<1>{sink - shift}).lane[0];
    return 1.0f / (sum == 0 ? 1.0f : sum);
  }
};

template <bool Selected, Shape S, class Score, class Pack, Tiling K, class BoundMask, class Capture>
constexpr void attend_one(const Head& head, const float* query, const BoundMask& mask, float* scores, float* out,
                          const Capture& capture) noexcept {
  const KeyRanges ranges = mask.key_ranges({0, 1});
  const std::size_t start = ranges.visible.begin / K.width() * K.width();
  constexpr bool keys_in_runs = in_runs(S.keys * S.head_width), values_in_runs = in_runs(S.keys * S.value_width);
  const Pack smallest = Pack::broadcast(Score::sinks ? head.sink : -std::numeric_limits<float>::infinity());
  SoftmaxOfOne<Score, Pack> softmax(score_one<ScoreForm<S, Score>, Pack, K, S.head_width, keys_in_runs>(
      head.keys, head.index, query, ranges, mask, scores, smallest));
  if (ranges.visible.end > start) softmax.template exponentials<Selected>(scores, ranges.visible.end - start);
  const float factor = softmax.reciprocal_sum(head.sink);
  weigh_one<Pack, K, S.value_width, Selected, values_in_runs>(head.values, scores, ranges.visible, factor, out);
  if constexpr (Capture::weights) {
    for (std::size_t key = 0; key < S.keys; ++key) {
      const bool counts = ranges.visible.contains({key, key + 1}) && !(scores[key - start] < 0);
      capture.rows[key] = counts ? scores[key - start] * factor : 0.0f;
    }
  }
}

}  // namespace ladon::inline LADON_ABI::detail
