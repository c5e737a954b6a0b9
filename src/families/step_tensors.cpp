// SPDX-License-Identifier: Apache-2.0
#include "step_tensors.hpp"

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
  void operator()(const Audio& s) { features = s.channels; }
  void operator()(const ConvolveRows& s) {
    const std::vector<std::size_t> shape{s.outputs, features / s.groups, s.width};
    if (!s.weight_norm) return add_linear(s.name, shape, s.bias);
    add(s.name + ".parametrizations.weight.original0", {1, 1, s.width});
    add(s.name + ".parametrizations.weight.original1", shape);
    if (s.bias == Bias::with) add(s.name + ".bias", {s.outputs});
    features = s.outputs;
  }
  void operator()(const GroupNormRows& s) { add_linear(s.name, {features}, Bias::with); }
  void operator()(const SeriesPatches& s) { features = s.patch; }
  void operator()(const TiedHead& s) {
    add(s.bias, {vocabulary});
    features = vocabulary;
  }
  template <class Other>  // steps without tensors
  void operator()(const Other&) {}
};

}  // namespace

void add_prefix(std::vector<Step>& steps, const std::string& prefix) {
  const auto visit_member = [&](const char*, auto& member) {
    if constexpr (requires { add_prefix(member, prefix); }) add_prefix(member, prefix);
  };
  for (Step& step : steps) std::visit([&](auto& s) { visit_members(s, visit_member); }, step);
}

std::vector<NamedShape> tensors_of(const Stack& stack) {
  TensorReader reader;
  for (const Step& step : stack.input.steps) std::visit(reader, step);
  reader.features = stack.model.model;
  for (const std::vector<Step>* steps : {&stack.behind, &stack.pooler, &stack.head})
    for (const Step& step : *steps) std::visit(reader, step);
  return std::move(reader.tensors);
}

}  // namespace ladon::families
