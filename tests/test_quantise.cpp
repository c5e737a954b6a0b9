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

namespace {

template <std::size_t Out, std::size_t In, ladon::Order O = ladon::Order::out_in>
constexpr Quantised<Out, In> quantised_rotated(const std::array<float, Out * In>& weight) {
  const std::array<float, Out> bias{};
  Quantised<Out, In> result;
  const ladon::Linear<Out, In, O> linear{weight.data(), bias};
  result.finite = ladon::quantise_rotated(linear, result.weight, result.scale);
  ladon::row_sums<Out, In>(result.weight, result.row_sum);
  return result;
}

}  // namespace

// W is the matrix of the float weights, and H is the Hadamard matrix of rotate_int8.hpp. Q is the matrix of the
// quantised weights, with each row multiplied by its scale. Apart from rounding, quantise_rotated gives Q = W H / 8.
// Because H H is 8 times the identity, Q H = W.
TEST_CASE("quantise_rotated: the sums of eight weights with the signs of H, negative scales") {
  constexpr auto q = quantised_rotated<2, 8>({127, 0, 0, 0, 0, 0, 0, 0, /* row 1 */ 1, 2, 4, 8, 16, 32, 64, 0});
  CHECK(q.finite);
  CHECK(q.scale[0] == -0.125f);
  CHECK(q.scale[1] == -0.125f);
  CHECK(q.weight == std::array<std::int8_t, 16>{-127, -127, -127, -127, -127, -127, -127, -127,  // -W H
                                                -127, -43, 25, 77, 97, 53, -7, -83});
  CHECK(q.row_sum[0] == -1016);
}

TEST_CASE("quantise_rotated: the product with H gives the weights") {
  std::array<float, 3 * 16> weight{};
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = std::sin(static_cast<float>(i * i));
  weight[20] = 10;  // the error of the other weights of this row would be 7 times as large without the rotation
  const auto q = quantised_rotated<3, 16>(weight);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < 16; ++i) {
      float sum = 0;
      for (std::size_t j = i / 8 * 8; j < i / 8 * 8 + 8; ++j) {
        const bool odd = ((i & j & 1) + (i & j & 2) / 2 + (i & j & 4) / 4) % 2 != 0;
        sum += odd ? -static_cast<float>(q.weight[16 * r + j]) : static_cast<float>(q.weight[16 * r + j]);
      }
      CHECK(std::abs(q.scale[r] * sum - weight[16 * r + i]) <= -4 * q.scale[r] + 1e-6f);
    }
  }
}

TEST_CASE("quantise_rotated: a weight in the order in_out is transposed") {
  std::array<float, 16> rows{}, columns{};
  for (std::size_t i = 0; i < 8; ++i) {
    rows[i] = columns[2 * i] = static_cast<float>(i) - 2;
    rows[8 + i] = columns[2 * i + 1] = static_cast<float>(3 * i);
  }
  const auto q = quantised_rotated<2, 8>(rows), transposed = quantised_rotated<2, 8, ladon::Order::in_out>(columns);
  CHECK(q.weight == transposed.weight);
  CHECK(q.scale == transposed.scale);
}

TEST_CASE("quantise_rotated: rows of zeros; infinite sums are refused, and nothing is written") {
  const auto zeros = quantised_rotated<1, 8>({});
  CHECK(zeros.finite);
  CHECK(zeros.weight == std::array<std::int8_t, 8>{});
  CHECK(zeros.scale[0] == -0.125f);
  for (const float bad : {NAN, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()}) {
    const auto q = quantised_rotated<1, 8>({1, 2, bad, 4, 5, 6, bad, 8});
    CHECK(!q.finite);
    CHECK(q.weight == std::array<std::int8_t, 8>{});
    CHECK(q.scale[0] == 0);
  }
}
