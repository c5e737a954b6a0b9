// Tests the choice of tokens (model/sampling.hpp) with plain float64 loops. Sampler documents its generator, so the
// oracle knows each random number. It accepts each token whose interval contains the random number, or lies closer to
// it than rounding may move the interval.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/model/sampling.hpp>

#include "random.hpp"

namespace ladon_test {

namespace {

using ladon::Likeliest, ladon::Sampler, ladon::Sampling, ladon::no_token;
using Tokens = std::vector<std::int32_t>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
constexpr float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();

// Returns the generator's numbers in [0, 1): xorshift64*.
std::vector<double> random_numbers(std::uint64_t state, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    numbers.push_back(static_cast<double>((state * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53);
  }
  return numbers;
}

struct Candidate {
  std::int32_t token;
  double probability;
};
struct Distribution {
  std::vector<Candidate> candidates;  // in the order in which the sampler adds them
  double error = 0;                   // rounding moves a sum of probabilities by at most this number
};

// Divides all probabilities by their sum.
void normalise(std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& one : candidates) sum += one.probability;
  for (Candidate& one : candidates) one.probability /= sum;
}

// A weight is 2^z. Three roundings change z by 4 |z| units of 2^-24 at most (the divisor has two), and its polynomial
// changes 2^z by 3 such units. The sum of all weights has the same relative error.
double rounding_error(const std::vector<Candidate>& candidates) {
  double error = 0;
  for (const auto& [token, probability] : candidates)
    if (probability > 0) error += probability * (3 - 4 * std::log(probability / candidates.front().probability));
  return 2 * error * 0x1p-24;
}

Distribution expected(const std::vector<float>& logits, const Sampling& s) {
  std::vector<Candidate> all;
  const double largest = *std::ranges::max_element(logits), t = s.temperature;
  for (std::size_t i = 0; i < logits.size(); ++i)
    all.push_back({static_cast<std::int32_t>(i), std::exp((logits[i] - largest) / t)});
  const bool limited = s.top_k > 0 && s.top_k < logits.size();
  auto sorted = all;
  const auto rank = [&](const Candidate& one) {
    return std::pair(-logits[static_cast<std::size_t>(one.token)], one.token);
  };
  std::ranges::sort(sorted, std::less{}, rank);
  if (limited) sorted.resize(s.top_k);
  normalise(all), normalise(sorted);
  const double error = rounding_error(sorted);
  if (s.top_p >= 1) return {limited ? sorted : all, error};
  double sum = 0;
  std::size_t kept = 0;
  while (kept < sorted.size() && (kept == 0 || sum < static_cast<double>(s.top_p))) sum += sorted[kept++].probability;
  sorted.resize(kept);
  normalise(sorted);
  return {sorted, 2 * error};
}

bool may_choose(const Distribution& d, double number, std::int32_t token) {
  double sum = 0;
  for (const auto& [candidate, probability] : d.candidates) {
    const double begin = sum;
    sum += probability;
    if (candidate == token) return begin - d.error <= number && number <= sum + d.error;
  }
  return false;
}

template <std::size_t V>
Tokens choices(const Sampling& s, const std::vector<float>& logits, std::size_t count) {
  static Sampler<V> sampler;
  sampler.start(s);
  Tokens chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sampler(logits.data()));
  return chosen;
}

// Every third logit is a multiple of 1/2, so that some logits are equal.
std::vector<float> some_logits(std::size_t count, std::uint64_t seed) {
  std::vector<float> logits = Random(seed).normals(count, 3);
  for (std::size_t i = 0; i < count; i += 3) logits[i] = std::round(2 * logits[i]) / 2;
  return logits;
}

template <std::size_t V>
void check_choices(const Sampling& s, std::size_t count) {
  const auto logits = some_logits(V, V + s.seed);
  const Distribution d = expected(logits, s);
  const auto numbers = random_numbers(s.seed, count);
  const Tokens chosen = choices<V>(s, logits, count);
  CAPTURE(V);
  CAPTURE(s.temperature);
  CAPTURE(s.top_k);
  CAPTURE(s.top_p);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += !may_choose(d, numbers[i], chosen[i]);
  CHECK(wrong == 0);
}

template <std::size_t V>
void check_vocabulary() {
  std::uint64_t seed = 1;
  for (const float temperature : {0.05f, 0.7f, 1.0f, 30.0f})
    for (const std::size_t top_k : {std::size_t{0}, std::size_t{1}, std::size_t{5}, V - 1, V, V + 3})
      for (const float top_p : {1.0f, 0.999f, 0.9f, 0.3f, 1e-6f, 0.0f})
        check_choices<V>({temperature, top_k, top_p, ++seed}, 100);
}

const std::vector<float> four{std::log(0.15f), std::log(0.5f), std::log(0.05f), std::log(0.3f)};

// Draws 20,000 times. The number of a token has a binomial distribution: 5 of its standard deviations are the bound.
void check_shares(const Sampling& s, const std::array<double, 4>& shares) {
  constexpr double count = 20000;
  const Tokens chosen = choices<4>(s, four, static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const auto found = static_cast<double>(std::ranges::count(chosen, static_cast<std::int32_t>(i)));
    CHECK(std::abs(found - count * shares[i]) <= 5 * std::sqrt(count * shares[i] * (1 - shares[i])));
  }
}

}  // namespace

