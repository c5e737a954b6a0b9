// SPDX-License-Identifier: Apache-2.0
// Masks that add a number to each score:
//     Additive           for each query and key
//     AdditivePerHead    for each head, query and key
//     Alibi              a multiple of the distance
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

using detail::blend, detail::fma, detail::maximum, detail::minimum;

// Multiplies numbers in natural units (run_options.hpp) by log2(e). -inf stays -inf and hides the key. Finite numbers
// stay finite, even the lowest float, which Hugging Face uses instead of -inf. +inf becomes the largest float.
template <class Pack>
LADON_INLINE constexpr Pack to_exponent(const Pack& value) noexcept {
  using Limits = std::numeric_limits<float>;
  const Pack scaled = value * Pack::broadcast(static_cast<float>(score::log2_e));
  const Pack finite = minimum(Pack::broadcast((Limits::max)()), maximum(Pack::broadcast(Limits::lowest()), scaled));
  const Pack masked = Pack::broadcast(-Limits::infinity());
  return blend(value == masked, masked, finite);
}

template <std::size_t KeyWidth, std::size_t Width>
struct PairScratch {
  alignas(64) float values[KeyWidth * Width];
};

// Adds the numbers of a block [keys][Width], which are already multiplied by log2(e). Each lane has one query.
template <class Pack, std::size_t Width>
struct AdditiveLanes {
  const float* values;
  std::size_t first_key;
  LADON_INLINE constexpr Pack at(std::size_t v, std::size_t key) const noexcept {
    return Pack::load(values + (key - first_key) * Width + v * Pack::lanes);
  }
  // Only -inf hides a key. NaN does not.
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return !(at(v, key) == Pack::broadcast(-std::numeric_limits<float>::infinity()));
  }
  // Limits the sum to finite floats. A score of -inf stays -inf: its product q . k has overflowed.
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    using Limits = std::numeric_limits<float>;
    const Pack at_least = maximum(Pack::broadcast(Limits::lowest()), score + at(v, key));
    const Pack sum = minimum(Pack::broadcast((Limits::max)()), at_least);
    return blend(score == Pack::broadcast(-Limits::infinity()), score, sum);
  }
};

template <bool PerHead>
struct BoundAdditive {
  static constexpr bool hides_keys = true;
  static constexpr bool adds_to_scores = true;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = PairScratch<KeyWidth, Width>;
  const float* values;  // [heads or 1][queries][columns], or null, which adds nothing
  std::size_t queries;  // how many rows a head has, including inactive queries
  std::size_t columns;
  std::size_t keys;  // how many keys are active; at most `columns`

  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, 0}}; }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }

  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_INLINE constexpr AdditiveLanes<Pack, Width> lanes(const ScoreBlock& block,
                                                          PairScratch<KeyWidth, Width>& scratch) const noexcept {
    fill<Pack, Width, KeyWidth>(block, scratch.values);
    return {scratch.values, block.keys.begin};
  }

 private:
  // Writes the `values` of a block, times log2(e), to `out` [KeyWidth][Width]. A query is a row of `values` and a lane
  // of `out`, so squares are transposed. Inactive keys get -inf, and lanes without a query 0.
  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_NOINLINE constexpr void fill(const ScoreBlock& block, float* out) const noexcept {
    const std::size_t rest = block.keys.begin < keys ? keys - block.keys.begin : 0;
    const std::size_t active = rest < KeyWidth ? rest : KeyWidth, used = block.queries.end - block.queries.begin;
    const float* const rows =
        values == nullptr || active == 0
            ? nullptr
            : values + ((PerHead ? block.head * queries : 0) + block.queries.begin) * columns + block.keys.begin;
    for (std::size_t q = 0; q < Width; q += Pack::lanes) {
      for (std::size_t key = 0; key < active; key += Pack::lanes) {
        Pack square[Pack::lanes];
        const std::size_t count = active - key < Pack::lanes ? active - key : Pack::lanes;
        detail::load_transposed(rows == nullptr ? nullptr : rows + q * columns + key, columns, q,
                                rows == nullptr ? 0 : used, count, square);
        LADON_UNROLLED_FOR(c, Pack::lanes) {
          if (c < count) to_exponent(square[c]).store(out + (key + c) * Width + q);
        }
      }
    }
    for (std::size_t i = active * Width; i < KeyWidth * Width; ++i) out[i] = -std::numeric_limits<float>::infinity();
  }
};

