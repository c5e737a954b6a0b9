// SPDX-License-Identifier: Apache-2.0
// Means over rows and over the channels of a group, for GroupNorm.
#pragma once

#include <cstddef>

#include <ladon/detail/layer/norm.hpp>

namespace LADON_NAMESPACE::detail {

// Writes means [Channels]: for each channel, the mean of f(x, load) over all rows and channels of its group. norm.hpp
// explains `load` (for_features). Adds up to 256 rows at a time, and then these sums, so that rounding errors stay
// small.
template <class Pack, std::size_t Groups, std::size_t Channels, class F>
constexpr void means_of_groups(const float* x, std::size_t rows, float* means, F f) noexcept {
  constexpr std::size_t together = 256, size = Channels / Groups;
  for (std::size_t c = 0; c < Channels; ++c) means[c] = 0;
  for (std::size_t first = 0; first < rows; first += together) {
    float part[Channels]{};
    for (std::size_t r = first; r < rows && r < first + together; ++r) {
      for_features<Pack, Channels>(x + r * Channels, part,
                                   [&](const Pack& row, auto load) { return load(part) + f(row, load); });
    }
    for (std::size_t c = 0; c < Channels; ++c) means[c] += part[c];
  }
  for (std::size_t first = 0; first < Channels; first += size) {
    float sum = 0;
    for (std::size_t c = first; c < first + size; ++c) sum += means[c];
    for (std::size_t c = first; c < first + size; ++c) means[c] = sum / static_cast<float>(rows * size);
  }
}

}  // namespace LADON_NAMESPACE::detail