TEST_CASE("every choice is that of the float64 oracle") {
  check_vocabulary<1>();
  check_vocabulary<2>();
  check_vocabulary<3>();
  check_vocabulary<7>();
  check_vocabulary<64>();
  check_vocabulary<513>();
}

TEST_CASE("large vocabularies") {
  for (const Sampling& s : {Sampling{1, 0, 1, 1}, {1, 50, 1, 2}, {1, 0, 0.9f, 3}, {0.5f, 64, 0.95f, 4}})
    check_choices<32000>(s, 5);
  if constexpr (sizeof(void*) > 4) {  // not on microcontrollers
    check_choices<256000>({1, 64, 0.95f, 5}, 5);
    check_choices<256000>({1, 0, 0.5f, 6}, 2);
  }
}

TEST_CASE("the frequencies of tokens are their probabilities") {
  check_shares({1, 0, 1, 7}, {0.15, 0.5, 0.05, 0.3});
  check_shares({0.5f, 0, 1, 8}, {0.0225 / 0.365, 0.25 / 0.365, 0.0025 / 0.365, 0.09 / 0.365});
  check_shares({1e6f, 0, 1, 9}, {0.25, 0.25, 0.25, 0.25});
  check_shares({1, 2, 1, 10}, {0, 0.625, 0, 0.375});
  check_shares({1, 0, 0.7f, 11}, {0, 0.625, 0, 0.375});
  check_shares({1, 0, 0.9f, 12}, {0.15 / 0.95, 0.5 / 0.95, 0, 0.3 / 0.95});
  check_shares({1, 2, 0.6f, 13}, {0, 1, 0, 0});  // 0.625 of the two tokens is more than 0.6
  check_shares({1, 3, 0.84f, 14}, {0, 0.625, 0, 0.375});
}

TEST_CASE("temperature 0 chooses the first of the largest logits") {
  CHECK(choices<4>({}, {1, 3, 3, 2}, 2) == Tokens{1, 1});
  CHECK(choices<4>({0, 2, 0.5f, 1}, {1, 3, 3, 2}, 2) == Tokens{1, 1});
  CHECK(choices<4>({-1, 0, 1, 1}, {1, 3, 3, 2}, 2) == Tokens{1, 1});
  CHECK(choices<4>({nan, 0, 1, 1}, {1, 3, 3, 2}, 2) == Tokens{1, 1});
  CHECK(Likeliest<4>{}(std::array{1.0f, 3.0f, 3.0f, 2.0f}.data()) == 1);
}

TEST_CASE("extreme temperatures") {
  for (const float temperature : {least, 1e-40f, 1e-20f, 1e-3f}) {
    CAPTURE(temperature);
    CHECK(choices<3>({temperature, 0, 1, 1}, {-300, -100, -200}, 5) == Tokens(5, 1));
    CHECK(choices<3>({temperature, 2, 0.5f, 1}, {most, -most, 0}, 5) == Tokens(5, 0));
  }
  for (const float temperature : {1e30f, most, infinite}) {
    CAPTURE(temperature);
    const Tokens chosen = choices<3>({temperature, 0, 1, 1}, {-3, 1, -infinite}, 200);
    CHECK(std::ranges::count(chosen, 0) > 60);
    CHECK(std::ranges::count(chosen, 1) > 60);
    CHECK(std::ranges::count(chosen, 2) == 0);
    CHECK(choices<3>({temperature, 0, 0.1f, 1}, {-3, 1, -infinite}, 5) == Tokens(5, 1));
  }
}

