// SPDX-License-Identifier: Apache-2.0
// Tests the program ladon-import with the folder of a model that has an ONNX file.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <cstring>
#include <filesystem>
#include <string>

#include "onnx_writer.hpp"
#include "safetensors.hpp"
#include "testing/fixtures.hpp"
#include "testing/program.hpp"

namespace ladon::onnx {
namespace {

using examples::Answer, examples::TemporaryFolder;
namespace fs = std::filesystem;

Answer run(const std::string& arguments) { return examples::run_in_shell(LADON_IMPORT_COMMAND " " + arguments); }
std::string quoted(const fs::path& path) { return " '" + path.string() + "'"; }

// Returns the graph that PyTorch exports for tests/data/families/t5: linear maps without biases, whose transposed
// matrices have no names.
OnnxWriter graph_of(const files::Safetensors& file) {
  OnnxWriter graph;
  for (const auto& [name, tensor] : file.tensors()) {
    const auto view = file.bytes(tensor);
    std::string bytes(reinterpret_cast<const char*>(view.data()), view.size());
    std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
    const bool is_linear = shape.size() == 2 && name.find("block.") != name.npos && name.find("relative") == name.npos;
    if (!is_linear) {
      graph.add_bytes(name, shape, 1, bytes);
      continue;
    }
    const auto rows = tensor.shape[0], columns = tensor.shape[1];
    std::string transposed(bytes.size(), '\0');
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        std::memcpy(transposed.data() + 4 * (c * rows + r), bytes.data() + 4 * (r * columns + c), 4);
    std::swap(shape[0], shape[1]);
    const std::string constant = "onnx::MatMul_" + std::to_string(std::hash<std::string>()(name));
    std::string path = "/" + name.substr(0, name.rfind('.')) + "/MatMul";
    for (std::size_t i = 1; i < path.size(); ++i)  // "/encoder/block.0/layer.1/DenseReluDense/wi/MatMul"
      if (path[i] == '.' && (path[i + 1] < '0' || path[i + 1] > '9')) path[i] = '/';
    graph.add_bytes(constant, shape, 1, transposed);
    graph.add({.type = "MatMul", .inputs = {"x", constant}, .outputs = {constant + "_y"}, .name = path});
  }
  return graph;
}

}  // namespace

TEST_SUITE_BEGIN("import_onnx");

TEST_CASE("a folder with an ONNX file becomes the same program as one with a safetensors file") {
  const fs::path source = fs::path(LADON_FAMILIES_DIR) / "t5";
  const files::Safetensors expected(source / "model.safetensors");
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "t5/onnx");
  fs::copy_file(source / "config.json", folder.path() / "t5/config.json");
  fs::copy_file(source / "io.safetensors", folder.path() / "t5/io.safetensors");
  (void)folder.file("t5/onnx/model.onnx", graph_of(expected).content());

  for (const char* option : {" --cpp", " --c-sources"}) {
    const fs::path out = folder.path() / (std::string("out") + (option + 3));
    const fs::path reference = folder.path() / (std::string("reference") + (option + 3));
    const Answer answer = run(quoted(folder.path() / "t5") + option + quoted(out));
    INFO(answer.err);
    REQUIRE(answer.status == 0);
    REQUIRE(run(quoted(source) + option + quoted(reference)).status == 0);
    for (const auto& entry : fs::directory_iterator(reference))
      CHECK(examples::run_in_shell("cmp " + quoted(entry.path()) + quoted(out / entry.path().filename())).status == 0);
    CHECK(fs::exists(out / "weights/config.json"));
    const files::Safetensors written(out / "weights/model.safetensors");
    for (const auto& [name, tensor] : written.tensors()) {
      INFO(name);
      const auto& other = expected.tensors().at(name);
      CHECK(tensor.shape == other.shape);
      const auto bytes = written.bytes(tensor), other_bytes = expected.bytes(other);
      CHECK(std::equal(bytes.begin(), bytes.end(), other_bytes.begin(), other_bytes.end()));
    }
    CHECK(written.tensors().size() + 2 >= expected.tensors().size());  // without copies of tied embeddings
  }
  CHECK(run(quoted(folder.path() / "t5") + " --dry-run").out.find("multiply-adds") != std::string::npos);
}

TEST_CASE("a graph that is not understood leaves nothing behind") {
  const TemporaryFolder folder;
  (void)folder.file("model.onnx", OnnxWriter().add({.type = "QLinearMatMul", .name = "q"}).content());
  const fs::path out = folder.path() / "out";
  (void)folder.file("config.json", R"({"model_type": "bert"})");
  const Answer answer = run(quoted(folder.path()) + " --cpp" + quoted(out));
  CHECK(answer.status == 1);
  CHECK(answer.err.find("model.onnx: the node \"q\" (QLinearMatMul) belongs to a quantised model") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(out));
}

TEST_SUITE_END();

}  // namespace ladon::onnx

#else
TEST_SUITE_BEGIN("import_onnx");
TEST_CASE("arguments are quoted for a POSIX shell") { MESSAGE("skipped: there is no POSIX shell"); }
TEST_SUITE_END();
#endif
