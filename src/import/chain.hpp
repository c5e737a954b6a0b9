// SPDX-License-Identifier: Apache-2.0
// Translates a chain of steps into the body of a function.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>

#include "member_names.hpp"
#include "program.hpp"

namespace ladon::import {

// The rows that a step reads.
struct Rows {
  std::string at;         // an expression: the address of the first row
  std::string count;      // an expression: the number of rows
  std::size_t most = 0;   // the largest number of rows
  std::size_t width = 0;  // numbers of a row
  bool fixed = false;     // there are always `most` rows
  bool read_only = false;
};

// What all functions of a program share.
struct Scene {
  Program& program;
  const families::Tensors& tensors;
  MemberNames names;
  std::size_t x = 0, y = 0;  // numbers in workspace.x and workspace.y
  families::Lookup table{};  // the first Lookup
};

// A stack of layers as a step. `memory` is an expression for the rows to which a decoder attends.
struct Layers {
  families::Stack* stack;  // its `tokens` become those of an input with a fixed length
  std::string member;      // of Weights and Workspace
  std::string memory{}, memory_rows{};
  bool of_text = false;  // whether the rows are those of a text of any length
};
using Operation = std::variant<families::Step, Layers>;

class Chain {
 public:
  // `place` is the place of the steps for the table of --dry-run, such as "encoder".
  Chain(Scene& scene, std::string place, Rows rows);

  // Appends the operations to `body`. The last rows lie at `destination`, the name of a parameter.
  void run(std::span<const Operation> operations, const std::string& destination);

  Lines body{};
  Rows rows;
  Lines settings{};        // the statements of the body that set the options of the layers, without lengths
  std::string position{};  // an expression: the position of the first row; empty: 0
  std::string types{};     // an expression: the types of the tokens, or a null pointer; empty: all are 0

 private:
  void apply(const families::Step& step);
  void apply(const families::Lookup& step);
  void apply(const families::DropToken& step);
  void apply(const families::AddPositions& step);
  void apply(const families::AddRow& step);
  void apply(const families::NormRows& step);
  void apply(const families::LinearRows& step);
  void apply(const families::Patches& step);
  void apply(const families::Prepend& step);
  void apply(const families::Frames& step);
  void apply(const families::ConvolveRows& step);
  void apply(const families::GroupNormRows& step);
  void apply(const families::Apply& step);
  void apply(const families::TimeSeriesPatches& step);
  void apply(const families::MaskedPatches& step);
  void apply(const families::ResidualBlock& step);
  void apply(const families::Pool& step);
  void apply(const families::AttentionPool& step);
  void apply(const families::LinearPair& step);
  void apply(const families::UnitLength& step);
  void apply(const families::TiedHead& step);
  void apply(const families::Scale& step);
  void apply(const families::Softcap& step);
  void apply(const Layers& layers);
  void add_weights(const Layers& layers);
  void add_tables(const Layers& layers, const std::string& options);

  // Returns where the present operation writes `most` rows of `width` numbers, if it does not write over its input.
  // Rows that a later Prepend puts in front have room there.
  std::string target(std::size_t most, std::size_t width);
  // Returns the array of the workspace that does not have the rows, with room for `size` numbers.
  std::string scratch(std::size_t size);
  // Copies rows that belong to the caller before they change.
  void own_rows();
  // Appends a linear map of the rows, which writes to `to`.
  void linear(const std::string& name, const std::string& member, const std::string& type, std::size_t outputs,
              Bias bias, PrecisionKind precision, const std::string& to);
  // Appends a linear map of the rows with the tensors NAME.weight and NAME.bias.
  void linear_part(const std::string& name, std::size_t outputs, Bias bias, const std::string& to);
  std::string declare(const families::ConvolveRows& step, const std::string& member, const std::string& type);
  [[nodiscard]] PrecisionKind precision_of(std::size_t inputs) const;
  // The same for an embedding table, which has at least 8 bits.
  [[nodiscard]] PrecisionKind precision_of_table(std::size_t features) const;
  void for_each_number(const std::string& statement);
  void activate(families::After function, const std::string& at);
  // Adds a row to the table of --dry-run.
  void note(const std::string& what, double multiply_adds = 0);
  // Add a member of Weights, unless it exists, and return its name.
  std::string vector(const std::string& tensor, const std::string& type);
  std::string part(const std::string& name, const std::string& type, Bias bias, const Lines& more = {});
  [[nodiscard]] std::string numbers() const;  // an expression: how many numbers the rows have

  Scene& scene_;
  std::string place_;
  std::span<const Operation> operations_{};
  std::size_t present_ = 0;  // number of the operation
  std::string destination_{};
  std::string ids_{};    // the argument with the token ids
  std::string count_{};  // an expression: the number of ids
};

// The steps before the layers, as a function of their own.
struct InputSteps {
  Lines body;
  Rows rows;
};
// Translates the steps before the layers of a stack, which write `embedded`. Adds nothing to the program, because `run`
// has the same steps. `position` is an expression for the position of the first row; empty: 0.
InputSteps input_steps(Scene& scene, const families::Stack& stack, const Argument& argument,
                       const std::string& position = "");

// Returns how many rows a Prepend puts in front; of other operations, 0.
std::size_t prepended(const Operation& operation);
// Returns the address of a number behind other numbers: "x + 32".
std::string plus(const std::string& address, std::size_t numbers);
// Returns ", ladon::precision::BFloat16" and so on: the last argument of a type, or "" for float32.
std::string precision_argument(PrecisionKind precision);
// Returns "float32", "bfloat16" and so on.
const char* precision_name(PrecisionKind precision);
// Whether products of such weights quantise their inputs.
bool has_integers(PrecisionKind precision);
// Returns ".precision = ladon::PrecisionKind::bfloat16" and so on, or "" for float32.
std::string precision_member(PrecisionKind precision);

}  // namespace ladon::import
