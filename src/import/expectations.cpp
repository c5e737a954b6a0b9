// SPDX-License-Identifier: Apache-2.0
#include "expectations.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "config.hpp"
#include "member_names.hpp"
#include "safetensors.hpp"
#include "step_tensors.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

using families::Stack, families::Step;

void expect_precision(const families::Tensors& tensors, PrecisionKind precision) {
  for (const auto& [name, tensor] : tensors)
    if (tensor.dtype == "I8" && precision != PrecisionKind::int8)
      throw Unsupported("the tensor " + files::in_quotes(name) + " has int8 weights, which need --precision int8");
}

// The layers of a stack have one precision, and rotation needs a multiple of 8 inputs.
void expect_rotation(const Stack& stack, PrecisionKind precision) {
  if (precision != PrecisionKind::rotated_int8 && precision != PrecisionKind::rotated_int4) return;
  const Shape shape = stack.model.shape();
  for (const std::size_t inputs : {shape.model, shape.heads * shape.value_width, stack.model.feed_forward})
    if (inputs % 8 != 0)
      throw Unsupported("a linear map of the layers has " + std::to_string(inputs) +
                        " inputs, and rotation needs a multiple of 8; take --precision " +
                        (precision == PrecisionKind::rotated_int4 ? "int4" : "int8"));
}

// The first step of an input, and only this step, makes rows.
bool makes_rows(const Step& step) {
  return std::holds_alternative<families::Lookup>(step) || std::holds_alternative<families::Patches>(step) ||
         std::holds_alternative<families::Frames>(step) || std::holds_alternative<families::TimeSeriesPatches>(step);
}

void expect_types(const Description& description, const Stack& stack, const std::set<std::string>& reserved) {
  for (const auto* steps : {&stack.behind, &stack.pooler, &stack.head})
    if (std::any_of(steps->begin(), steps->end(), families::row_of_types))
      throw Unsupported("token types are added behind the layers");
  const auto& steps = stack.input.steps;
  const auto row = std::find_if(steps.begin(), steps.end(), families::row_of_types);
  if (row == steps.end()) return;
  if (std::any_of(row + 1, steps.end(), families::row_of_types) || description.stacks.size() > 1 ||
      !std::holds_alternative<families::Lookup>(steps[0]))
    throw Unsupported("token types need a model of one stack that reads token ids, and one table of types");
  const std::string types = identifier(families::row_of_types(*row)->ids);
  if (reserved.contains(types) || types == identifier(stack.input.name))
    throw Unsupported("the token types " + files::in_quotes(types) + " need a name that the program does not have");
}

void expect_order(const Description& description, const Stack& stack) {
  const std::string where = "the stack " + files::in_quotes(stack.name), input = identifier(stack.input.name);
  static const std::set<std::string> reserved{
      "weights",   "tables",         "workspace", "x",     "y",         "memory", "last",     "pooled", "answer",
      "options",   "tokens",         "frames",    "rows",  "state",     "load",   "run",      "pool",   "head",
      "encode",    "decode",         "prepare",   "embed", "run_batch", "texts",  "embedded", "size_t", "memory_rows",
      "last_rows", "decoder_tokens", "first"};
  if (identifier(stack.name) != stack.name || reserved.contains(stack.name))
    throw Unsupported(where + " needs another name: of small letters, digits and _, and no name of the program");
  if (reserved.contains(input))
    throw Unsupported("the input " + files::in_quotes(stack.input.name) +
                      " needs a name that the program does not have");
  for (const Stack& other : description.stacks)
    if (&other != &stack && (other.name == stack.name || identifier(other.input.name) == input))
      throw Unsupported(where + " has the name of another stack, or its input that of another input");
  if (!makes_rows(stack.input.steps.front()))
    throw Unsupported(where + " begins with a step that makes no rows: lookup, patches, frames or time_series_patches");
  expect_types(description, stack, reserved);
  for (const auto* steps : {&stack.input.steps, &stack.behind, &stack.pooler, &stack.head})
    for (const Step& step : *steps)
      if (&step != &stack.input.steps.front() && makes_rows(step))
        throw Unsupported(where + " has a step that makes rows behind other steps");
}

void expect_input(const Description& description, const Stack& stack) {
  if (!stack.input.missing.empty()) throw Unsupported(stack.input.missing);
  if (stack.input.steps.empty()) throw Unsupported("Ladon does not know the steps before the layers of this family");
  expect_order(description, stack);
  if (stack.model.mask.additive_per_head) {
    const auto key = stack.keys.find("mask.additive_per_head");
    throw Unsupported("Ladon lacks the bias of all layers" +
                      (key == stack.keys.end() ? "" : " that " + key->second + " asks for"));
  }
}

// Returns the keys of a config.json whose values are extents of `needed` and not of `found`: " (\"vocab_size\" is 77)",
// or "".
std::string keys_with(const std::string& source, const std::vector<std::uint64_t>& found,
                      const std::vector<std::size_t>& needed) {
  if (!std::filesystem::exists(files::path_of(source))) return "";  // a description of a test
  std::string text;
  const nlohmann::json config = families::read_json(files::path_of(source));
  for (const auto& [key, value] : config.items()) {
    const bool is_size = value.is_number_unsigned();
    const auto is_it = [&](auto extent) { return is_size && value.get<std::uint64_t>() == extent; };
    if (std::ranges::any_of(needed, is_it) && std::ranges::none_of(found, is_it))
      text += (text.empty() ? "" : ", ") + files::in_quotes(key) + " is " + value.dump();
  }
  return text.empty() ? "" : " (" + text + ")";
}

void expect_shape(const families::NamedShape& expected, const families::Tensors& tensors, const std::string& source) {
  const auto found = tensors.find(expected.name);
  if (found == tensors.end()) return;
  const auto count = [](const auto& shape) {
    double product = 1;
    for (const auto extent : shape) product *= static_cast<double>(extent);
    return product;
  };
  if (count(found->second.shape) != count(expected.shape))
    throw Unsupported("the tensor " + files::in_quotes(expected.name) + " has the shape " +
                      files::shown(found->second.shape) + ", and the model needs " + files::shown(expected.shape) +
                      keys_with(source, found->second.shape, expected.shape));
}

}  // namespace

void expect_model(const Description& description, const families::Tensors& tensors, PrecisionKind precision) {
  expect_precision(tensors, precision);
  for (const Stack& stack : description.stacks) {
    expect_input(description, stack);
    expect_rotation(stack, precision);
  }
}

std::string missing_tensor(const std::set<std::string>& names, const families::Tensors& tensors) {
  if (tensors.empty()) return "";
  for (const std::string& name : names)
    if (!tensors.contains(name)) return name;
  return "";
}

void expect_tensors(const Program& program, const families::Tensors& tensors) {
  if (const std::string name = missing_tensor(program.used, tensors); !name.empty())
    throw Unsupported("the checkpoint lacks the tensor " + files::in_quotes(name) + program.choices.behind_missing);
  for (const Stack& stack : program.description.stacks)
    for (const families::NamedShape& expected : families::tensors_of(stack))
      expect_shape(expected, tensors, program.choices.source);
}

}  // namespace ladon::import
