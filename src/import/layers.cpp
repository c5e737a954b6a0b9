// SPDX-License-Identifier: Apache-2.0
// The layers of a stack: their namespace in the program, and the call that computes them.
#include "layers.hpp"

#include <ladon/safetensors/model_text.hpp>

#include "chain.hpp"
#include "layer_members.hpp"
#include "print.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

using families::Stack;
using safetensors::detail::text_of;

void append_lines(Lines& lines, const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin + 2, end - begin - 2));  // without the indentation
    begin = end + 1;
  }
}

std::string rotary_table(const Stack& stack, std::size_t number) {
  return "tables." + stack.name + "_rotary" + (stack.rotary.size() == 1 ? "" : "[" + std::to_string(number) + "]");
}

// Limits the layers to the rows of the input.
void fit_tokens(Stack& stack, const Rows& rows) {
  std::size_t &tokens = stack.model.tokens, &positions = stack.model.position.positions;
  if (rows.width != stack.model.model)
    throw Unsupported("the steps before the layers of " + files::in_quotes(stack.name) + " give rows of " +
                      std::to_string(rows.width) + " numbers, and the layers take " +
                      std::to_string(stack.model.model));
  if (rows.most > tokens)
    throw Unsupported("the input becomes " + std::to_string(rows.most) + " tokens, more than --tokens " +
                      std::to_string(tokens));
  if (positions == tokens) positions = rows.most;
  tokens = rows.most;
}

double products_of_attention(const Model& m, std::size_t queries, std::size_t keys) {
  const Shape s = m.shape();
  const auto of_queries = static_cast<double>(s.model * (s.query_rows() + s.heads * s.value_width) * queries);
  const auto of_keys = static_cast<double>(s.model * (s.key_rows() + s.value_rows()) * keys);
  return of_queries + of_keys + static_cast<double>(s.heads * (s.head_width + s.value_width) * queries * keys);
}

}  // namespace

std::string model_text(const Model& model, PrecisionKind precision) {
  std::string text = families::model_text(model);
  const auto add = [&](const std::string& member) { text.insert(text.size() - 1, "    " + member + ",\n"); };
  if (precision != PrecisionKind::float32) add(precision_member(precision));
  if (model.activation_bits != 8) add(".activation_bits = " + std::to_string(model.activation_bits));
  return text;
}

std::string namespace_of(const Stack& stack, const Choices& choices, bool writes_texts) {
  std::string text = "namespace " + stack.name + " {\n\ninline constexpr ladon::Model model" +
                     model_text(stack.model, choices.precision) +
                     ";\nusing Stack = ladon::" + (stack.attends_memory ? "Decoder" : "Encoder") + "<model>;\n";
  if (!stack.rotary.empty())
    text += "using RotaryTable = ladon::RotaryTable<" + text_of(stack.model.position.positions) + ", " +
            text_of(stack.model.position.width) + ">;\n";
  if (writes_texts) {
    const std::string& cache = choices.cache_precision;
    text +=
        "\n// The model with which a text of at most model.tokens tokens grows by `tokens` tokens in a call.\n"
        "constexpr ladon::Model text_model(std::size_t tokens) {\n  ladon::Model grows = model;\n"
        "  grows.keys = model.tokens;\n  grows.tokens = tokens;\n" +
        (cache == "float32" ? "" : "  grows.cache_precision = ladon::CachePrecision::" + cache + ";\n") +
        "  return grows;\n}\n";
  }
  return text + "\n}  // namespace " + stack.name + "\n";
}

Lines table_settings(const Stack& stack, const std::string& options, const std::string& relative, bool is_joined) {
  Lines settings;
  if (const std::size_t count = stack.rotary.size(), kinds = stack.model.kinds.count; count != 0) {
    if (kinds == 0) settings.push_back(options + ".position.table = &" + rotary_table(stack, 0) + ";");
    for (std::size_t kind = 0; kind < kinds; ++kind)
      settings.push_back(options + ".position.table[" + std::to_string(kind) + "] = &" +
                         rotary_table(stack, count == 1 ? 0 : kind) + ";");
  }
  // The relative mask is the last one, so it is the second of a pair.
  if (stack.relative_bias)
    settings.push_back(options + ".mask" + (is_joined ? ".second" : "") + ".table = &tables." + relative + ";");
  return settings;
}

std::string relative_table(const Stack& stack) { return stack.name + "_relative"; }

void add_relative_table(Program& program, const Stack& stack, const std::string& table, std::size_t tokens,
                        const std::string& weights) {
  if (!stack.relative_bias) return;
  program.tables.push_back("ladon::RelativeTable<" + text_of(stack.model.heads) + ", " + text_of(tokens) + "> " +
                           table + ";");
  program.prepare.push_back("ladon::fill_relative_table(tables." + table + ", weights." + weights + ".data, " +
                            families::buckets_text(stack.relative_bias->buckets) + ");");
}

