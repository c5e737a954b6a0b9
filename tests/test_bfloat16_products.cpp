// Tests products of bfloat16 weights, without the rest of a layer. For several tokens, the results must have the bits
// of plain loops, which round as the instructions of the target do (detail/vec/dot.hpp). This file compiles
// in a few seconds. So tests/CMakeLists.txt also compiles this file for instruction sets that no other test is compiled
// for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

#include "support/layer_product.hpp"

namespace {

using namespace ladon::detail;
using Vectors = vec::NativeVectors;
using ladon::BFloat16;

// How a sum is rounded when the products of two features are added to it. Float instructions (of_floats) round after
// each operation. Instructions for bfloat16 round once: to the nearest float (to_nearest), or to odd (to_odd).
enum class Rounding { of_floats, to_nearest, to_odd };
constexpr Rounding rounding = !Vectors::multiplies_bfloat16               ? Rounding::of_floats
                              : LADON_HAS_XSIMD && LADON_ARM_BFLOAT16_DOT ? Rounding::to_odd
                                                                          : Rounding::to_nearest;
constexpr float smallest_normal = std::numeric_limits<float>::min();

// Returns 0 with the sign of x if x is subnormal, otherwise x.
float flushed(float x) { return std::abs(x) < smallest_normal ? std::copysign(0.0f, x) : x; }

// Returns a + b, rounded to odd: if a + b lies between two neighbouring doubles, returns the double whose last bit
// is 1.
[[maybe_unused]] double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part_of_b = sum - a, error = (a - (sum - part_of_b)) + (b - part_of_b);
  if (error == 0 || ladon::bit_cast<std::uint64_t>(sum) % 2 == 1) return sum;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(sum, error > 0 ? infinity : -infinity);
}

// Returns x, rounded to odd: if x lies between two neighbouring floats, returns the float whose last bit is 1. A
// subnormal number becomes 0, and a number of at least 2^128 becomes infinite.
[[maybe_unused]] float to_odd_float(double x) {
  const double largest{std::numeric_limits<float>::max()};
  if (std::isnan(x) || std::abs(x) >= 0x1p128) return static_cast<float>(x * 0x1p200);
  if (std::abs(x) < double{smallest_normal}) return static_cast<float>(std::copysign(0.0, x));
  float result = static_cast<float>(std::min(std::max(x, -largest), largest));
  if (double{result} == x) return result;
  if (std::abs(double{result}) > std::abs(x)) result = std::nextafter(result, 0.0f);
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(result) | 1u);
}

// NEON of 32 bits takes subnormal numbers for 0.
#if defined(__ARM_NEON) && !defined(__aarch64__) && LADON_HAS_XSIMD
constexpr bool flushes_subnormals = true;
#else
constexpr bool flushes_subnormals = false;
#endif

// Adds a product to `sum`, with the roundings of float instructions.
[[maybe_unused]] float add_product(float sum, float x, float w) {
  const auto value = [](float number) { return flushes_subnormals ? flushed(number) : number; };
  if constexpr (vec::fma_is_fused) return value(std::fma(value(x), value(w), value(sum)));
  return value(value(sum) + value(value(x) * value(w)));
}

// Adds the products of a pair of features and a pair of weights to `sum`.
float add_pair(float sum, const float (&x)[2], const float (&w)[2]) {
  if constexpr (rounding == Rounding::of_floats) {
    for (int i = 0; i < 2; ++i) sum = add_product(sum, x[i], w[i]);
    return sum;
  } else if constexpr (rounding == Rounding::to_odd) {
    const auto product = [&](int i) { return double{to_odd_float(double{flushed(x[i])} * double{flushed(w[i])})}; };
    const double pair{to_odd_float(add_to_odd(product(0), product(1)))};
    return to_odd_float(add_to_odd(double{flushed(sum)}, pair));
  } else {
#if LADON_BFLOAT16_DOT
    for (int i = 1; i >= 0; --i) sum = flushed(std::fma(flushed(x[i]), flushed(w[i]), flushed(sum)));
#else
    for (int i = 1; i >= 0; --i) sum = add_product(sum, x[i], w[i]);
#endif
    return sum;
  }
}

// The random inputs of a product. Each number is multiplied by a random power of two from 2^-spread to 2^spread. So the
// terms of a sum differ in magnitude, and some sums cancel.
template <std::size_t Tokens, std::size_t Features, std::size_t Rows>
struct Problem {
  std::vector<float> x = std::vector<float>(Tokens * Features), bias = std::vector<float>(Rows);
  std::vector<BFloat16> weight = std::vector<BFloat16>(Rows * Features);

  explicit Problem(int spread, int x_exponent = 0) {
    ladon_test::ProductRandom random(11);
    const auto number = [&] {
      const int power = spread == 0 ? 0 : static_cast<int>(random.bits() >> 8) % (2 * spread + 1) - spread;
      return std::ldexp(random.number(), power);
    };
    for (float& f : x) f = std::ldexp(number(), x_exponent);
    for (BFloat16& w : weight) w = ladon::to_bfloat16(number());
    for (float& b : bias) b = std::ldexp(number(), x_exponent);
  }
};

