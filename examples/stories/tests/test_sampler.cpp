#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "error.hpp"
#include "sampler.hpp"

namespace stories {
namespace {

// The logits of four tokens. At temperature 1, their probabilities are 0.15, 0.5, 0.05 and 0.3.
const std::vector<float> logits{std::log(0.15f), std::log(0.5f), std::log(0.05f), std::log(0.3f)};

std::vector<TokenId> choices(Sampler sampler, std::size_t count, const std::vector<float>& from = logits) {
  std::vector<TokenId> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sampler.choose(from));
  return chosen;
}

// Chooses 20,000 times among the four tokens. Returns how often each token was chosen, as a fraction.
std::array<double, 4> shares(float temperature, float top_p) {
  constexpr std::size_t count = 20000;
  std::array<double, 4> found{};
  for (const TokenId token : choices(Sampler(temperature, top_p, 7), count)) found.at(token) += 1.0 / count;
  return found;
}

void check_shares(const std::array<double, 4>& found, const std::array<double, 4>& expected) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) < 0.02);
    if (expected[i] == 0) CHECK(found[i] == 0);
  }
}

}  // namespace

TEST_SUITE_BEGIN("sampler");

TEST_CASE("at temperature 0, the likeliest token is chosen, and the first of equal tokens") {
  CHECK(choices(Sampler(0, 0.9f, 1), 3) == std::vector<TokenId>{1, 1, 1});
  CHECK(choices(Sampler(0, 0.9f, 1), 1, {1, 3, 3, 2}) == std::vector<TokenId>{1});
}

TEST_CASE("equal seeds give equal choices, another seed gives other choices") {
  for (const float top_p : {0.0f, 0.9f, 1.0f}) {
    CHECK(choices(Sampler(1, top_p, 42), 200) == choices(Sampler(1, top_p, 42), 200));
    CHECK(choices(Sampler(1, top_p, 42), 200) != choices(Sampler(1, top_p, 43), 200));
    CHECK(choices(Sampler(1, top_p, 0), 200) == choices(Sampler(1, top_p, 0), 200));
  }
  const auto zero = choices(Sampler(1, 1, 0), 200);
  CHECK(std::ranges::count(zero, zero.front()) < 200);
}

TEST_CASE("a high temperature flattens the probabilities, a low temperature sharpens them") {
  check_shares(shares(1, 1), {0.15, 0.5, 0.05, 0.3});
  check_shares(shares(1, 0), {0.15, 0.5, 0.05, 0.3});
  check_shares(shares(0.5f, 1), {0.0616, 0.6849, 0.0068, 0.2466});  // at temperature 1/2: p^2, normalised
  check_shares(shares(1000, 1), {0.25, 0.25, 0.25, 0.25});
  check_shares(shares(1e-6f, 1), {0, 1, 0, 0});
}

TEST_CASE("top_p keeps only the likeliest tokens whose sum exceeds top_p") {
  check_shares(shares(1, 0.45f), {0, 1, 0, 0});
  check_shares(shares(1, 0.7f), {0, 0.625, 0, 0.375});
  check_shares(shares(1, 0.9f), {0.1579, 0.5263, 0, 0.3158});
  check_shares(shares(1, 0.99f), {0.15, 0.5, 0.05, 0.3});
}

TEST_CASE("a top_p below every probability keeps the likeliest token") {
  // Each of the 512 equal probabilities is below (1 - top_p) / 511, and Sampler erases candidates below this limit. But
  // Sampler always keeps the likeliest candidate, so token 0 must stay.
  const std::vector<float> equal(vocabulary_size, 1.0f);
  CHECK(choices(Sampler(1, 0.001f, 1), 3, equal) == std::vector<TokenId>{0, 0, 0});
  std::vector<float> unequal(vocabulary_size, 0.0f);
  unequal[300] = 2;
  CHECK(choices(Sampler(1e30f, 0.001f, 1), 3, unequal) == std::vector<TokenId>{0, 0, 0});
  CHECK(choices(Sampler(1e4f, 0.001f, 1), 3, unequal) == std::vector<TokenId>{300, 300, 300});
}

TEST_CASE("a temperature too small for the division counts as 0") {
  constexpr float least = std::numeric_limits<float>::denorm_min();
  for (const float temperature : {1e-38f, 1e-40f, least}) {
    CAPTURE(temperature);
    CHECK(choices(Sampler(temperature, 0.9f, 1), 3, {1, 300, 200}) == std::vector<TokenId>{1, 1, 1});
    CHECK(choices(Sampler(temperature, 1, 1), 3, {-300, -100, -200}) == std::vector<TokenId>{1, 1, 1});
    CHECK(choices(Sampler(temperature, 0, 1), 3, {0, 3, 300, 300}) == std::vector<TokenId>{2, 2, 2});
  }
}

TEST_CASE("the quotient of an unlikely token may overflow") {
  const std::vector<float> from{std::log(0.5f), -3e38f, std::log(0.5f)};
  const auto chosen = choices(Sampler(0.1f, 1, 1), 200, from);
  CHECK(std::ranges::count(chosen, 0U) > 50);
  CHECK(std::ranges::count(chosen, 1U) == 0);
  CHECK(std::ranges::count(chosen, 2U) > 50);
}

TEST_CASE("every temperature and top_p gives a token") {
  constexpr float most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  const std::vector<std::vector<float>> inputs{logits,      {0, 0},          {most, -most}, {most, most, most},
                                               {-most, -1}, {least, -least}, {0, 1e-7f}};
  for (const float temperature : {0.0f, least, 1e-30f, 0.1f, 1.0f, 1e30f, most})
    for (const float top_p : {0.0f, least, 0.001f, 0.5f, 0.999f, 1 - 6e-8f, 1.0f})
      for (const std::vector<float>& from : inputs) {
        CAPTURE(temperature);
        CAPTURE(top_p);
        for (const TokenId token : choices(Sampler(temperature, top_p, 3), 5, from)) CHECK(token < from.size());
      }
}

TEST_CASE("logits that are not finite are refused") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {nan, infinity, -infinity})
    for (const float temperature : {0.0f, 1e-40f, 1.0f, 1e30f}) {
      CAPTURE(bad);
      CAPTURE(temperature);
      Sampler sampler(temperature, 0.9f, 1);
      CHECK_THROWS_AS(static_cast<void>(sampler.choose(std::vector<float>{1, bad, 0})), examples::Error);
      CHECK(sampler.choose(std::vector<float>{9, 0}) == 0);
    }
}

TEST_CASE("the generator is xorshift64*") {
  // With seed 1, the first random number is 0x47E4CE4B896CDD1D / 2^64 = 0.2808. The tokens have the probabilities 0.27,
  // 0.02 and 0.71. So token 1 has the interval from 0.27 to 0.29, which contains the random number, and is chosen.
  CHECK(choices(Sampler(1, 1, 1), 1, {std::log(0.27f), std::log(0.02f), std::log(0.71f)}) == std::vector<TokenId>{1});
}

TEST_SUITE_END();

}  // namespace stories
