// Tests `quantise` and `row_sums`, which make int8 weights and their row sums from float32 weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <ladon/quantise.hpp>

namespace {

template <std::size_t Out, std::size_t In>
struct Quantised {
  std::array<std::int8_t, Out * In> weight{};
  std::array<float, Out> scale{};
  std::array<std::int32_t, Out> row_sum{};
  bool finite = false;
};

template <std::size_t Out, std::size_t In, ladon::Order O = ladon::Order::out_in>
constexpr Quantised<Out, In> quantised(const std::array<float, Out * In>& weight) {
  const std::array<float, Out> bias{};
  Quantised<Out, In> result;
  const ladon::Linear<Out, In, O> linear{weight.data(), bias};
  result.finite = ladon::quantise(linear, result.weight, result.scale);
  ladon::row_sums<Out, In>(result.weight, result.row_sum);
  return result;
}

using Bytes = std::array<std::int8_t, 6>;

}  // namespace

TEST_CASE("quantise: a scale for each row, the largest magnitude becomes 127") {
  constexpr auto q = quantised<2, 3>({127, -63.25f, 1, 0.5f, -1.27f, 0});
  CHECK(q.finite);
  CHECK(q.weight == Bytes{127, -63, 1, 50, -127, 0});
  CHECK(q.scale[0] == 1);
  CHECK(q.scale[1] == 1.27f / 127);
  CHECK(q.row_sum == std::array<std::int32_t, 2>{65, -77});
}

TEST_CASE("quantise: ties round to the even integer") {
  constexpr auto q = quantised<1, 6>({127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f});
  CHECK(q.weight == Bytes{127, 0, 2, 2, 0, -2});
}

TEST_CASE("quantise: a weight in the order in_out is transposed") {
  const auto q = quantised<2, 3, ladon::Order::in_out>({127, 0.5f, -63.25f, -1.27f, 1, 0});
  CHECK(q.weight == Bytes{127, -63, 1, 50, -127, 0});
}

TEST_CASE("quantise: rows of zeros, and of numbers too small for a scale") {
  const auto q = quantised<2, 3>({0, -0.0f, 0, 1e-44f, -1e-38f, 0});
  CHECK(q.finite);
  CHECK(q.weight == Bytes{});
  CHECK(q.scale == std::array<float, 2>{1, 1});
}

TEST_CASE("quantise: the largest floats") {
  constexpr float most = std::numeric_limits<float>::max();
  const auto q = quantised<1, 3>({most, -most, most / 4});
  CHECK(q.finite);
  CHECK(q.weight == std::array<std::int8_t, 3>{127, -127, 32});
}

TEST_CASE("quantise: infinite and NaN weights are refused, and nothing is written") {
  for (const float bad : {NAN, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    const auto q = quantised<2, 3>({1, 2, 3, 4, 5, bad});
    CHECK(!q.finite);
    CHECK(q.weight == Bytes{});
    CHECK(q.scale == std::array<float, 2>{});
  }
}
