// Tests scores at both ends of float's range, the order of softcap and mask, and which biases hide a key.
#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::Alibi, ladon::mask::Boolean, ladon::mask::CausalAt, ladon::mask::Unmasked,
    ladon::mask::Padding, ladon::score::Scaled;

constexpr float infinity = std::numeric_limits<float>::infinity(), lowest = std::numeric_limits<float>::lowest();
constexpr float rounding = 0x1p-24f;

struct CappedAtOne : Scaled {
  static constexpr float softcap = 1;
};
struct WithSinks : Scaled {
  static constexpr bool sinks = true;
};

// The arrays of a call with one head of width 1. The scale 1 / sqrt(1) is 1, so a score is q * k.
template <std::size_t Queries, class Mask, class Score = Scaled>
struct Scores {
  static constexpr std::size_t keys = 5;
  using Attention = ladon::Attention<S{.queries = Queries, .keys = keys, .model = 1, .heads = 1}, Mask, Score>;
  typename Attention::Workspace workspace{};
  std::array<float, Queries> q{};
  std::array<float, keys> k{};
  std::array<float, keys> v{1, 2, 3, 4, 5};
  std::array<float, Queries> y{};
  std::array<float, Queries * keys> map{};
  typename Attention::Options options{};

  void run() { Attention::run(q, k, v, y, workspace, options, map); }
  float weight(std::size_t key) const { return map[key]; }  // of query 0
};

bool near(double actual, double expected, double roundings) {
  return std::abs(actual - expected) <= std::abs(expected) * roundings * static_cast<double>(rounding);
}

template <std::size_t Queries>
void check_cap_before_mask() {
  Scores<Queries, decltype(Additive{} & Padding{}), CappedAtOne> s;
  // All scores are 0, and the softcap keeps scores below 1. The softcap must be applied before the mask. Otherwise, the
  // bias of 10 would be capped to about 1, and hidden keys would get the score -1 instead of -inf.
  std::array<float, Queries * 5> values{};
  values[1] = 10;
  values[2] = -infinity;
  const std::array<std::uint8_t, 5> bytes{1, 1, 1, 0, 0};
  s.options.mask.first.values = values;
  s.options.mask.second.may_see = bytes;
  s.run();
  CHECK(near(static_cast<double>(s.weight(1) / s.weight(0)), std::exp(10.0), 64));
  for (std::size_t key = 2; key < 5; ++key) CHECK(s.weight(key) == 0);
}

template <std::size_t Queries>
void check_cap_of_huge_scores() {
  Scores<Queries, Unmasked, CappedAtOne> s;
  s.q.fill(1);
  s.k = {1e30f, -1e30f, 0, 1e30f, 1e-30f};
  s.run();
  CHECK(s.weight(0) == s.weight(3));
  CHECK(near(static_cast<double>(s.weight(0) / s.weight(1)), std::exp(2.0), 32));
  CHECK(near(static_cast<double>(s.weight(0) / s.weight(2)), std::exp(1.0), 32));
  CHECK(s.weight(2) == s.weight(4));
  s.k.fill(-1e30f);
  s.run();
  for (const float p : s.map) CHECK(p == 0.2f);
}

// Checks a mask whose biases are all the lowest float. Some programs mask keys with this bias, but Ladon hides a key
// only if its bias is -inf. So all keys have equal weights, and the output is the mean of the values.
template <std::size_t Queries, class Mask>
void check_lowest() {
  Scores<Queries, Mask> s;
  std::array<float, Queries * 5> values;
  values.fill(lowest);
  const auto set = [&] {
    if constexpr (requires { s.options.mask.values; }) s.options.mask.values = values;
    if constexpr (requires { s.options.mask.first.values; }) s.options.mask.first.values = values;
    if constexpr (requires { s.options.mask.second.values; }) s.options.mask.second.values = values;
  };
  set();
  s.run();
  for (const float p : s.map) CHECK(p == 0.2f);
  for (const float y : s.y) CHECK(std::abs(y - 3) <= 2 * 3 * rounding);
  s.q.fill(-1);
  s.k.fill(1e30f);  // score plus bias would be -inf for every key, but the keys must keep equal weights
  s.run();
  for (const float p : s.map) CHECK(p == 0.2f);
  values[0] = 0;  // the only key of query 0 with a higher bias gets all the weight
  s.k.fill(0);
  s.run();
  CHECK(s.y[0] == 1);
  values.fill(-infinity);
  s.run();
  for (const float y : s.y) CHECK(y == 0);
}

// Checks rows in which CausalAt<1> hides some keys, and every bias is the lowest float. The output must be the mean of
// the values of the visible keys.
template <std::size_t Queries>
void check_lowest_and_hidden() {
  Scores<Queries, decltype(Additive{} & CausalAt<1>{})> s;
  std::array<float, Queries * 5> values;
  values.fill(lowest);
  s.options.mask.first.values = values;
  s.run();
  CHECK(s.weight(0) == 0.5f);
  CHECK(s.weight(1) == 0.5f);
  CHECK(s.y[0] == 1.5f);
}

// Checks the biases 3e38, -3e38 and infinity, with scores of 1e32 or -1e32. The kernel computes (score + bias) *
// log2(e), which exceeds the largest float. Nevertheless, keys with equal scores and biases must have equal weights.
template <std::size_t Queries>
void check_bias_near_the_largest_float() {
  for (const float bias : {3e38f, -3e38f, infinity}) {
    Scores<Queries, Additive> s;
    std::array<float, Queries * 5> values;
    values.fill(bias);
    s.options.mask.values = values;
    s.q.fill(1e16f);
    s.k.fill(bias < 0 ? -1e16f : 1e16f);
    s.run();
    for (const float p : s.map) CHECK(p == 0.2f);
    for (const float y : s.y) CHECK(std::abs(y - 3) <= 2 * 3 * rounding);
  }
}

