// SPDX-License-Identifier: Apache-2.0
// Attention without projections for a few queries, which would leave lanes of a panel of queries idle. Keys and values
// are read in place, in the caller's rows.
//
//     query    [Count][head width], scaled by ScoreFunction::query_scale
//     keys     [keys][head width]                   rows of the caller
//     values   [keys][value width]                  rows of the caller
//     scores   [Count][stride], scratch             first the scores, then the weights; one row for each query
//
// A score is a dot product with features in the lanes. A weighted sum also has features in the lanes, and adds one key
// after another, in blocks of keys (values.hpp). `Count` queries share each read of keys and values. The queries may
// belong to different heads of one group.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/attention/capture.hpp>
#include <ladon/detail/attention/operands.hpp>
#include <ladon/detail/attention/single.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/panel/workspace.hpp>

namespace LADON_NAMESPACE::detail {

template <class D, class Simd>
struct FewQueries {
  static constexpr Shape shape = D::shape;
  using Score = typename D::Score;
  using Pack = typename Simd::template Pack<ShapeLayout<shape, typename D::Vectors>::keys.lanes>;
  static constexpr std::size_t lanes = Pack::lanes, head_width = shape.head_width, value_width = shape.value_width;
  static constexpr std::size_t value_packs = (value_width + lanes - 1) / lanes;
  static constexpr std::size_t stride = (shape.keys + lanes - 1) / lanes * lanes;
  static constexpr std::size_t together = RowScratch<shape, typename D::Vectors>::together;
  static constexpr std::size_t key_block = 256;                            // keys of one sum, which starts at 0
  static constexpr std::size_t sums = target::Current::single_query_sums;  // how many packs of sums fit into registers

  struct Query {
    std::size_t head;
    std::size_t index;
    float sink;
  };
  struct Rows {
    const float* keys;
    const float* values;
    std::size_t active;
  };

  template <std::size_t Count>
  static constexpr void attend(const Query (&queries)[Count], const float* query, const Rows& rows, const auto& mask,
                               const auto& capture_of, float* scores, float* (&out)[Count]) noexcept {
    KeyRanges ranges[Count];
    Range visible{rows.active, 0};
    for (std::size_t i = 0; i < Count; ++i) {
      capture(queries[i], query + i * head_width, rows, mask, capture_of, scores);
      ranges[i] = mask.key_ranges({queries[i].index, queries[i].index + 1});
      if (ranges[i].visible.begin < visible.begin) visible.begin = ranges[i].visible.begin;
      if (ranges[i].visible.end > visible.end) visible.end = ranges[i].visible.end;
    }
    // Sums begin at multiples of key_block, so that their rounding does not depend on the queries that share a call.
    visible.begin = visible.begin / key_block * key_block;
    for (std::size_t key = visible.begin; key < visible.end; key += lanes) {
      const std::size_t keys = visible.end - key < lanes ? visible.end - key : lanes;
      for (std::size_t i = 0; i < Count; ++i) {
        score_keys<ScoreFunction<shape, Score>>(query + i * head_width, rows.keys + key * head_width, keys)
            .store(scores + i * stride + key);
      }
    }
    float factor[Count];
    Range unmasked = visible;
    for (std::size_t i = 0; i < Count; ++i) {
      factor[i] = weights(queries[i], ranges[i], visible, mask, scores + i * stride);
      unmasked = unmasked & ranges[i].unmasked;
    }
    for_row_tiles<value_packs, (sums + Count - 1) / Count>([&]<std::size_t Packs>(std::size_t first) {
      weighted_sum<Count, Packs, std::remove_cvref_t<decltype(mask)>::hides_keys>(
          rows.values + first * lanes, first * lanes, scores, visible, unmasked, factor, out);
    });
  }

 private:
  // Returns the scores of `count` keys. The other lanes are -inf.
  template <class Function>
  static LADON_KERNEL constexpr Pack score_keys(const float* query, const float* keys, std::size_t count) noexcept {
    // Returns the scores of the rows row(0), row(1), ..
    const auto scores = [&](auto row) LADON_INLINE_LAMBDA {
      Pack sum[lanes];
      LADON_UNROLLED_FOR(r, lanes) sum[r] = Pack::broadcast(0.0f);
      for (std::size_t i = 0; i < head_width / lanes * lanes; i += lanes) {
        const Pack x = Pack::load(query + i);
        LADON_UNROLLED_FOR(r, lanes) sum[r] = fma(x, Pack::load(keys + row(r) * head_width + i), sum[r]);
      }
      if constexpr (head_width % lanes != 0) {
        constexpr std::size_t i = head_width / lanes * lanes, rest = head_width % lanes;
        const Pack x = Pack::load_partial(query + i, rest);
        LADON_UNROLLED_FOR(r, lanes) sum[r] = fma(x, Pack::load_partial(keys + row(r) * head_width + i, rest), sum[r]);
      }
      return Function::exponent(Pack::add_rows(sum));
    };
    if (count == lanes) return scores([](std::size_t r) { return r; });
    return blend(Pack::lane_index() < Pack::broadcast(static_cast<float>(count)),
                 scores([=](std::size_t r) { return r < count ? r : count - 1; }),
                 Pack::broadcast(-std::numeric_limits<float>::infinity()));
  }

