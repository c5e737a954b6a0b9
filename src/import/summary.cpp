// SPDX-License-Identifier: Apache-2.0
#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ladon/detail/vec/int4.hpp>

#include "print.hpp"
#include "safetensors.hpp"
#include "table.hpp"

namespace ladon::import {
namespace {

std::string millions(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f million", number / 1e6);
  return text;
}

std::uint64_t elements_of(const files::Tensor& tensor) {
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : tensor.shape) elements *= extent;
  return elements;
}

// Returns whether the tensor belongs to the layers of a stack.
bool is_of_layers(const std::string& name, const Program& program) {
  const auto& stacks = program.description.stacks;
  return std::any_of(stacks.begin(), stacks.end(),
                     [&](const families::Stack& stack) { return name.starts_with(stack.prefix + "."); });
}

// Returns the bytes of all used tensors in float32, bfloat16, int8 and int4. Tensors of one dimension are always
// float32. An int8 or int4 matrix has a scale and a sum for each row. With int4, the matrices outside the layers are
// int8.
std::array<std::uint64_t, 4> bytes_of(const Program& program, const families::Tensors& tensors) {
  std::array<std::uint64_t, 4> bytes{};
  for (const auto& [name, tensor] : tensors) {
    if (!is_used(name, program)) continue;
    const std::uint64_t elements = elements_of(tensor);
    if (tensor.shape.size() < 2) {
      for (std::uint64_t& sum : bytes) sum += elements * 4;
      continue;
    }
    const std::uint64_t rows = tensor.shape[0], of_rows = 8 * rows;
    bytes[0] += elements * 4;
    bytes[1] += elements * 2;
    bytes[2] += elements + of_rows;
    bytes[3] +=
        (is_of_layers(name, program) && rows != 0 ? rows * int4_row_bytes(elements / rows) : elements) + of_rows;
  }
  return bytes;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) text += "  " + files::escaped(names[i]) + "\n";
  if (names.size() > most) text += "  and " + std::to_string(names.size() - most) + " more\n";
  return text;
}

}  // namespace

bool is_used(const std::string& name, const Program& program) {
  if (program.used.contains(name) || is_of_layers(name, program)) return true;
  const auto& stacks = program.description.stacks;
  return std::any_of(stacks.begin(), stacks.end(), [&](const families::Stack& stack) {
    return !stack.final_norm.empty() && name.starts_with(stack.final_norm + ".");
  });
}

std::string summary(const Program& program, const families::Tensors& tensors) {
  std::string text = "model_type " + files::in_quotes(program.description.model_type) + "\n";
  for (const families::Stack& stack : program.description.stacks)
    text += stack.name + " " + families::model_text(stack.model) + "\n";
  std::vector<weights::Cells> rows{{"part", "step", "multiply-adds of the largest call", ""}};
  double sum = 0;
  for (const Row& row : program.rows) {
    sum += row.multiply_adds;
    rows.push_back(
        {row.place, files::escaped(row.what), row.multiply_adds == 0 ? "" : millions(row.multiply_adds), ""});
  }
  rows.push_back({"sum", "", millions(sum), ""});
  text += "\n" + weights::table(rows);
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : tensors)
    if (!is_used(name, program)) unused.push_back(name);
  text += "\n" + std::to_string(tensors.size() - unused.size()) + " tensors are used, and " +
          std::to_string(unused.size()) + " are not" + (unused.empty() ? ".\n" : ":\n") + list_of(unused);
  const auto bytes = bytes_of(program, tensors);
  text += "\nBytes of the weights: " + std::to_string(bytes[0]) + " in float32, " + std::to_string(bytes[1]) +
          " in bfloat16, " + std::to_string(bytes[2]) + " in int8, " + std::to_string(bytes[3]) + " in int4.\n";
  for (const Mixture& mixture : program.mixtures) {
    text += mixture.stack + ": the matrices of the layers take " +
            std::to_string(static_cast<int>(100 * mixture.share + 0.5)) + "% of the bytes of int8. 8 bits have:";
    for (const std::string& name : mixture.int8_members) text += " " + name;
    text += mixture.int8_members.empty() ? " none.\n" : "\n";
  }
  return text;
}

}  // namespace ladon::import
