// Tests products of int8 weights, without the rest of a layer. Every target must give the bits of plain loops. This
// file compiles in a few seconds. So tests/CMakeLists.txt also compiles this file for instruction sets that no other
// test is compiled for.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

#include "support/layer_product.hpp"

namespace {

using namespace ladon::detail;

template <std::size_t Tokens, std::size_t Features, std::size_t Rows>
struct Problem {
  std::vector<float> x = std::vector<float>(Tokens * Features);
  std::vector<std::int8_t> weight = std::vector<std::int8_t>(Rows * Features);
  std::vector<float> scale = std::vector<float>(Rows), bias = std::vector<float>(Rows);
  std::vector<std::int32_t> row_sum = std::vector<std::int32_t>(Rows);

  Problem() {
    ladon_test::ProductRandom random(7);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = random.number() + static_cast<float>(i / Features % 3) * 0.4f;
    for (std::int8_t& w : weight) w = static_cast<std::int8_t>(random.bits());
    weight[0] = weight[1] = weight[2] = weight[3] = -128;
    for (float& s : scale) s = random.number() / 127;
    for (float& b : bias) b = random.number();
    for (std::size_t i = 0; i < weight.size(); ++i) row_sum[i / Features] += weight[i];
  }
};

// Multiplies x by the matrix H (detail/panel/rows.hpp), in the library's order of additions.
void rotate_in_place(std::vector<float>& x) {
  for (std::size_t half = 1; half < 8; half *= 2) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i / half % 2 != 0) continue;
      const float a = x[i], b = x[i + half];
      x[i] = a + b;
      x[i + half] = a - b;
    }
  }
}

// Computes the product in plain loops (detail/panel/int8_panels.hpp and detail/product/product.hpp state the
// formulas).
template <int Bits, bool Rotated, std::size_t Tokens, std::size_t Features, std::size_t Rows>
std::vector<float> expected_product(const Problem<Tokens, Features, Rows>& problem) {
  constexpr float levels = (1 << Bits) - 1;
  std::vector<float> y;
  for (std::size_t t = 0; t < Tokens; ++t) {
    std::vector<float> features(problem.x.data() + t * Features, problem.x.data() + (t + 1) * Features);
    float factor = 1;
    if (Rotated) {
      const std::vector<float> original = features;
      rotate_in_place(features);
      if (std::any_of(features.begin(), features.end(), [](float sum) { return !std::isfinite(sum); })) {
        factor = 8;
        for (std::size_t i = 0; i < Features; ++i) features[i] = original[i] / factor;
        rotate_in_place(features);
      }
    }
    const float* const x = features.data();
    const float low = std::min(0.0f, *std::min_element(x, x + Features)),
                high = std::max(0.0f, *std::max_element(x, x + Features));
    const float scale = high / levels - low / levels, reciprocal = 1 / scale;
    const float zero = std::nearbyint(-low * reciprocal);
    for (std::size_t r = 0; r < Rows; ++r) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < Features; ++i) {
        const float q = std::clamp(std::nearbyint(x[i] * reciprocal), -zero, levels - zero);
        sum += static_cast<std::int64_t>(q) * problem.weight[r * Features + i];
      }
      const float integer = static_cast<float>(sum), both = scale * factor * problem.scale[r];
      y.push_back(vec::fma_is_fused ? std::fma(integer, both, problem.bias[r]) : integer * both + problem.bias[r]);
    }
  }
  return y;
}

// Computes the product with the code of layers. The array of weights ends with the last weight, so that a sanitizer
// reports reads beyond the last weight.
template <int Bits, bool Rotated, std::size_t Tokens, std::size_t Features, std::size_t Rows>
std::vector<float> product(const Problem<Tokens, Features, Rows>& problem) {
  const Int8Rows<Features, BiasVector> weights{
      {problem.weight.data()}, problem.scale.data(), problem.row_sum.data(), {problem.bias.data()}};
  return ladon_test::layer_product<ladon::precision::Int8<Bits, Rotated>, Tokens, Features, Rows>(problem.x, weights);
}

template <int Bits = 8, bool Rotated = false, std::size_t Tokens, std::size_t Features, std::size_t Rows>
void check(const Problem<Tokens, Features, Rows>& problem) {
  CAPTURE(Tokens);
  const std::vector<float> y = product<Bits, Rotated>(problem), expected = expected_product<Bits, Rotated>(problem);
  CHECK(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0);
}
template <std::size_t Tokens, std::size_t Features, std::size_t Rows, int Bits = 8, bool Rotated = false>
void check() {
  check<Bits, Rotated>(*std::make_unique<Problem<Tokens, Features, Rows>>());
}

}  // namespace

// The innermost loop takes tuples of features, four tuples at a time. Single tuples and an incomplete tuple can remain.
// These shapes have all three cases.
TEST_CASE("int8 products: whole panels and an incomplete panel") { check<19, 55, 21>(); }
TEST_CASE("int8 products: three packs of half registers") { check<24, 128, 17>(); }
TEST_CASE("int8 products: a panel of few tokens") { check<3, 131, 17>(); }
TEST_CASE("int8 products: a single token") { check<1, 83, 9>(); }

TEST_CASE("int8 products: rotated inputs, several tokens and one") {
  check<19, 56, 21, 8, true>();
  check<1, 88, 9, 8, true>();
}

