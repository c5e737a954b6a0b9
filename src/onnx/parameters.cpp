// SPDX-License-Identifier: Apache-2.0
#include "parameters.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "module_names.hpp"
#include "safetensors.hpp"

namespace ladon::onnx {
namespace {

constexpr std::string_view weight = ".weight", bias = ".bias";
constexpr float default_epsilon = 1e-5f;  // of LayerNormalization

// A constant operand of a node. `flipped` is true behind an odd number of transpositions.
struct Operand {
  const Tensor* tensor = nullptr;
  std::string name;
  bool flipped = false;
};

bool is_float(const Tensor& tensor) {
  return tensor.type == float32 || tensor.type == float16 || tensor.type == bfloat16;
}

// Returns the number of a constant with one number, if the graph's file has it.
std::optional<float> number_of(const Tensor& tensor) {
  float number = 0;
  if (tensor.type != float32 || !tensor.numbers || tensor.numbers->size() != sizeof(number)) return std::nullopt;
  std::memcpy(&number, tensor.numbers->data(), sizeof(number));
  return number;
}

class Tracer {
 public:
  Tracer(const Graph& graph, const std::string& file) : graph_(graph), file_(file) {
    for (const Node& node : graph.nodes) {
      refuse_forms(node);
      for (const std::string_view output : node.outputs) producers_.emplace(output, &node);
      for (const std::string_view input : node.inputs) consumers_[input].push_back(&node);
    }
    for (const Tensor& tensor : graph.tensors) add_constant(tensor.name, {&tensor, std::string(tensor.name)});
  }

  Parameters run() {
    for (const Node& node : graph_.nodes) {
      if (node.type == "MatMul" || node.type == "Gemm") add_linear(node);
      if (node.type == "LayerNormalization")
        add_norm(node, operand(node, 1), operand(node, 2), node.epsilon.value_or(default_epsilon));
      if (node.type == "Add") add_decomposed_norm(node);
    }
    for (const auto& [value, constant] : constants_)
      if (is_parameter_name(constant.name) && is_float(*constant.tensor))
        parameters_.tensors.try_emplace(constant.name, Parameter{constant.tensor});
    for (const Tensor& tensor : graph_.tensors) add_unknown(tensor);
    return std::move(parameters_);
  }

 private:
  [[noreturn]] void fail(const Node& node, const std::string& what) const {
    throw files::Error(files::escaped(file_) + ": the node " + files::in_quotes(node.name) + " (" +
                       files::escaped(node.type) + ") " + what);
  }

  void refuse_forms(const Node& node) const {
    const auto has = [&](std::string_view part) { return node.type.find(part) != node.type.npos; };
    if (has("Quantize") || has("Integer") || has("NBits") || node.type.starts_with("QLinear") ||
        node.type.starts_with("QAttention"))
      fail(node, "belongs to a quantised model: give the model as it was before, and choose --precision int8");
    if (!node.domain.empty() && node.domain != "ai.onnx")
      fail(node, "is of the domain " + files::in_quotes(node.domain) +
                     ", which Ladon does not read: give the model as it was before an optimiser fused its nodes");
  }

  // Adds a constant, and the names that it has behind nodes Identity and Transpose.
  void add_constant(std::string_view value, const Operand& constant) {
    std::vector<std::pair<std::string_view, Operand>> added{{value, constant}};
    while (!added.empty()) {
      const auto [place, operand] = std::move(added.back());
      added.pop_back();
      if (!constants_.emplace(place, operand).second) continue;
      for (const Node* node : consumers_[place]) {
        if (node->outputs.size() != 1) continue;
        const std::string_view output = node->outputs[0];
        if (node->type == "Identity")
          added.emplace_back(
              output,
              Operand{operand.tensor, is_parameter_name(output) ? std::string(output) : operand.name, operand.flipped});
        if (node->type == "Transpose" && operand.tensor->shape.size() == 2 &&
            (node->permutation.empty() || node->permutation == std::vector<std::int64_t>{1, 0}))
          added.emplace_back(output, Operand{operand.tensor, operand.name, !operand.flipped});
      }
    }
  }

  [[nodiscard]] const Operand* operand(const Node& node, std::size_t number) const {
    if (number >= node.inputs.size()) return nullptr;
    const auto found = constants_.find(node.inputs[number]);
    return found == constants_.end() || !is_float(*found->second.tensor) ? nullptr : &found->second;
  }
  // Returns the operand of an Add or a Mul that is a vector, and the value that is the other operand.
  [[nodiscard]] std::pair<const Operand*, std::string_view> vector_operand(const Node& node) const {
    for (const std::size_t number : {0U, 1U}) {
      const Operand* found = operand(node, number);
      if (node.inputs.size() == 2 && found != nullptr && found->tensor->shape.size() == 1)
        return {found, node.inputs[1 - number]};
    }
    return {nullptr, {}};
  }
  [[nodiscard]] const Node* producer(std::string_view value, std::string_view type) const {
    const auto found = producers_.find(value);
    return found == producers_.end() || found->second->type != type ? nullptr : found->second;
  }

  // Adds a parameter. Two matrices with the same name are an error, because one of the names would be wrong.
  void add(const Node& node, const std::string& name, const Parameter& parameter) {
    told_.insert(parameter.tensor);
    const auto [place, is_new] = parameters_.tensors.try_emplace(name, parameter);
    if (!is_new && (place->second.tensor != parameter.tensor || place->second.order != parameter.order))
      fail(node, "has " + files::in_quotes(parameter.tensor->name) + " as " + files::in_quotes(name) +
                     ", which is also the name of " + files::in_quotes(place->second.tensor->name));
  }
  // Adds a parameter under another name, unless there is a constant of this name.
  void add_alias(const Node& node, const std::string& name, const Parameter& parameter) {
    if (!constants_.contains(name)) add(node, name, parameter);
  }

