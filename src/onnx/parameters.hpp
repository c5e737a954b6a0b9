// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph.hpp"

namespace ladon::onnx {

// How the file stores the matrix of a linear map.
enum class Order { none, in_out, out_in };  // `none`: the tensor is no such matrix

// A parameter of PyTorch's modules.
struct Parameter {
  const Tensor* tensor = nullptr;
  Order order = Order::none;
};

using Epsilons = std::map<std::string, float, std::less<>>;

struct Parameters {
  std::map<std::string, Parameter, std::less<>> tensors{};
  Epsilons epsilons{};                 // of norms, by the names of their modules, where the graph has them in float32
  std::vector<std::string> unknown{};  // for errors: each constant of several floats that no name and no node tells
};

// Returns the parameters of a model that was exported from PyTorch, by their names in a state dict. Exporters keep the
// names of most parameters, but a transposed matrix and a repeated constant get other names. Such a constant has the
// name that the nodes around it tell. `file` is the name of the file in errors. Throws Error, which names the first
// node that is not understood: a quantised or fused node, or a linear map whose module no name tells.
Parameters parameters_of(const Graph& graph, const std::string& file);

}  // namespace ladon::onnx
