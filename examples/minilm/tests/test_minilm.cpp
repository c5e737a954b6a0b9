#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "minilm.hpp"
#include "model_files.hpp"

namespace minilm {
namespace {

// Returns the largest difference between an element of `actual` and the same element of `expected`, or NaN if an
// element is NaN.
template <class Actual>
double largest_difference(const Actual& actual, const std::vector<double>& expected) {
  if (actual.size() < expected.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

std::vector<TokenId> ids_of(const nlohmann::json& expected) { return expected.at("ids").get<std::vector<TokenId>>(); }

double tolerance(const nlohmann::json& data, const char* what) {
  return data.at("tolerance_float32").at(what).get<double>();
}

}  // namespace

TEST_SUITE_BEGIN("conformance");

TEST_CASE("embeddings and similarities") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  const nlohmann::json data = read_json(conformance_file());
  SentenceEncoder encoder(default_model_folder());
  std::vector<Embedding> embeddings;
  double largest = 0;
  for (const auto& expected : data.at("cases")) {
    embeddings.push_back(encoder.embed(ids_of(expected)));
    const auto difference = largest_difference(embeddings.back(), expected.at("embedding").get<std::vector<double>>());
    CAPTURE(expected.at("text").get<std::string>());
    CHECK(difference <= 1e-6);
    largest = std::max(largest, difference);
  }
  MESSAGE("embeddings differ by at most " << largest);
  for (const auto& pair : data.at("pairs")) {
    const float cosine =
        similarity(embeddings.at(pair.at("a").get<std::size_t>()), embeddings.at(pair.at("b").get<std::size_t>()));
    CHECK(std::abs(static_cast<double>(cosine) - pair.at("cosine").get<double>()) <= tolerance(data, "similarity_abs"));
  }
}

TEST_CASE("the attention of 'it' in every head") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  const nlohmann::json data = read_json(conformance_file());
  SentenceEncoder encoder(default_model_folder());
  double largest = 0;
  for (const auto& expected : data.at("cases")) {
    if (!expected.contains("attention")) continue;
    Attention attention;
    const auto ids = ids_of(expected);
    static_cast<void>(encoder.embed(ids, attention));
    const auto row = expected.at("attention").at("row").get<std::size_t>();
    for (std::size_t layer = 0; layer < layer_count; ++layer) {
      for (std::size_t head = 0; head < head_count; ++head) {
        CAPTURE(layer);
        CAPTURE(head);
        const auto weights = expected.at("attention").at("layers").at(layer).at(head).get<std::vector<double>>();
        const double difference = largest_difference(attention.row(layer, head, row), weights);
        CHECK(difference <= tolerance(data, "attention_abs"));
        largest = std::max(largest, difference);
      }
    }
  }
  MESSAGE("attention differs by at most " << largest);
}

TEST_CASE("a text has equal embeddings after any earlier text, and with its attention") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(default_model_folder());
  std::vector<TokenId> ids(max_tokens);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(2000 + i * 97);
  const std::vector<std::size_t> lengths{1, 5, 8, 9, 16, 31, 64, 129, 256};
  std::vector<Embedding> first;
  for (const std::size_t length : lengths) first.push_back(encoder.embed(std::span(ids).first(length)));
  for (std::size_t i = lengths.size(); i-- > 0;) {
    Attention attention;
    const Embedding with = encoder.embed(std::span(ids).first(lengths[i]), attention);
    CHECK(encoder.embed(std::span(ids).first(lengths[i])) == first[i]);
    // Layers for short texts may add in another order.
    CHECK(largest_difference(with, std::vector<double>(first[i].begin(), first[i].end())) <= 1e-6);
    for (std::size_t head = 0; head < layer_count * head_count; ++head) {
      double sum = 0;
      for (const float weight : attention.row(0, head, lengths[i] - 1)) sum += static_cast<double>(weight);
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("several texts share calls, and have the embeddings that each text has alone") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(default_model_folder());
  std::vector<std::vector<TokenId>> texts;
  TokenId next = 2000;
  for (const std::size_t length : {2u, 7u, 31u, 1u, 33u, 64u, 8u, 40u, 70u, 256u, 5u, 11u, 254u}) {
    texts.emplace_back(length);
    for (TokenId& id : texts.back()) id = next++;
  }
  const std::vector<Embedding> together = encoder.embed(texts);
  REQUIRE(together.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(i);
    const Embedding alone = encoder.embed(texts[i]);
    CHECK(largest_difference(together[i], std::vector<double>(alone.begin(), alone.end())) <= 1e-6);
  }
  CHECK(encoder.embed(std::span<const std::vector<TokenId>>{}).empty());
  texts.emplace_back();
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(texts)), ModelError);
}

TEST_CASE("invalid ids are refused") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(default_model_folder());
  const std::vector<TokenId> none, large{101, vocabulary_size, 102}, negative{101, -1}, many(max_tokens + 1, 101);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(none)), ModelError);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(large)), ModelError);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(negative)), ModelError);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(many)), ModelError);
}

TEST_SUITE_END();

}  // namespace minilm
