// SPDX-License-Identifier: Apache-2.0
// Tests the batches of an imported model: run_batch in C++ and in C beside run and pool, texts of 1 to 150 tokens, and
// teams of 1 to 4 threads. The model is in the folder sentences. Its weights are random.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <ladon/model/weight_image.hpp>

#include "sentences.h"
#include "sentences.hpp"

namespace ladon::import {
namespace {

using Lengths = std::vector<std::size_t>;
constexpr std::size_t width = sentences::pooled_width;

// Points all views to random numbers of the size that weights have.
sentences::Weights random_weights(std::vector<float>& numbers) {
  std::minstd_rand random(1);
  std::normal_distribution<float> normal(0, 0.2f);
  numbers.resize(20'000);
  for (float& number : numbers) number = normal(random);
  sentences::Weights weights{};
  std::size_t next = 0;
  for_each_tensor(weights, [&]<class T>(T& tensor) {
    if constexpr (std::is_same_v<T, float>) {
      tensor = 1e-12f;
    } else {
      tensor = numbers.data() + (next++ * 37) % 4'000;
    }
  });
  return weights;
}

struct Batch {
  Lengths lengths;
  std::vector<std::int32_t> ids, types;
  explicit Batch(Lengths of) : lengths(std::move(of)), ids(std::accumulate(lengths.begin(), lengths.end(), 0u)) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int32_t>(i * 29 % 100);
      types.push_back(i % 5 < 2 ? 0 : 1);
    }
  }
  [[nodiscard]] Texts texts(bool with_types = false) const {
    return {ids.data(), lengths.data(), lengths.size(), with_types ? types.data() : nullptr};
  }
};

std::vector<Batch> batches() {
  std::vector<Batch> all;
  Lengths each;
  for (std::size_t i = 1; i <= 150; i += 3) each.push_back(i * 41 % 150 + 1);
  for (const Lengths& lengths : {Lengths{1}, {150}, {128, 128}, {127, 1, 1}, each, Lengths(200, 3)})
    all.emplace_back(lengths);
  return all;
}

template <class Memory>
std::unique_ptr<Memory> spoilt() {
  auto memory = std::make_unique<Memory>();
  std::memset(static_cast<void*>(memory.get()), 0xff, sizeof(Memory));  // each float becomes NaN
  return memory;
}

// Calls work(i) on thread i of `count` threads.
template <class Work>
void on_threads(std::size_t count, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_SUITE_BEGIN("batch");

TEST_CASE("run_batch gives the vectors of run and pool, with equal bits for any number of threads") {
  std::vector<float> numbers;
  const sentences::Weights weights = random_weights(numbers);
  const auto single = spoilt<sentences::Workspace>();
  std::vector<float> last(150 * width, NAN);
  for (const Batch& batch : batches()) {
    std::vector<float> pooled(batch.lengths.size() * width, NAN), alone(width);
    sentences::run_batch(batch.texts(), weights, pooled.data(), *spoilt<sentences::BatchWorkspace>());
    for_each_text(batch.texts(), [&](const BatchText& text) {
      const std::size_t rows = sentences::run(text.ids, text.tokens, weights, last.data(), *single);
      sentences::pool(last.data(), rows, weights, alone.data(), *single);
      for (std::size_t i = 0; i < width; ++i) CHECK(std::abs(pooled[text.number * width + i] - alone[i]) <= 1e-6f);
    });
    for (std::size_t threads = 1; threads <= 4; ++threads) {
      std::vector<float> together(pooled.size(), NAN);
      on_threads(threads, [&](std::size_t i) {
        const auto workspace = spoilt<sentences::BatchWorkspace>();
        sentences::run_batch(batch.texts(), weights, together.data(), *workspace, {i, threads});
      });
      CHECK(std::memcmp(together.data(), pooled.data(), pooled.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("the calls inside run give the attention weights of each layer") {
  std::vector<float> numbers;
  const sentences::Weights weights = random_weights(numbers);
  const auto workspace = spoilt<sentences::Workspace>();
  constexpr std::size_t most = sentences::most_tokens, heads = 3, tokens = 7;
  const Batch text({tokens});
  std::vector<float> expected(most * width), last(most * width), first(heads * most * most), second(first);
  sentences::run(text.ids.data(), tokens, weights, expected.data(), *workspace);
  sentences::embed(text.ids.data(), nullptr, tokens, weights, workspace->x, *workspace);
  sentences::encoder::Stack::run(workspace->x, weights.layers, last.data(), workspace->layers, {.tokens = tokens},
                                 std::array{first.data(), second.data()});
  for (std::size_t i = 0; i < tokens * width; ++i) CHECK(std::abs(last[i] - expected[i]) <= 1e-5f);
  for (const auto& map : {first, second}) {
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t query = 0; query < tokens; ++query) {
        const float* const row = map.data() + (head * most + query) * most;
        CHECK(std::accumulate(row, row + tokens, 0.0f) == doctest::Approx(1).epsilon(1e-5));
      }
    }
  }
}

// The row of a token's type adds to the row of its id. So a model without types whose row of an id contains the row of
// the type gives the same vectors.
TEST_CASE("types of tokens change the rows of their ids") {
  std::vector<float> numbers, words(100 * width);
  const sentences::Weights weights = random_weights(numbers);
  sentences::Weights without_types = weights;
  without_types.word_embeddings.weight = words.data();
  const auto workspace = spoilt<sentences::Workspace>();
  const auto batch_workspace = spoilt<sentences::BatchWorkspace>();
  const float* const types = weights.token_type_embeddings.data;
  for (const Batch& batch : {Batch({7}), Batch({100}), Batch({30, 20, 1, 49})}) {
    for (std::size_t t = 0; t < batch.ids.size(); ++t) {  // less than 100 tokens, so each has another id
      const auto row = static_cast<std::size_t>(batch.ids[t]) * width;
      for (std::size_t i = 0; i < width; ++i)
        words[row + i] =
            weights.word_embeddings.weight.data[row + i] + (batch.types[t] == 0 ? 0 : types[width + i] - types[i]);
    }
    const std::size_t texts = batch.lengths.size();
    std::vector<float> pooled(texts * width, NAN), expected(texts * width, NAN), zeros(texts * width, NAN);
    sentences::run_batch(batch.texts(true), weights, pooled.data(), *batch_workspace);
    sentences::run_batch(batch.texts(), without_types, expected.data(), *batch_workspace);
    sentences::run_batch(batch.texts(), weights, zeros.data(), *batch_workspace);
    float change = 0;
    for (std::size_t i = 0; i < pooled.size(); ++i) {
      CHECK(std::abs(pooled[i] - expected[i]) <= 1e-5f);
      change = std::max(change, std::abs(pooled[i] - zeros[i]));
    }
    CHECK(change > 1e-3f);
    for_each_text(batch.texts(true), [&](const BatchText& text) {
      std::vector<float> last(text.tokens * width), alone(width);
      const std::size_t rows = sentences::run(text.ids, text.types, text.tokens, weights, last.data(), *workspace);
      sentences::pool(last.data(), rows, weights, alone.data(), *workspace);
      for (std::size_t i = 0; i < width; ++i) CHECK(std::abs(pooled[text.number * width + i] - alone[i]) <= 1e-6f);
    });
  }
}

struct alignas(64) Line {
  std::byte bytes[64];
};

TEST_CASE("the C function computes the same, and writes nothing after a wrong argument") {
  std::vector<float> numbers;
  const sentences::Weights weights = random_weights(numbers);
  const auto image = std::make_unique<Line[]>(image_bytes<sentences::Weights> / sizeof(Line) + 1);
  write_image(weights, image[0].bytes);
  const auto workspace = std::make_unique<Line[]>(sentences_batch_workspace_bytes() / sizeof(Line) + 1);
  const Batch batch({3, 100, 30});
  std::vector<float> pooled(3 * width, 7), expected(3 * width);
  const auto run = [&](const Batch& any, void* memory, std::size_t thread, std::size_t threads) {
    return sentences_run_batch(any.ids.data(), any.lengths.data(), any.lengths.size(), pooled.data(), memory, thread,
                               threads);
  };
  CHECK(run(batch, workspace.get(), 0, 1) == LADON_MODEL_NOT_STARTED);
  REQUIRE(sentences_start(image.get(), image_bytes<sentences::Weights>) == LADON_MODEL_OK);
  Batch wrong_id = batch;
  wrong_id.ids.back() = 100;
  CHECK(run(wrong_id, workspace.get(), 0, 1) == LADON_MODEL_BAD_ID);
  CHECK(run(Batch({3, 0}), workspace.get(), 0, 1) == LADON_MODEL_BAD_LENGTH);
  CHECK(run(Batch({3, 151}), workspace.get(), 0, 1) == LADON_MODEL_BAD_LENGTH);
  CHECK(run(batch, workspace.get(), 1, 1) == LADON_MODEL_BAD_LENGTH);
  CHECK(run(batch, nullptr, 0, 1) == LADON_MODEL_NULL);
  CHECK(run(batch, workspace[0].bytes + 4, 0, 1) == LADON_MODEL_MISALIGNED);
  CHECK(pooled == std::vector<float>(3 * width, 7));
  sentences::run_batch(batch.texts(), weights, expected.data(), *spoilt<sentences::BatchWorkspace>());
  CHECK(run(batch, workspace.get(), 0, 2) == LADON_MODEL_OK);
  CHECK(run(batch, workspace.get(), 1, 2) == LADON_MODEL_OK);
  CHECK(pooled == expected);
}

TEST_CASE("C functions with types of tokens") {
  std::vector<float> numbers;
  const sentences::Weights weights = random_weights(numbers);
  const auto image = std::make_unique<Line[]>(image_bytes<sentences::Weights> / sizeof(Line) + 1);
  write_image(weights, image[0].bytes);
  REQUIRE(sentences_start(image.get(), image_bytes<sentences::Weights>) == LADON_MODEL_OK);
  const auto workspace = std::make_unique<Line[]>(sentences_batch_workspace_bytes() / sizeof(Line) + 1);
  const Batch batch({30, 20});
  std::vector<float> pooled(2 * width), expected(2 * width), last(30 * width), last_expected(30 * width);
  sentences::run_batch(batch.texts(true), weights, expected.data(), *spoilt<sentences::BatchWorkspace>());
  const auto run_batch = [&](const std::int32_t* types) {
    pooled.assign(pooled.size(), 7);
    return sentences_run_batch_with_types(batch.ids.data(), types, batch.lengths.data(), 2, pooled.data(),
                                          workspace.get(), 0, 1);
  };
  CHECK(run_batch(batch.types.data()) == LADON_MODEL_OK);
  CHECK(pooled == expected);
  sentences::run_batch(batch.texts(), weights, expected.data(), *spoilt<sentences::BatchWorkspace>());
  CHECK(run_batch(nullptr) == LADON_MODEL_OK);
  CHECK(pooled == expected);
  const auto single = spoilt<sentences::Workspace>();
  CHECK(sentences::run(batch.ids.data(), batch.types.data(), 30, weights, last_expected.data(), *single) == 30);
  std::size_t rows = 0;
  CHECK(sentences_run_with_types(batch.ids.data(), batch.types.data(), 30, last.data(), &rows, nullptr) ==
        LADON_MODEL_OK);
  CHECK(rows == 30);
  CHECK(last == last_expected);
  for (const std::int32_t wrong : {-1, 2}) {
    Batch other = batch;
    other.types[29] = wrong;
    pooled.assign(pooled.size(), 7);
    CHECK(run_batch(other.types.data()) == LADON_MODEL_BAD_ID);
    CHECK(sentences_pool_with_types(other.ids.data(), other.types.data(), 30, pooled.data(), nullptr) ==
          LADON_MODEL_BAD_ID);
    CHECK(pooled == std::vector<float>(2 * width, 7));
    CHECK(sentences_pool_with_types(other.ids.data(), other.types.data(), 29, pooled.data(), nullptr) ==
          LADON_MODEL_OK);
  }
}

TEST_SUITE_END();

}  // namespace ladon::import
