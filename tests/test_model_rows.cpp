// Tests norms, activations and pooling of rows outside the layers (ladon/model).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include <ladon/model/activation.hpp>
#include <ladon/model/norm.hpp>
#include <ladon/model/pooling.hpp>

#include "guarded.hpp"
#include "guarded_run.hpp"
#include "random_part.hpp"

namespace ladon_test {

namespace {

using ladon::Bias, ladon::NormGain, ladon::NormKind;

Expected expected_rows(const oracle::Matrix& m) { return {m.data.begin(), m.data.end()}; }

// Runs compute(x, y) with an `y` apart from x, and with y = x. Checks that both results are equal.
template <class Compute>
Floats run_in_place_too(const Floats& x, Compute compute) {
  const Floats apart = run_twice(x.size(), [&](float* y) { compute(x.data(), y); });
  const Floats in_place = run_twice(x.size(), [&](float* y) {
    std::copy(x.begin(), x.end(), y);
    compute(y, y);
  });
  CHECK(same_bits(apart, in_place));
  return apart;
}

template <std::size_t Size, NormKind K, Bias B, NormGain G>
void check_norm_of_rows() {
  constexpr std::size_t rows = 3;
  const ladon::Model config{.norm_kind = K, .norm_gain = G, .norm_bias = B};
  for (const auto& of : {std::pair(1.0, 0.0), {1e-3, 1.0}, {1e30, 0.0}, {1e-30, 0.0}}) {
    CAPTURE(Size);
    CAPTURE(of.first);
    Random random(Size);
    const Floats x = random.normals(rows * Size, of.first, of.second);
    const oracle::Matrix input(rows, Size, x.data());
    const oracle::Norm norm = random_norm(random, Size, config, 1e-6f);
    ladon::Norm<Size, K, B, G> view{.weight = norm.weight.data(), .epsilon = norm.epsilon};
    if constexpr (ladon::Norm<Size, K, B, G>::biased) view.bias = norm.bias.data();
    const Floats y = run_in_place_too(x, [&](const float* from, float* to) { ladon::normalise(view, rows, from, to); });
    CHECK(worst_distance(y, expected_rows(oracle::normalized(K, norm, input))) <= 1);

    const oracle::Norm plain{Floats(Size, 1.0f), Floats(K == NormKind::layer ? Size : 0), norm.epsilon};
    const Floats without = run_in_place_too(
        x, [&](const float* from, float* to) { ladon::normalise_without_gain<Size, K>(norm.epsilon, rows, from, to); });
    CHECK(worst_distance(without, expected_rows(oracle::normalized(K, plain, input))) <= 1);
  }
}

template <std::size_t Size>
void check_norms_of_rows() {
  check_norm_of_rows<Size, NormKind::layer, Bias::with, NormGain::weight>();
  check_norm_of_rows<Size, NormKind::layer, Bias::without, NormGain::weight>();
  check_norm_of_rows<Size, NormKind::rms, Bias::with, NormGain::one_plus_weight>();
}

template <std::size_t Size>
void check_unit_length() {
  Floats x = Random(Size).normals(4 * Size);
  for (std::size_t i = 0; i < Size; ++i) x[i] *= 1e30f, x[Size + i] *= 1e-40f, x[2 * Size + i] = 0;
  const Floats y = run_twice(x.size(), [&](float* to) {
    std::copy(x.begin(), x.end(), to);
    ladon::unit_length<Size>(4, to);
  });
  for (std::size_t r = 0; r < 4; ++r) {
    Real squares;
    for (std::size_t i = 0; i < Size; ++i) {
      const Real value(static_cast<double>(x[r * Size + i]));
      squares = squares + value * value;
    }
    // Very large and very small rows are first multiplied by a power of two, which rounds no result.
    const Real length = sqrt(Real(squares.value, std::sqrt(2.0 * Size) * unit * squares.value));
    Expected expected;
    for (std::size_t i = 0; i < Size; ++i) {
      const Real value(static_cast<double>(x[r * Size + i]));
      // sqrt(Size), its inverse, and their product with the inverse of the root add four roundings.
      const Real quotient = r == 2 ? Real(0) : value / length;
      expected.push_back(r == 2 ? quotient : rounded(quotient.value, quotient.deviation, 0, 4));
    }
    CAPTURE(Size);
    CAPTURE(r);
    CHECK(worst_distance(std::span(y).subspan(r * Size, Size), expected) <= 1);
  }
}

}  // namespace

TEST_CASE("norms of rows, with and without a gain") {
  check_norms_of_rows<1>();
  check_norms_of_rows<7>();
  check_norms_of_rows<16>();
  check_norms_of_rows<67>();
}

TEST_CASE("rows of length 1, also from very large and very small numbers, and a row of zeros") {
  check_unit_length<1>();
  check_unit_length<5>();
  check_unit_length<48>();
}

TEST_CASE("activations of arrays of every length") {
  using ladon::Activation;
  for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 3, 16, 17, 65}) {
    CAPTURE(count);
    const Floats x = Random(count).normals(count, 3);
    const auto activated = [&](auto activate) {
      return run_twice(count, [&](float* to) {
        std::copy(x.begin(), x.end(), to);
        activate(to);
      });
    };
    const Floats relu = activated([&](float* to) { ladon::activate<Activation::relu>(to, count); }),
                 gelu = activated([&](float* to) { ladon::activate<Activation::gelu>(to, count); }),
                 silu = activated([&](float* to) { ladon::activate<Activation::silu>(to, count); }),
                 tanh = activated([&](float* to) { ladon::tanh(to, count); });
    for (std::size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(x[i]), allowed = 0x1p-21 * std::abs(value);  // as in test_activation
      CHECK(relu[i] == std::max(0.0f, x[i]));
      CHECK(std::abs(static_cast<double>(gelu[i]) - 0.5 * value * std::erfc(-value / std::sqrt(2.0))) <= allowed);
      CHECK(std::abs(static_cast<double>(silu[i]) - value / (1 + std::exp(-value))) <= allowed);
      CHECK(std::abs(static_cast<double>(tanh[i]) - std::tanh(value)) <= 0x1p-21 * std::abs(std::tanh(value)));
    }
  }
}

