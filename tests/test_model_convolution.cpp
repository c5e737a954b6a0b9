// Tests convolutions over rows, and the functions that prepare their weights and their input.
#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/model/convolution.hpp>

#include "support/window_check.hpp"

namespace {

using ladon::ConvolutionModel;
using ladon::PrecisionKind;

// The windows of x [rows][inputs]: [groups][tokens][inputs / groups][width].
template <ConvolutionModel C>
std::vector<float> windows_of(const std::vector<float>& x, std::size_t rows) {
  std::vector<float> windows;
  for (std::size_t g = 0; g < C.groups; ++g) {
    for (std::size_t t = 0; t < C.length_of(rows); ++t) {
      for (std::size_t i = g * (C.inputs / C.groups); i < (g + 1) * (C.inputs / C.groups); ++i) {
        for (std::size_t k = 0; k < C.width; ++k) {
          const std::size_t padded = t * C.stride + k;
          const bool inside = padded >= C.before && padded - C.before < rows;
          windows.push_back(inside ? x[(padded - C.before) * C.inputs + i] : 0.0f);
        }
      }
    }
  }
  return windows;
}

template <ConvolutionModel C>
void check(std::size_t rows = C.length) {
  CAPTURE(C.length);
  CAPTURE(C.width);
  CAPTURE(rows);
  using Part = ladon::Convolution<C>;
  constexpr ladon_test::WindowSizes sizes{C.length_of(C.length), C.outputs, Part::window, C.groups};
  const std::vector<float> x = ladon_test::random_floats(rows * C.inputs, rows + C.width);
  ladon_test::check_windows<Part, sizes>(windows_of<C>(x, rows), [&](const auto& weights, float* y, auto& workspace) {
    Part::run(x.data(), rows, weights, y, workspace);
  });
}

}  // namespace

TEST_CASE("Convolution: Whisper's, with stride 1 and 2") {
  check<ConvolutionModel{.length = 70, .inputs = 8, .outputs = 33, .width = 3, .before = 1, .behind = 1}>();
  check<ConvolutionModel{
      .length = 45, .inputs = 33, .outputs = 20, .width = 3, .stride = 2, .before = 1, .behind = 1}>();
}
TEST_CASE("Convolution: audio with one input") {
  check<ConvolutionModel{
      .length = 700, .inputs = 1, .outputs = 9, .width = 127, .stride = 64, .bias = ladon::Bias::without}>();
  check<ConvolutionModel{.length = 170, .inputs = 1, .outputs = 16, .width = 10, .stride = 5}>();
  check<ConvolutionModel{.length = 41, .inputs = 1, .outputs = 5, .width = 9, .stride = 2, .before = 7, .behind = 6}>();
}
TEST_CASE("Convolution: groups, an even width, and different padding before and behind") {
  check<ConvolutionModel{
      .length = 70, .inputs = 32, .outputs = 48, .width = 128, .before = 64, .behind = 63, .groups = 16}>();
  check<ConvolutionModel{.length = 21, .inputs = 9, .outputs = 6, .width = 2, .stride = 3, .before = 2, .groups = 3}>();
  check<ConvolutionModel{.length = 9, .inputs = 34, .outputs = 4, .width = 4, .behind = 5, .groups = 2}>();
}
TEST_CASE("Convolution: a stride above the width, and a width of one row") {
  check<ConvolutionModel{.length = 50, .inputs = 3, .outputs = 7, .width = 2, .stride = 5}>();
  check<ConvolutionModel{.length = 19, .inputs = 17, .outputs = 3}>();
}
TEST_CASE("Convolution: a single window, and windows that are wider than x") {
  check<ConvolutionModel{.length = 1, .inputs = 3, .outputs = 4, .width = 3, .before = 1, .behind = 1}>();
  check<ConvolutionModel{.length = 7, .inputs = 5, .outputs = 6, .width = 7}>();
  check<ConvolutionModel{.length = 2, .inputs = 5, .outputs = 6, .width = 9, .before = 8, .behind = 8}>();
}
TEST_CASE("Convolution: fewer rows than there is room for") {
  constexpr ConvolutionModel model{
      .length = 75, .inputs = 6, .outputs = 10, .width = 5, .stride = 2, .before = 2, .behind = 1, .groups = 2};
  static_assert(model.length_of(1) == 0 && model.length_of(2) == 1 && model.length_of(75) == 37);
  for (const std::size_t rows : {0u, 1u, 2u, 3u, 34u, 35u, 66u, 67u, 74u}) check<model>(rows);
}
TEST_CASE("Convolution: several passes over the weights") {
  check<ConvolutionModel{.length = 300, .inputs = 72, .outputs = 5, .width = 9, .stride = 2}>();
}
TEST_CASE("Convolution: bfloat16 and int8 weights") {
  check<ConvolutionModel{.length = 41,
                         .inputs = 5,
                         .outputs = 7,
                         .width = 3,
                         .stride = 2,
                         .before = 1,
                         .precision = PrecisionKind::bfloat16}>();
  check<ConvolutionModel{.length = 41,
                         .inputs = 5,
                         .outputs = 7,
                         .width = 3,
                         .stride = 2,
                         .before = 1,
                         .precision = PrecisionKind::int8}>();
  check<ConvolutionModel{.length = 20,
                         .inputs = 12,
                         .outputs = 9,
                         .width = 4,
                         .before = 2,
                         .behind = 1,
                         .groups = 3,
                         .precision = PrecisionKind::int8,
                         .activation_bits = 7}>();
  check<ConvolutionModel{.length = 20,
                         .inputs = 12,
                         .outputs = 9,
                         .width = 4,
                         .before = 2,
                         .behind = 1,
                         .groups = 3,
                         .precision = PrecisionKind::rotated_int8}>();
}

// Each number of a tap has about `of_output` + outputs + 4 roundings of 2^-24: of its squares and their sums, half of
// which the root keeps, of the root, the quotient and the product.
TEST_CASE("fold_weight_norm: each tap has its length, in place, too, and a tap of zeros stays 0") {
  constexpr ConvolutionModel model{.length = 9, .inputs = 6, .outputs = 10, .width = 3, .groups = 2};
  const std::size_t size = 10 * 3 * 3;
  std::vector<float> direction = ladon_test::random_floats(size, 1), weight(size);
  for (std::size_t i = 1; i < size; i += 3) direction[i] = 0;
  const float length[3] = {2.5f, 7.0f, -0.5f};
  ladon::fold_weight_norm<model>(direction.data(), length, weight.data());
  for (std::size_t k = 0; k < 3; ++k) {
    double squares = 0;
    for (std::size_t i = k; i < size; i += 3) squares += double{direction[i]} * double{direction[i]};
    for (std::size_t i = k; i < size; i += 3) {
      const double expected = k == 1 ? 0 : double{length[k]} * double{direction[i]} / std::sqrt(squares);
      CHECK(std::abs(double{weight[i]} - expected) <= (3 + 10 + 4) * 0x1p-24 * std::abs(expected));
    }
  }
  ladon::fold_weight_norm<model>(direction.data(), length, direction.data());
  CHECK(direction == weight);
}

TEST_CASE("transpose") {
  const float from[2][3] = {{1, 2, 3}, {4, 5, 6}};
  float to[3][2];
  ladon::transpose(2, 3, from[0], to[0]);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(to[c][r] == from[r][c]);
  }
}
