// SPDX-License-Identifier: Apache-2.0
// A mask that adds a number to each score, by the head and the distance of key and query. T5 (arXiv 1910.10683) and
// MPNet have this relative position bias. All layers of a stack share one table.
//     static ladon::RelativeTable<8, 512> table;                   // 8 heads, 512 tokens
//     ladon::fill_relative_table(table, bias, {.causal = true});   // bias [32][8]
//     Decoder::run(x, memory, weights, y, workspace, {.self = {.mask = {.second = {.table = &table}}}});
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// The numbers that mask::Relative adds: [heads][row_size]. A row has the numbers of the distances Tokens - 1, Tokens -
// 2, .. 1 - Tokens, so neighbouring queries have neighbouring numbers. The zeros at the end of a row are for lanes
// without a query. The numbers are multiplied by log2(e), because scores are exponents of two.
template <std::size_t Heads, std::size_t Tokens>
struct RelativeTable {
  static constexpr std::size_t largest_panel = 64, row_size = 2 * Tokens - 2 + largest_panel;
  float values[Heads * row_size]{};

  // `distance` is the position of the key minus the position of the query. `value` is in natural units
  // (run_options.hpp). The table limits `value`, so that sums with scores are finite.
  constexpr void set(std::size_t head, std::ptrdiff_t distance, float value) noexcept {
    constexpr float most = 0x1p95f;
    const auto place = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(Tokens) - 1 - distance);
    values[head * row_size + place] =
        detail::vec::min_scalar(most, detail::vec::max_scalar(-most, value * static_cast<float>(score::log2_e)));
  }
};

// How distances become buckets. T5's decoders are causal; its encoders and MPNet are not.
struct RelativeBuckets {
  std::size_t count = 32;  // relative_attention_num_buckets in config.json
  bool causal = false;     // keys after the query have the bucket of distance 0
  std::size_t max_distance = 128;
};

// Returns the bucket of a distance, as transformers computes it in float32. If not causal, each direction has half of
// the buckets. In each direction, each bucket in the first half has one distance. In the second half, bucket numbers
// grow with the logarithm of the distance. Preconditions: a direction has at least two buckets, and max_distance is
// larger than half the buckets of a direction.
constexpr std::size_t relative_bucket(std::ptrdiff_t distance, RelativeBuckets buckets) noexcept {
  const std::size_t count = buckets.causal ? buckets.count : buckets.count / 2, exact = count / 2;
  const std::size_t first = distance > 0 && !buckets.causal ? count : 0;
  if (distance > 0) distance = buckets.causal ? 0 : -distance;
  const auto back = static_cast<std::size_t>(-distance);
  if (back < exact) return first + back;
  const auto log_ratio = [&](std::size_t to) {
    return static_cast<float>(detail::vec::log_double(static_cast<double>(to) / static_cast<double>(exact)));
  };
  const float share = log_ratio(back) / log_ratio(buckets.max_distance);
  const std::size_t bucket = exact + static_cast<std::size_t>(share * static_cast<float>(count - exact));
  return first + (bucket < count ? bucket : count - 1);
}

// Fills `table` from `weights` [buckets.count][Heads], the embedding of the relative positions.
template <std::size_t Heads, std::size_t Tokens>
constexpr void fill_relative_table(RelativeTable<Heads, Tokens>& table, const float* weights,
                                   RelativeBuckets buckets = {}) noexcept {
  constexpr auto last = static_cast<std::ptrdiff_t>(Tokens) - 1;
  for (std::ptrdiff_t distance = -last; distance <= last; ++distance) {
    const float* const row = weights + relative_bucket(distance, buckets) * Heads;
    for (std::size_t head = 0; head < Heads; ++head) table.set(head, distance, row[head]);
  }
}

// Fills `bias` [heads][1 + rows * columns][1 + rows * columns], the attention_bias of a BEiT layer (Model::layer_bias),
// from `table` [distances][heads]. Token 0 is the class token, and the patches of the image follow, row by row. `table`
// has a row for each distance between the patches of a query and a key, in rows and columns of the image. Three more
// rows follow: from the class token to a patch, from a patch to the class token, and from the class token to itself.
constexpr void fill_image_bias(float* bias, const float* table, std::size_t heads, std::size_t rows,
                               std::size_t columns) noexcept {
  const std::size_t patches = rows * columns, distances = (2 * rows - 1) * (2 * columns - 1);
  const auto distance = [&](std::size_t query, std::size_t key) {
    if (key == 0) return distances + (query == 0 ? 2 : 1);
    if (query == 0) return distances;
    const std::size_t row = (query - 1) / columns + rows - 1 - (key - 1) / columns;
    return row * (2 * columns - 1) + (query - 1) % columns + columns - 1 - (key - 1) % columns;
  };
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t query = 0; query <= patches; ++query) {
      for (std::size_t key = 0; key <= patches; ++key) *bias++ = table[distance(query, key) * heads + head];
    }
  }
}

namespace mask {

template <class Pack>
struct RelativeLanes {
  const float* values;  // of key 0 and the first query
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t, std::size_t) const noexcept {
    return Pack::every_lane(true);
  }
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    return score + Pack::load(values + v * Pack::lanes - key);
  }
};

template <class Table>
struct BoundRelative {
  static constexpr bool hides_keys = false;
  static constexpr bool adds_to_scores = true;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  const float* values;  // of head 0, key 0 and query 0
  std::size_t keys;     // how many keys are active

  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, keys}}; }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr RelativeLanes<Pack> lanes(const ScoreBlock& block, NoScratch&) const noexcept {
    static_assert(Width <= Table::largest_panel, "ladon: mask::Relative takes panels of at most 64 tokens");
    return {values + block.head * Table::row_size + block.queries.begin};
  }
};

// Adds the number of the head and the distance to each score, and hides no key. The distance is the position of the key
// minus the position of the query. Ignores the offsets of other masks.
struct Relative {
  template <Shape S>
  struct Data {
    using Table = RelativeTable<S.heads, (S.keys > S.queries ? S.keys : S.queries)>;
    const Table* table = nullptr;  // required
    LADON_CALLER_MEMBER
  };

  template <Shape S>
  static constexpr BoundRelative<typename Data<S>::Table> bind_to(const Placement& placement,
                                                                  const Data<S>& data) noexcept {
    LADON_EXPECTS(data.table != nullptr, "ladon: mask::Relative needs a table: options.mask.table",
                  detail::caller_of(data));
    constexpr std::ptrdiff_t longer = S.keys > S.queries ? S.keys : S.queries;
    return {data.table->values + (longer - 1 + placement.offset), placement.lengths.keys};
  }
};

}  // namespace mask

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
