// SPDX-License-Identifier: Apache-2.0
// Reads the graph of an ONNX file (onnx.proto): its nodes and constants, without their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ladon::onnx {

// Values of TensorProto.DataType.
inline constexpr std::int32_t float32 = 1, float16 = 10, bfloat16 = 16;

// A constant: an initialiser, or the value of a node Constant.
struct Tensor {
  std::string_view name;
  std::int32_t type = 0;
  std::vector<std::uint64_t> shape{};
  std::optional<std::string_view> numbers{};  // raw_data or float_data: little-endian numbers in the file itself
  // External data: a part of another file.
  bool is_external = false;
  std::string_view location{};
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};
};

struct Node {
  std::string_view name;
  std::string_view type;  // "MatMul"
  std::string_view domain{};
  std::vector<std::string_view> inputs{};
  std::vector<std::string_view> outputs{};
  std::string_view scopes{};                // the modules around the node, as PyTorch's newer exporter writes them
  bool transposes_second = false;           // transB of Gemm
  std::vector<std::int64_t> permutation{};  // perm of Transpose
  std::optional<float> epsilon{};           // of LayerNormalization
};

struct Graph {
  std::vector<Node> nodes{};
  std::vector<Tensor> tensors{};
};

// Returns the graph of a file. Its texts point into `bytes`. Graphs inside nodes (If, Loop) are left out. `name` is the
// name of the file in errors. Throws Error if the file is wrong.
Graph read_graph(std::span<const std::byte> bytes, const std::string& name);

}  // namespace ladon::onnx