TEST_CASE("of equal logits, top_k and top_p keep the first") {
  const std::vector<float> equal(512, 1);
  CHECK(choices<512>({1, 1, 1, 1}, equal, 5) == Tokens(5, 0));
  CHECK(choices<512>({1, 0, 0.001f, 1}, equal, 5) == Tokens(5, 0));
  CHECK(std::ranges::max(choices<512>({1, 3, 1, 1}, equal, 200)) == 2);
  CHECK(std::ranges::max(choices<512>({1, 0, 0.25f, 1}, equal, 2000)) == 127);
}

TEST_CASE("top_p that is not between 0 and 1") {
  CHECK(choices<4>({1, 0, -1, 1}, four, 5) == Tokens(5, 1));
  CHECK(choices<4>({1, 0, 2, 1}, four, 50) == choices<4>({1, 0, 1, 1}, four, 50));
  CHECK(choices<4>({1, 0, nan, 1}, four, 50) == choices<4>({1, 0, 1, 1}, four, 50));
}

TEST_CASE("logits that are not finite") {
  for (const Sampling& s : {Sampling{}, {1, 0, 1, 1}, {1, 2, 1, 1}, {1, 0, 0.9f, 1}, {0.5f, 3, 0.5f, 1}}) {
    CAPTURE(s.top_k);
    CAPTURE(s.top_p);
    CHECK(choices<3>(s, {nan, nan, nan}, 3) == Tokens(3, no_token));
    CHECK(choices<3>(s, {-infinite, nan, -infinite}, 3) == Tokens(3, no_token));
    CHECK(choices<3>(s, {nan, -5, -infinite}, 20) == Tokens(20, 1));
    CHECK(choices<3>(s, {nan, most, infinite}, 3) == Tokens(3, 2));
    CHECK(choices<3>(s, {infinite, infinite, 0}, 3) == Tokens(3, 0));
    CHECK(choices<1>(s, {-most}, 3) == Tokens(3, 0));
    CHECK(choices<1>(s, {nan}, 3) == Tokens(3, no_token));
  }
}

TEST_CASE("equal seeds give equal tokens, other seeds other tokens") {
  for (const Sampling& s : {Sampling{1, 0, 1, 42}, {1, 0, 0.9f, 42}, {1, 3, 1, 42}}) {
    const Sampling other{s.temperature, s.top_k, s.top_p, 43}, zero{s.temperature, s.top_k, s.top_p, 0};
    CHECK(choices<4>(s, four, 200) == choices<4>(s, four, 200));
    CHECK(choices<4>(s, four, 200) != choices<4>(other, four, 200));
    CHECK(std::ranges::count(choices<4>(zero, four, 200), 1) < 200);
  }
  // The first number of the seed 1 is 0x47e4ce4b896cdd1d / 2^64 = 0.2808, in the interval of token 1.
  CHECK(choices<3>({1, 0, 1, 1}, {std::log(0.27f), std::log(0.02f), std::log(0.71f)}, 1) == Tokens{1});
}

TEST_CASE("all targets choose equal tokens") {  // and constant expressions: test_model_constexpr.cpp
  const std::vector<float> logits{1, 3, -2, 2.5f, 0, -infinite, 2.75f};
  CHECK(choices<7>({0.8f, 6, 0.98f, 5}, logits, 12) == Tokens{1, 6, 6, 6, 1, 1, 1, 1, 6, 3, 3, 1});
}

TEST_CASE("a penalty makes each token of the text less likely, once") {
  std::vector<float> logits{2, -2, 3, 0};
  const Tokens text{0, 1, 0, -1, 4, 1000000, 1, no_token, 0};
  ladon::penalise_repetition<4>(text.data(), text.size(), 2, logits.data());
  CHECK(logits == std::vector<float>{1, -4, 3, 0});
  ladon::penalise_repetition<4>(text.data(), 0, 2, logits.data());
  CHECK(logits == std::vector<float>{1, -4, 3, 0});
}

}  // namespace ladon_test
