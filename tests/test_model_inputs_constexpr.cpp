// Tests the parts before the layers of a model in constant evaluation. All numbers are exact.
#include <array>
#include <cstddef>

#include <doctest/doctest.h>

#include <ladon/model/attention_pool.hpp>
#include <ladon/model/convolution.hpp>
#include <ladon/model/group_norm.hpp>
#include <ladon/model/patches.hpp>
#include <ladon/model/time_series.hpp>

namespace {

constexpr std::array<float, 6> convolved() {
  using Part = ladon::Convolution<ladon::ConvolutionModel{
      .length = 3, .inputs = 2, .outputs = 2, .width = 2, .before = 1, .groups = 2, .bias = ladon::Bias::without}>;
  const float x[] = {1, 10, 2, 20, 3, 30}, weight[] = {1, 2, 3, 4};
  Part::Workspace workspace{};
  std::array<float, 6> y{};
  Part::run(x, 3, {weight}, y, workspace);
  return y;
}
// Output 0 is 1 * (number of the row before) + 2 * (number of the row), and output 1 is 3 * and 4 * such numbers.
static_assert(convolved() == std::array<float, 6>{2, 40, 5, 110, 8, 180});

constexpr std::array<float, 2> patched() {
  using Part = ladon::PatchEmbedding<ladon::PatchModel{
      .channels = 1, .rows = 2, .columns = 4, .patch_rows = 2, .patch_columns = 2, .model = 1}>;
  const float image[] = {1, 2, 3, 4, 5, 6, 7, 8}, weight[] = {1000, 100, 10, 1}, bias[] = {0.5f};
  Part::Workspace workspace{};
  std::array<float, 2> y{};
  Part::run(image, {weight, bias}, y, workspace);
  return y;
}
static_assert(patched() == std::array<float, 2>{1256.5f, 3478.5f});

// The mean is 2, and the variance plus epsilon is 4.
constexpr std::array<float, 6> group_normed() {
  std::array<float, 6> x{0, 5, 4, 5, 2, 5};
  const float weight[] = {2, 3}, bias[] = {1, 7};
  ladon::group_norm<2, 2>(weight, bias, 4 - 8.0f / 3, 3, x.data(), x.data());
  return x;
}
constexpr bool near(float a, float b) { return a - b < 1e-6f && b - a < 1e-6f; }
static_assert(near(group_normed()[0], -1) && near(group_normed()[2], 3) && near(group_normed()[4], 1));
static_assert(near(group_normed()[1], 7) && near(group_normed()[3], 7) && near(group_normed()[5], 7));

constexpr std::array<float, 4> patches_of_series() {
  constexpr ladon::TimeSeriesModel model{.length = 4, .patch = 2, .stride = 2};
  const float series[] = {1, 3, 1, 3};
  std::array<float, 4> y{};
  ladon::time_series_patches<model>(series, y, ladon::time_series_scale<4>(series, 3));
  return y;
}
static_assert(patches_of_series() == std::array<float, 4>{-0.5f, 0.5f, -0.5f, 0.5f});

constexpr std::array<float, 12> masked_patches_of_series() {
  constexpr ladon::MaskedSeriesModel model{.length = 6, .patch = 3};
  const float series[6] = {9, 1, 1, 4};
  std::array<float, 12> y{};
  ladon::masked_series_patches<model>(series, 4, y, ladon::masked_series_scale<model>(series, 4));
  return y;
}
static_assert(near(masked_patches_of_series()[8] * masked_patches_of_series()[8], 2));
static_assert(masked_patches_of_series()[3] == 1 && masked_patches_of_series()[4] == 1);
static_assert(masked_patches_of_series()[1] == 0 && masked_patches_of_series()[5] == 0);

constexpr std::array<float, 6> prepared() {
  constexpr ladon::ConvolutionModel model{.length = 1, .inputs = 1, .outputs = 2, .width = 3};
  const float direction[] = {3, 0, 1, 4, 2, 0};
  std::array<float, 6> weight{}, turned{};
  ladon::fold_weight_norm<model>(direction, std::array<float, 3>{10, 3, 5}, weight);
  ladon::transpose(2, 3, weight.data(), turned.data());
  return turned;
}
static_assert(prepared() == std::array<float, 6>{6, 8, 0, 3, 5, 0});

// All scores are 0, so the attention is the mean of the rows. The feed-forward network adds 1 and 2.
constexpr std::array<float, 2> pooled() {
  using Part = ladon::AttentionPool<ladon::Model{.tokens = 2, .model = 2, .heads = 1, .feed_forward = 1}>;
  const float x[] = {1, 2, 5, 8}, zeros[2] = {}, no_bias[6] = {}, unit[] = {1, 0, 0, 1}, ones[] = {1, 1}, one[] = {1},
              two[] = {1, 2};
  const float in_proj[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1};
  Part::Workspace workspace{};
  std::array<float, 2> y{};
  Part::run(x, {zeros, {{in_proj, no_bias}, {unit, zeros}}, {ones, zeros}, {zeros, one}, {two, zeros}}, y.data(),
            workspace);
  return y;
}
static_assert(near(pooled()[0], 4) && near(pooled()[1], 7));

}  // namespace

TEST_CASE("constexpr: the parts before the layers") { CHECK(convolved()[1] == 40); }
