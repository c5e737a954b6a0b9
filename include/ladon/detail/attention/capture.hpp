// Capture: scores or attention weights of one panel of queries, out of the lanes into the caller's rows. A copy beside
// the real work, for those who ask: it is written for size.
//
//     rows    [queries of the panel][keys], row-major, `stride` floats apart
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/attention_map.hpp>
#include <ladon/detail/attention/scores.hpp>
#include <ladon/detail/attention/softmax.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::detail {

// Not asked for: costs nothing.
struct NoCapture {
  static constexpr bool weights = false, scores = false;
};

struct CaptureRows {
  static constexpr bool weights = true, scores = false;
  float* rows;
  std::size_t queries;
  std::size_t stride;

  // A block's weights; those of the blocks before it are corrected to its maximum.
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

  // After the last block: times the reciprocal of the sum, and 0 for every key that was not computed.
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

template <Stage G>
struct CaptureScoreRows {
  static constexpr bool weights = false, scores = true;
  static constexpr Stage stage = G;
  float* rows;
  std::size_t queries;
  std::size_t stride;

  // s [keys][Width]; `unit` is what a number in it is in the scores' own units.
  template <std::size_t Width>
  constexpr void block(const float* s, Range range, float unit) const noexcept {
    for (std::size_t q = 0; q < queries; ++q) {
      for (std::size_t k = range.begin; k < range.end; ++k) {
        // the lowest float stands for all that would be lower as an exponent of two
        const float score = s[(k - range.begin) * Width + q];
        rows[q * stride + k] = score == std::numeric_limits<float>::lowest() ? score : score * unit;
      }
    }
  }
  constexpr void fill_from(std::size_t first_key) const noexcept {
    constexpr float nothing = G == Stage::masked ? -std::numeric_limits<float>::infinity() : 0.0f;
    for (std::size_t q = 0; q < queries; ++q) {
      for (std::size_t k = first_key; k < stride; ++k) rows[q * stride + k] = nothing;
    }
  }
};

// What hands each panel of queries the rows of its head, or nothing.
struct CaptureNothing {
  constexpr NoCapture operator()(std::size_t, Range) const noexcept { return {}; }
};
template <Shape S, class Rows = CaptureRows>
struct CaptureMap {
  float* map;
  constexpr Rows operator()(std::size_t head, Range queries) const noexcept {
    return {map + (head * S.queries + queries.begin) * S.keys, queries.end - queries.begin, S.keys};
  }
};
// What a run was given for it: nothing, a Capture of some stage, or what makes an AttentionMap.
template <Shape S>
constexpr CaptureNothing capture(CaptureNothing) noexcept {
  return {};
}
template <Shape S, Stage G>
constexpr auto capture(Capture<G> to) noexcept {
  if constexpr (G == Stage::weights) {
    return CaptureMap<S>{to.data};
  } else {
    return CaptureMap<S, CaptureScoreRows<G>>{to.data};
  }
}
template <Shape S>
constexpr CaptureMap<S> capture(AttentionMap<S> to) noexcept {
  return {to.data};
}

// Calls attend with what captures a map, or with what does not.
template <Shape S>
struct CaptureWanted {
  float* map;
  template <class F>
  constexpr void operator()(F attend) const noexcept {
    if (map != nullptr) {
      attend(CaptureMap<S>{map});
    } else {
      attend(CaptureNothing{});
    }
  }
};
struct CaptureNone {
  template <class F>
  constexpr void operator()(F attend) const noexcept {
    attend(CaptureNothing{});
  }
};

}  // namespace ladon::inline LADON_ABI::detail