// Checks scores that overflow to -inf, which hides their keys. Biases of 0 must change nothing: the result must equal
// the result without a mask.
template <std::size_t Queries>
void check_zeros_beside_overflow() {
  Scores<Queries, Additive> biased;
  Scores<Queries, Unmasked> plain;
  const std::array<float, Queries * 5> zeros{};
  biased.options.mask.values = zeros;
  const auto run_both = [&](const std::array<float, 5>& keys) {
    biased.q.fill(-1e30f);
    plain.q = biased.q;
    biased.k = keys;
    plain.k = keys;
    biased.run();
    plain.run();
    CHECK(biased.map == plain.map);
    CHECK(biased.y == plain.y);
  };
  run_both({1e30f, 1e30f, 1e-30f, 2e-30f, 1e30f});
  CHECK(biased.weight(0) == 0);
  run_both({1e30f, 1e30f, 1e30f, 1e30f, 1e30f});
  for (const float y : biased.y) CHECK(y == 0);
}

template <std::size_t Queries>
void check_huge_scores_under_masks() {
  Scores<Queries, Boolean> s;
  s.q.fill(1e15f);
  s.k = {1e15f, -1e15f, 1e15f, 0, -1e15f};
  std::array<std::uint8_t, Queries * 5> pairs;
  pairs.fill(1);
  s.options.mask.may_see = pairs;
  s.run();
  CHECK(s.y[0] == 2);  // the mean of keys 0 and 2
  pairs.fill(0);
  pairs[1] = pairs[4] = 1;
  s.run();
  CHECK(s.weight(1) == 0.5f);  // equal scores give equal weights, although the scores are very low
  CHECK(s.y[0] == 3.5f);
}

template <std::size_t Queries>
void check_sinks() {
  Scores<Queries, Unmasked, WithSinks> s;
  const auto with = [&](float sink, float score) {
    const std::array<float, 1> sinks{sink};
    s.options.sinks = sinks;
    s.q.fill(1);
    s.k.fill(score);
    s.run();
  };
  with(0, 0);
  for (const float p : s.map) CHECK(near(static_cast<double>(p), 1.0 / 6, 4));
  with(1e30f, 0);  // the sink gets all the weight
  for (const float p : s.map) CHECK(p == 0);
  for (const float y : s.y) CHECK(y == 0);
  with(-1e30f, 0);  // the sink gets no weight
  for (const float p : s.map) CHECK(p == 0.2f);
  with(0, -1e30f);
  for (const float y : s.y) CHECK(y == 0);
  with(-infinity, -1e30f);
  for (const float p : s.map) CHECK(p == 0.2f);
}

}  // namespace

TEST_CASE("the cap comes before the mask") {
  check_cap_before_mask<1>();
  check_cap_before_mask<3>();
}

TEST_CASE("scores of 1e30 and -1e30 are capped to the cap") {
  check_cap_of_huge_scores<1>();
  check_cap_of_huge_scores<3>();
}

TEST_CASE("a row of the lowest float is a mean over its keys") {
  check_lowest<1, Additive>();
  check_lowest<3, Additive>();
  check_lowest<3, ladon::mask::AdditivePerHead>();
  check_lowest_and_hidden<1>();
  check_lowest_and_hidden<3>();
}

TEST_CASE("biases near the largest float") {
  check_bias_near_the_largest_float<1>();
  check_bias_near_the_largest_float<3>();
}

TEST_CASE("biases of 0 beside scores that overflowed to -inf") {
  check_zeros_beside_overflow<1>();
  check_zeros_beside_overflow<3>();
}

TEST_CASE("adding the lowest float twice hides no key") {
  check_lowest<1, decltype(Additive{} & Additive{})>();
  check_lowest<3, decltype(Additive{} & Additive{})>();
}

TEST_CASE("scores of 1e30 and -1e30 under a mask") {
  check_huge_scores_under_masks<1>();
  check_huge_scores_under_masks<3>();
}

TEST_CASE("a sink of any size") {
  check_sinks<1>();
  check_sinks<3>();
}

TEST_CASE("alibi over far distances leaves the nearest key") {
  using Attention = ladon::Attention<S{.queries = 2, .keys = 600, .model = 1, .heads = 1}, Alibi>;
  static Attention::Workspace workspace;
  Random random(1);
  const Floats q = random.normals(2), k = random.normals(600), v = random.normals(600);
  const std::array<float, 1> slopes{1e30f};
  std::array<float, 2> y{};
  Attention::run(q.data(), k.data(), v.data(), y, workspace, {.mask = {.slopes = slopes}});
  // ALiBi hides no key. Its bias grows with the position of the key, and is positive for keys after the query. So the
  // last key gets all the weight.
  for (const float out : y) CHECK(out == v[599]);
}

TEST_CASE("alibi with slopes near the largest float leaves one key") {
  const auto check = []<std::size_t Queries>() {
    Scores<Queries, Alibi> s;
    s.k = {1, -1, 2, 0.5f, -3};
    s.q.fill(1);
    for (const float slope : {3e38f, -3e38f, infinity, -infinity}) {
      const std::array<float, 1> slopes{slope};
      s.options.mask.slopes = slopes;
      s.run();
      for (const float y : s.y) CHECK(y == (slope > 0 ? 5 : 1));
    }
  };
  check.template operator()<1>();
  check.template operator()<3>();
}

}  // namespace ladon_test
