// SPDX-License-Identifier: Apache-2.0
// Tests ladon-import with the ONNX file of a BERT encoder of opset 11, such as that of bge-small-en-v1.5. The program
// of tests/import/sentences computes the last hidden state with the weights that ladon-import took from the graph.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bert_graph.hpp"
#include "sentences.hpp"
#include "sentences_weights.hpp"
#include "testing/fixtures.hpp"
#include "testing/program.hpp"

namespace ladon::onnx {
namespace {

namespace fs = std::filesystem;
using examples::Answer, examples::TemporaryFolder;

constexpr BertSizes sizes{
    .layers = 2, .model = 24, .heads = 3, .feed_forward = 40, .vocabulary = 100, .positions = 150};
const std::vector<std::size_t> ids{7, 99, 0, 13, 42, 42, 1};

// Calls ladon-import for the folder of tests/import/sentences with an ONNX file.
class Import {
 public:
  explicit Import(const std::string& onnx) {
    fs::copy(LADON_SENTENCES_DIR, folder_.path() / "sentences", fs::copy_options::recursive);
    fs::create_directory(folder_.path() / "sentences/onnx");
    (void)folder_.file("sentences/onnx/model.onnx", onnx);
    answer = examples::run_in_shell(LADON_IMPORT_COMMAND " '" + (folder_.path() / "sentences").string() + "' --cpp '" +
                                    out().string() + "'");
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }

  Answer answer{};

 private:
  TemporaryFolder folder_;
};

void check_result(const BertGraph& graph, const fs::path& weights_folder) {
  const safetensors::Folder folder(weights_folder);
  const sentences::Weights weights = sentences::load(folder);
  CHECK(weights.layer_norm.epsilon == 1e-12f);
  CHECK(weights.layers.layers[1].norm2.epsilon == 1e-12f);
  const std::vector<std::int32_t> tokens(ids.begin(), ids.end());
  const auto workspace = std::make_unique<sentences::Workspace>();
  std::vector<float> last(150 * sizes.model);
  REQUIRE(sentences::run(tokens.data(), tokens.size(), weights, last.data(), *workspace) == ids.size());
  double error = 0, largest = 0;
  for (std::size_t t = 0; t < ids.size(); ++t)
    for (std::size_t i = 0; i < sizes.model; ++i) {
      const double expected = graph.last()[t][i];
      largest = std::max(largest, std::abs(expected));
      error = std::max(error, std::abs(static_cast<double>(last[t * sizes.model + i]) - expected));
    }
  CHECK(largest > 0.5);
  CHECK(error <= 1e-5 * largest);
}

}  // namespace

TEST_SUITE_BEGIN("bert_graph");

TEST_CASE("the program computes what the graph computes, with and without names of nodes") {
  for (const bool has_names : {true, false}) {
    const BertGraph graph(sizes, ids, 1e-12f, has_names);
    const Import import(graph.file().content());
    INFO(import.answer.err);
    REQUIRE(import.answer.status == 0);
    const safetensors::File file(import.out() / "weights/model.safetensors");
    CHECK(file.tensors().size() == graph.tensors().size());
    for (const auto& [name, numbers] : graph.tensors()) {
      INFO(name);
      const auto found = file.tensors().find(name);
      REQUIRE(found != file.tensors().end());
      const auto bytes = file.bytes(found->second);
      CHECK(files::floats(numbers) == std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    check_result(graph, import.out() / "weights");
  }
}

TEST_CASE("a norm with another epsilon than that of config.json is named") {
  const Import import(BertGraph(sizes, ids, 1e-5f).file().content());
  CHECK(import.answer.status == 1);
  CHECK(import.answer.err.find("model.onnx: the norm \"embeddings.LayerNorm\" has the epsilon 1e-05, and config.json "
                               "says 1e-12 (\"layer_norm_eps\")") != std::string::npos);
  CHECK_FALSE(fs::exists(import.out()));
}

TEST_CASE("a norm that is not understood is named beside the tensor that the model lacks") {
  const Import import(BertGraph(sizes, ids, 1e-12f, true, "onnx::Mul_213").file().content());
  CHECK(import.answer.status == 1);
  const std::string unknown =
      "no name and no node tells which tensor each of these constants is: \"onnx::Mul_213\" "
      "[24] of the node \"/encoder/layer.1/output/LayerNorm/Mul\" (Mul)";
  CHECK(import.answer.err.find(unknown) != std::string::npos);
  CHECK(import.answer.err.find("there is no \"encoder.layer.1.output.LayerNorm.weight\"") != std::string::npos);
  CHECK_FALSE(fs::exists(import.out()));
}

TEST_SUITE_END();

}  // namespace ladon::onnx

#else
TEST_SUITE_BEGIN("bert_graph");
TEST_CASE("arguments are quoted for a POSIX shell") { MESSAGE("skipped: there is no POSIX shell"); }
TEST_SUITE_END();
#endif