// Adds an element of `values` to each score, in natural units (run_options.hpp). The value -inf hides the key, and +inf
// counts as the largest float. A null pointer, the default, adds nothing.
//
// `values` has `keys` columns, by default one for each key of the shape. Keys without a column are hidden, even if
// `values` is null (as in ONNX's Attention since opset 24). Precondition: no more columns than keys (checks.hpp).
template <bool PerHead>
struct AdditiveValues {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, TensorView<const float, S.heads, S.queries, S.keys>,
                       MatrixView<const float, S.queries, S.keys>>
        values;
    std::size_t keys = all;
    LADON_CALLER_MEMBER
  };

  template <Shape S>
  static constexpr BoundAdditive<PerHead> bind_to(const Placement& placement, const Data<S>& data) noexcept {
    const std::size_t columns = columns_of<S>(data);
    return {data.values.data, S.queries, columns, placement.lengths.keys < columns ? placement.lengths.keys : columns};
  }
};
struct Additive : AdditiveValues<false> {};
struct AdditivePerHead : AdditiveValues<true> {};

// Attention with linear biases, ALiBi (arXiv 2108.12409).
template <class Pack>
struct AlibiLanes {
  std::size_t first_query;
  std::ptrdiff_t offset;
  float slope;  // multiplied by log2(e), because scores are exponents of two
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t, std::size_t) const noexcept {
    return Pack::every_lane(true);
  }
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    const std::ptrdiff_t from_first_lane =
        static_cast<std::ptrdiff_t>(key) - offset - static_cast<std::ptrdiff_t>(first_query + v * Pack::lanes);
    const Pack distance = Pack::broadcast(static_cast<float>(from_first_lane)) - Pack::lane_index();
    return fma(Pack::broadcast(slope), distance, score);
  }
};

struct BoundAlibi {
  static constexpr bool hides_keys = false;
  static constexpr bool adds_to_scores = true;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  const float* slopes;  // [heads]
  std::ptrdiff_t offset;
  std::size_t keys;  // how many keys are active

  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, keys}}; }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr AlibiLanes<Pack> lanes(const ScoreBlock& block, NoScratch&) const noexcept {
    // The limit keeps slope * distance finite.
    constexpr float most = 0x1p95f;
    const float slope = slopes[block.head] * static_cast<float>(score::log2_e);
    return {block.queries.begin, offset, detail::vec::min_scalar(most, detail::vec::max_scalar(-most, slope))};
  }
};

// The slopes of the paper: head h has the slope 2^(-8 (h + 1) / Heads). If Heads lies between two powers of two, P <
// Heads < 2 P, the first P heads get the slopes of P heads. The other heads get every second slope of 2 P heads.
template <std::size_t Heads>
inline constexpr std::array<float, Heads> default_slopes = [] {
  constexpr std::size_t power = std::bit_floor(Heads);
  std::array<float, Heads> slopes{};
  for (std::size_t h = 0; h < Heads; ++h) {
    const std::size_t step = h < power ? 2 * h + 2 : 2 * (h - power) + 1;
    const double exponent = -4.0 * static_cast<double>(step) / static_cast<double>(power);
    slopes[h] = static_cast<float>(detail::vec::power_double(2, exponent));
  }
  return slopes;
}();

// Adds slope * (j - (i + `offset`)) to the score of query i and key j, in natural units (run_options.hpp). Hides no
// key. `slopes` is [heads]. A null pointer, the default, means default_slopes.
struct Alibi {
  template <Shape S>
  struct Data {
    VectorView<const float, S.heads> slopes;
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr BoundAlibi bind_to(const Placement& placement, const Data<S>& data) noexcept {
    const float* const slopes = data.slopes.data;
    return {slopes == nullptr ? default_slopes<S.heads>.data() : slopes, resolve_offset(placement, data.offset),
            placement.lengths.keys};
  }
};

}  // namespace LADON_NAMESPACE::mask
#include <ladon/detail/config/quiet_end.hpp>
