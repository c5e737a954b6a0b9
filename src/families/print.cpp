// SPDX-License-Identifier: Apache-2.0
#include "print.hpp"

#include <ladon/safetensors/model_text.hpp>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "safetensors.hpp"
#include "steps_json.hpp"

namespace ladon::families {
namespace {

using safetensors::detail::MemberText;
using safetensors::detail::text_of;

std::string braced(const std::vector<MemberText>& members) {
  std::string text;
  for (const MemberText& member : members) text += (text.empty() ? "." : ", .") + member.name + " = " + member.value;
  return "{" + text + "}";
}

std::string kinds_of(const Model& model) {
  std::string text;
  for (std::size_t i = 0; i < model.kinds.count; ++i) {
    const LayerKind& kind = model.kinds.items[i];
    std::vector<MemberText> members;
    if (kind.window != 0) members.push_back({"window", text_of(kind.window)});
    if (kind.unrotated) members.push_back({"unrotated", "true"});
    if (kind.unnormed_attention) members.push_back({"unnormed_attention", "true"});
    text += (i == 0 ? "" : ", ") + braced(members);
  }
  return "{" + text + "}";
}

// Returns the initialisers of the members that differ from the default. Members of one member are in braces.
std::vector<MemberText> initialisers(const Model& model) {
  const auto members = safetensors::detail::members_of(model), defaults = safetensors::detail::members_of({});
  std::vector<MemberText> texts;
  std::vector<MemberText> inner;
  std::string outer;
  const auto close = [&] {
    if (!inner.empty()) texts.push_back({outer, braced(inner)});
    inner.clear();
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [name, value] = members[i];
    const std::size_t dot = name.find('.');
    const std::string before = name.substr(0, dot);
    if (before != outer) close();
    outer = before;
    if (value == defaults[i].value) continue;
    (dot == std::string::npos ? texts : inner).push_back({name.substr(dot + 1), value});
  }
  close();
  if (model.kinds.count > 0) texts.push_back({"kinds", kinds_of(model)});
  if (model.kind_of_layer.count == 0) return texts;
  std::string numbers;
  for (std::size_t i = 0; i < model.kind_of_layer.count; ++i)
    numbers += (i == 0 ? "" : ", ") + std::to_string(model.kind_of_layer.items[i]);
  texts.push_back({"kind_of_layer", "{" + numbers + "}"});
  return texts;
}

constexpr const char* kind_names[] = {"none", "linear", "dynamic", "llama3", "yarn", "longrope", "proportional"};

// Returns the initialiser of a RotaryScaling. Its factors are in an array `factors`.
std::string scaling_text(const Rotary& rotary) {
  const RotaryScaling& s = rotary.scaling;
  const RotaryScaling defaults;
  std::vector<MemberText> members;
  if (s.kind != RotaryKind::none)
    members.push_back({"kind", std::string("ladon::RotaryKind::") + kind_names[static_cast<int>(s.kind)]});
  for (const auto& [name, member] : {std::pair{"base", &RotaryScaling::base},
                                     {"factor", &RotaryScaling::factor},
                                     {"original_positions", &RotaryScaling::original_positions},
                                     {"attention_factor", &RotaryScaling::attention_factor},
                                     {"low_frequency_factor", &RotaryScaling::low_frequency_factor},
                                     {"high_frequency_factor", &RotaryScaling::high_frequency_factor},
                                     {"beta_fast", &RotaryScaling::beta_fast},
                                     {"beta_slow", &RotaryScaling::beta_slow}})
    if (s.*member != defaults.*member) members.push_back({name, text_of(s.*member)});
  if (!s.truncate) members.push_back({"truncate", "false"});
  if (s.kind == RotaryKind::proportional) members.push_back({"proportion", text_of(s.proportion)});
  if (!rotary.factors.empty()) members.push_back({"factors", "factors"});
  if (s.negated) members.push_back({"negated", "true"});
  return braced(members);
}

}  // namespace

std::string model_text(const Model& model) {
  std::string text = "{\n";
  for (const MemberText& member : initialisers(model)) text += "    ." + member.name + " = " + member.value + ",\n";
  return text + "}";
}

std::string fill_text(const Rotary& rotary, const std::string& table) {
  if (rotary.rows != 0)
    return "  ladon::fill_image_rotary_table(" + table + ", " + text_of(rotary.prefix) + ", " + text_of(rotary.rows) +
           ", " + text_of(rotary.columns) + ", " + text_of(rotary.scaling.base) + ");\n";
  const std::string fill =
      "ladon::fill_rotary_table(" + table + ", ladon::RotaryScaling" + scaling_text(rotary) + ");\n";
  if (rotary.factors.empty()) return "  " + fill;
  std::string numbers;
  for (const double factor : rotary.factors) numbers += (numbers.empty() ? "" : ", ") + text_of(factor);
  return "  {\n    static constexpr double factors[] = {" + numbers + "};\n    " + fill + "  }\n";
}

std::string buckets_text(const RelativeBuckets& buckets) {
  std::vector<MemberText> members{{"count", text_of(buckets.count)}};
  if (buckets.causal) members.push_back({"causal", "true"});
  members.push_back({"max_distance", text_of(buckets.max_distance)});
  return braced(members);
}

namespace {

std::string rotary_text(const Stack& stack) {
  if (stack.rotary.empty()) return "";
  const std::string size = text_of(stack.model.position.positions) + ", " + text_of(stack.model.position.width);
  std::string text =
      "\n// The tables of options.position.table, one for each kind of layers.\nusing RotaryTable = "
      "ladon::RotaryTable<" +
      size + ">;\ninline constexpr std::size_t rotary_tables = " + std::to_string(stack.rotary.size()) +
      ";\ninline void fill(RotaryTable (&tables)[rotary_tables]) {\n";
  for (std::size_t i = 0; i < stack.rotary.size(); ++i)
    text += fill_text(stack.rotary[i], "tables[" + std::to_string(i) + "]");
  return text + "}\n";
}

std::string relative_text(const Stack& stack) {
  if (!stack.relative_bias) return "";
  const auto& [tensor, buckets] = *stack.relative_bias;
  const std::string heads = text_of(stack.model.heads), size = heads + ", " + text_of(stack.model.tokens);
  return "\n// The table of the mask that `relative` asks for.\nusing RelativeTable = ladon::RelativeTable<" + size +
         ">;\ninline void fill(RelativeTable& table, const ladon::safetensors::File& file) {\n" +
         "  ladon::fill_relative_table(table, file.tensor(" + files::in_quotes(tensor) + ", {" +
         text_of(buckets.count) + ", " + heads + "}), " + buckets_text(buckets) + ");\n}\n";
}

// Returns a function for a text that grows, if the caches of layers with a window need only the latest tokens.
std::string growing_text(const Stack& stack) {
  const Model& model = stack.model;
  const bool has_kinds = model.window_of_kinds() != 0;
  const std::size_t window = has_kinds ? model.window_of_kinds() : model.mask.left;
  if (!(model.mask.causal || stack.attends_memory) || window == all || (has_kinds && window >= model.tokens)) return "";
  const std::string ring = std::to_string(window) + " + most;\n";
  return "\n// The model of a text that grows by up to `tokens` tokens a call. Caches fit calls of up to `most` "
         "tokens. The\n"
         "// caches of layers with a window keep only the latest tokens.\n"
         "constexpr ladon::Model growing(std::size_t tokens, std::size_t most) {\n  ladon::Model grown = model;\n"
         "  grown.tokens = tokens;\n  grown.keys = " +
         (has_kinds ? "model.tokens;\n  grown.window_keys = " + ring : ring) + "  return grown;\n}\n";
}

std::string stack_text(const Stack& stack) {
  std::string text = "namespace " + stack.name + " {\n\n";
  if (const float scale = input_scale(stack); scale != 1)
    text += "// The model multiplies its embeddings by " + text_of(scale) + ".\n";
  if (stack.model.tokens != stack.positions)
    text += "// config.json allows up to " + std::to_string(stack.positions) + " tokens.\n";
  text += "inline constexpr ladon::Model model" + model_text(stack.model) +
          ";\nusing Stack = ladon::" + (stack.attends_memory ? "Decoder" : "Encoder") + "<model>;\n\n";
  text += "// The epsilon of the norms is " + text_of(stack.epsilon) + ".\n";
  text += "inline Stack::Weights load(const ladon::safetensors::Folder& folder) {\n" +
          std::string("  return ladon::safetensors::load<Stack>(folder, ") + files::in_quotes(stack.prefix) + ");\n}\n";
  return text + rotary_text(stack) + relative_text(stack) + growing_text(stack) + "\n}  // namespace " + stack.name +
         "\n";
}

nlohmann::json json_of(const Rotary& rotary) {
  nlohmann::json json{{"scaling", scaling_text(rotary)}, {"factors", rotary.factors}};
  if (rotary.rows != 0) json["image"] = {rotary.prefix, rotary.rows, rotary.columns};
  return json;
}

nlohmann::json json_of(const Stack& stack) {
  nlohmann::json json{{"name", stack.name},
                      {"attends_memory", stack.attends_memory},
                      {"model", model_text(stack.model)},
                      {"layers", stack.model.layers},
                      {"tokens", stack.model.tokens},
                      {"positions", stack.positions},
                      {"epsilon", stack.epsilon},
                      {"input_scale", input_scale(stack)},
                      {"prefix", stack.prefix},
                      {"final_norm", stack.final_norm},
                      {"sets_of_weights", stack.sets_of_weights},
                      {"rotary", nlohmann::json::array()},
                      {"input", json_of(stack.input)},
                      {"behind", json_of(stack.behind)},
                      {"pooler", json_of(stack.pooler)},
                      {"head", json_of(stack.head)}};
  for (const Rotary& rotary : stack.rotary) json["rotary"].push_back(json_of(rotary));
  if (stack.relative_bias)
    json["relative_bias"] = {{"tensor", stack.relative_bias->tensor},
                             {"buckets", stack.relative_bias->buckets.count},
                             {"max_distance", stack.relative_bias->buckets.max_distance},
                             {"causal", stack.relative_bias->buckets.causal}};
  return json;
}

}  // namespace

std::string as_cpp(const Description& description, const std::string& source) {
  std::string text = "// " + files::escaped(source) + ": model_type " + files::in_quotes(description.model_type) + "\n";
  if (description.tied_embeddings) text += "// The output head is the table of embeddings.\n";
  text += "// Outside the layers:\n";
  for (const std::string& item : description.outside) text.append("//     ").append(item).append("\n");
  text += "#pragma once\n\n#include <cstddef>\n\n#include <ladon/ladon.hpp>\n#include <ladon/safetensors.hpp>\n";
  for (const Stack& stack : description.stacks) text += "\n" + stack_text(stack);
  return text;
}

std::string as_json(const Description& description) {
  nlohmann::json json{{"model_type", description.model_type},
                      {"tied_embeddings", description.tied_embeddings},
                      {"outside", description.outside},
                      {"stacks", nlohmann::json::array()}};
  for (const Stack& stack : description.stacks) json["stacks"].push_back(json_of(stack));
  return json.dump(1) + "\n";
}

}  // namespace ladon::families
