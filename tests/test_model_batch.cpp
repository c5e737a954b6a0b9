// Tests batches of texts (ladon/model/batch.hpp): the division into calls and shares, and the results of texts that
// share a call of the layers, and of single texts (ladon/model/text.hpp), beside the oracle.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/encoder.hpp>
#include <ladon/model/batch.hpp>
#include <ladon/model/text.hpp>

#include "encoder_check.hpp"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_part.hpp"
#include "weight_views.hpp"

namespace ladon_test {

namespace {

using Counts = std::vector<std::size_t>;

constexpr ladon::Model model{.layers = 2, .tokens = 50, .model = 12, .heads = 3, .feed_forward = 20};
constexpr std::size_t most = 37, width = model.model, ids = 64;
using Single = ladon::Encoder<model>;
using Together = ladon::Encoder<ladon::model_of_texts(model, most)>;
static_assert(std::is_same_v<Single::Weights, Together::Weights>);

struct Memory {
  Single::Workspace single;
  ladon::ShortTextWorkspace<Single> short_text;
  ladon::TextsWorkspace<Together, most> together;
  float x[model.tokens * width];
};

// An encoder of ids: row `id` of `table` is the input of a token.
struct Problem {
  EncoderProblem encoder = random_encoder(model.shape(), {.layers = model.layers, .layer = {.feed_forward = 20}}, 1);
  Floats table = Random(5).normals(ids * width);
  std::vector<Floats> tensors{};
  Single::Weights weights{};

  Problem() {
    for (const auto& layer : encoder.layers) append_tensors(tensors, WeightLayout::in_proj, model.shape(), layer);
    std::vector<const float*> pointers;
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    const float* const* next = pointers.data();
    point_layers(weights.layers, next, encoder.form.epsilon);
  }

  void embed(const std::int32_t* text, std::size_t tokens, float* x) const {
    for (std::size_t t = 0; t < tokens; ++t)
      std::copy_n(table.data() + static_cast<std::size_t>(text[t]) * width, width, x + t * width);
  }

  void run_single(const std::int32_t* text, std::size_t tokens, float* y, Memory& memory) const {
    embed(text, tokens, memory.x);
    ladon::run_text(memory.x, weights, y, memory.single, memory.short_text, {.tokens = tokens});
  }

  // Computes the rows `y` of all tokens of a share.
  void run_batch(const ladon::Texts& texts, float* y, Memory& memory, ladon::Share share = {}) const {
    std::memset(static_cast<void*>(&memory), 0xff, sizeof memory);  // each float becomes NaN
    ladon::for_each_call(texts, most, share, [&](const ladon::Texts& part, std::size_t) {
      float* const to = y + (part.ids - texts.ids) * static_cast<std::ptrdiff_t>(width);
      if (part.count == 1) return run_single(part.ids, part.lengths[0], to, memory);
      ladon::for_each_text(
          part, [&](const ladon::BatchText& text) { embed(text.ids, text.tokens, memory.x + text.first * width); });
      ladon::run_together<Together>(part, memory.x, weights, to, memory.together);
    });
  }

