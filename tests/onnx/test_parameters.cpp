// SPDX-License-Identifier: Apache-2.0
// Tests that each form in which exporters write linear maps and norms gives the same tensors.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "file_error.hpp"
#include "onnx_writer.hpp"
#include "testing/fixtures.hpp"

namespace ladon::onnx {
namespace {

Checkpoint read(const examples::TemporaryFolder& folder, const OnnxWriter& file, bool in_out = false) {
  return {folder.file("model.onnx", file.content()), [in_out](std::string_view) { return in_out; }};
}

// Returns "NAME[2,3]:1,3,5,.. " for each tensor of the file.
std::string tensors_of(const OnnxWriter& file, bool in_out = false) {
  const examples::TemporaryFolder folder;
  Checkpoint checkpoint = read(folder, file, in_out);
  std::string text;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    text += name + "[";
    for (const std::uint64_t extent : tensor.shape) text += (text.ends_with('[') ? "" : ",") + std::to_string(extent);
    const std::string bytes = checkpoint.values(name);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    text += "]:";
    for (const float value : values) text += (text.ends_with(':') ? "" : ",") + std::to_string(static_cast<int>(value));
    text += " ";
  }
  return text;
}
std::string error_of(const OnnxWriter& file) {
  return examples::error_of<files::Error>([&] { (void)tensors_of(file); });
}

WrittenNode product(const std::string& name, const std::string& matrix, const std::string& output = "p") {
  return {.type = "MatMul", .inputs = {"x", matrix}, .outputs = {output}, .name = name};
}
const WrittenNode sum{.type = "Add", .inputs = {"query.bias", "p"}, .outputs = {"y"}};
const std::string linear = "query.bias[3]:10,11,12 query.weight[3,2]:0,3,1,4,2,5 ";

OnnxWriter with_bias() {
  OnnxWriter file;
  file.add("query.bias", {3}, 10);
  return file;
}

}  // namespace

TEST_SUITE_BEGIN("parameters");

TEST_CASE("a transposed matrix has the name that the bias behind it tells") {
  for (const char* name : {"onnx::MatMul_49", "1639", "val_7", "/query/Transpose_output_0"})
    CHECK(tensors_of(with_bias().add(name, {2, 3}, 0).add(product("MatMul_81", name)).add(sum)) == linear);
}

TEST_CASE("a transposed matrix has the name of the module of its node") {
  OnnxWriter file;
  file.add("onnx::MatMul_49", {2, 3}, 0).add(product("/layers.0/q_proj/MatMul", "onnx::MatMul_49"));
  CHECK(tensors_of(file) == "layers.0.q_proj.weight[3,2]:0,3,1,4,2,5 ");
  WrittenNode node = product("node_linear", "val_1");
  node.scopes = "['', 'layers.0', 'layers.0.q_proj', 'linear']";
  CHECK(tensors_of(OnnxWriter().add("val_1", {2, 3}, 0).add(node)) == "layers.0.q_proj.weight[3,2]:0,3,1,4,2,5 ");
}

TEST_CASE("a module in a Sequential has the name of the Sequential once") {
  OnnxWriter file;
  file.add("onnx::MatMul_49", {2, 3}, 0).add(product("/head/head.2/head.2.0/MatMul", "onnx::MatMul_49"));
  CHECK(tensors_of(file) == "head.2.0.weight[3,2]:0,3,1,4,2,5 ");
}

TEST_CASE("a matrix behind a Transpose is as it was") {
  const WrittenNode transpose{.type = "Transpose", .inputs = {"query.weight"}, .outputs = {"t"}, .permutation = {1, 0}};
  OnnxWriter file = with_bias();
  CHECK(tensors_of(file.add("query.weight", {3, 2}, 0).add(transpose).add(product("", "t")).add(sum)) ==
        "query.bias[3]:10,11,12 query.weight[3,2]:0,1,2,3,4,5 ");
}

TEST_CASE("the matrix of a Gemm") {
  const auto gemm = [](std::int64_t transposed, const std::string& matrix) {
    return WrittenNode{
        .type = "Gemm", .inputs = {"x", matrix, "query.bias"}, .outputs = {"y"}, .numbers = {{"transB", transposed}}};
  };
  CHECK(tensors_of(with_bias().add("query.weight", {3, 2}, 0).add(gemm(1, "query.weight"))) ==
        "query.bias[3]:10,11,12 query.weight[3,2]:0,1,2,3,4,5 ");
  CHECK(tensors_of(with_bias().add("query.weight", {2, 3}, 0).add(gemm(0, "query.weight"))) == linear);
  CHECK(tensors_of(with_bias().add("onnx::Gemm_5", {2, 3}, 0).add(gemm(0, "onnx::Gemm_5"))) == linear);
  // The state dict of GPT-2 has (in, out).
  CHECK(tensors_of(with_bias().add("query.weight", {2, 3}, 0).add(gemm(0, "query.weight")), true) ==
        "query.bias[3]:10,11,12 query.weight[2,3]:0,1,2,3,4,5 ");
}

