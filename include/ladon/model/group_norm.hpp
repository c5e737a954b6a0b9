// SPDX-License-Identifier: Apache-2.0
// GroupNorm (arXiv 1803.08494): the norm of all numbers of a group of channels, over all rows.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/group_norm.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Computes (x - mean) / sqrt(variance + epsilon) * weight[c] + bias[c] for each channel c of `x` [rows][Channels]. A
// group has Channels / Groups adjacent channels, and one mean and one variance. `y` may be `x`.
template <std::size_t Groups, std::size_t Channels, class Vectors = detail::vec::NativeVectors>
constexpr void group_norm(VectorView<const float, Channels> weight, VectorView<const float, Channels> bias,
                          float epsilon, std::size_t rows, const float* x, float* y) noexcept {
  static_assert(Groups > 0 && Channels > 0 && Channels % Groups == 0, "ladon: groups must divide channels");
  LADON_EXPECTS(weight.data != nullptr && bias.data != nullptr, "ladon: a group norm lacks its weight or its bias");
  detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
    using Pack = typename Simd::template Pack<Simd::lanes>;
    float mean[Channels]{}, scale[Channels]{};
    detail::means_of_groups<Pack, Groups, Channels>(x, rows, mean, [](const Pack& row, auto) { return row; });
    detail::means_of_groups<Pack, Groups, Channels>(x, rows, scale, [&](const Pack& row, auto load) {
      const Pack deviation = row - load(mean);
      return deviation * deviation;
    });
    for (float& s : scale) s = 1.0f / detail::vec::sqrt_scalar(s + epsilon);
    for (std::size_t r = 0; r < rows; ++r) {
      detail::for_features<Pack, Channels>(x + r * Channels, y + r * Channels, [&](const Pack& row, auto load) {
        return fma((row - load(mean)) * load(scale), load(weight.data), load(bias.data));
      });
    }
  });
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