  // Returns the bias of a linear map: an input of Gemm, or an operand of the Add behind MatMul.
  [[nodiscard]] const Operand* bias_of(const Node& node) const {
    if (node.type == "Gemm") return operand(node, 2);
    const auto users = node.outputs.size() == 1 ? consumers_.find(node.outputs[0]) : consumers_.end();
    if (users == consumers_.end() || users->second.size() != 1 || users->second[0]->type != "Add") return nullptr;
    return vector_operand(*users->second[0]).first;
  }

  void add_linear(const Node& node) {
    const Operand* matrix = operand(node, 1);
    if (matrix == nullptr || matrix->tensor->shape.size() != 2 || operand(node, 0) != nullptr) return;
    const Parameter parameter{matrix->tensor,
                              matrix->flipped == node.transposes_second ? Order::in_out : Order::out_in};
    const Operand* vector = bias_of(node);
    const std::string module = module_of(node), by_bias = vector == nullptr ? "" : weight_beside(vector->name);
    // A repeated bias may have the name of another module, so the module of the node decides.
    const std::string name = !by_bias.empty() && by_bias.starts_with(module + '.') ? by_bias
                             : !module.empty()                                     ? module + std::string(weight)
                                                                                   : by_bias;
    if (is_parameter_name(matrix->name) && matrix->name.ends_with(weight))
      add(node, matrix->name, parameter);
    else if (name.empty())
      fail(node, "multiplies by the constant " + files::in_quotes(matrix->name) +
                     ", and no name tells which tensor of the model this is");
    if (!name.empty()) add_alias(node, name, parameter);
    if (vector != nullptr && name.ends_with(weight))
      add_alias(node, name.substr(0, name.size() - weight.size()) + std::string(bias), {vector->tensor});
  }

  // Adds the parameters of a LayerNorm.
  void add_norm(const Node& node, const Operand* gains, const Operand* shifts, std::optional<float> epsilon) {
    if (gains == nullptr) return;
    std::string module = module_of(node);
    if (module.empty() && shifts != nullptr && shifts->name.ends_with(bias))
      module = shifts->name.substr(0, shifts->name.size() - bias.size());
    if (module.empty() && gains->name.ends_with(weight))
      module = gains->name.substr(0, gains->name.size() - weight.size());
    if (module.empty()) fail(node, "is a norm, and no name tells which module of the model this is");
    if (epsilon) parameters_.epsilons.emplace(module, *epsilon);
    add_alias(node, module + std::string(weight), {gains->tensor});
    if (shifts != nullptr) add_alias(node, module + std::string(bias), {shifts->tensor});
  }

  // Finds (x - mean) / sqrt(variance + epsilon) * gains + shifts, as opsets before 17 have it. `node` is the sum.
  void add_decomposed_norm(const Node& node) {
    const auto [shifts, product] = vector_operand(node);
    const Node* multiply = producer(product, "Mul");
    if (shifts == nullptr || multiply == nullptr) return;
    const auto [gains, quotient] = vector_operand(*multiply);
    const Node* divide = producer(quotient, "Div");
    if (gains == nullptr || divide == nullptr || divide->inputs.empty()) return;
    if (producer(divide->inputs[0], "Sub") != nullptr) add_norm(node, gains, shifts, epsilon_of(*divide));
  }
  // Returns epsilon of a quotient that is x / sqrt(variance + epsilon).
  [[nodiscard]] std::optional<float> epsilon_of(const Node& divide) const {
    const Node* root = divide.inputs.size() == 2 ? producer(divide.inputs[1], "Sqrt") : nullptr;
    const Node* sum = root == nullptr || root->inputs.empty() ? nullptr : producer(root->inputs[0], "Add");
    if (sum == nullptr) return std::nullopt;
    for (const std::size_t number : {0U, 1U})
      if (const Operand* constant = operand(*sum, number)) return number_of(*constant->tensor);
    return std::nullopt;
  }

  // Notes a tensor whose name an exporter made, and whose node is not understood.
  void add_unknown(const Tensor& tensor) {
    const bool has_extents = std::ranges::any_of(tensor.shape, [](std::uint64_t extent) { return extent > 1; });
    if (!is_float(tensor) || !has_extents || is_parameter_name(tensor.name) || told_.contains(&tensor)) return;
    std::string text = files::in_quotes(tensor.name) + " " + files::shown(tensor.shape);
    if (const auto users = consumers_.find(tensor.name); users != consumers_.end() && !users->second.empty()) {
      const Node& node = *users->second.front();
      text += " of the node " + files::in_quotes(node.name) + " (" + files::escaped(node.type) + ")";
    }
    parameters_.unknown.push_back(std::move(text));
  }

  const Graph& graph_;
  const std::string& file_;
  std::map<std::string_view, const Node*> producers_;
  std::map<std::string_view, std::vector<const Node*>> consumers_;
  std::map<std::string, Operand, std::less<>> constants_;
  std::set<const Tensor*> told_;  // the tensors whose module a node tells
  Parameters parameters_;
};

}  // namespace

Parameters parameters_of(const Graph& graph, const std::string& file) { return Tracer(graph, file).run(); }

}  // namespace ladon::onnx