double multiply_adds_of(const Stack& stack) {
  const Model& m = stack.model;
  double sum = products_of_attention(m, m.tokens, m.shape().keys);
  if (stack.attends_memory) sum += products_of_attention(m, m.tokens, m.memory);
  sum += static_cast<double>(m.model * m.feed_forward * m.tokens * (m.gated ? 3 : 2));
  return sum * static_cast<double>(m.layers);
}

// Returns whether a short text may have layers of its own (ladon/model/text.hpp). Layers with a mask never do, such as
// those of a language model.
bool has_short_texts(const Layers& layers) {
  return layers.of_text && !layers.stack->relative_bias && !layers.stack->model.mask.causal;
}

void Chain::add_weights(const Layers& layers) {
  const Stack& stack = *layers.stack;
  Program& program = scene_.program;
  const bool reduced = program.choices.precision != PrecisionKind::float32;
  const std::string type = stack.name + "::Stack", prefix = literal(stack.prefix);
  // The layout of reduced weights may differ from that of config.json, so `load` cannot compare them.
  std::string options = ".epsilon = " + text_of(stack.epsilon);
  if (!program.choices.keep.empty() || program.choices.budget > 0) {
    double share = 0;
    const auto names = int8_members(stack.model, stack.attends_memory, program.choices, share);
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + literal(name);
    if (!list.empty()) options += ", .int8_members = {" + list + "}";
    program.mixtures.push_back({stack.name, names, share});
  }
  const std::string arguments = reduced ? "file, " + prefix + ", {" + options + "}" : "folder, " + prefix;
  program.weights.push_back(
      {type + "::Weights",
       layers.member,
       stack.prefix + ".*",
       {"weights." + layers.member + " = ladon::safetensors::load<" + type + ">(" + arguments + ");"}});
  program.workspace.push_back(type + "::Workspace " + layers.member + ";");
  if (has_short_texts(layers))
    program.workspace.push_back("ladon::ShortTextWorkspace<" + type + "> short_" + layers.member + ";");
}

void Chain::add_tables(const Layers& layers, const std::string& options) {
  const Stack& stack = *layers.stack;
  Program& program = scene_.program;
  if (const std::size_t count = stack.rotary.size(); count != 0) {
    program.tables.push_back(stack.name + "::RotaryTable " + stack.name + "_rotary" +
                             (count == 1 ? "" : "[" + std::to_string(count) + "]") + ";");
    for (std::size_t i = 0; i < count; ++i)
      append_lines(program.prepare, families::fill_text(stack.rotary[i], rotary_table(stack, i)));
  }
  if (stack.relative_bias) {
    const std::string type = "ladon::MatrixView<const float, " + text_of(stack.relative_bias->buckets.count) + ", " +
                             text_of(stack.model.heads) + ">";
    add_relative_table(program, stack, relative_table(stack), stack.model.tokens,
                       vector(stack.relative_bias->tensor, type));
  }
  const MaskKind& mask = stack.model.mask;
  const bool is_joined = stack.attends_memory || mask.causal || mask.left != all || mask.right != all;
  const Lines lines = table_settings(stack, options, relative_table(stack), is_joined);
  settings.insert(settings.end(), lines.begin(), lines.end());
}

void Chain::apply(const Layers& layers) {
  own_rows();
  fit_tokens(*layers.stack, rows);
  const Stack& stack = *layers.stack;
  const std::string type = stack.name + "::Stack", own = stack.attends_memory ? "options.self" : "options";
  body.push_back(type + "::Options options;");
  body.push_back(own + ".tokens = " + rows.count + ";");
  if (stack.attends_memory) body.push_back("options.memory.keys = " + layers.memory_rows + ";");
  add_tables(layers, own);
  body.insert(body.end(), settings.begin(), settings.end());
  add_weights(layers);
  const std::string to = target(rows.most, stack.model.model);
  const bool by_length = has_short_texts(layers);
  if (by_length) scene_.program.headers.insert("model/text.hpp");
  body.push_back((by_length ? "ladon::run_text" : type + "::run") + "(" + rows.at + ", " +
                 (stack.attends_memory ? layers.memory + ", " : "") + "weights." + layers.member + ", " + to +
                 ", workspace." + layers.member + (by_length ? ", workspace.short_" + layers.member : "") +
                 ", options);");
  rows.at = to, rows.width = stack.model.model;
  note(std::to_string(stack.model.layers) + " layers " + stack.prefix, multiply_adds_of(stack));
}

}  // namespace ladon::import
