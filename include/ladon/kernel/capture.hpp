// Capture: the attention weights of one panel of queries, out of the lanes into the caller's rows. A copy beside the
// real work, for those who ask: it is written for size.
//
//     rows    [queries of the panel][keys], row-major, `stride` floats apart
#pragma once

#include <cstddef>

#include <ladon/kernel/softmax.hpp>
#include <ladon/mask.hpp>
#include <ladon/matrix.hpp>

namespace ladon::inline LADON_ABI {

// Where the attention weights go: [heads][queries][keys], row-major. Probabilities; 0 where a query may not see a key.
template <Shape S>
using AttentionMap = Tensor<float, S.heads, S.queries, S.keys>;

namespace kernel {

// The overload that was not asked for: costs nothing.
struct NoCapture {
  static constexpr bool wanted = false;
};

struct CaptureRows {
  static constexpr bool wanted = true;
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

// What hands each panel of queries the rows of its head in the map, or nothing.
struct CaptureNothing {
  constexpr NoCapture operator()(std::size_t, Range) const noexcept { return {}; }
};
template <Shape S>
struct CaptureMap {
  float* map;
  constexpr CaptureRows operator()(std::size_t head, Range queries) const noexcept {
    return {map + (head * S.queries + queries.begin) * S.keys, queries.end - queries.begin, S.keys};
  }
};

}  // namespace kernel
}  // namespace ladon::inline LADON_ABI
