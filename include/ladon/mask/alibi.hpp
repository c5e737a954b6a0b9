// SPDX-License-Identifier: Apache-2.0
// Attention with linear biases, ALiBi (arXiv 2108.12409).
#pragma once

#include <array>
#include <cstddef>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/score.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

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
    return {block.queries.begin, offset, slopes[block.head] * static_cast<float>(score::log2_e)};
  }
};

// The slopes of the paper: head h has the slope 2^(-8 (h + 1) / Heads). If Heads is not a power of two, the first P
// heads, the largest power of two below, get the slopes of P heads, and the others every second slope of 2 P heads.
template <std::size_t Heads>
inline constexpr std::array<float, Heads> default_slopes = [] {
  std::size_t power = 1;
  double ratio = 1.0 / 256;  // 2^(-8 / power)
  const auto root = [](double x) {
    double r = 1;
    for (double next = (r + x / r) / 2; next < r; next = (r + x / r) / 2) r = next;
    return r;
  };
  for (; power * 2 <= Heads; power *= 2) ratio = root(ratio);
  std::array<float, Heads> slopes{};
  double slope = 1;
  for (std::size_t h = 0; h < power; ++h) slopes[h] = static_cast<float>(slope *= ratio);
  slope = root(ratio);
  for (std::size_t h = power; h < Heads; ++h, slope *= ratio) slopes[h] = static_cast<float>(slope);
  return slopes;
}();

// Adds slope * (j - (i + `offset`)) to the score of query i and key j, in natural units (options.hpp). ALiBi
// hides no key. `slopes` [heads] has one slope for each head. A null pointer, the default, means default_slopes.
struct Alibi {
  template <Shape S>
  struct Data {
    VectorView<const float, S.heads> slopes;
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr BoundAlibi bind(const Placement& placement, const Data<S>& data) noexcept {
    const float* const slopes = data.slopes.data;
    return {slopes == nullptr ? default_slopes<S.heads>.data() : slopes, resolve_offset(placement, data.offset),
            placement.lengths.keys};
  }
};

}  // namespace LADON_NAMESPACE::mask
