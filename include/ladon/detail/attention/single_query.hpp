// SPDX-License-Identifier: Apache-2.0
// Computes the attention of a single query in one head. Each lane has one key, as in the panels of K^T and V^T
// (detail/memory/panels.hpp). A sum over keys has a partial sum in each lane. The partial sums of the lanes are added
// only once, at the end. detail/attention/attend.hpp computes the attention of several queries.
//
//     query   [head width]        scores  [keys], scratch        out  [value width]
//
// Weights and weighted values are added in blocks of keys. The sum of a block starts at 0. The finished sum of a block
// is added to the sum of the lane. If one sum ran over all keys of a lane, its rounding errors would grow with the
// number of keys (detail/attention/weighted_sum.hpp).
//
// If the array of keys or of values is too large for the L1 cache, some targets read the array in several streams. A
// stream is a contiguous part of an array (detail/linear/matrix_vector.hpp).
//
// detail/memory/panels.hpp defines packs.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/attention/query_block.hpp>
#include <ladon/detail/attention/score_function.hpp>
#include <ladon/detail/linear/matrix_vector.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/memory/cache_panels.hpp>
#include <ladon/detail/simd/elementary.hpp>
#include <ladon/detail/simd/load_as_float.hpp>

namespace ladon::inline LADON_ABI::detail {

// How many keys a block has: 256 keys for each lane of a pack.
template <class Pack>
inline constexpr std::size_t single_query_block = 256 * Pack::lanes;

// Computes the products q . k of a query and Packs packs of keys, in each of Streams panels. Each panel begins
// `distance` elements after the previous panel. Each product is computed as Sums partial sums. Four or more independent
// sums hide the latency of a multiply-add.
template <class Pack, std::size_t Streams, std::size_t Packs, std::size_t Sums, std::size_t KeyWidth,
          std::size_t HeadWidth, class Element>
LADON_INLINE constexpr void key_products(const Element* keys, std::size_t distance, const float* query,
                                         Pack (&product)[Streams * Packs]) noexcept {
  constexpr std::size_t count = Streams * Packs;
  Pack sum[Sums][count];
  LADON_UNROLL
  for (std::size_t i = 0; i < Sums * count; ++i) sum[i / count][i % count] = Pack::broadcast(0.0f);
  const auto add = [&](std::size_t feature, std::size_t s) {
    const auto x = Pack::broadcast(query[feature]);
    LADON_UNROLL
    for (std::size_t i = 0; i < count; ++i) {
      const Element* const key = keys + i / Packs * distance + feature * KeyWidth + i % Packs * Pack::lanes;
      sum[s][i] = fma(x, simd::load_as_float<Pack>(key), sum[s][i]);
    }
  };
  std::size_t feature = 0;
  for (; feature + Sums <= HeadWidth; feature += Sums) {
    LADON_UNROLL
    for (std::size_t s = 0; s < Sums; ++s) add(feature + s, s);
  }
  for (; feature < HeadWidth; ++feature) add(feature, 0);
  static_assert(Sums == 1 || Sums == 4);
  LADON_UNROLL
  for (std::size_t i = 0; i < count; ++i) {
    product[i] = Sums == 1 ? sum[0][i] : (sum[0][i] + sum[1 % Sums][i]) + (sum[2 % Sums][i] + sum[3 % Sums][i]);
  }
}

// Applies the mask to the scores of one panel of keys, one key after another.
template <std::size_t KeyWidth, class BoundMask>
constexpr void mask_keys(const BoundMask& mask, const ScoreBlock& scored, float* scores) noexcept {
  using One = simd::ArrayPack<1>;
  typename BoundMask::template Scratch<KeyWidth, 1> scratch;
  const auto lanes = mask.template lanes<One, 1>(scored, scratch);
  for (std::size_t key = scored.keys.begin; key < scored.keys.end; ++key) {
    float& score = scores[key - scored.keys.begin];
    score =
        lanes.may_see(0, key).lane[0] ? lanes.add(0, key, One{score}).lane[0] : -std::numeric_limits<float>::infinity();
  }
}

// Applies the mask to the scores of one panel of keys. The panel begins at key `base`. Hidden keys get the score -inf.
// Returns, for each lane, the maximum of `largest` and the scores in this lane.
template <class Pack, Tiling K, class BoundMask>
LADON_INLINE constexpr Pack mask_panel(std::size_t head, const KeyRanges& ranges, const BoundMask& mask,
                                       std::size_t base, float* scores, Pack largest) noexcept {
  constexpr std::size_t width = K.width();
  const Range keys = Range{base, base + width} & Range{0, ranges.visible.end};
  if (BoundMask::adds_to_scores || !ranges.unmasked.contains(keys))
    mask_keys<width>(mask, {head, {0, 1}, keys}, scores);
  for (std::size_t key = keys.end; key < base + width; ++key) {
    scores[key - base] = -std::numeric_limits<float>::infinity();
  }
  LADON_UNROLL
  for (std::size_t v = 0; v < K.packs; ++v) largest = max(largest, Pack::load(scores + v * Pack::lanes));
  return largest;
}

// Computes the scores of the panels from the first visible key to the last visible key. Hidden keys get the score -inf.
// scores[0] is the score of the first key of the first panel. The panels are read in Streams streams. Returns, for each
// lane, the maximum of `largest` and the scores in this lane.
template <class Function, class Pack, Tiling K, std::size_t HeadWidth, std::size_t Streams, class View, class BoundMask>
LADON_KERNEL constexpr Pack single_query_scores(const Head<View>& head, const float* query, const KeyRanges& ranges,
                                                const BoundMask& mask, float* scores, Pack largest) noexcept {
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  const std::size_t start = ranges.visible.begin / width * width;
  const std::size_t panels = ranges.visible.end > start ? (ranges.visible.end - start + width - 1) / width : 0;
  // Computes the scores of N panels, one panel of each stream. The first panel is `panel`. Each further panel comes
  // `distance` panels after the previous panel.
  const auto score_panels = [&]<std::size_t N>(std::size_t panel, std::size_t distance) LADON_INLINE_LAMBDA {
    constexpr std::size_t packs = N > 1 ? K.packs : 1, sums = N > 1 ? 1 : 4;
    LADON_UNROLL
    for (std::size_t v = 0; v < K.packs; v += packs) {
      Pack product[N * packs];
      key_products<Pack, N, packs, sums, width, HeadWidth>(
          elements(head.keys) + (start + panel * width) * HeadWidth + v * lanes, distance * width * HeadWidth, query,
          product);
      LADON_UNROLL
      for (std::size_t i = 0; i < N * packs; ++i) {
        const std::size_t key = (panel + i / packs * distance) * width + (v + i % packs) * lanes;
        Function::exponent(times_scale(product[i], head.keys, start + key)).store(scores + key);
      }
    }
  };
  const std::size_t panels_per_stream = Streams > 1 ? panels / Streams : 0;
  const std::size_t in_streams = Streams * panels_per_stream;
  for (std::size_t p = 0; p < panels_per_stream; ++p) score_panels.template operator()<Streams>(p, panels_per_stream);
  for (std::size_t p = 0; p < panels; ++p) {
    if (p >= in_streams) score_panels.template operator()<1>(p, 0);
    largest = mask_panel<Pack, K>(head.index, ranges, mask, start + p * width, scores + p * width, largest);
  }
  return largest;
}

// The softmax of a single query. `shift` is the number that is subtracted from each score: the maximum, or 0 if the
// maximum is -inf. Each lane of `total` has a partial sum of the weights.
template <class Score, class Pack>
struct SingleQuerySoftmax {
  float shift;
  Pack total;

