#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "error.hpp"
#include "fixtures.hpp"
#include "model.hpp"
#include "reference.hpp"

namespace stories {
namespace {

// The largest allowed difference between a float32 logit and the float64 logit of Reference. Logits reach about 20, and
// the observed differences are approximately 1e-5.
constexpr double tolerance = 2e-4;

// Returns max_positions tokens from the whole vocabulary. Every call returns equal tokens.
std::vector<TokenId> some_text() {
  std::vector<TokenId> tokens(max_positions);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<TokenId>((i * 97 + i * i * 31) % vocabulary_size);
  tokens[0] = 1;
  return tokens;
}

double largest_difference(Logits actual, const std::vector<double>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

// Returns the logits that Reference computes at each position.
std::vector<std::vector<double>> expected_logits(const Checkpoint& checkpoint, const std::vector<TokenId>& tokens) {
  Reference reference(checkpoint);
  std::vector<std::vector<double>> logits;
  for (const TokenId token : tokens) logits.push_back(reference.extend(token));
  return logits;
}

}  // namespace

TEST_SUITE_BEGIN("model");

TEST_CASE("the logits of every position, token by token") {
  LADON_SKIP_WITHOUT(model_file());
  Model model(model_file());
  const auto tokens = some_text();
  const auto expected = expected_logits(model.checkpoint(), tokens);
  double largest = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double difference = largest_difference(model.extend(std::span(tokens).subspan(i, 1)), expected[i]);
    CAPTURE(i);
    CHECK(difference <= tolerance);
    largest = std::max(largest, difference);
  }
  MESSAGE("logits differ by at most " << largest);
}

TEST_CASE("several tokens at once and one by one give equal logits") {
  LADON_SKIP_WITHOUT(model_file());
  Model model(model_file());
  const auto tokens = some_text();
  const auto expected = expected_logits(model.checkpoint(), tokens);
  for (const std::vector<std::size_t>& pieces :
       {std::vector<std::size_t>{512}, {2, 1, 2}, {31, 32, 33}, {1, 31}, {64, 1, 1, 63, 383}, {1, 511}, {511, 1}}) {
    model.clear();
    for (const std::size_t count : pieces) {
      const std::size_t first = model.length();
      CAPTURE(first);
      CAPTURE(count);
      CHECK(largest_difference(model.extend(std::span(tokens).subspan(first, count)), expected[first + count - 1]) <=
            tolerance);
    }
  }
}

TEST_CASE("invalid tokens are refused, and the earlier text is unchanged") {
  LADON_SKIP_WITHOUT(model_file());
  Model model(model_file());
  const std::vector<TokenId> tokens = some_text(), large{1, vocabulary_size}, many(max_positions + 1, 1);
  CHECK_THROWS_AS(static_cast<void>(model.extend({})), examples::Error);
  CHECK_THROWS_AS(static_cast<void>(model.extend(large)), examples::Error);
  CHECK_THROWS_AS(static_cast<void>(model.extend(many)), examples::Error);
  CHECK(model.length() == 0);
  static_cast<void>(model.extend(tokens));
  CHECK(model.length() == max_positions);
  CHECK_THROWS_AS(static_cast<void>(model.extend(std::span(tokens).first(1))), examples::Error);
  CHECK(model.length() == max_positions);
}

TEST_CASE("the results of a damaged file are refused") {
  LADON_SKIP_WITHOUT(model_file());
  std::ifstream file(model_file(), std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  const std::size_t final_norm = 28 + 4 * (512 * 64 + 5 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 172 * 64));
  content.replace(final_norm, 4, bytes_of(std::numeric_limits<float>::quiet_NaN()));
  const TemporaryFolder folder;
  Model model(folder.file("model.bin", content));
  CHECK_THROWS_WITH_AS(static_cast<void>(model.extend(std::vector<TokenId>{1})),
                       "the model's answer is not finite: is its file damaged?", examples::Error);
}

TEST_SUITE_END();

}  // namespace stories
