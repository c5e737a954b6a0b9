#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sampler.hpp"

namespace stories {
namespace {

// Probabilities 0.5, 0.3, 0.15, 0.05 at temperature 1.
const std::vector<float> logits{std::log(0.15f), std::log(0.5f), std::log(0.05f), std::log(0.3f)};

std::vector<TokenId> choices(Sampler sampler, std::size_t count, const std::vector<float>& from = logits) {
  std::vector<TokenId> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sampler.choose(from));
  return chosen;
}

// How often each of the four was chosen.
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

TEST_CASE("at temperature 0 the likeliest, and the first of equals") {
  CHECK(choices(Sampler(0, 0.9f, 1), 3) == std::vector<TokenId>{1, 1, 1});
  CHECK(choices(Sampler(0, 0.9f, 1), 1, {1, 3, 3, 2}) == std::vector<TokenId>{1});
}

TEST_CASE("the same seed gives the same choices, another seed others") {
  for (const float top_p : {0.0f, 0.9f, 1.0f}) {
    CHECK(choices(Sampler(1, top_p, 42), 200) == choices(Sampler(1, top_p, 42), 200));
    CHECK(choices(Sampler(1, top_p, 42), 200) != choices(Sampler(1, top_p, 43), 200));
    CHECK(choices(Sampler(1, top_p, 0), 200) == choices(Sampler(1, top_p, 0), 200));
  }
  const auto zero = choices(Sampler(1, 1, 0), 200);
  CHECK(std::ranges::count(zero, zero.front()) < 200);
}

TEST_CASE("temperature evens the probabilities out or sharpens them") {
  check_shares(shares(1, 1), {0.15, 0.5, 0.05, 0.3});
  check_shares(shares(1, 0), {0.15, 0.5, 0.05, 0.3});
  check_shares(shares(0.5f, 1), {0.0616, 0.6849, 0.0068, 0.2466});  // p^2, normalised
  check_shares(shares(1000, 1), {0.25, 0.25, 0.25, 0.25});
  check_shares(shares(1e-6f, 1), {0, 1, 0, 0});
}

TEST_CASE("top_p leaves only the likeliest that together exceed it") {
  check_shares(shares(1, 0.45f), {0, 1, 0, 0});
  check_shares(shares(1, 0.7f), {0, 0.625, 0, 0.375});
  check_shares(shares(1, 0.9f), {0.1579, 0.5263, 0, 0.3158});
  check_shares(shares(1, 0.99f), {0.15, 0.5, 0.05, 0.3});
}

TEST_CASE("the generator is xorshift64*") {
  // From state 1 it gives 0x47E4CE4B896CDD1D first: 0.2808 of the interval, where the first four tenths are token 0.
  CHECK(choices(Sampler(1, 1, 1), 1, {std::log(0.27f), std::log(0.02f), std::log(0.71f)}) == std::vector<TokenId>{1});
}

TEST_SUITE_END();

}  // namespace stories