  Expected expected(const std::int32_t* text, std::size_t tokens) const {
    Floats rows(tokens * width);
    embed(text, tokens, rows.data());
    oracle::Matrix x(tokens, width, rows.data());
    for (const auto& layer : encoder.layers)
      x = oracle::encoder_layer(x, layer, heads_of(model.shape()), encoder.form.layer, tokens, tokens,
                                [](std::size_t, std::size_t) { return true; })
              .out;
    return {x.data.begin(), x.data.end()};
  }
};

std::vector<std::int32_t> ids_of(const Counts& lengths) {
  std::vector<std::int32_t> all(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i * 29 % ids);
  return all;
}

// Batches with texts of all lengths from 1 to model.tokens.
const std::vector<Counts> batches = [] {
  std::vector<Counts> all{{1}, {50}, {1, 1}, {37, 37}, {36, 1, 1}, {38, 3, 38}};
  Counts each, scattered;
  for (std::size_t i = 1; i <= model.tokens; ++i) each.push_back(i), scattered.push_back(i * 19 % 50 + 1);
  all.push_back(each), all.push_back(scattered), all.emplace_back(80, 1);
  return all;
}();

}  // namespace

TEST_CASE("texts in a batch have the results of the oracle and of calls for one text") {
  const Problem problem;
  const auto memory = std::make_unique<Memory>();
  for (const Counts& lengths : batches) {
    const auto all = ids_of(lengths);
    const ladon::Texts texts{all.data(), lengths.data(), lengths.size()};
    const Floats y = run_twice(all.size() * width, [&](float* to) { problem.run_batch(texts, to, *memory); });
    ladon::for_each_text(texts, [&](const ladon::BatchText& text) {
      CAPTURE(text.tokens);
      const Expected expected = problem.expected(text.ids, text.tokens);
      CHECK(worst_distance(std::span(y).subspan(text.first * width, text.tokens * width), expected) <= 1);
      Floats alone(text.tokens * width);
      problem.run_single(text.ids, text.tokens, alone.data(), *memory);
      CHECK(worst_distance(alone, expected) <= 1);
    });
  }
}

// Layers for short texts would compute something else.
template <class Stack>
constexpr bool has_short_texts = ladon::ShortTexts<Stack>::exist;
constexpr bool may_have_short_texts = ladon::detail::target::Current::short_text_tokens > 0 && !LADON_DETERMINISTIC;
static_assert(has_short_texts<Single> == may_have_short_texts);
static_assert(!has_short_texts<ladon::Encoder<model, ladon::mask::Causal>>);
constexpr ladon::Model scaled_by_keys = [] {
  ladon::Model changed = model;
  changed.score.by = ladon::Scale::keys;
  return changed;
}();
static_assert(!has_short_texts<ladon::Encoder<scaled_by_keys>>);

TEST_CASE("a short text with options for fewer queries or keys") {
  const Problem problem;
  const auto memory = std::make_unique<Memory>();
  const Floats x = Random(3).normals(5 * width);
  for (const Single::Options options : {Single::Options{.tokens = 5, .queries = 3}, {.tokens = 5, .keys = 3}}) {
    Floats expected(5 * width, poison()), y = expected;
    Single::run(x.data(), problem.weights, expected.data(), memory->single, options);
    ladon::run_text(x.data(), problem.weights, y.data(), memory->single, memory->short_text, options);
    CHECK(same_bits(y, expected));
  }
}

TEST_CASE("shares compute all texts once, with the same bits as one thread") {
  const Problem problem;
  const auto memory = std::make_unique<Memory>();
  for (const Counts& lengths : batches) {
    const auto all = ids_of(lengths);
    const ladon::Texts texts{all.data(), lengths.data(), lengths.size()};
    Floats expected(all.size() * width);
    problem.run_batch(texts, expected.data(), *memory);
    for (std::size_t threads = 1; threads <= 4; ++threads) {
      Floats y(all.size() * width, poison());
      for (std::size_t i = threads; i-- > 0;) problem.run_batch(texts, y.data(), *memory, {i, threads});
      CHECK(same_bits(y, expected));
    }
  }
}

TEST_CASE("calls are full, and shares have about equal numbers of tokens") {
  const Counts lengths{5, 6, 7, 20, 3, 1, 9, 40, 2, 2};
  const auto all = ids_of(lengths);
  const ladon::Texts texts{all.data(), lengths.data(), lengths.size()};
  const auto calls = [&](std::size_t largest, ladon::Share share) {
    std::vector<std::vector<std::size_t>> parts;
    ladon::for_each_call(texts, largest, share, [&](const ladon::Texts& part, std::size_t number) {
      CHECK(part.lengths == lengths.data() + number);
      CHECK(part.types == nullptr);
      parts.emplace_back(part.lengths, part.lengths + part.count);
    });
    return parts;
  };
  CHECK(calls(20, {}) == std::vector<Counts>{{5, 6, 7}, {20}, {3, 1, 9}, {40}, {2, 2}});
  CHECK(calls(20, {0, 2}) == std::vector<Counts>{{5, 6, 7}, {20}, {3, 1, 9}});
  CHECK(calls(20, {1, 2}) == std::vector<Counts>{{40}, {2, 2}});
  CHECK(calls(0, {}).size() == lengths.size());
  const ladon::Texts with_types{all.data(), lengths.data(), lengths.size(), all.data()};
  ladon::for_each_call(with_types, 20, {}, [&](const ladon::Texts& part, std::size_t) {
    CHECK(part.types == part.ids);
    ladon::for_each_text(part, [](const ladon::BatchText& text) { CHECK(text.types == text.ids); });
  });
  bool called = false;
  ladon::for_each_call(ladon::Texts{nullptr, nullptr, 0}, 20, {}, [&](const auto&, std::size_t) { called = true; });
  CHECK_FALSE(called);
}

}  // namespace ladon_test
