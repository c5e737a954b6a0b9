// SPDX-License-Identifier: Apache-2.0
// The names that PyTorch's exporters give to nodes and constants.
#pragma once

#include <string>
#include <string_view>

#include "graph.hpp"

namespace ladon::onnx {

// Returns the name of the module that a node belongs to, such as "encoder.layer.0.output.dense", or "". The newer
// exporter writes the modules around a node into its metadata. The older one calls a node
// "/encoder/layer.0/output/dense/MatMul".
std::string module_of(const Node& node);

// Returns whether a constant has a name of its own, and not one that an exporter made: "onnx::MatMul_49", "val_0",
// "/Constant_output_0", "1639".
bool is_parameter_name(std::string_view name);

// Returns the name of the weight that belongs to a bias, such as "query.weight" or "in_proj_weight", or "".
std::string weight_beside(std::string_view bias);

}  // namespace ladon::onnx
