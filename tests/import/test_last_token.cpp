// SPDX-License-Identifier: Apache-2.0
// Tests the batches of an imported model with a causal mask and rotary positions, whose vector of a text is the last
// hidden state of its last token: run_batch in C++ and in C beside run. The model is in the folder last_token. Its
// weights are random. tests/test_model_batch_distances.cpp compares such batches with the oracle.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include <ladon/model/weight_image.hpp>

#include "last_token.h"
#include "last_token.hpp"

namespace ladon::import {
namespace {

constexpr std::size_t width = last_token::pooled_width;

struct Model {
  std::vector<float> numbers = std::vector<float>(8'000);
  last_token::Weights weights{};
  last_token::Tables tables{};
  Model() {
    std::minstd_rand random(2);
    std::normal_distribution<float> normal(0, 0.2f);
    for (float& number : numbers) number = normal(random);
    std::size_t next = 0;
    for_each_tensor(weights, [&]<class T>(T& tensor) {
      if constexpr (std::is_same_v<T, float>) {
        tensor = 1e-6f;
      } else {
        tensor = numbers.data() + (next++ * 37) % 4'000;
      }
    });
    last_token::prepare(weights, tables);
  }
};

struct Batch {
  std::vector<std::size_t> lengths;
  std::vector<std::int32_t> ids;
  explicit Batch(std::vector<std::size_t> of)
      : lengths(std::move(of)), ids(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0})) {
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 29 % 100);
  }
  [[nodiscard]] Texts texts() const { return {ids.data(), lengths.data(), lengths.size()}; }
};

template <class Memory>
std::unique_ptr<Memory> spoilt() {
  auto memory = std::make_unique<Memory>();
  std::memset(static_cast<void*>(memory.get()), 0xff, sizeof(Memory));  // each float becomes NaN
  return memory;
}

std::vector<float> vectors_of(const Model& model, const Batch& batch, std::size_t threads = 1) {
  std::vector<float> pooled(batch.lengths.size() * width, NAN);
  for (std::size_t i = threads; i-- > 0;)
    last_token::run_batch(batch.texts(), model.weights, model.tables, pooled.data(),
                          *spoilt<last_token::BatchWorkspace>(), {i, threads});
  return pooled;
}

}  // namespace

TEST_SUITE_BEGIN("last_token");

TEST_CASE("a vector of a batch is that of the last token of the text") {
  const Model model;
  const auto workspace = spoilt<last_token::Workspace>();
  std::vector<float> last(last_token::most_last_rows * width);
  for (const Batch& batch : {Batch({1, 2, 7, 31, 33, 1}), Batch({64, 64}), Batch({127, 1, 150, 128, 2})}) {
    const std::vector<float> pooled = vectors_of(model, batch);
    for_each_text(batch.texts(), [&](const BatchText& text) {
      const std::size_t rows =
          last_token::run(text.ids, text.tokens, model.weights, model.tables, last.data(), *workspace);
      REQUIRE(rows == text.tokens);
      const float* const row = last.data() + (rows - 1) * width;
      const float length = std::sqrt(std::inner_product(row, row + width, row, 0.0f));
      for (std::size_t i = 0; i < width; ++i)
        CHECK(std::abs(pooled[text.number * width + i] - row[i] / length) <= 1e-5f);
    });
    for (const std::size_t threads : {1u, 2u})
      CHECK(std::memcmp(vectors_of(model, batch, threads).data(), pooled.data(), pooled.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("a token changes the vector of its text only") {
  const Model model;
  const Batch batch({3, 5, 4});
  const std::vector<float> before = vectors_of(model, batch);
  for (std::size_t changed = 0; changed < batch.ids.size(); ++changed) {
    Batch other = batch;
    other.ids[changed] = (other.ids[changed] + 50) % 100;
    const std::vector<float> after = vectors_of(model, other);
    const std::size_t text = changed < 3 ? 0 : changed < 8 ? 1 : 2;
    for (std::size_t i = 0; i < 3; ++i) {
      const bool same = std::memcmp(&after[i * width], &before[i * width], width * sizeof(float)) == 0;
      CHECK(same == (i != text));
    }
  }
}

struct alignas(64) Line {
  std::byte bytes[64];
};

TEST_CASE("the C function computes the same") {
  const Model model;
  const auto image = std::make_unique<Line[]>(image_bytes<last_token::Weights> / sizeof(Line) + 1);
  write_image(model.weights, image[0].bytes);
  REQUIRE(last_token_start(image.get(), image_bytes<last_token::Weights>) == LADON_MODEL_OK);
  const auto workspace = std::make_unique<Line[]>(last_token_batch_workspace_bytes() / sizeof(Line) + 1);
  const Batch batch({3, 100, 30, 1});
  std::vector<float> pooled(4 * width, 7);
  for (const std::size_t thread : {1u, 0u})
    CHECK(last_token_run_batch(batch.ids.data(), batch.lengths.data(), 4, pooled.data(), workspace.get(), thread, 2) ==
          LADON_MODEL_OK);
  CHECK(pooled == vectors_of(model, batch));
}

TEST_SUITE_END();

}  // namespace ladon::import