TEST_CASE("packed projections of MultiheadAttention") {
  OnnxWriter file;
  file.add("attn.in_proj_bias", {3}, 10)
      .add("onnx::MatMul_4", {2, 3}, 0)
      .add(product("/attn/MatMul", "onnx::MatMul_4"));
  file.add({.type = "Add", .inputs = {"p", "attn.in_proj_bias"}, .outputs = {"y"}});
  CHECK(tensors_of(file) == "attn.in_proj_bias[3]:10,11,12 attn.in_proj_weight[3,2]:0,3,1,4,2,5 ");
}

TEST_CASE("equal constants that an exporter stores once") {
  OnnxWriter identity;
  identity.add("a.bias", {2}, 0).add({.type = "Identity", .inputs = {"a.bias"}, .outputs = {"b.bias"}});
  CHECK(tensors_of(identity) == "a.bias[2]:0,1 b.bias[2]:0,1 ");

  OnnxWriter by_module = with_bias();
  by_module.add("val_1", {2, 3}, 0).add(product("/query/MatMul", "val_1")).add(sum);
  by_module.add("val_2", {2, 3}, 1).add(product("/key/MatMul", "val_2", "p2"));
  by_module.add({.type = "Add", .inputs = {"p2", "query.bias"}, .outputs = {"y2"}});
  CHECK(tensors_of(by_module) ==
        "key.bias[3]:10,11,12 key.weight[3,2]:1,4,2,5,3,6 query.bias[3]:10,11,12 query.weight[3,2]:0,3,1,4,2,5 ");
}

TEST_CASE("norms of opset 17 and of older ones") {
  const std::string norm = "norm.bias[2]:7,8 norm.weight[2]:1,2 ";
  const WrittenNode node{.type = "LayerNormalization",
                         .inputs = {"x", "onnx::Mul_1", "norm.bias"},
                         .outputs = {"y"},
                         .name = "LayerNormalization_3"};
  CHECK(tensors_of(OnnxWriter().add("onnx::Mul_1", {2}, 1).add("norm.bias", {2}, 7).add(node)) == norm);

  const auto decomposed = [](const std::string& gains, bool exchanged) {
    OnnxWriter file;
    file.add(gains, {2}, 1).add("norm.bias", {2}, 7);
    file.add({.type = "Sub", .inputs = {"x", "mean"}, .outputs = {"difference"}});
    file.add({.type = "Div", .inputs = {"difference", "root"}, .outputs = {"quotient"}});
    std::vector<std::string> factors{"quotient", gains}, terms{"scaled", "norm.bias"};
    if (exchanged) std::swap(factors[0], factors[1]), std::swap(terms[0], terms[1]);
    file.add({.type = "Mul", .inputs = factors, .outputs = {"scaled"}});
    return file.add({.type = "Add", .inputs = terms, .outputs = {"y"}});
  };
  CHECK(tensors_of(decomposed("norm.weight", false)) == norm);
  CHECK(tensors_of(decomposed("norm.weight", true)) == norm);
  CHECK(tensors_of(decomposed("213", false)) == norm);
  OnnxWriter constant;
  constant.add_constant("/norm/Constant_output_0", 2, 1).add("norm.bias", {2}, 7);
  CHECK(tensors_of(constant.add({.type = "LayerNormalization",
                                 .inputs = {"x", "/norm/Constant_output_0", "norm.bias"},
                                 .outputs = {"y"}})) == norm);
}