  // Masks the scores of one query, and replaces them by weights. If the mask hides keys, hidden keys get the weight -1.
  // Returns the factor that normalises the weighted sum.
  template <class BoundMask>
  static LADON_KERNEL constexpr float weights(const Query& query, const KeyRanges& ranges, Range visible,
                                              const BoundMask& mask, float* scores) noexcept {
    Pack largest = Pack::broadcast(Score::sinks ? query.sink : -std::numeric_limits<float>::infinity());
    for (std::size_t key = visible.begin; key < visible.end; key += lanes) {
      const Range keys = Range{key, key + lanes} & Range{0, visible.end};
      if (BoundMask::adds_to_scores || !ranges.unmasked.contains(keys)) {
        mask_keys<lanes>(mask, {query.head, {query.index, query.index + 1}, keys}, scores + key);
      }
      largest = maximum(largest, Pack::load(scores + key));
    }
    SingleQuerySoftmax<Score, Pack> softmax(largest);
    if (visible.begin < visible.end) {
      softmax.template exponentials<BoundMask::hides_keys, key_block>(
          scores + visible.begin, (visible.end - visible.begin + lanes - 1) / lanes * lanes);
    }
    return softmax.reciprocal_sum(query.sink);
  }

  // Computes `Packs` packs of the outputs from feature `first` on. `values` points to feature `first`. Skips hidden
  // keys (weight -1), because a weight of 0 times an infinite or NaN value would be NaN.
  template <std::size_t Count, std::size_t Packs, bool Hides>
  static LADON_KERNEL constexpr void weighted_sum(const float* values, std::size_t first, const float* weight,
                                                  Range visible, Range unmasked, const float (&factor)[Count],
                                                  float* const (&out)[Count]) noexcept {
    constexpr std::size_t last = Packs - 1;
    const std::size_t left = value_width - first - last * lanes, in_last = left < lanes ? left : lanes;
    const auto load = [&](std::size_t key, std::size_t p) LADON_INLINE_LAMBDA {
      const float* const from = values + key * value_width + p * lanes;
      return value_width % lanes == 0 || p != last || in_last == lanes ? Pack::load(from)
                                                                       : Pack::load_partial(from, in_last);
    };
    Pack total[Count * Packs];
    for (auto& t : total) t = Pack::broadcast(0.0f);
    for (std::size_t begin = visible.begin; begin < visible.end; begin += key_block) {
      const Range keys = Range{begin, begin + key_block} & visible;
      Pack sum[Count * Packs];
      LADON_UNROLLED_FOR(i, Count * Packs) sum[i] = Pack::broadcast(0.0f);
      if (!Hides || unmasked.contains(keys)) {
        for (std::size_t key = keys.begin; key < keys.end; ++key) {
          Pack w[Count];
          LADON_UNROLLED_FOR(i, Count) w[i] = Pack::broadcast(weight[i * stride + key]);
          LADON_UNROLLED_FOR(p, Packs) {
            const Pack value = load(key, p);
            LADON_UNROLLED_FOR(i, Count) sum[i * Packs + p] = fma(value, w[i], sum[i * Packs + p]);
          }
        }
      } else {
        for (std::size_t key = keys.begin; key < keys.end; ++key) {
          LADON_UNROLLED_FOR(i, Count) {
            const float w = weight[i * stride + key];
            if (w < 0) continue;
            LADON_UNROLLED_FOR(p, Packs) sum[i * Packs + p] = fma(load(key, p), Pack::broadcast(w), sum[i * Packs + p]);
          }
        }
      }
      LADON_UNROLLED_FOR(i, Count * Packs) total[i] = total[i] + sum[i];
    }
    LADON_UNROLLED_FOR(i, Count * Packs) {
      const Pack result = total[i] * Pack::broadcast(factor[i / Packs]);
      float* const to = out[i / Packs] + first + i % Packs * lanes;
      if (i % Packs != last || in_last == lanes) {
        result.store(to);
      } else {
        result.store_partial(to, in_last);
      }
    }
  }

  // Captures the scores or the weights of one query, in a separate pass (block.hpp).
  static constexpr void capture(const Query& query, const float* features, const Rows& rows, const auto& mask,
                                const auto& capture_of, float* scores) noexcept {
    using Capture = decltype(capture_of(0, Range{}));
    if constexpr (Capture::captures) {
      constexpr bool capped = ScoreFunction<shape, Score>::capped,
                     quotients = capped && Capture::stage == Stage::scaled;
      using Function = ScoreFunction<shape, std::conditional_t<quotients, Uncapped<Score>, Score>>;
      constexpr float unit = quotients ? Score::softcap : static_cast<float>(1 / score::log2_e);
      const Range queries{query.index, query.index + 1};
      const Capture captured = capture_of(query.head, queries);
      if (captured.rows == nullptr) return;
      float largest = Score::sinks ? query.sink : -std::numeric_limits<float>::infinity();
      for (std::size_t key = 0; key < rows.active; key += lanes) {
        const Range keys = Range{key, key + lanes} & Range{0, rows.active};
        score_keys<Function>(features, rows.keys + key * head_width, keys.end - keys.begin).store(scores + key);
        if constexpr (Capture::stage == Stage::masked || Capture::stage == Stage::weights) {
          mask_keys<lanes>(mask, {query.head, queries, keys}, scores + key);
        }
        for (std::size_t k = keys.begin; k < keys.end; ++k) {
          captured.rows[k] = scores[k];
          if (scores[k] > largest) largest = scores[k];
        }
      }
      captured.template finish<Score, Pack>(rows.active, unit, &largest, query.sink);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
