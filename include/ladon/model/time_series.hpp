// SPDX-License-Identifier: Apache-2.0
// The patches of a time series, which a linear map or a network turns into tokens. A time series with several channels
// counts as one series for each channel. PatchTST (arXiv 2211.14730) has series of one length, and TimesFM
// (arXiv 2310.10688) series of any length, whose first patch may lack numbers.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/norm.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// Consecutive patches begin `stride` numbers apart, and the last patch ends with the series.
struct TimeSeriesModel {
  std::size_t length = 0;
  std::size_t patch = 1, stride = 1;

  constexpr std::size_t patches() const noexcept { return (length - patch) / stride + 1; }
};

// A model reads (series - mean) / deviation. A forecast y becomes y * deviation + mean.
struct TimeSeriesScale {
  float mean = 0;
  float deviation = 1;
};

// Returns the mean and sqrt(variance + minimum) of a series, as PatchTST with "scaling": "std" in config.json.
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

// The last patch ends with the series. If `patch` does not divide the length, the first patch lacks its first numbers.
struct MaskedSeriesModel {
  std::size_t length = 0;  // of the longest series
  std::size_t patch = 1;

  // The number of patches of a series of `numbers` numbers.
  constexpr std::size_t patches_of(std::size_t numbers) const noexcept { return (numbers + patch - 1) / patch; }
};

// Returns the mean and the deviation of the first patch with at least 3 numbers, otherwise of the last patch. The
// deviation is at least `least` ("tolerance" in TimesFM's config.json). Without numbers, the mean is 0 and the
// deviation 1. Precondition: numbers <= length.
template <MaskedSeriesModel S>
constexpr TimeSeriesScale masked_series_scale(VectorView<const float, S.length> series, std::size_t numbers,
                                              float least = 1e-6f) noexcept {
  LADON_EXPECTS(numbers <= S.length, "ladon: a series has more numbers than its model", {},
                {{"numbers", numbers}, {"length", S.length}});
  if (numbers == 0) return {};
  const std::size_t first = numbers - (S.patches_of(numbers) - 1) * S.patch;  // numbers of the first patch
  std::size_t count = first;
  const float* x = series.data;
  if (first < 3 && first < numbers) {
    x += S.patch < 3 ? numbers - S.patch : first;
    count = S.patch;
  }
  float sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  const float mean = sum / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) squares += detail::vec::unfused((x[i] - mean) * (x[i] - mean));
  const float deviation = detail::vec::sqrt_scalar(squares / static_cast<float>(count));
  return {mean, deviation < least ? least : deviation};
}

// Writes a row for each patch to `y` [patches_of(numbers)][2 * patch]. A row has (number - scale.mean) /
// scale.deviation for the numbers of the patch, and then the mask of the patch. A missing number is 0, and has the mask
// 1. Precondition: numbers <= length.
template <MaskedSeriesModel S>
constexpr void masked_series_patches(VectorView<const float, S.length> series, std::size_t numbers,
                                     MatrixView<float, S.patches_of(S.length), 2 * S.patch> y,
                                     TimeSeriesScale scale) noexcept {
  LADON_EXPECTS(numbers <= S.length, "ladon: a series has more numbers than its model", {},
                {{"numbers", numbers}, {"length", S.length}});
  const std::size_t count = S.patches_of(numbers) * S.patch, lacking = count - numbers;
  for (std::size_t i = 0; i < count; ++i) {
    float* const number = y.data + i / S.patch * 2 * S.patch + i % S.patch;
    number[0] = i < lacking ? 0 : (series.data[i - lacking] - scale.mean) / scale.deviation;
    number[S.patch] = i < lacking ? 1 : 0;
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