TEST_CASE("the epsilon of norms") {
  const auto epsilon_of = [](const OnnxWriter& file) {
    const examples::TemporaryFolder folder;
    const Epsilons epsilons = read(folder, file).epsilons();
    return epsilons.contains("norm") ? epsilons.at("norm") : 0;
  };
  WrittenNode node{
      .type = "LayerNormalization", .inputs = {"x", "norm.weight", "norm.bias"}, .outputs = {"y"}, .epsilon = 1e-12f};
  OnnxWriter norms;
  norms.add("norm.weight", {2}, 1).add("norm.bias", {2}, 7);
  CHECK(epsilon_of(OnnxWriter(norms).add(node)) == 1e-12f);
  node.epsilon.reset();
  CHECK(epsilon_of(OnnxWriter(norms).add(node)) == 1e-5f);

  const auto decomposed = [&](const std::string& epsilon, bool exchanged) {
    OnnxWriter file = norms;
    std::vector<std::string> terms{"variance", epsilon};
    if (exchanged) std::swap(terms[0], terms[1]);
    file.add({.type = "Sub", .inputs = {"x", "mean"}, .outputs = {"difference"}});
    file.add({.type = "Add", .inputs = terms, .outputs = {"sum"}});
    file.add({.type = "Sqrt", .inputs = {"sum"}, .outputs = {"root"}});
    file.add({.type = "Div", .inputs = {"difference", "root"}, .outputs = {"quotient"}});
    file.add({.type = "Mul", .inputs = {"quotient", "norm.weight"}, .outputs = {"scaled"}});
    file.add({.type = "Add", .inputs = {"scaled", "norm.bias"}, .outputs = {"y"}});
    return file.add_scalar("epsilon", 3e-6f).add_bytes("half", {}, 10, "ab").add("pair", {2}, 1);
  };
  CHECK(epsilon_of(decomposed("epsilon", false)) == 3e-6f);
  CHECK(epsilon_of(decomposed("epsilon", true)) == 3e-6f);
  for (const char* unread : {"half", "pair", "elsewhere"}) CHECK(epsilon_of(decomposed(unread, false)) == 0);
}

TEST_CASE("constants that neither a name nor a node explains are listed") {
  OnnxWriter file = with_bias();
  file.add("onnx::Mul_7", {2}, 0).add({.type = "Mul", .inputs = {"x", "onnx::Mul_7"}, .name = "Mul_9"});
  file.add("onnx::MatMul_49", {2, 3}, 0).add(product("MatMul_81", "onnx::MatMul_49")).add(sum).add("8", {1}, 0);
  const examples::TemporaryFolder folder;
  CHECK(read(folder, file).unknown_constants() ==
        "; no name and no node tells which tensor each of these constants is: \"onnx::Mul_7\" [2] of the node "
        "\"Mul_9\" (Mul)");
  for (const char* name : {"11", "12", "13"}) file.add(name, {2}, 0);
  CHECK(read(folder, file).unknown_constants().ends_with("\"11\" [2], \"12\" [2] and 1 others"));
}

TEST_CASE("a tied table stays (rows, features)") {
  OnnxWriter file;
  file.add("wte.weight", {3, 2}, 0).add({.type = "Gather", .inputs = {"wte.weight", "ids"}, .outputs = {"x"}});
  file.add({.type = "Transpose", .inputs = {"wte.weight"}, .outputs = {"t"}, .permutation = {1, 0}});
  file.add(product("/lm_head/MatMul", "t"));
  CHECK(tensors_of(file) == "lm_head.weight[3,2]:0,1,2,3,4,5 wte.weight[3,2]:0,1,2,3,4,5 ");
}

TEST_CASE("constants that are no parameters are left out") {
  OnnxWriter file;
  file.add_bytes("position_ids", {1, 1}, 7, std::string(8, '\0')).add("/Constant_output_0", {2}, 0);
  CHECK(tensors_of(file).empty());
}

TEST_CASE("nodes that are not understood are named") {
  OnnxWriter unnamed;
  unnamed.add("1639", {2, 3}, 0).add(product("MatMul_81", "1639"));
  CHECK(error_of(unnamed).find(R"(model.onnx: the node "MatMul_81" (MatMul) multiplies by the constant "1639")") !=
        std::string::npos);
  OnnxWriter twice = with_bias();
  twice.add("1", {2, 3}, 0).add("2", {2, 3}, 0).add(product("a", "1")).add(sum).add(product("b", "2", "p2"));
  twice.add({.type = "Add", .inputs = {"p2", "query.bias"}, .outputs = {"y2"}});
  CHECK(error_of(twice).find(R"(the node "b" (MatMul) has "2" as "query.weight", which is also the name of "1")") !=
        std::string::npos);
  for (const char* type : {"DynamicQuantizeLinear", "MatMulInteger", "QLinearMatMul", "MatMulNBits"})
    CHECK(error_of(OnnxWriter().add({.type = type, .name = "q"}))
              .find("belongs to a quantised model: give the model as it was before, and choose --precision int8") !=
          std::string::npos);
  const std::string fused =
      error_of(OnnxWriter().add({.type = "SkipLayerNormalization", .name = "f", .domain = "com.microsoft"}));
  CHECK(fused.find(R"(the node "f" (SkipLayerNormalization) is of the domain "com.microsoft")") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace ladon::onnx
