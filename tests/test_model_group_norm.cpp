// Tests GroupNorm, and the patches of a series.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/model/group_norm.hpp>
#include <ladon/model/time_series.hpp>

#include "support/window_check.hpp"

namespace {

constexpr double unit = 0x1p-24;  // the relative error of one rounding

// The mean and the variance of some numbers, and the magnitudes that bound their errors.
struct Moments {
  double mean = 0, magnitude = 0, variance = 0;

  explicit Moments(const std::vector<double>& x) {
    const auto count = static_cast<double>(x.size());
    for (const double number : x) {
      mean += number / count;
      magnitude += std::abs(number) / count;
    }
    for (const double number : x) variance += (number - mean) * (number - mean) / count;
  }
  // The mean has an error of at most `roundings` * unit * magnitude, if each number takes part in so many roundings.
  double mean_error(double roundings) const { return roundings * unit * magnitude; }
  // A deviation d then has the error e = mean_error + unit * |d|. The mean of (d + e)^2 has at most the error
  // 2 e sqrt(variance) + e^2, and its roundings add `roundings` * unit * variance. The root halves the relative error.
  double scale_error(double roundings, double epsilon) const {
    const double root = std::sqrt(variance), e = mean_error(roundings) + unit * root;
    return (2 * e * root + e * e + (roundings + 1) * unit * variance) / (2 * (variance + epsilon)) + 3 * unit;
  }
};

template <std::size_t Groups, std::size_t Channels>
void check_group_norm(std::size_t rows, double deviation, double mean, float epsilon = 1e-5f) {
  CAPTURE(Channels);
  CAPTURE(rows);
  CAPTURE(mean);
  constexpr std::size_t size = Channels / Groups, guard = 3;
  std::vector<float> x = ladon_test::random_floats(rows * Channels, rows + Channels), y(x.size() + guard, NAN);
  for (float& number : x) number = static_cast<float>(deviation * double{number} + mean);
  const std::vector<float> weight = ladon_test::random_floats(Channels, 5),
                           bias = ladon_test::random_floats(Channels, 6);
  ladon::group_norm<Groups, Channels>(weight.data(), bias.data(), epsilon, rows, x.data(), y.data());
  for (std::size_t i = x.size(); i < y.size(); ++i) CHECK(std::isnan(y[i]));
  y.resize(x.size());
  std::vector<float> in_place = x;
  ladon::group_norm<Groups, Channels>(weight.data(), bias.data(), epsilon, rows, in_place.data(), in_place.data());
  CHECK(in_place == y);
  double worst = 0;
  for (std::size_t g = 0; g < Groups; ++g) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % Channels / size == g) numbers.push_back(double{x[i]});
    }
    const Moments moments(numbers);
    const double roundings = static_cast<double>(std::min<std::size_t>(rows, 256) + rows / 256 + size + 3);
    const double root = std::sqrt(moments.variance + double{epsilon});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i % Channels;
      if (c / size != g) continue;
      const double w{weight[c]}, d = double{x[i]} - moments.mean, expected = d / root * w + double{bias[c]};
      const double bound = std::abs(w) / root *
                               (moments.mean_error(roundings) +
                                std::abs(d) * (moments.scale_error(roundings, double{epsilon}) + 3 * unit)) +
                           2 * unit * (std::abs(expected) + std::abs(double{bias[c]}));
      const double error = std::abs(double{y[i]} - expected) / bound;
      if (!(error <= worst)) worst = error;
    }
  }
  CHECK(worst <= 1);
}

template <ladon::TimeSeriesModel S>
void check_series(double deviation, double mean) {
  CAPTURE(S.length);
  std::vector<float> series = ladon_test::random_floats(S.length, S.length), y(S.patches() * S.patch, NAN), plain = y;
  for (float& number : series) number = static_cast<float>(deviation * double{number} + mean);
  const float minimum = 1e-5f;
  const ladon::TimeSeriesScale scale = ladon::time_series_scale<S.length>(series.data(), minimum);
  ladon::time_series_patches<S>(series.data(), y.data(), scale);
  ladon::time_series_patches<S>(series.data(), plain.data());
  const Moments moments(std::vector<double>(series.begin(), series.end()));
  const double root = std::sqrt(moments.variance + double{minimum}), roundings = static_cast<double>(S.length + 2);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t last = (S.patches() - 1) * S.stride + S.patch;
    const float number = series[S.length - last + i / S.patch * S.stride + i % S.patch];
    CHECK(plain[i] == number);
    const double d = double{number} - moments.mean;
    const double bound =
        (moments.mean_error(roundings) + std::abs(d) * (moments.scale_error(roundings, double{minimum}) + 2 * unit)) /
        root;
    CHECK(std::abs(double{y[i]} - d / root) <= bound);
  }
}