template <std::size_t Tokens, std::size_t Features, std::size_t Rows>
std::vector<float> expected_product(const Problem<Tokens, Features, Rows>& problem) {
  std::vector<float> y;
  for (std::size_t t = 0; t < Tokens; ++t) {
    for (std::size_t r = 0; r < Rows; ++r) {
      float sum = problem.bias[r];
      for (std::size_t i = 0; i < Features; i += 2) {
        float x[2]{}, w[2]{};
        for (std::size_t j = 0; j < 2 && i + j < Features; ++j) {
          x[j] = problem.x[t * Features + i + j];
          if (Vectors::multiplies_bfloat16) x[j] = ladon::to_float(ladon::to_bfloat16(x[j]));
          w[j] = ladon::to_float(problem.weight[r * Features + i + j]);
        }
        sum = add_pair(sum, x, w);
      }
      y.push_back(sum);
    }
  }
  return y;
}

// Computes the product with the code of layers. The array of weights ends with the last weight, so that a sanitizer
// reports reads beyond the last weight.
template <std::size_t Tokens, std::size_t Features, std::size_t Rows>
std::vector<float> product(const Problem<Tokens, Features, Rows>& problem) {
  const WeightRows<WeightMatrix<BFloat16, Features, 1>, BiasVector> weights{{problem.weight.data()},
                                                                            {problem.bias.data()}};
  return ladon_test::layer_product<ladon::precision::BFloat16, Tokens, Features, Rows>(problem.x, weights);
}

// Returns whether a product must have the bits of expected_product. The kernels for a single token and for few tokens,
// and a matrix unit, add the terms in another order, so their bits may differ.
template <std::size_t Tokens, std::size_t Features>
bool adds_in_order() {
  using In = std::conditional_t<Vectors::multiplies_bfloat16, BFloat16PanelsView, PanelsView>;
  using Matrix = WeightMatrix<BFloat16, Features, 1>;
  constexpr PanelLayout tiles = panel_layout<Vectors>(Tokens), last = last_panel_layout<Vectors>(Tokens);
  constexpr std::size_t rest = Tokens - (tiles.panels(Tokens) - 1) * tiles.width();
  constexpr bool fits_unit = vec::MatrixUnit::fits<BFloat16, Features, last.lanes>;
  return !(fits_unit && vec::MatrixUnit::ready()) && Tokens > 1 &&
         folded_steps<Vectors, tiles, Features, Matrix, In> == 1 &&
         folded_steps<Vectors, last, Features, Matrix, In> == 1 &&
         rows_of_tokens<Vectors, last, typename In::Element, Features>(rest).end == 0;
}

template <std::size_t Tokens, std::size_t Features, std::size_t Rows>
void check(int spread, int x_exponent = 0) {
  CAPTURE(Tokens);
  CAPTURE(spread);
  const auto problem = std::make_unique<Problem<Tokens, Features, Rows>>(spread, x_exponent);
  const std::vector<float> y = product(*problem), expected = expected_product(*problem);
  if (adds_in_order<Tokens, Features>()) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      CAPTURE(i);
      if (std::isnan(y[i]) && std::isnan(expected[i])) continue;
      CHECK(ladon::bit_cast<std::uint32_t>(y[i]) == ladon::bit_cast<std::uint32_t>(expected[i]));
    }
  } else {
    // A result is a sum of the bias and Features products. Each term takes part in at most Features + 1 additions, and
    // each addition has a relative error of at most 2^-23.
    for (std::size_t i = 0; i < y.size(); ++i) {
      double terms = std::abs(double{problem->bias[i % Rows]});
      for (std::size_t f = 0; f < Features; ++f) {
        terms += std::abs(double{problem->x[i / Rows * Features + f]} *
                          double{ladon::to_float(problem->weight[i % Rows * Features + f])});
      }
      CHECK(std::abs(double{y[i]} - double{expected[i]}) <= 2.1 * (Features + 1) * 0x1p-23 * terms + 0x1p-120);
    }
  }
}

}  // namespace

// The innermost loop takes four pairs of features at a time. Single pairs and half a pair can remain. 55 features give
// groups of four pairs, single pairs and half a pair.
TEST_CASE("bfloat16 products: whole panels and an incomplete panel") { check<19, 55, 21>(0); }
TEST_CASE("bfloat16 products: two packs, many rows") { check<16, 64, 37>(0); }
TEST_CASE("bfloat16 products: roundings of numbers of different magnitudes") {
  for (const int spread : {1, 4, 12, 30}) check<16, 40, 16>(spread);
}
TEST_CASE("bfloat16 products: a panel of few tokens") { check<3, 131, 17>(3); }
TEST_CASE("bfloat16 products: a panel of half a register") { check<8, 133, 21>(3); }
TEST_CASE("bfloat16 products: a panel of three half registers") { check<20, 135, 19>(3); }
TEST_CASE("bfloat16 products: rows of tokens") {
  check<2, 384, 35>(3);
  check<5, 390, 16>(3);
  check<10, 1025, 3>(3);
  check<19, 100, 21>(3);
  check<11, 390, 50>(3);  // quads of tokens (detail/vec/token_quads.hpp)
  check<23, 264, 49>(3);
}
TEST_CASE("bfloat16 products: tiles of a matrix unit") {
  check<40, 96, 53>(3);
  check<17, 32, 48>(3);
  check<9, 64, 35>(3);
}
TEST_CASE("bfloat16 products: a single token") { check<1, 83, 9>(2); }
TEST_CASE("bfloat16 products: fewer features than a pair") { check<5, 1, 2>(0); }
// Some features, products and sums are subnormal. Instructions for bfloat16 replace subnormal numbers by 0.
TEST_CASE("bfloat16 products: subnormal numbers") {
  check<16, 10, 16>(6, -122);
  check<16, 10, 16>(2, -130);
}
TEST_CASE("bfloat16 products: sums beyond the largest float") { check<16, 10, 16>(2, 126); }