  constexpr explicit SingleQuerySoftmax(const Pack& largest) noexcept : total(Pack::broadcast(0.0f)) {
    const float maximum = reduce_max(largest);
    shift = maximum == -std::numeric_limits<float>::infinity() ? 0.0f : maximum;
  }
  // Replaces each score s by the weight 2^(s - shift). If Mark is true, a score of -inf is replaced by -1 instead of 0,
  // which marks the key as hidden.
  template <bool Mark>
  constexpr void exponentials(float* scores, std::size_t count) noexcept {
    const Pack masked = Pack::broadcast(-std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < count;) {
      const std::size_t end = count - i < single_query_block<Pack> ? count : i + single_query_block<Pack>;
      Pack block_total = Pack::broadcast(0.0f);
      for (; i < end; i += Pack::lanes) {
        const Pack s = Pack::load(scores + i);
        const Pack p = exp2_of_nonpositive(s - Pack::broadcast(shift));
        block_total = block_total + p;
        if constexpr (Mark) {
          select(s == masked, Pack::broadcast(-1.0f), p).store(scores + i);
        } else {
          p.store(scores + i);
        }
      }
      total = total + block_total;
    }
  }
  // Returns 1 / sum of the weights. If the sum is 0, because the query sees no key, returns 1. If the score policy has
  // sinks, the sum includes the weight of `sink`.
  constexpr float reciprocal_sum(float sink) const noexcept {
    float sum = reduce_add(total);
    if constexpr (Score::sinks) sum += exp2_of_nonpositive(simd::ArrayPack<1>{sink - shift}).lane[0];
    return 1.0f / (sum == 0 ? 1.0f : sum);
  }
};

// Adds the products value[row][key] * p[key] to sum[row], for all keys of whole panels. The function reads Streams
// streams. Each stream has `panels` consecutive panels, and begins `distance` panels after the previous stream. If
// Selected is true, keys with a negative weight, which marks hidden keys, are skipped.
//
// With an int8 cache, each weight p[key] is first multiplied by the scale of the value of this key.
template <class Pack, std::size_t Streams, std::size_t Packs, std::size_t ValueWidth, bool Selected, class View>
LADON_KERNEL constexpr void weighted_sum_of_streams(View values, const float* p, std::size_t panels,
                                                    std::size_t distance, Pack (&sum)[ValueWidth]) noexcept {
  constexpr std::size_t lanes = Pack::lanes, width = Packs * lanes;
  for (std::size_t panel = 0; panel < panels; ++panel) {
    Pack weight[Streams][Packs];
    LADON_UNROLL
    for (std::size_t i = 0; i < Streams * Packs; ++i) {
      const std::size_t key = (i / Packs * distance + panel) * width + i % Packs * lanes;
      weight[i / Packs][i % Packs] = Pack::load(p + key);
      if constexpr (!Selected) weight[i / Packs][i % Packs] = times_scale(weight[i / Packs][i % Packs], values, key);
    }
    for (std::size_t row = 0; row < ValueWidth; ++row) {
      const auto* const first = elements(values) + (panel * ValueWidth + row) * width;
      Pack row_sum = sum[row];
      LADON_UNROLL
      for (std::size_t i = 0; i < Streams * Packs; ++i) {
        const Pack value =
            simd::load_as_float<Pack>(first + i / Packs * distance * ValueWidth * width + i % Packs * lanes);
        const Pack& w = weight[i / Packs][i % Packs];
        if constexpr (Selected) {
          const std::size_t key = (i / Packs * distance + panel) * width + i % Packs * lanes;
          const Pack added = fma(value, times_scale(w, values, key), row_sum);
          row_sum = select(Pack::broadcast(0.0f) <= w, added, row_sum);
        } else {
          row_sum = fma(value, w, row_sum);
        }
      }
      sum[row] = row_sum;
    }
  }
}

// Adds the products value[row][key] * p[key] to sum[row], for Rows rows from `first_row` on and the keys `keys`. `keys`
// begins at the first key of a pack. p[0] is the weight of the key `start`. Keys outside `visible` are skipped. If
// Selected is true, keys with a negative weight, which marks hidden keys, are skipped, too.
template <class Pack, std::size_t Rows, std::size_t Width, std::size_t ValueWidth, bool Selected, class View>
LADON_INLINE constexpr void add_weighted_keys(const View& values, std::size_t first_row, const float* p,
                                              std::size_t start, Range keys, Range visible,
                                              Pack (&sum)[Pack::lanes]) noexcept {
  constexpr std::size_t lanes = Pack::lanes;
  for (std::size_t base = keys.begin; base < keys.end; base += lanes) {
    const Pack weight = Pack::load(p + base - start), scaled = times_scale(weight, values, base);
    const auto* const panel = elements(values) + first_row * Width + base / Width * Width * ValueWidth + base % Width;
    if (!Selected && visible.contains({base, base + lanes})) {
      LADON_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        sum[r] = fma(simd::load_as_float<Pack>(panel + r * Width), scaled, sum[r]);
      }
    } else {
      const Pack key = Pack::lane_index() + Pack::broadcast(static_cast<float>(base));
      const auto counts = (key < Pack::broadcast(static_cast<float>(visible.end))) &
                          (Pack::broadcast(static_cast<float>(visible.begin)) <= key) &
                          (Pack::broadcast(0.0f) <= weight);
      LADON_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        sum[r] = select(counts, fma(simd::load_as_float<Pack>(panel + r * Width), scaled, sum[r]), sum[r]);
      }
    }
  }
}

