// SPDX-License-Identifier: Apache-2.0
// Tests heads that read two rows, beside loops in double: the program of two_rows pools the rows behind the first row,
// and that of linear_pair has a linear map for each of two rows.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>

#include "linear_pair.hpp"
#include "two_rows.hpp"

namespace {

constexpr std::size_t rows = 6, width = 8, labels = 3;

// Returns the numbers -1 to 1 that begin with number `first` of a sequence.
template <std::size_t Count>
std::array<float, Count> numbers(std::size_t first) {
  std::array<float, Count> values;
  for (std::size_t i = 0; i < Count; ++i) values[i] = static_cast<float>((first + i) * 37 % 101) / 50 - 1;
  return values;
}

double linear(const float* weight, const float* bias, const double* x, std::size_t inputs, std::size_t output) {
  double sum = bias[output];
  for (std::size_t i = 0; i < inputs; ++i) sum += static_cast<double>(weight[output * inputs + i]) * x[i];
  return sum;
}

const auto last = numbers<rows * width>(3);

}  // namespace

TEST_CASE("a pool behind the first row") {
  const auto weight = numbers<labels * 2 * width>(11);
  const auto bias = numbers<labels>(29);
  two_rows::Weights weights{};
  weights.classifier.weight = weight.data(), weights.classifier.bias = bias.data();
  double both[2 * width];
  for (std::size_t i = 0; i < width; ++i) {
    both[i] = static_cast<double>(last[i]), both[width + i] = 0;
    for (std::size_t t = 2; t < rows; ++t) both[width + i] += static_cast<double>(last[t * width + i]) / (rows - 2);
  }
  const auto workspace = std::make_unique<two_rows::Workspace>();
  float pooled[labels];
  two_rows::pool(last.data(), rows, weights, pooled, *workspace);
  for (std::size_t j = 0; j < labels; ++j)
    CHECK(static_cast<double>(pooled[j]) ==
          doctest::Approx(linear(weight.data(), bias.data(), both, 2 * width, j)).epsilon(1e-6));
}

TEST_CASE("the mean of two linear maps") {
  const auto weight = numbers<2 * labels * width>(5);
  const auto bias = numbers<2 * labels>(17);
  linear_pair::Weights weights{};
  weights.student.weight = weight.data(), weights.student.bias = bias.data();
  weights.teacher.weight = weight.data() + labels * width, weights.teacher.bias = bias.data() + labels;
  double x[2 * width];
  for (std::size_t i = 0; i < 2 * width; ++i) x[i] = static_cast<double>(last[i]);
  const auto workspace = std::make_unique<linear_pair::Workspace>();
  float answer[labels];
  linear_pair::head(last.data(), rows, weights, answer, *workspace);
  for (std::size_t j = 0; j < labels; ++j) {
    const double expected = (linear(weight.data(), bias.data(), x, width, j) +
                             linear(weight.data() + labels * width, bias.data() + labels, x + width, width, j)) /
                            2;
    CHECK(static_cast<double>(answer[j]) == doctest::Approx(expected).epsilon(1e-6));
  }
}
