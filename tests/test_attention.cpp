// Tests ladon::Attention, which takes q, k and v: all lengths and masks, and scores at both ends of float's range.
#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

// The arrays of a call with one head of width 1. The scale 1 / sqrt(1) is 1, so a score is q * k.
struct Scores {
  static constexpr std::size_t capacity = 7;
  using Attention = ladon::Attention<S{.queries = 3, .keys = capacity, .model = 1, .heads = 1}>;
  Attention::Workspace workspace{};
  std::array<float, capacity> k{};
  std::array<float, capacity> v{};
  std::array<float, 3> y{};
  std::array<float, 3 * capacity> map{};

  void run(const std::array<float, 3>& q, std::size_t keys) {
    Attention::run(q, k, v, y, workspace, {.keys = keys}, map);
  }
  float weight(std::size_t query, std::size_t key) const { return map[query * capacity + key]; }
};

// A score with the scale 1 / (number of keys) instead of 1 / sqrt(head width).
struct OneOverKeys : ladon::score::Scaled {
  static constexpr float scale(const S& shape) noexcept { return 1.0f / static_cast<float>(shape.keys); }
};

}  // namespace

TEST_CASE("given q, k, v: no mask") {
  check_given(given_subject<S{.queries = 17, .keys = 33, .model = 60, .heads = 3}, ladon::mask::Unmasked>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("given q, k, v: causal, grouped heads, values of another width") {
  check_given(given_subject<S{.queries = 40, .model = 1, .heads = 4, .kv_heads = 2, .head_width = 8, .value_width = 3},
                            ladon::mask::Causal>());
}

TEST_CASE("given q, k, v: padding, all heads share keys") {
  check_given(given_subject<S{.queries = 7, .keys = 16, .model = 1, .heads = 5, .kv_heads = 1, .head_width = 64},
                            ladon::mask::Padding>());
}

TEST_CASE("given q, k, v: causal and padding, long rows") {
  check_given(given_subject<S{.queries = 5, .keys = 700, .model = 12, .heads = 2}, CausalAndPadding>());
}
#endif

// More queries read rows, too. The last panel of keys is not full, or has a single query, and values are odd.
TEST_CASE("given q, k, v: panels of queries, rows of keys") {
  check_given(given_subject<S{.queries = 6, .keys = 35, .model = 1, .heads = 4, .kv_heads = 2, .head_width = 20},
                            ladon::mask::Causal>());
#if !defined(LADON_TEST_SET_QUICK)
  check_given(given_subject<S{.queries = 33, .keys = 70, .model = 1, .heads = 2, .head_width = 9, .value_width = 13},
                            ladon::mask::Padding>());
  check_given(
      given_subject<S{.queries = 20, .keys = 270, .model = 1, .heads = 1, .head_width = 33}, ladon::mask::Unmasked>());
#endif
}

// Without a mask, heads that share keys are merged if their queries leave lanes idle.
TEST_CASE("given q, k, v: merged heads") {
  check_given(given_subject<S{.queries = 3, .keys = 21, .model = 1, .heads = 6, .kv_heads = 2, .head_width = 5},
                            ladon::mask::Unmasked>());
#if !defined(LADON_TEST_SET_QUICK)
  check_given(given_subject<
              S{.queries = 7, .keys = 270, .model = 1, .heads = 5, .kv_heads = 1, .head_width = 9, .value_width = 13},
              ladon::mask::Unmasked>());
  check_given(given_subject<S{.queries = 11, .keys = 40, .model = 1, .heads = 4, .kv_heads = 2, .head_width = 33},
                            ladon::mask::Unmasked>());
#endif
}

// A few queries have kernels of their own. The subjects have up to 4 queries (the constant most_few_queries) and more,
// heads that share a read, tiles of 4, 2 and 1 queries, and outputs of several tiles.
TEST_CASE("given q, k, v: few queries") {
  check_given(given_subject<S{.queries = 1, .keys = 35, .model = 1, .heads = 6, .kv_heads = 2, .head_width = 20},
                            ladon::mask::Unmasked>());
#if !defined(LADON_TEST_SET_QUICK)
  check_given(given_subject<S{.queries = 1, .keys = 300, .model = 1, .heads = 3, .head_width = 3, .value_width = 300},
                            ladon::mask::Window<40>>());
  check_given(given_subject<S{.queries = 4, .keys = 50, .model = 1, .heads = 2, .kv_heads = 1, .head_width = 17},
                            ladon::mask::Additive>());
  check_given(given_subject<S{.queries = 13, .keys = 270, .model = 1, .heads = 1, .head_width = 1, .value_width = 65},
                            CausalAndPadding>());
#endif
}

TEST_CASE("a single key gets all the weight, whatever its score") {
  Scores scores;
  scores.v[0] = 0.3f;
  for (const float k : {0.0f, 1e30f, -1e30f, 1e-40f, 88.0f}) {
    scores.k[0] = k;
    scores.run({1, -1, 2}, 1);
    for (const float y : scores.y) CHECK(y == 0.3f);
    for (std::size_t q = 0; q < 3; ++q) CHECK(scores.weight(q, 0) == 1);
  }
}

TEST_CASE("equal scores give the mean, however large") {
  Scores scores;
  scores.v = {1, 2, 3, 4, 5, 6, 7};
  for (const float score : {0.0f, 1.0f, -90.0f, 1e30f, -1e30f}) {
    scores.k.fill(score);
    scores.run({1, 1, -1}, 7);
    // All scores are equal, so the softmax computes e^0 = 1 for each of the seven keys. Their sum, 7, and the weighted
    // sum of the values, 28, are exact. Only 1 / 7 and the product 28 * (1 / 7) are rounded.
    for (const float y : scores.y) CHECK(std::abs(y - 4) <= 4 * 2 * 0x1p-24f);
    for (const float p : scores.map) CHECK(p == 1.0f / 7);
  }
}

TEST_CASE("scores of 1e30 and -1e30 give all the weight to one key") {
  Scores scores;
  scores.k = {-1e15f, -1e15f, 1e15f, -1e15f, 0};
  scores.v = {1, 2, 3, 4, 5};
  scores.run({1e15f, -1e15f, 0}, 5);
  CHECK(scores.y[0] == 3);
  CHECK(std::abs(scores.y[1] - 7.0f / 3) <= 2 * 7.0f / 3 * 0x1p-24f);
  CHECK(std::abs(scores.y[2] - 3) <= 3 * 2 * 0x1p-24f);
  for (std::size_t k = 0; k < 5; ++k) CHECK(scores.weight(0, k) == (k == 2 ? 1.0f : 0.0f));
  for (std::size_t k = 0; k < 5; ++k) CHECK(scores.weight(1, k) == (k == 2 || k == 4 ? 0.0f : 1.0f / 3));
}

TEST_CASE("equal keys give the mean of the values in a wide head too") {
  using Attention = ladon::Attention<S{.queries = 4, .keys = 33, .model = 20, .heads = 1}>;
  static Attention::Workspace workspace;
  Random random(2);
  const Floats q = random.normals(4 * 20), k = random.normals(20), v = random.normals(33 * 20);
  Floats keys, y(4 * 20);
  for (int i = 0; i < 33; ++i) keys.insert(keys.end(), k.begin(), k.end());
  Attention::run(q.data(), keys.data(), v.data(), y.data(), workspace);
  for (std::size_t i = 0; i < y.size(); ++i) {
    double mean = 0, magnitude = 0;
    for (std::size_t t = 0; t < 33; ++t) {
      mean += static_cast<double>(v[t * 20 + i % 20]) / 33;
      magnitude += std::abs(static_cast<double>(v[t * 20 + i % 20])) / 33;
    }
    CHECK(std::abs(static_cast<double>(y[i]) - mean) <= (33 + 2) * unit * magnitude);
  }
}

TEST_CASE("the score type sets the scale") {
  constexpr S shape{.queries = 2, .keys = 4, .model = 1, .heads = 1};
  using Attention = ladon::Attention<shape, ladon::mask::Unmasked, OneOverKeys>;
  static Attention::Workspace workspace;
  // The scores of the first query are q * k / 4: ln 2, 0, 0 and 0. Their exponentials are 2, 1, 1 and 1, so the
  // attention weights are 2/5, 1/5, 1/5 and 1/5.
  const float ln2 = 0.693147181f;
  const std::array<float, 2> q{4, -4};
  const std::array<float, 4> k{ln2, 0, 0, 0}, v{5, 10, 0, 0};
  std::array<float, 2> y{};
  Attention::run(q, k, v, y, workspace);
  CHECK(y[0] == doctest::Approx(4.0).epsilon(1e-6));  // (2 * 5 + 10) / 5
  CHECK(y[1] == doctest::Approx((0.5 * 5 + 10) / 3.5).epsilon(1e-6));
}

TEST_CASE("the output may be the array of the queries") {
  using Attention = ladon::Attention<S{.queries = 19, .keys = 21, .model = 15, .heads = 3}, ladon::mask::Causal>;
  static Attention::Workspace workspace;
  Random random(4);
  Floats q = random.normals(19 * 15), y(19 * 15);
  const Floats k = random.normals(21 * 15), v = random.normals(21 * 15);
  Attention::run(q.data(), k.data(), v.data(), y.data(), workspace);
  Attention::run(q.data(), k.data(), v.data(), q.data(), workspace);
  CHECK(same_bits(q, y));
}

}  // namespace ladon_test
