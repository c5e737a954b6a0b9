// SPDX-License-Identifier: Apache-2.0
// The patches of a time series (PatchTST, arXiv 2211.14730), which a linear map turns into tokens. A time series with
// several channels is one time series for each channel.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/layer/norm.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Consecutive patches begin `stride` numbers apart, and the last patch ends with the series.
struct TimeSeriesModel {
  std::size_t length = 0;
  std::size_t patch = 1, stride = 1;

  constexpr std::size_t patches() const noexcept { return (length - patch) / stride + 1; }
};

// What a model subtracts from a series, and then divides it by. A forecast y becomes y * deviation + mean.
struct TimeSeriesScale {
  float mean = 0;
  float deviation = 1;
};

// Returns the mean and sqrt(variance + minimum) of a series ("std" in PatchTST's config.json).
template <std::size_t Length, class Vectors = detail::vec::NativeVectors>
constexpr TimeSeriesScale time_series_scale(VectorView<const float, Length> series, float minimum = 1e-5f) noexcept {
  static_assert(Length > 0, "ladon: a series needs numbers");
  constexpr float inverse = 1.0f / static_cast<float>(Length);
  TimeSeriesScale scale;
  detail::vec::with_packs<Vectors>([&]<class Simd>(Simd) {
    using Pack = typename Simd::template Pack<Simd::lanes>;
    scale.mean = inverse * detail::sum_of<Pack, Length>(series.data, [](const Pack& x) { return x; });
    const Pack mean = Pack::broadcast(scale.mean);
    const float squares =
        detail::sum_of<Pack, Length>(series.data, [&](const Pack& x) { return (x - mean) * (x - mean); });
    scale.deviation = detail::vec::sqrt_scalar(detail::vec::unfused(inverse * squares) + minimum);
  });
  return scale;
}

// Writes (series - scale.mean) / scale.deviation to `y` [patches][patch].
template <TimeSeriesModel S>
constexpr void time_series_patches(VectorView<const float, S.length> series, MatrixView<float, S.patches(), S.patch> y,
                                   TimeSeriesScale scale = {}) noexcept {
  constexpr bool fits = S.patch > 0 && S.stride > 0 && S.patch <= S.length;
  static_assert(fits, "ladon: a patch exceeds the series");
  constexpr std::size_t first = (S.length - S.patch) % S.stride;
  for (std::size_t p = 0; p < S.patches(); ++p) {
    for (std::size_t i = 0; i < S.patch; ++i) {
      y.data[p * S.patch + i] = (series.data[first + p * S.stride + i] - scale.mean) / scale.deviation;
    }
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