// Computes out[row] = factor * (sum of value[row][key] * p[key] over the visible keys). p[0] is the weight of the first
// key of the panel that contains the first visible key.
//
// With several streams, weighted_sum_of_streams adds most of the panels that have only visible keys. add_weighted_keys
// adds the keys before and after these panels. With one stream, add_weighted_keys adds all keys. The order of addition
// does not depend on Selected. The value of a hidden key therefore changes no bit of `out`, even if the value is
// infinite or NaN.
template <class Pack, Tiling K, std::size_t Keys, std::size_t ValueWidth, bool Selected, std::size_t Streams,
          class View>
LADON_KERNEL constexpr void single_query_weighted_sum(View values, const float* p, Range visible, float factor,
                                                      float* out) noexcept {
  constexpr std::size_t width = K.width(), lanes = Pack::lanes;
  constexpr bool streamed = Streams > 1;
  const std::size_t start = visible.begin / width * width;
  [[maybe_unused]] Pack stream_sum[streamed ? ValueWidth : 1];
  Range done{start, start};
  if constexpr (streamed) {
    const std::size_t first = (visible.begin + width - 1) / width, end = visible.end / width;
    const std::size_t panels_per_stream = first < end ? (end - first) / Streams : 0;
    if (panels_per_stream > 0) done = {first * width, (first + Streams * panels_per_stream) * width};
    constexpr std::size_t panels_per_block = single_query_block<Pack> / (Streams * width);
    for (std::size_t row = 0; row < ValueWidth; ++row) stream_sum[row] = Pack::broadcast(0.0f);
    for (std::size_t panel = 0; panel < panels_per_stream; panel += panels_per_block) {
      const std::size_t left = panels_per_stream - panel, keys = done.begin + panel * width;
      Pack block_sum[ValueWidth];
      for (std::size_t row = 0; row < ValueWidth; ++row) block_sum[row] = Pack::broadcast(0.0f);
      weighted_sum_of_streams<Pack, Streams, K.packs, ValueWidth, Selected>(
          skip<ValueWidth>(values, keys), p + keys - start, left < panels_per_block ? left : panels_per_block,
          panels_per_stream, block_sum);
      for (std::size_t row = 0; row < ValueWidth; ++row) stream_sum[row] = stream_sum[row] + block_sum[row];
    }
  }
  for_row_tiles<ValueWidth, lanes>([&]<std::size_t Rows>(std::size_t row) {
    Pack sum[lanes];
    LADON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r) {
      sum[r] = r < Rows && streamed ? stream_sum[streamed ? row + r : 0] : Pack::broadcast(0.0f);
    }
    if constexpr (streamed) {
      add_weighted_keys<Pack, Rows, width, ValueWidth, Selected>(values, row, p, start, {start, done.begin}, visible,
                                                                 sum);
    }
    const Range rest{done.end, visible.end};
    if constexpr (streamed || Keys <= single_query_block<Pack>) {
      add_weighted_keys<Pack, Rows, width, ValueWidth, Selected>(values, row, p, start, rest, visible, sum);
    } else {
      for (std::size_t base = rest.begin; base < rest.end; base += single_query_block<Pack>) {
        Pack block_sum[lanes];
        LADON_UNROLL
        for (std::size_t r = 0; r < lanes; ++r) block_sum[r] = Pack::broadcast(0.0f);
        add_weighted_keys<Pack, Rows, width, ValueWidth, Selected>(
            values, row, p, start, Range{base, base + single_query_block<Pack>} & rest, visible, block_sum);
        LADON_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) sum[r] = sum[r] + block_sum[r];
      }
    }
    const Pack total = Pack::add_rows(sum) * Pack::broadcast(factor);
    if constexpr (Rows == lanes) {
      total.store(out + row);
    } else {
      total.store_partial(out + row, Rows);
    }
  });
}

