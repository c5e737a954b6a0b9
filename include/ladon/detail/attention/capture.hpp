// SPDX-License-Identifier: Apache-2.0
// Copies the scores or the attention weights of one query block into the caller's rows. The kernels have one query in
// each lane, and the caller has one query in each row. The code is small rather than fast.
//
//     rows    [queries of the block][keys], row-major; each row begins `stride` floats after the previous row
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/run_options.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::detail {

struct NoCapture {
  static constexpr bool captures = false;
  constexpr NoCapture operator()(std::size_t, Range) const noexcept { return {}; }
};

// Captures the scores of a query block at stage G (run_options.hpp). Nothing is written if `rows` is null.
template <Stage G>
struct CaptureRows {
  static constexpr bool captures = true;
  static constexpr Stage stage = G;
  float* rows;
  std::size_t queries;
  std::size_t stride;

  // Copies the scores `s` [keys][Width] of the keys in `range`.
  template <class Pack, std::size_t Width>
  constexpr void block(const float* s, Range range) const noexcept {
    for (std::size_t q = 0; q < queries; q += Pack::lanes) {
      for (std::size_t k = range.begin; k < range.end; k += Pack::lanes) {
        const std::size_t count = range.end - k < Pack::lanes ? range.end - k : Pack::lanes;
        Pack square[Pack::lanes];
        load_transposed(s + (k - range.begin) * Width + q, Width, k, range.end, Pack::lanes, square);
        for (std::size_t r = 0; r < Pack::lanes && q + r < queries; ++r) {
          float* const to = rows + (q + r) * stride + k;
          if (count == Pack::lanes) {
            square[r].store(to);
          } else {
            square[r].store_partial(to, count);
          }
        }
      }
    }
  }
  // Finishes rows with `keys` active keys. Multiplies scores by `unit`, which converts them into natural units
  // (run_options.hpp), or replaces them by weights. `largest` [queries] has the maximum of each row, including the
  // sink.
  template <class Score, class Pack>
  constexpr void finish(std::size_t keys, float unit, const float* largest, float sink) const noexcept {
    constexpr float inactive = G == Stage::masked ? -std::numeric_limits<float>::infinity() : 0.0f;
    for (std::size_t q = 0; q < queries; ++q) {
      float* const row = rows + q * stride;
      if constexpr (G == Stage::weights) unit = to_weights<Score, Pack>(row, keys, largest[q], sink);
      for (std::size_t k = 0; k < keys; ++k) {
        // An additive mask returns the lowest float instead of a lower sum. The lowest float stays unchanged.
        if (row[k] != std::numeric_limits<float>::lowest()) row[k] *= unit;
      }
      for (std::size_t k = keys; k < stride; ++k) row[k] = inactive;
    }
  }

 private:
  // Replaces scores by unnormalised weights. Returns the factor that normalises the weights.
  template <class Score, class Pack>
  static constexpr float to_weights(float* row, std::size_t keys, float largest, float sink) noexcept {
    constexpr std::size_t lanes = Pack::lanes;
    SingleQuerySoftmax<Score, Pack> softmax(Pack::broadcast(largest));
    const std::size_t whole = keys / lanes * lanes;
    softmax.template exponentials<false, 256 * lanes>(row, whole);
    for (std::size_t k = whole; k < keys; ++k)
      row[k] = exp2_of_nonpositive(vec::ArrayPack<1>{row[k] - softmax.shift}).lane[0];
    return sum_of<Score>(row, keys, largest).reciprocal_sum(sink);
  }
  // Sums the weights of a row, in an order that does not depend on the number of lanes.
  template <class Score>
  static constexpr auto sum_of(const float* row, std::size_t keys, float largest) noexcept {
    using Sums = vec::ArrayPack<16>;
    SingleQuerySoftmax<Score, Sums> sums(Sums::broadcast(largest));
    const std::size_t whole = keys / Sums::lanes * Sums::lanes;
    for (std::size_t k = 0; k < whole; k += Sums::lanes) sums.total = sums.total + Sums::load(row + k);
    for (std::size_t k = whole; k < keys; ++k) sums.total.lane[k - whole] += row[k];
    return sums;
  }
};

// Makes the capture of one query block and one head. `map` is [heads][queries][keys].
template <Shape S, Stage G>
struct CaptureMap {
  float* map;
  constexpr CaptureRows<G> operator()(std::size_t head, Range queries) const noexcept {
    return {map == nullptr ? nullptr : map + (head * S.queries + queries.begin) * S.keys, queries.end - queries.begin,
            S.keys};
  }
};
// Converts the caller's last argument into a NoCapture or a CaptureMap.
template <Shape S>
constexpr NoCapture capture(NoCapture) noexcept {
  return {};
}
template <Shape S, Stage G>
constexpr CaptureMap<S, G> capture(Capture<G> map) noexcept {
  return {map.data};
}
template <Shape S>
constexpr CaptureMap<S, Stage::weights> capture(AttentionMap<S> map) noexcept {
  return {map.data};
}
// Returns the same capture for shape S. The maps of both shapes have the same layout.
template <Shape S>
constexpr NoCapture with_shape(NoCapture none) noexcept {
  return none;
}
template <Shape S, Shape Given, Stage G>
constexpr CaptureMap<S, G> with_shape(CaptureMap<Given, G> capture) noexcept {
  return {capture.map};
}

}  // namespace LADON_NAMESPACE::detail
