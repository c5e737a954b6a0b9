// SPDX-License-Identifier: Apache-2.0
// Tests a program that takes a pair of texts: the result of --text and --text-pair is that of the ids and types that
// the tokenizer makes of the pair. The model is in the folder pairs. Its weights are random.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"
#include "testing/program.hpp"

namespace ladon::import {
namespace {

constexpr std::size_t width = 8;

class Weights {
 public:
  Weights& add(const std::string& name, std::size_t rows, std::size_t columns = 0) {
    std::vector<float> numbers(rows * (columns == 0 ? 1 : columns));
    for (float& number : numbers) number = normal_(random_);
    const std::string shape = std::to_string(rows) + (columns == 0 ? "" : "," + std::to_string(columns));
    file_.add(name, "F32", "[" + shape + "]", files::floats(numbers));
    return *this;
  }
  Weights& add_linear(const std::string& name, std::size_t outputs, std::size_t inputs) {
    return add(name + ".weight", outputs, inputs).add(name + ".bias", outputs);
  }
  Weights& add_norm(const std::string& name) { return add(name + ".weight", width).add(name + ".bias", width); }
  [[nodiscard]] std::string content() const { return file_.content(); }

 private:
  files::Checkpoint file_{};
  std::minstd_rand random_{7};
  std::normal_distribution<float> normal_{0.1f, 0.5f};
};

std::string weights() {
  Weights all;
  const std::string in = "bert.embeddings.", layer = "bert.encoder.layer.0.";
  all.add(in + "word_embeddings.weight", 12, width).add(in + "position_embeddings.weight", 9, width);
  all.add(in + "token_type_embeddings.weight", 2, width).add_norm(in + "LayerNorm");
  for (const char* name : {"query", "key", "value"}) all.add_linear(layer + "attention.self." + name, width, width);
  all.add_linear(layer + "attention.output.dense", width, width).add_norm(layer + "attention.output.LayerNorm");
  all.add_linear(layer + "intermediate.dense", 12, width).add_linear(layer + "output.dense", width, 12);
  all.add_norm(layer + "output.LayerNorm");
  return all.add_linear("bert.pooler.dense", width, width).add_linear("classifier", 1, width).content();
}

std::string integers(const std::vector<std::int32_t>& values) {
  std::string bytes;
  for (const std::int32_t value : values) bytes += std::string{static_cast<char>(value), '\0', '\0', '\0'};
  return bytes;
}

struct PairScene {
  examples::TemporaryFolder folder;
  PairScene() {
    (void)folder.file("model.safetensors", weights());
    for (const char* name : {"config.json", "tokenizer.json"})
      std::filesystem::copy_file(std::filesystem::path(LADON_PAIRS_FOLDER) / name, folder.path() / name);
  }
  [[nodiscard]] examples::Answer run(const std::string& arguments) const {
    return examples::run_in_shell(LADON_PAIRS_PROGRAM " '" + folder.path().string() + "' " + arguments);
  }
  [[nodiscard]] std::string answer(const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& types) const {
    files::Checkpoint given;
    const std::string shape = "[1," + std::to_string(ids.size()) + "]";
    given.add("given.input_ids", "I32", shape, integers(ids))
        .add("given.token_type_ids", "I32", shape, integers(types));
    const examples::TemporaryFolder inputs;
    return run("--inputs '" + inputs.file("io.safetensors", given.content()).string() + "'").out;
  }
};

}  // namespace

TEST_SUITE_BEGIN("pairs");

TEST_CASE("a pair of texts has the answer of its ids and types") {
  const PairScene scene;
  const examples::Answer pair = scene.run("--text 'all is' --text-pair 'well!'");
  CHECK(pair.err == "");
  CHECK(pair.status == 0);
  CHECK(pair.out == scene.answer({2, 4, 5, 3, 6, 11, 3}, {0, 0, 0, 0, 1, 1, 1}));
  CHECK(pair.out != scene.answer({2, 4, 5, 3, 6, 11, 3}, {0, 0, 0, 0, 0, 0, 0}));
  CHECK(scene.run("--text 'all is'").out == scene.answer({2, 4, 5, 3}, {0, 0, 0, 0}));
  CHECK(scene.run("--text all --text-pair ''").out == scene.answer({2, 4, 3, 3}, {0, 0, 0, 1}));
}

TEST_CASE("a pair that is too long is cut, longest first, and the program says so") {
  const PairScene scene;
  const examples::Answer pair = scene.run("--text 'all is well!' --text-pair unaffable");
  CHECK(pair.err == "the pair of texts has 10 tokens, and is cut to 9\n");
  CHECK(pair.status == 0);
  CHECK(pair.out == scene.answer({2, 4, 5, 6, 3, 7, 8, 9, 3}, {0, 0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST_CASE("wrong pairs and texts are refused") {
  const PairScene scene;
  examples::check_refused(scene.run("--text-pair well 2 3"), 1, "--text-pair needs --text, the first text of the pair");
  examples::check_refused(scene.run("--text all --text-pair"), 1, "--text-pair needs a value");
  examples::check_refused(scene.run("--text 'all is well all is well all is well'"), 1,
                          R"("input_ids" has 11 numbers; expected 1 to 9)");
}

TEST_SUITE_END();

}  // namespace ladon::import
