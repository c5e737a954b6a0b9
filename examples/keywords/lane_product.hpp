// Multiplies a matrix by the vectors of several frames, one frame in each lane.
#pragma once

#include <array>
#include <cstddef>

#include "lanes.hpp"

namespace keywords {

// Computes y [Out] = W x + b for the frame in each lane, with W [Out][In], b [Out] and x [In]. Calls
// write(frame, i, y[i]) for the first `frames` lanes. A null `bias` stands for zeros.
template <std::size_t Out, std::size_t In, class Write>
void lane_product(const float* weight, const float* bias, const Lanes* x, std::size_t frames, Write write) noexcept {
  constexpr std::size_t tile = 4;  // independent sums, whose additions overlap in time
  static_assert(Out % tile == 0);
  for (std::size_t first = 0; first < Out; first += tile) {
    std::array<Lanes, tile> sums;
    for (std::size_t i = 0; i < tile; ++i) sums[i] = Lanes(bias == nullptr ? 0.0f : bias[first + i]);
    for (std::size_t k = 0; k < In; ++k) {
      for (std::size_t i = 0; i < tile; ++i) sums[i] = add_product(sums[i], Lanes(weight[(first + i) * In + k]), x[k]);
    }
    alignas(Lanes) std::array<std::array<float, lane_count>, tile> lanes;
    for (std::size_t i = 0; i < tile; ++i) store(sums[i], lanes[i].data());
    for (std::size_t frame = 0; frame < frames; ++frame) {
      for (std::size_t i = 0; i < tile; ++i) write(frame, first + i, lanes[i][frame]);
    }
  }
}

}  // namespace keywords
