// Compares embeddings with those that transformers computed in float64.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "fixtures.hpp"

namespace minilm {
namespace {

// Returns the largest difference between elements, or NaN if an element is NaN.
double largest_difference(const Embedding& actual, const std::vector<double>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected.at(i));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

}  // namespace

TEST_SUITE_BEGIN("conformance");

TEST_CASE("embeddings of texts alone and together, and their similarities") {
  LADON_SKIP_WITHOUT(recorded_file());
  LADON_SKIP_WITHOUT(model_file());
  const nlohmann::json data = recorded(), cases = data.at("cases");
  SentenceEncoder encoder(default_folder());
  std::vector<std::vector<TokenId>> ids;
  for (const auto& text : cases) ids.push_back(text.at("ids"));
  const std::vector<Embedding> together = encoder.embed(ids);
  REQUIRE(together.size() == cases.size());
  double largest = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    for (const Embedding& embedding : {together[i], encoder.embed(ids[i]), encoder.embed(ids[i])}) {
      const double difference = largest_difference(embedding, cases[i].at("embedding"));
      CHECK(difference <= 1e-6);
      largest = std::max(largest, difference);
    }
  }
  MESSAGE("embeddings differ by at most " << largest);
  for (const auto& pair : data.at("pairs")) {
    const float cosine = similarity(together.at(pair.at("a")), together.at(pair.at("b")));
    CHECK(std::abs(static_cast<double>(cosine) - pair.at("cosine").get<double>()) <= 1e-5);
  }
  CHECK(encoder.embed(std::span<const std::vector<TokenId>>{}).empty());
}

TEST_CASE("invalid ids are refused") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(default_folder());
  using Ids = std::vector<TokenId>;
  for (const Ids& ids : {Ids{}, Ids{101, vocabulary_size, 102}, Ids{101, -1}, Ids(max_tokens + 1, 101)}) {
    CHECK_THROWS_AS(static_cast<void>(encoder.embed(ids)), Error);
    CHECK_THROWS_AS(static_cast<void>(encoder.embed(std::vector<Ids>{{101, 102}, ids})), Error);
  }
}

TEST_SUITE_END();

}  // namespace minilm
