// SPDX-License-Identifier: Apache-2.0
#include "chain.hpp"

#include <algorithm>
#include <ladon/safetensors/model_text.hpp>
#include <utility>

#include "safetensors.hpp"

namespace ladon::import {
namespace {

using safetensors::detail::text_of;

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

std::string without_weight(const std::string& name) {
  return name.ends_with(".weight") ? name.substr(0, name.size() - 7) : name;
}

std::string norm_type(std::size_t width, const families::NormRows& step) {
  Lines more{text_of(step.kind), text_of(step.bias), text_of(step.gain)};
  const families::NormRows defaults;
  if (step.gain == defaults.gain) {
    more.pop_back();
    if (step.bias == defaults.bias) more.pop_back();
    if (more.size() == 1 && step.kind == defaults.kind) more.pop_back();
  }
  std::string type = "ladon::Norm<" + std::to_string(width);
  for (const std::string& argument : more) type += ", " + argument;
  return type + ">";
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

void Chain::apply(const families::Lookup& step) {
  scene_.program.headers.insert("model/embedding.hpp");
  if (scene_.table.table.empty()) scene_.table = step;
  ids_ = rows.at, count_ = rows.count;
  const std::string type = "ladon::EmbeddingTable<" + std::to_string(step.rows) + ", " + std::to_string(step.features) +
                           precision_argument(precision_of_table(step.features)) + ">";
  const std::string member = part(without_weight(step.table), type, Bias::without),
                    to = target(rows.most, step.features);
  body.push_back("ladon::embed(weights." + member + ", " + rows.at + ", " + rows.count + ", " + to +
                 (step.scale == 1 ? "" : ", " + text_of(step.scale)) + ");");
  rows.at = to, rows.width = step.features, rows.read_only = false;
  note("embed " + step.table + " [" + std::to_string(step.rows) + "][" + std::to_string(step.features) + "]");
}

void Chain::apply(const families::AddPositions& step) {
  if (step.first + rows.most > step.rows)
    throw Unsupported("the positions " + files::in_quotes(step.table) + " have " + std::to_string(step.rows) +
                      " rows, too few for " + std::to_string(rows.most) + " tokens from row " +
                      std::to_string(step.first) + " on: --tokens");
  own_rows();
  scene_.program.headers.insert("model/embedding.hpp");
  const std::string extents = std::to_string(step.rows) + ", " + std::to_string(rows.width);
  std::string table;
  if (step.table.empty()) {
    table = "tables." + scene_.names.name_of(place_ + ".positions");
    scene_.program.tables.push_back("ladon::PositionTable<" + extents + "> " + table.substr(7) + ";");
    const std::string kind = step.interleaved ? ".interleaved = true" : "";
    const std::string closed = step.closed ? (kind.empty() ? ".closed = true" : ", .closed = true") : "";
    scene_.program.prepare.push_back("ladon::fill_sinusoids(" + table +
                                     (kind.empty() && closed.empty() ? "" : ", {" + kind + closed + "}") + ");");
  } else {
    table = "weights." + vector(step.table, "ladon::MatrixView<const float, " + extents + ">");
  }
  std::string first = std::to_string(step.first);
  if (!position.empty()) first = step.first == 0 ? position : position + " + " + first;
  body.push_back("ladon::add_positions(" + table + ", " + first + ", " + rows.count + ", " + rows.at + ");");
  note("add positions: " + (step.table.empty() ? "sinusoids" : step.table));
}

void Chain::apply(const families::AddRow& step) {
  own_rows();
  if (step.row >= step.rows)
    throw Unsupported("the table " + files::in_quotes(step.table) + " has no row " + std::to_string(step.row));
  if (!step.ids.empty() && (step.row != 0 || rows.count != count_))
    throw Unsupported("the token types " + files::in_quotes(step.ids) +
                      " need the row 0 as their default, and a row for each token");
  scene_.program.headers.insert("model/embedding.hpp");
  const std::string width = std::to_string(rows.width);
  const std::string member =
      vector(step.table, "ladon::MatrixView<const float, " + std::to_string(step.rows) + ", " + width + ">");
  if (step.ids.empty() || types.empty()) {
    body.push_back("ladon::add_row<" + width + ">(" + plus("weights." + member + ".data", step.row * rows.width) +
                   ", " + rows.count + ", " + rows.at + ");");
    note("add row " + std::to_string(step.row) + " of " + step.table);
  } else {
    body.push_back("ladon::add_types(weights." + member + ", " + types + ", " + rows.count + ", " + rows.at + ");");
    note("add types: " + step.table);
  }
}

void Chain::apply(const families::NormRows& step) {
  scene_.program.headers.insert("model/norm.hpp");
  const std::string to = rows.read_only ? target(rows.most, rows.width) : rows.at;
  const std::string arguments = rows.count + ", " + rows.at + ", " + to + ");";
  if (step.name.empty()) {
    body.push_back("ladon::normalise_without_gain<" + std::to_string(rows.width) + ", " + text_of(step.kind) + ">(" +
                   text_of(step.epsilon) + ", " + arguments);
  } else {
    const std::string member =
        part(step.name, norm_type(rows.width, step), step.kind == NormKind::rms ? Bias::without : step.bias,
             {".epsilon = " + text_of(step.epsilon) + ";"});
    body.push_back("ladon::normalise(weights." + member + ", " + arguments);
  }
  rows.at = to, rows.read_only = false;
  note("norm " + step.name);
}

void Chain::activate(families::After function, const std::string& at) {
  using enum families::After;
  if (function == nothing) return;
  scene_.program.headers.insert("model/activation.hpp");
  constexpr const char* names[] = {"", "relu", "gelu", "gelu_tanh", "silu"};
  const std::string name = function == families::After::tanh ? "ladon::tanh("
                                                             : std::string("ladon::activate<ladon::Activation::") +
                                                                   names[static_cast<int>(function)] + ">(";
  body.push_back(name + at + ", " + numbers() + ");");
}

void Chain::linear(const std::string& name, const std::string& member, const std::string& type, std::size_t outputs,
                   Bias bias, PrecisionKind precision, const std::string& to) {
  scene_.program.headers.insert("model/linear_rows.hpp");
  scene_.program.parts += "using " + type + " = ladon::LinearRows<" + std::to_string(rows.most) + ", " +
                          std::to_string(outputs) + ", " + std::to_string(rows.width) + ", ladon::Order::out_in, " +
                          text_of(bias) + precision_argument(precision) + ">;\n";
  const std::string memory = identifier(type);
  scene_.program.workspace.push_back(type + "::Workspace " + memory + ";");
  body.push_back(type + "::run(" + rows.at + ", weights." + member + ", " + to + ", workspace." + memory +
                 (rows.fixed ? "" : ", " + rows.count) + ");");
  note("linear " + name + " " + std::to_string(rows.width) + " -> " + std::to_string(outputs),
       static_cast<double>(rows.most * rows.width * outputs));
  rows.at = to, rows.width = outputs, rows.read_only = false;
}

void Chain::linear_part(const std::string& name, std::size_t outputs, Bias bias, const std::string& to) {
  const std::string type = type_name(scene_.names.name_of(name));
  linear(name, part(name, type + "::Weights", bias), type, outputs, bias, precision_of(rows.width), to);
}

void Chain::apply(const families::LinearRows& step) {
  linear_part(step.name, step.outputs, step.bias, target(rows.most, step.outputs));
  activate(step.after, rows.at);
}

void Chain::apply(const families::LinearPair& step) {
  if (rows.most < 2) throw Unsupported("linear_pair takes two rows");
  rows.count = "1", rows.most = 1, rows.fixed = true;
  const Rows first = rows;
  linear_part(step.first, step.outputs, Bias::with, target(1, step.outputs));
  const std::string sum = rows.at, other = scratch(step.outputs);
  rows = first;
  rows.at = plus(first.at, first.width);
  linear_part(step.second, step.outputs, Bias::with, other);
  rows.at = sum;
  for_each_number(sum + "[i] = (" + sum + "[i] + " + other + "[i]) / 2;");
}

void Chain::apply(const families::ResidualBlock& step) {
  if (step.hidden == 0 || step.outputs == 0)
    throw Unsupported("the residual block " + files::in_quotes(step.name) + " needs a hidden size and outputs");
  const Rows from = rows;
  const std::size_t size = rows.most * step.hidden;
  const std::string hidden = scratch(size + rows.most * step.outputs);
  linear_part(step.name + ".residual_layer", step.outputs, Bias::with, plus(hidden, size));
  rows = from;
  linear_part(step.name + ".input_layer", step.hidden, Bias::with, hidden);
  activate(families::After::silu, hidden);
  linear_part(step.name + ".output_layer", step.outputs, Bias::with, target(rows.most, step.outputs));
  for_each_number(rows.at + "[i] += " + hidden + "[" + std::to_string(size) + " + i];");
}

void Chain::apply(const families::TiedHead& step) {
  const std::string member = scene_.names.name_of(without_weight(scene_.table.table));
  linear(scene_.table.table, member, "TiedHead", scene_.table.rows, Bias::without, precision_of_table(rows.width),
         target(rows.most, scene_.table.rows));
  if (!step.bias.empty()) {
    const std::string bias = vector(step.bias, "ladon::VectorView<const float, " + std::to_string(rows.width) + ">");
    body.push_back("ladon::add_row(weights." + bias + ", " + rows.count + ", " + rows.at + ");");
  }
  apply(families::Scale{step.scale});
}

void Chain::apply(const families::Scale& step) {
  own_rows();
  if (step.factor != 1) for_each_number(rows.at + "[i] *= " + text_of(step.factor) + ";");
}

void Chain::apply(const families::Softcap& step) {
  apply(families::Scale{1 / step.cap});
  activate(families::After::tanh, rows.at);
  apply(families::Scale{step.cap});
}

void Chain::apply(const families::DropToken& step) {
  own_rows();
  const std::string is_dropped = ids_ + "[i] == " + std::to_string(step.id);
  const std::string each = "for (std::size_t i = 0; i < " + rows.count + "; ++i)";
  body.push_back("std::size_t dropped = 0;");
  body.push_back(each + " dropped += " + is_dropped + ";");
  body.push_back("const float share = static_cast<float>(" + rows.count + " - dropped) / static_cast<float>(" +
                 rows.count + ");");
  body.push_back(each + " {");
  body.push_back("  float* const row = " + rows.at + " + i * " + std::to_string(rows.width) + ";");
  body.push_back("  for (std::size_t j = 0; j < " + std::to_string(rows.width) + "; ++j) row[j] = " + is_dropped +
                 " ? 0.0f : row[j] / share;");
  body.push_back("}");
}

void Chain::apply(const families::Apply& step) {
  own_rows();
  activate(step.function, rows.at);
}

void Chain::apply(const families::Pool& step) {
  if (step.from + std::max<std::size_t>(step.tokens, 1) > rows.most)
    throw Unsupported("a pool takes more than the " + std::to_string(rows.most) + " rows before it");
  scene_.program.headers.insert("model/pooling.hpp");
  constexpr const char* names[] = {"mean_pool", "first_row", "last_row", "max_pool"};
  const char* const name = names[static_cast<int>(step.pooling)];
  const std::size_t before = step.behind_first ? rows.width : 0, width = before + rows.width;
  const std::string to = target(1, width);
  const std::string from = plus(rows.at, step.from * rows.width);
  std::string count = rows.count;
  if (step.tokens != 0)
    count = std::to_string(step.tokens);
  else if (step.from != 0)
    count += " - " + std::to_string(step.from);
  const std::string of_width = "<" + std::to_string(rows.width) + ">(";
  if (step.behind_first) body.push_back("ladon::first_row" + of_width + rows.at + ", " + rows.count + ", " + to + ");");
  body.push_back(std::string("ladon::") + name + of_width + from + ", " + count + ", " + plus(to, before) + ");");
  rows = {.at = to, .count = "1", .most = 1, .width = width, .fixed = true};
  note(std::string(step.behind_first ? "first_row, and " : "") + name);
}

void Chain::apply(const families::UnitLength&) {
  own_rows();
  scene_.program.headers.insert("model/norm.hpp");
  body.push_back("ladon::unit_length<" + std::to_string(rows.width) + ">(" + rows.count + ", " + rows.at + ");");
  note("divide by the length");
}

}  // namespace ladon::import