#if !defined(LADON_FEW_PRODUCTS)
TEST_CASE("int8 products: three packs of half registers, incomplete tuples") {
  check<17, 131, 8>();  // an odd number of tuples
  check<21, 133, 3>();  // an even number of whole tuples, and an incomplete tuple
}
TEST_CASE("int8 products: few tokens in the last panel") {
  check<33, 67, 19>();
  check<40, 66, 17>();
  check<51, 130, 5>();
  check<99, 64, 7>();
}
// Where the target multiplies rows of tokens (detail/product/token_rows.hpp): all tokens of a panel, or the tokens
// beyond its first pack. The rows end with whole and with incomplete registers.
TEST_CASE("int8 products: rows of tokens") {
  check<2, 384, 35>();
  check<5, 390, 16>();
  check<10, 1025, 3>();
  check<19, 100, 21>();
  check<38, 257, 33>();
}
// Quads of tokens (detail/vec/token_quads.hpp), in sums that end within four tuples. A block of W has 48 rows.
TEST_CASE("int8 products: quads of tokens") {
  check<7, 384, 50>();
  check<9, 129, 48>();
  check<12, 390, 5>();
  check<17, 256, 23>();
  check<23, 131, 97>();
  check<24, 4096, 49>();  // rows that compete for one set of the L1 cache
  check<43, 96, 100>();
  check<52, 72, 51, 8, true>();
}
TEST_CASE("int8 products: tiles of a matrix unit") {
  check<40, 192, 53>();
  check<17, 64, 48>();
  check<9, 128, 35>();
  check<3, 64, 32>();
}
// On x86 without VNNI, features of 7 bits have a product of their own (vec/dot_x86.hpp).
TEST_CASE("int8 products: 7 bits") {
  check<1, 83, 9, 7>();
  check<1, 96, 16, 7, true>();
  check<5, 390, 16, 7>();
  check<8, 32, 16, 7>();
  check<10, 1025, 3, 7>();
  check<19, 100, 21, 7>();
  check<38, 257, 33, 7>();
  check<40, 128, 17, 7, true>();
}
TEST_CASE("int8 products: 7 bits, the largest sums of two products") {
  Problem<5, 64, 3> problem;
  std::fill(problem.x.begin(), problem.x.end(), 1.0f);
  problem.x[64] = -1;
  constexpr std::int8_t weights[] = {-128, 127, -127};
  for (std::size_t r = 0; r < 3; ++r) {
    std::fill_n(problem.weight.begin() + static_cast<std::ptrdiff_t>(r) * 64, 64, weights[r]);
    problem.row_sum[r] = 64 * weights[r];
  }
  check<7>(problem);
}
TEST_CASE("int8 products: fewer features than a tuple") { check<5, 3, 2>(); }

TEST_CASE("int8 products: rotated inputs, more shapes") {
  check<24, 128, 17, 8, true>();
  check<8, 32, 16, 7, true>();
  check<3, 136, 17, 8, true>();  // a panel of few tokens
  check<5, 8, 2, 8, true>();
}

// If a feature of a token is infinite or NaN, the token gets a row of NaN. The other rows do not change.
TEST_CASE("int8 products: rotated inputs, infinite and NaN features") {
  constexpr std::size_t tokens = 9, features = 24, rows = 5;
  const auto problem = std::make_unique<Problem<tokens, features, rows>>();
  const std::vector<float> before = product<8, true>(*problem);
  float* const token = problem->x.data() + 4 * features;
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    token[10] = bad;
    const std::vector<float> y = product<8, true>(*problem);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i / rows == 4) {
        CHECK(std::isnan(y[i]));
      } else {
        CHECK(std::memcmp(&y[i], &before[i], sizeof(float)) == 0);
      }
    }
  }
}

// The sums of eight features exceed the largest float, in one token of a panel and in all.
template <std::size_t Tokens, std::size_t Features, int Bits>
void check_large_sums() {
  const auto problem = std::make_unique<Problem<Tokens, Features, 5>>();
  for (float& scale : problem->scale) scale *= 0x1p-30f;
  for (const std::size_t last : {std::size_t{1}, Tokens}) {
    for (std::size_t i = 0; i < last * Features; ++i) problem->x[i] = i % 3 == 0 ? -3.4e38f : 3.4e38f;
    problem->x[2] = 1e30f;
    check<Bits, true>(*problem);
    for (const float y : product<Bits, true>(*problem)) CHECK(std::isfinite(y));
  }
}
TEST_CASE("int8 products: rotated inputs whose sums overflow") {
  check_large_sums<1, 24, 8>();
  check_large_sums<3, 24, 8>();
  check_large_sums<19, 56, 8>();
  check_large_sums<9, 16, 7>();
}

#endif

// Features are quantised as q = round(x / scale), and stored as the unsigned byte q + zero, where `zero` is the zero
// point. For the lowest feature of a token, q + zero must be 0. If q is rounded wrongly, q + zero is -1, and the stored
// byte is 255. Here, x / scale is often near the midpoint between two integers, because the features are multiples of
// 1/128. tests/CMakeLists.txt also compiles this file with -ffp-contract=fast, which changes roundings.
TEST_CASE("int8 products: the lowest feature is near the middle of two integers") {
  constexpr std::size_t tokens = 24, features = 9, rows = 5;
  const auto problem = std::make_unique<Problem<tokens, features, rows>>();
  ladon_test::ProductRandom random(7);
  for (int i = 0; i < 300; ++i) {
    for (float& x : problem->x) x = static_cast<float>(static_cast<int>(random.bits() >> 8) % 129) / 128 - 0.75f;
    check(*problem);
  }
}
