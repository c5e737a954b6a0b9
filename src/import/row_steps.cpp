// SPDX-License-Identifier: Apache-2.0
// The steps of rows: tables of embeddings, norms, linear maps, activations and pools.
#include <algorithm>
#include <ladon/safetensors/model_text.hpp>

#include "chain.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

using safetensors::detail::text_of;

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
