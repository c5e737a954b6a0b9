// Checks products of windows: a row of the result for each window (ladon::Convolution, ladon::PatchEmbedding).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/quantise.hpp>
#include <ladon/weights.hpp>

#include "layer_product.hpp"

namespace ladon_test {

struct WindowSizes {
  std::size_t tokens;  // the largest number of them
  std::size_t outputs;
  std::size_t window;  // the numbers of a window, in one group
  std::size_t groups = 1;
};

inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  ProductRandom random(seed);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = random.number();
  return numbers;
}

// Random weights of a linear map, and its type for each precision.
template <std::size_t Out, std::size_t In, ladon::Bias B, class Precision>
struct WindowWeights {
  std::vector<float> weight = random_floats(Out * In, 3), bias = random_floats(Out, 4), scale = std::vector<float>(Out);
  std::vector<ladon::BFloat16> rounded;
  std::vector<std::int8_t> integers = std::vector<std::int8_t>(Out * In);
  std::vector<std::int32_t> sums = std::vector<std::int32_t>(Out);

  WindowWeights() {
    for (const float w : weight) rounded.push_back(ladon::to_bfloat16(w));
    if constexpr (ladon::precision::is_int8<Precision>) {
      const ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::without> floats{weight.data()};
      if constexpr (Linear::rotated) {
        REQUIRE(ladon::quantise_rotated(floats, integers.data(), scale.data()));
      } else {
        REQUIRE(ladon::quantise(floats, integers.data(), scale.data()));
      }
      ladon::row_sums<Out, In>(integers.data(), sums.data());
    }
  }
  using Linear = ladon::Linear<Out, In, ladon::Order::out_in, B, Precision>;
  Linear linear() const {
    Linear result;
    if constexpr (ladon::precision::is_int8<Precision>) {
      result.weight = integers.data();
      result.scale = scale.data();
      result.row_sum = sums.data();
    } else if constexpr (std::is_same_v<Precision, ladon::precision::BFloat16>) {
      result.weight = rounded.data();
    } else {
      result.weight = weight.data();
    }
    if constexpr (B == ladon::Bias::with) result.bias = bias.data();
    return result;
  }
};

// Returns the largest error of `y` [tokens][outputs], as a multiple of the bound. Each term of a sum takes part in at
// most `window` additions, and its product is rounded once. Each rounding changes the sum by at most 2^-24 of the sum
// of the magnitudes of the terms; 1.01 allows for the products of roundings.
template <WindowSizes S, class Weights>
double worst_window(const std::vector<float>& y, const std::vector<float>& windows, const Weights& weights,
                    bool has_bias) {
  constexpr std::size_t rows = S.outputs / S.groups;
  const std::size_t tokens = y.size() / S.outputs;
  double worst = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t o = 0; o < S.outputs; ++o) {
      double sum = has_bias ? weights.bias[o] : 0, terms = std::abs(sum);
      for (std::size_t i = 0; i < S.window; ++i) {
        const double product =
            double{weights.weight[o * S.window + i]} * double{windows[((o / rows) * tokens + t) * S.window + i]};
        sum += product;
        terms += std::abs(product);
      }
      const double bound = 1.01 * static_cast<double>(S.window + 1) * 0x1p-24 * terms;
      const double error = std::abs(double{y[t * S.outputs + o]} - sum);
      if (error > 0) worst = error <= bound ? std::max(worst, error / bound) : std::numeric_limits<double>::infinity();
      if (std::isnan(error)) return error;
    }
  }
  return worst;
}

// Checks run(weights, y, workspace), which computes the products of `windows` [groups][tokens][window]. Results of
// rounded weights must have the bits of the product in a layer, which other tests check.
template <class Part, WindowSizes S, class Run>
void check_windows(const std::vector<float>& windows, Run run) {
  constexpr ladon::Bias bias = Part::model.bias;
  constexpr std::size_t rows = S.outputs / S.groups, guard = 5;
  using Precision = typename Part::Precision;
  const WindowWeights<S.outputs, S.window, bias, Precision> weights;
  const std::size_t tokens = windows.size() / (S.window * S.groups);
  const auto workspace = std::make_unique<typename Part::Workspace>();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> first;
  for (int byte : {0xff, 0x7f}) {  // floats of these bytes are NaN
    std::memset(static_cast<void*>(workspace.get()), byte, sizeof *workspace);
    std::vector<float> y(tokens * S.outputs + guard, nan);
    run(weights.linear(), y.data(), *workspace);
    for (std::size_t i = tokens * S.outputs; i < y.size(); ++i) CHECK(std::isnan(y[i]));
    y.resize(tokens * S.outputs);
    if (byte == 0xff) first = y;
    CHECK((y.empty() || std::memcmp(y.data(), first.data(), y.size() * sizeof(float)) == 0));
  }
  if constexpr (std::is_same_v<Precision, ladon::precision::Float32>) {
    CHECK(worst_window<S>(first, windows, weights, bias == ladon::Bias::with) <= 1);
  } else {
    REQUIRE(tokens == S.tokens);
    for (std::size_t g = 0; g < S.groups; ++g) {
      const auto size = static_cast<std::ptrdiff_t>(tokens * S.window);
      const auto begin = windows.begin() + static_cast<std::ptrdiff_t>(g) * size;
      const std::vector<float> of_group(begin, begin + size);
      const std::vector<float> expected =
          layer_product<Precision, S.tokens, S.window, rows>(of_group, weights.linear().rows_from(g * rows));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const float actual = first[i / rows * S.outputs + g * rows + i % rows];
        CHECK(ladon::bit_cast<std::uint32_t>(actual) == ladon::bit_cast<std::uint32_t>(expected[i]));
      }
    }
  }
}

}  // namespace ladon_test
