// SPDX-License-Identifier: Apache-2.0
#include "step_tensors.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "step_members.hpp"

namespace ladon::families {
namespace {

void add_prefix(std::string& name, const std::string& prefix) {
  if (!name.empty() && name.find('/') == name.npos) name.insert(0, prefix);
}
void add_prefix(std::vector<Prepend::Rows>& tensors, const std::string& prefix) {
  for (Prepend::Rows& rows : tensors) add_prefix(rows.tensor, prefix);
}

// Reads the tensors of steps from rows of `features` numbers.
struct TensorReader {
  std::size_t features = 0;  // of the rows
  std::size_t vocabulary = 0;
  std::vector<NamedShape> tensors{};

  void add(const std::string& name, std::vector<std::size_t> shape) {
    if (!name.empty()) tensors.push_back({name, std::move(shape)});
  }
  void add_linear(const std::string& name, std::vector<std::size_t> shape, Bias bias) {
    const std::size_t outputs = shape[0];
    add(name + ".weight", std::move(shape));
    if (bias == Bias::with) add(name + ".bias", {outputs});
    features = outputs;
  }

  void operator()(const Lookup& s) {
    add(s.table, {s.rows, s.features});
    vocabulary = s.rows, features = s.features;
  }
  void operator()(const AddPositions& s) { add(s.table, {s.rows, features}); }
  void operator()(const AddRow& s) { add(s.table, {s.rows, features}); }
  void operator()(const NormRows& s) {
    if (s.name.empty()) return;
    add_linear(s.name, {features}, s.kind == NormKind::rms ? Bias::without : s.bias);
  }
  void operator()(const LinearRows& s) { add_linear(s.name, {s.outputs, features}, s.bias); }
  void operator()(const Patches& s) {
    std::vector<std::size_t> shape{s.outputs, s.channels, s.patch_frames, s.patch_rows, s.patch_columns};
    if (s.frames == 1) shape.erase(shape.begin() + 2);
    add_linear(s.name, std::move(shape), s.bias);
  }
  void operator()(const Prepend& s) {
    for (const Prepend::Rows& rows : s.tensors) add(rows.tensor, {rows.rows, features});
  }
  void operator()(const Frames& s) { features = s.channels; }
  void operator()(const ConvolveRows& s) {
    const std::vector<std::size_t> shape{s.outputs, features / s.groups, s.width};
    if (!s.weight_norm) return add_linear(s.name, shape, s.bias);
    add(s.name + (s.older_names ? ".weight_g" : ".parametrizations.weight.original0"), {1, 1, s.width});
    add(s.name + (s.older_names ? ".weight_v" : ".parametrizations.weight.original1"), shape);
    if (s.bias == Bias::with) add(s.name + ".bias", {s.outputs});
    features = s.outputs;
  }
  void operator()(const GroupNormRows& s) { add_linear(s.name, {features}, Bias::with); }
  void operator()(const TimeSeriesPatches& s) { features = s.patch; }
  void operator()(const MaskedPatches& s) { features = 2 * s.patch; }
  void operator()(const ResidualBlock& s) {
    const std::size_t inputs = features;
    add_linear(s.name + ".residual_layer", {s.outputs, inputs}, Bias::with);
    add_linear(s.name + ".input_layer", {s.hidden, inputs}, Bias::with);
    add_linear(s.name + ".output_layer", {s.outputs, s.hidden}, Bias::with);
  }
  void operator()(const Pool& s) { features *= s.behind_first ? 2 : 1; }
  void operator()(const AttentionPool& s) {
    const std::size_t width = features;
    add(s.name + ".probe", {width});
    add(s.name + ".attention.in_proj_weight", {3 * width, width}), add(s.name + ".attention.in_proj_bias", {3 * width});
    add_linear(s.name + ".attention.out_proj", {width, width}, Bias::with);
    add_linear(s.name + ".layernorm", {width}, Bias::with);
    add_linear(s.name + ".mlp.fc1", {s.feed_forward, width}, Bias::with);
    add_linear(s.name + ".mlp.fc2", {width, s.feed_forward}, Bias::with);
  }
  void operator()(const LinearPair& s) {
    const std::size_t inputs = features;
    for (const std::string& name : {s.first, s.second}) add_linear(name, {s.outputs, inputs}, Bias::with);
  }
  void operator()(const TiedHead& s) {
    add(s.bias, {vocabulary});
    features = vocabulary;
  }
  template <class Other>  // steps without tensors
  void operator()(const Other&) {}
};

}  // namespace

void add_prefix(std::vector<Step>& steps, const std::string& prefix) {
  const auto visit_member = [&](std::string_view name, auto& member) {
    if (name == "ids") return;  // an argument of the model
    if constexpr (requires { add_prefix(member, prefix); }) add_prefix(member, prefix);
  };
  for (Step& step : steps) std::visit([&](auto& s) { visit_members(s, visit_member); }, step);
}

std::vector<NamedShape> tensors_of(const Step& step, std::size_t features) {
  TensorReader reader{.features = features};
  std::visit(reader, step);
  return std::move(reader.tensors);
}

std::vector<NamedShape> tensors_of(const Stack& stack) {
  TensorReader reader;
  for (const Step& step : stack.input.steps) std::visit(reader, step);
  reader.features = stack.model.model;
  for (const std::vector<Step>* steps : {&stack.behind, &stack.pooler, &stack.head})
    for (const Step& step : *steps) std::visit(reader, step);
  return std::move(reader.tensors);
}

void adapt(Stack& stack, const Tensors& tensors) {
  TensorReader reader{.features = stack.model.model};
  for (const Step& step : stack.pooler) std::visit(reader, step);
  const auto is_absent = [&](const NamedShape& part) {
    return part.name.find('/') == std::string::npos && !tensors.contains(part.name);
  };
  if (std::any_of(reader.tensors.begin(), reader.tensors.end(), is_absent)) stack.pooler.clear();
  for (Step& step : stack.input.steps) {
    if (auto* positions = std::get_if<AddPositions>(&step))
      if (positions->optional && !tensors.contains(positions->table)) positions->table.clear();
    if (auto* convolution = std::get_if<ConvolveRows>(&step))
      convolution->older_names = convolution->weight_norm && tensors.contains(convolution->name + ".weight_g");
  }
  if (!stack.attends_memory || stack.input.steps.empty() || stack.head.empty()) return;
  // transformers takes an absent bias for zeros. It keeps a head that differs from the table, although config.json says
  // that the head is tied (T5 1.1). Only the first version of T5 has a scale.
  std::erase_if(stack.head, [&](const Step& step) {
    const auto* bias = std::get_if<AddRow>(&step);
    return bias != nullptr && !tensors.contains(bias->table);
  });
  const auto* tied = std::get_if<TiedHead>(&stack.head[0]);
  const auto* table = std::get_if<Lookup>(&stack.input.steps[0]);
  if (tied != nullptr && table != nullptr && tied->scale == 1 && tensors.contains("lm_head.weight"))
    stack.head[0] = LinearRows{"lm_head", table->rows, Bias::without};
}

}  // namespace ladon::families