// Computes the output of a single query. If a value may be infinite or NaN and the mask hides keys, Selected must be
// true. Hidden keys are then skipped, because 0 times an infinite or NaN value would be NaN.
template <bool Selected, Shape S, class Score, class Pack, Tiling K, class View, class BoundMask, class Capture>
constexpr void attend_single_query(const Head<View>& head, const QueryBlock& block, const BoundMask& mask,
                                   const Capture& capture) noexcept {
  constexpr std::size_t most = target::Current::streams;
  constexpr std::size_t element_bytes = sizeof(*elements(View{}));
  constexpr std::size_t key_streams = reads_streams(S.keys * S.head_width, element_bytes) ? most : 1;
  constexpr std::size_t value_streams = reads_streams(S.keys * S.value_width, element_bytes) ? most : 1;
  const KeyRanges ranges = mask.key_ranges({0, 1});
  const Range visible = ranges.visible;
  const std::size_t start = visible.begin / K.width() * K.width();
  float* const scores = block.scores;
  const Pack smallest = Pack::broadcast(Score::sinks ? head.sink : -std::numeric_limits<float>::infinity());
  SingleQuerySoftmax<Score, Pack> softmax(
      single_query_scores<ScoreFunction<S, Score>, Pack, K, S.head_width, key_streams>(head, block.query, ranges, mask,
                                                                                       scores, smallest));
  if (visible.end > start) softmax.template exponentials<Selected>(scores, visible.end - start);
  const float factor = softmax.reciprocal_sum(head.sink);
  single_query_weighted_sum<Pack, K, S.keys, S.value_width, Selected, value_streams>(head.values, scores, visible,
                                                                                     factor, block.out);
  if constexpr (Capture::weights) {
    for (std::size_t key = 0; key < S.keys; ++key) {
      const bool counts = visible.contains({key, key + 1}) && !(scores[key - start] < 0);
      capture.rows[key] = counts ? scores[key - start] * factor : 0.0f;
    }
  }
}

}  // namespace ladon::inline LADON_ABI::detail