TEST_CASE("pooling: the mean and the largest of each feature, and the first and the last row") {
  constexpr std::size_t width = 11;
  for (const std::size_t tokens : std::initializer_list<std::size_t>{0, 1, 2, 50}) {
    CAPTURE(tokens);
    const Floats x = Random(tokens).normals(tokens * width);
    const auto pooled = [&](auto pool) { return run_twice(width, [&](float* y) { pool(x.data(), tokens, y); }); };
    const Floats mean = pooled(ladon::mean_pool<width>), most = pooled(ladon::max_pool<width>),
                 first = pooled(ladon::first_row<width>), last = pooled(ladon::last_row<width>);
    Floats in_place = x;
    if (tokens > 0) {
      ladon::mean_pool<width>(in_place.data(), tokens, in_place.data());
      in_place.resize(width);
      CHECK(same_bits(in_place, mean));
    }
    for (std::size_t i = 0; i < width; ++i) {
      Real sum;
      float largest = tokens == 0 ? 0 : -std::numeric_limits<float>::infinity();
      for (std::size_t t = 0; t < tokens; ++t) {
        sum = sum + Real(static_cast<double>(x[t * width + i]));
        largest = std::max(largest, x[t * width + i]);
      }
      CHECK(distance(mean[i], tokens == 0 ? Real(0) : sum / Real(static_cast<double>(tokens))) <= 1);
      CHECK(most[i] == largest);
      CHECK(first[i] == (tokens == 0 ? 0 : x[i]));
      CHECK(last[i] == (tokens == 0 ? 0 : x[(tokens - 1) * width + i]));
    }
  }
}

}  // namespace ladon_test