// A series of `numbers` numbers behind as many as the first patch lacks.
template <ladon::MaskedSeriesModel S>
void check_masked_series(std::size_t numbers, double deviation, double mean) {
  CAPTURE(S.patch);
  CAPTURE(numbers);
  constexpr std::size_t row = 2 * S.patch;
  const std::size_t patches = (numbers + S.patch - 1) / S.patch, lacking = patches * S.patch - numbers;
  std::vector<float> series = ladon_test::random_floats(S.length, numbers), y(S.patches_of(S.length) * row, NAN);
  for (float& number : series) number = static_cast<float>(deviation * double{number} + mean);
  const float least = 1e-6f;
  const ladon::TimeSeriesScale scale = ladon::masked_series_scale<S>(series.data(), numbers, least);
  ladon::masked_series_patches<S>(series.data(), numbers, y.data(), scale);
  CHECK(std::all_of(y.data() + patches * row, y.data() + y.size(), [](float number) { return std::isnan(number); }));
  std::vector<double> chosen;  // the numbers of the first patch with 3 numbers, or of the last patch
  for (std::size_t p = 0; p < patches && chosen.size() < 3; ++p) {
    chosen.clear();
    for (std::size_t i = p * S.patch; i < (p + 1) * S.patch; ++i) {
      if (i >= lacking) chosen.push_back(double{series[i - lacking]});
    }
  }
  const Moments moments(chosen);
  const double root = std::max(std::sqrt(moments.variance), double{least});
  const double roundings = static_cast<double>(chosen.size() + 2);
  const double scale_error = root > double{least} ? moments.scale_error(roundings, 0) : 2 * unit;
  for (std::size_t i = 0; i < patches * S.patch; ++i) {
    const float number = y[i / S.patch * row + i % S.patch], mask = y[i / S.patch * row + S.patch + i % S.patch];
    CHECK(mask == (i < lacking ? 1.0f : 0.0f));
    const double d = i < lacking ? 0 : double{series[i - lacking]} - moments.mean;
    const double bound = (moments.mean_error(roundings) + std::abs(d) * (scale_error + 2 * unit)) / root;
    CHECK(std::abs(double{number} - d / root) <= (i < lacking ? 0 : bound));
  }
}

}  // namespace

TEST_CASE("GroupNorm: one group, several groups, and a group for each channel") {
  check_group_norm<1, 64>(20, 1, 0);
  check_group_norm<3, 51>(7, 2, 5);
  check_group_norm<16, 16>(53, 1, -2);
  check_group_norm<2, 6>(1, 1, 0);
}
TEST_CASE("GroupNorm: many rows, and means far from 0") {
  check_group_norm<1, 5>(1000, 1, 100);
  check_group_norm<19, 19>(700, 1e-3, 1);
}
TEST_CASE("GroupNorm: equal numbers give the bias, and no rows write nothing") {
  const float weight[3] = {2, 3, 4}, bias[3] = {5, 6, 7};
  float x[4][3];
  for (auto& row : x) std::fill(row, row + 3, 1.5f);
  ladon::group_norm<1, 3>(weight, bias, 1e-5f, 4, x[0], x[0]);
  for (const auto& row : x) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(row[c] == bias[c]);
  }
  ladon::group_norm<1, 3>(weight, bias, 1e-5f, 0, nullptr, nullptr);
}

TEST_CASE("series: patches end with the series, and scaled numbers have the mean 0 and the deviation 1") {
  check_series<ladon::TimeSeriesModel{.length = 52, .patch = 4, .stride = 4}>(1, 0);
  check_series<ladon::TimeSeriesModel{.length = 53, .patch = 8, .stride = 3}>(10, -4);
  check_series<ladon::TimeSeriesModel{.length = 7, .patch = 7, .stride = 2}>(1, 30);
  check_series<ladon::TimeSeriesModel{.length = 5, .patch = 1, .stride = 3}>(1e-3, 0);
}

TEST_CASE("series: the first patch has a mask, and the first patch with 3 numbers has the mean 0 and the deviation 1") {
  for (std::size_t numbers = 1; numbers <= 13; ++numbers) {
    check_masked_series<ladon::MaskedSeriesModel{.length = 13, .patch = 4}>(numbers, 10, -4);
    check_masked_series<ladon::MaskedSeriesModel{.length = 13, .patch = 2}>(numbers, 1, 30);
    check_masked_series<ladon::MaskedSeriesModel{.length = 13, .patch = 1}>(numbers, 1, 0);
    check_masked_series<ladon::MaskedSeriesModel{.length = 13, .patch = 32}>(numbers, 1e-3, 0);
  }
}
TEST_CASE("series: equal numbers become 0, and no numbers write nothing") {
  constexpr ladon::MaskedSeriesModel model{.length = 4, .patch = 4};
  const float series[4] = {5, 5, 5, 5};
  float y[8];
  const ladon::TimeSeriesScale scale = ladon::masked_series_scale<model>(series, 3, 0.25f);
  CHECK(scale.mean == 5);
  CHECK(scale.deviation == 0.25f);
  ladon::masked_series_patches<model>(series, 3, y, scale);
  for (std::size_t i = 0; i < 8; ++i) CHECK(y[i] == (i == 4 ? 1.0f : 0.0f));
  CHECK(ladon::masked_series_scale<model>(series, 0).deviation == 1);
  y[0] = 7;
  ladon::masked_series_patches<model>(series, 0, y, {});
  CHECK(y[0] == 7);
}
