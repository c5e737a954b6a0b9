// SPDX-License-Identifier: Apache-2.0
// Copies the scores or the attention weights of one query block into the caller's rows. The kernels have one query in
// each lane, and the caller has one query in each row. The code is written for small size and not for speed.
//
//     rows    [queries of the block][keys], row-major; each row begins `stride` floats after the previous row
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/detail/panel/rows.hpp>
#include <ladon/run_options.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::detail {

// Captures nothing. Also replaces the function object CaptureMap (below).
struct NoCapture {
  static constexpr bool weights = false, scores = false;
  constexpr NoCapture operator()(std::size_t, Range) const noexcept { return {}; }
  template <class F>
  constexpr void operator()(F attend) const noexcept {
    attend(NoCapture{});
  }
};

// Captures the attention weights of a query block.
struct CaptureRows {
  static constexpr bool weights = true, scores = false;
  float* rows;
  std::size_t queries;
  std::size_t stride;

  // Copies the weights `p` [keys][Width] of the keys `range`. The weights of the keys `earlier` refer to an earlier
  // maximum of the scores, and are multiplied by `correction`.
  template <std::size_t Width, class Pack, std::size_t Packs>
  constexpr void block(const float* p, Range earlier, Range range, const Pack (&correction)[Packs]) const noexcept {
    float factor[Width] = {};
    for (std::size_t v = 0; v < Packs; ++v) correction[v].store(factor + v * Pack::lanes);
    for (std::size_t q = 0; q < queries; ++q) {
      float* const row = rows + q * stride;
      for (std::size_t k = earlier.begin; k < earlier.end; ++k) row[k] *= factor[q];
      for (std::size_t k = range.begin; k < range.end; ++k) row[k] = p[(k - range.begin) * Width + q];
    }
  }

  // Multiplies the weights of the keys `seen` by `after`, 1 / sum of the weights. All other keys get the weight 0.
  template <std::size_t Width, class Pack, std::size_t Packs>
  constexpr void finish(Range seen, const Pack (&after)[Packs]) const noexcept {
    float factor[Width] = {};
    for (std::size_t v = 0; v < Packs; ++v) after[v].store(factor + v * Pack::lanes);
    for (std::size_t q = 0; q < queries; ++q) {
      float* const row = rows + q * stride;
      for (std::size_t k = 0; k < stride; ++k) row[k] = k >= seen.begin && k < seen.end ? row[k] * factor[q] : 0.0f;
    }
  }
};

// Captures the scores of a query block at stage G (run_options.hpp).
template <Stage G>
struct CaptureScoreRows {
  static constexpr bool weights = false, scores = true;
  static constexpr Stage stage = G;
  float* rows;
  std::size_t queries;
  std::size_t stride;

  // Copies the scores `s` [keys][Width] of the keys `range`, times `unit`, which converts them into natural units
  // (run_options.hpp).
  template <std::size_t Width>
  constexpr void block(const float* s, Range range, float unit) const noexcept {
    for (std::size_t q = 0; q < queries; ++q) {
      for (std::size_t k = range.begin; k < range.end; ++k) {
        // An additive mask returns the lowest float if the sum is lower. The exact sum is unknown, so `unit` is not
        // applied.
        const float score = s[(k - range.begin) * Width + q];
        rows[q * stride + k] = score == std::numeric_limits<float>::lowest() ? score : score * unit;
      }
    }
  }
  // Fills the columns of the inactive keys, from `first_key` on.
  constexpr void fill_from(std::size_t first_key) const noexcept {
    constexpr float inactive = G == Stage::masked ? -std::numeric_limits<float>::infinity() : 0.0f;
    for (std::size_t q = 0; q < queries; ++q) {
      for (std::size_t k = first_key; k < stride; ++k) rows[q * stride + k] = inactive;
    }
  }
};

template <Stage G>
using RowsOf = std::conditional_t<G == Stage::weights, CaptureRows, CaptureScoreRows<G>>;

// Returns the capture of one query block and one head, which writes to `map` [heads][queries][keys]. Given a function,
// calls the function with this object, or with NoCapture if `map` is null.
template <Shape S, class Rows = CaptureRows>
struct CaptureMap {
  float* map;
  constexpr Rows operator()(std::size_t head, Range queries) const noexcept {
    return {map + (head * S.queries + queries.begin) * S.keys, queries.end - queries.begin, S.keys};
  }
  template <class F>
  constexpr void operator()(F attend) const noexcept {
    if (map != nullptr) {
      attend(*this);
    } else {
      attend(NoCapture{});
    }
  }
};
// Converts the caller's last argument into a NoCapture or a CaptureMap.
template <Shape S>
constexpr NoCapture capture(NoCapture) noexcept {
  return {};
}
template <Shape S, Stage G>
constexpr CaptureMap<S, RowsOf<G>> capture(Capture<G> map) noexcept {
  return {map.data};
}
template <Shape S>
constexpr CaptureMap<S> capture(AttentionMap<S> map) noexcept {
  return {map.data};
}

}  // namespace LADON_NAMESPACE::detail
