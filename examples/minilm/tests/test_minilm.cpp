#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "minilm.hpp"
#include "model_error.hpp"
#include "stack.hpp"
#include "word_piece.hpp"

namespace minilm {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

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

// Computes the layers one by one. Returns stages [stage][capacity][model_width]: stage 0 is the input of the first
// layer, and stage i + 1 is the output of layer i.
std::vector<std::vector<float>> stages_of(const SentenceEncoder& encoder, std::span<const TokenId> ids) {
  constexpr std::size_t capacity = capacities.front();
  const auto stack = make_stack<capacity>(std::get<Layers>(encoder.layers()));
  std::vector<std::vector<float>> stages(layer_count + 1, std::vector<float>(capacity * model_width, nan));
  encoder.lookup(ids, stages.front().data());
  for (std::size_t layer = 0; layer < layer_count; ++layer)
    stack->run_layer(layer, stages[layer].data(), stages[layer + 1].data(), ids.size());
  return stages;
}

}  // namespace

TEST_SUITE_BEGIN("conformance");

TEST_CASE("hidden values after every stage: the first wrong stage shows where the error is") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  const nlohmann::json data = read_json(conformance_file());
  const SentenceEncoder encoder(model_file());
  std::size_t cases = 0;
  for (const auto& expected : data.at("cases")) {
    if (!expected.contains("hidden_first4")) continue;
    const auto stages = stages_of(encoder, ids_of(expected));
    const auto& hidden = expected.at("hidden_first4");
    REQUIRE(hidden.size() == stages.size());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      for (std::size_t token = 0; token < hidden[stage].size(); ++token) {
        CAPTURE(stage);
        CAPTURE(token);
        const auto row = std::span(stages[stage]).subspan(token * model_width, 4);
        CHECK(largest_difference(row, hidden[stage][token].get<std::vector<double>>()) <=
              tolerance(data, "hidden_abs"));
      }
    }
    ++cases;
  }
  CHECK(cases > 0);
}

TEST_CASE("embeddings and similarities") {
  LADON_SKIP_WITHOUT(conformance_file());
  LADON_SKIP_WITHOUT(model_file());
  const nlohmann::json data = read_json(conformance_file());
  SentenceEncoder encoder(model_file());
  std::vector<Embedding> embeddings;
  double largest = 0;
  for (const auto& expected : data.at("cases")) {
    embeddings.push_back(encoder.embed(ids_of(expected)));
    const auto difference = largest_difference(embeddings.back(), expected.at("embedding").get<std::vector<double>>());
    CAPTURE(expected.at("text").get<std::string>());
    CHECK(difference <= tolerance(data, "embedding_abs"));
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
  SentenceEncoder encoder(model_file());
  double largest = 0;
  for (const auto& expected : data.at("cases")) {
    if (!expected.contains("attention")) continue;
    Attention attention;
    const auto ids = ids_of(expected);
    const Embedding with = encoder.embed(ids, attention);
    CHECK(with == encoder.embed(ids));
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

TEST_CASE("a text has equal embeddings at every capacity, and after any earlier text") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(model_file());
  std::vector<TokenId> ids(max_tokens);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(2000 + i * 97);
  std::vector<std::size_t> lengths;
  for (const std::size_t capacity : capacities) {
    lengths.push_back(capacity);
    lengths.push_back(capacity / 2 + 1);
  }
  std::vector<Embedding> first;
  for (const std::size_t length : lengths) first.push_back(encoder.embed(std::span(ids).first(length)));
  for (std::size_t i = lengths.size(); i-- > 0;) {
    Attention attention;
    CHECK(encoder.embed(std::span(ids).first(lengths[i]), attention) == first[i]);
    for (std::size_t head = 0; head < layer_count * head_count; ++head) {
      double sum = 0;
      for (const float weight : attention.row(0, head, lengths[i] - 1)) sum += static_cast<double>(weight);
      CHECK(sum == doctest::Approx(1).epsilon(1e-5));
    }
  }
  // Computes one text with the smallest and with the largest encoder.
  const Layers& layers = std::get<Layers>(encoder.layers());
  const auto small = make_stack<capacities.front()>(layers), large = make_stack<capacities.back()>(layers);
  std::vector<float> x(max_tokens * model_width, nan), y(max_tokens * model_width, nan),
      z(max_tokens * model_width, nan);
  constexpr std::size_t tokens = capacities.front() - 1;
  encoder.lookup(std::span(ids).first(tokens), x.data());
  small->run(x.data(), y.data(), tokens);
  large->run(x.data(), z.data(), tokens);
  CHECK(largest_difference(y, std::vector<double>(z.begin(), z.begin() + tokens * model_width)) <= 1e-4);
  CHECK(std::isnan(z[tokens * model_width]));
}

TEST_CASE("several texts in one run have the embeddings that each text has alone") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(model_file());
  // `embed` puts several texts one after another into a run of at most 256 tokens. With the following lengths, some
  // texts begin or end inside a panel (the tokens that share a vector register), and inside a 32-bit word of
  // SharedStack::Sight. The text of 256 tokens fills a run. The text of 254 tokens does not fit behind the texts of 5
  // and 11 tokens, so it has a run of its own.
  const std::vector<std::size_t> lengths{2, 7, 31, 1, 33, 64, 8, 40, 70, 256, 5, 11, 254};
  std::vector<std::vector<TokenId>> texts;
  TokenId next = 2000;
  for (const std::size_t length : lengths) {
    texts.emplace_back(length);
    for (TokenId& id : texts.back()) id = next++;
  }
  const std::vector<Embedding> together = encoder.embed(texts);
  REQUIRE(together.size() == texts.size());
  // For a text of up to 8 tokens, or of 17 to 24 tokens, a separate run adds in a different order than a shared run. So
  // the last bits of the two embeddings may differ.
  const auto same = [&](std::size_t i, const Embedding& a, const Embedding& b) {
    const std::size_t tokens = texts[i].size();
    const bool same_order = tokens > 24 || (tokens > 8 && tokens <= 16);
    return same_order ? a == b : largest_difference(a, std::vector<double>(b.begin(), b.end())) <= 1e-6;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(i);
    CHECK(same(i, together[i], encoder.embed(texts[i])));
  }
  // Computes the texts again in reverse order. A text that shares a run with other texts then begins at another token
  // of the run than before. The embedding must not depend on this position.
  std::ranges::reverse(texts);
  const std::vector<Embedding> reversed = encoder.embed(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(i);
    CHECK(same(i, reversed[i], together[texts.size() - 1 - i]));
  }
  CHECK(encoder.embed(std::span<const std::vector<TokenId>>{}).empty());
  texts.emplace_back();
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(texts)), ModelError);
}

TEST_CASE("invalid ids are refused") {
  LADON_SKIP_WITHOUT(model_file());
  SentenceEncoder encoder(model_file());
  const std::vector<TokenId> none, large{101, vocabulary_size, 102}, many(max_tokens + 1, 101);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(none)), ModelError);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(large)), ModelError);
  CHECK_THROWS_AS(static_cast<void>(encoder.embed(many)), ModelError);
}

TEST_SUITE_END();

}  // namespace minilm
