// SPDX-License-Identifier: Apache-2.0
// What all steps need: where the rows lie, the memory of the workspace, the members of Weights, and the precision.
#include "chain.hpp"

#include <algorithm>
#include <utility>

namespace ladon::import {
namespace {

bool moves(const families::DropToken&) { return false; }
bool moves(const families::AddPositions&) { return false; }
bool moves(const families::AddRow&) { return false; }
bool moves(const families::NormRows&) { return false; }
bool moves(const families::Prepend&) { return false; }
bool moves(const families::Frames& step) { return step.transposed; }
bool moves(const families::ConvolveRows& step) { return !step.residual; }
bool moves(const families::GroupNormRows&) { return false; }
bool moves(const families::Apply&) { return false; }
bool moves(const families::UnitLength&) { return false; }
bool moves(const families::Scale&) { return false; }
bool moves(const families::Softcap&) { return false; }
bool moves(const auto&) { return true; }

// Whether the operation writes its rows elsewhere.
bool moves_rows(const Operation& operation) {
  return std::visit(
      [](const auto& item) {
        if constexpr (std::is_same_v<std::decay_t<decltype(item)>, Layers>)
          return true;
        else
          return std::visit([](const auto& step) { return moves(step); }, item);
      },
      operation);
}

}  // namespace

const char* precision_name(PrecisionKind precision) {
  switch (precision) {
    case PrecisionKind::float32:
      return "float32";
    case PrecisionKind::bfloat16:
      return "bfloat16";
    case PrecisionKind::int8:
      return "int8";
    case PrecisionKind::rotated_int8:
      return "rotated_int8";
    case PrecisionKind::int4:
      return "int4";
    case PrecisionKind::rotated_int4:
      return "rotated_int4";
  }
  return "";
}

std::size_t prepended(const Operation& operation) {
  const auto* const step = std::get_if<families::Step>(&operation);
  const auto* const prepend = step == nullptr ? nullptr : std::get_if<families::Prepend>(step);
  std::size_t rows = 0;
  if (prepend != nullptr)
    for (const auto& tensor : prepend->tensors) rows += tensor.rows;
  return rows;
}

std::string plus(const std::string& address, std::size_t numbers) {
  return numbers == 0 ? address : address + " + " + std::to_string(numbers);
}

std::string precision_argument(PrecisionKind precision) {
  switch (precision) {
    case PrecisionKind::float32:
      return "";
    case PrecisionKind::bfloat16:
      return ", ladon::precision::BFloat16";
    case PrecisionKind::int8:
      return ", ladon::precision::Int8<8>";
    case PrecisionKind::rotated_int8:
      return ", ladon::precision::Int8<8, true>";
    case PrecisionKind::int4:
      return ", ladon::precision::Int4<8>";
    case PrecisionKind::rotated_int4:
      return ", ladon::precision::Int4<8, true>";
  }
  return "";
}

bool has_integers(PrecisionKind precision) {
  return precision != PrecisionKind::float32 && precision != PrecisionKind::bfloat16;
}

std::string precision_member(PrecisionKind precision) {
  if (precision == PrecisionKind::float32) return "";
  return std::string(".precision = ladon::PrecisionKind::") + precision_name(precision);
}

// Rotation needs a multiple of 8 inputs. Other linear maps have int8 weights without rotation.
PrecisionKind Chain::precision_of(std::size_t inputs) const {
  const PrecisionKind precision = scene_.program.choices.precision;
  if (inputs % 8 == 0) return precision;
  if (precision == PrecisionKind::rotated_int4) return PrecisionKind::int4;
  return precision == PrecisionKind::rotated_int8 ? PrecisionKind::int8 : precision;
}

PrecisionKind Chain::precision_of_table(std::size_t features) const {
  const PrecisionKind precision = precision_of(features);
  if (precision == PrecisionKind::rotated_int4) return PrecisionKind::rotated_int8;
  return precision == PrecisionKind::int4 ? PrecisionKind::int8 : precision;
}

Chain::Chain(Scene& scene, std::string place, Rows first)
    : rows(std::move(first)), scene_(scene), place_(std::move(place)) {}

void Chain::run(std::span<const Operation> operations, const std::string& destination) {
  operations_ = operations;
  destination_ = destination;
  for (present_ = 0; present_ < operations.size(); ++present_)
    std::visit([this](const auto& item) { this->apply(item); }, operations[present_]);
  own_rows();
  if (rows.at != destination) body.push_back("std::copy_n(" + rows.at + ", " + numbers() + ", " + destination + ");");
}

InputSteps input_steps(Scene& scene, const families::Stack& stack, const Argument& argument,
                       const std::string& position) {
  Program copy = scene.program;
  Scene other{copy, scene.tensors, scene.names, scene.x, scene.y, scene.table};
  Chain chain(other, stack.name,
              {.at = argument.name, .count = argument.count, .most = argument.most, .width = 1, .read_only = true});
  chain.position = position;
  chain.types = argument.types;
  const std::vector<Operation> steps(stack.input.steps.begin(), stack.input.steps.end());
  chain.run(steps, "embedded");
  scene.x = other.x, scene.y = other.y;
  return {std::move(chain.body), std::move(chain.rows)};
}

void Chain::apply(const families::Step& step) {
  std::visit([this](const auto& item) { this->apply(item); }, step);
}

std::string Chain::numbers() const {
  if (rows.fixed) return std::to_string(rows.most * rows.width);
  return rows.count == "1" ? std::to_string(rows.width) : rows.count + " * " + std::to_string(rows.width);
}

std::string Chain::target(std::size_t most, std::size_t width) {
  std::size_t front = 0;
  bool is_last = true;
  for (std::size_t i = present_ + 1; i < operations_.size() && is_last; ++i) {
    is_last = !moves_rows(operations_[i]);
    if (is_last) front += prepended(operations_[i]);
  }
  if (is_last) return plus(destination_, front * width);
  return plus(scratch((front + most) * width), front * width);
}

std::string Chain::scratch(std::size_t size) {
  const bool from_x = rows.at == "x" || rows.at.starts_with("x ");
  const std::string to = from_x ? "y" : "x", declaration = "float* const " + to + " = workspace." + to + ";";
  std::size_t& present = from_x ? scene_.y : scene_.x;
  present = std::max(present, size);
  if (std::find(body.begin(), body.end(), declaration) == body.end()) body.insert(body.begin(), declaration);
  return to;
}

void Chain::for_each_number(const std::string& statement) {
  body.push_back("for (std::size_t i = 0; i < " + numbers() + "; ++i) " + statement);
}

void Chain::own_rows() {
  if (!rows.read_only) return;
  const std::string to = target(rows.most, rows.width);
  body.push_back("std::copy_n(" + rows.at + ", " + numbers() + ", " + to + ");");
  rows.at = to, rows.read_only = false;
}

void Chain::note(const std::string& what, double multiply_adds) {
  scene_.program.rows.push_back({place_, what, multiply_adds});
}

std::string Chain::vector(const std::string& tensor, const std::string& type) {
  const std::string& name = scene_.names.name_of(tensor);
  if (!scene_.program.used.insert(tensor).second) return name;
  scene_.program.weights.push_back(
      {type, name, tensor, {"ladon::safetensors::take(file, " + literal(tensor) + ", weights." + name + ");"}});
  return name;
}

std::string Chain::part(const std::string& name, const std::string& type, Bias bias, const Lines& more) {
  const std::string& member = scene_.names.name_of(name);
  if (!scene_.program.used.insert(name + ".weight").second) return member;
  if (bias == Bias::with) scene_.program.used.insert(name + ".bias");
  // The text before "/" is the folder of another checkpoint.
  const std::size_t slash = name.find('/');
  std::string file = "file";
  if (slash != name.npos)
    file = scene_.program.files[name.substr(0, slash)] = identifier(std::string("of_").append(name, 0, slash));
  const std::string tensor = literal(slash == name.npos ? name : name.substr(slash + 1));
  const std::string at = "weights." + member;
  Lines load{"ladon::safetensors::take(" + file + ", " + tensor + ", " + at + ");"};
  for (const std::string& line : more) load.push_back(at + line);
  scene_.program.weights.push_back({type, member, name, load});
  return member;
}

}  // namespace ladon::import
