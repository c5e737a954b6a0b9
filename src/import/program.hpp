// SPDX-License-Identifier: Apache-2.0
// The parts of the C++ program that computes a model. program.cpp fills a Program in, and cpp_project.cpp writes the
// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "description.hpp"

namespace ladon::import {

using families::Description;

// Says which part of a model Ladon lacks. program_of adds the place.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Tokens of a text.
struct TextTokens {
  std::vector<std::int32_t> ends{};              // end a text
  std::vector<std::int32_t> starts{};            // begin a text of a decoder that attends to the output of an encoder
  std::vector<std::int32_t> suppressed{};        // never follow
  std::vector<std::int32_t> suppressed_first{};  // do not follow the prompt
};

// What the user chooses.
struct Choices {
  std::string name;        // the namespace, and the beginning of the names of files
  std::size_t tokens = 0;  // the largest number of tokens of a call; 0: from config.json
  PrecisionKind precision = PrecisionKind::float32;
  int activation_bits = 8;                  // int8 and int4: Model::activation_bits of the layers
  std::string cache_precision = "float32";  // of the keys and values of a text: an enumerator of CachePrecision
  std::vector<std::string> keep{};          // int4: regular expressions for linear maps of layers that get 8 bits
  double budget = 0;   // int4: the bytes of the layers' matrices, divided by those of int8; 0: as few as possible
  std::string source;  // the config.json, for messages
  TextTokens text_tokens{};
  bool has_tokenizer = false;    // the folder has a tokenizer.json
  std::string behind_missing{};  // stands behind the name of a missing tensor in messages
};

using Lines = std::vector<std::string>;

// A member of the struct Weights. `load` are the lines that fill it in.
struct Member {
  std::string type;
  std::string name;
  std::string tensor;
  Lines load;
};

struct Function {
  Lines comment;
  std::string signature;  // without the brace
  Lines body;
};

// An argument of the model. `kind` says what it consists of.
enum class Kind { ids, image, frames, time_series };
struct Argument {
  std::string name;
  Kind kind = Kind::ids;
  std::size_t most = 0;   // the largest number of ids or frames; of an image or an exact length: the numbers in it
  bool fixed = false;     // the length is always `most`
  std::size_t width = 1;  // numbers of a frame
  std::size_t rows = 0;   // of the table of embeddings
  std::string count{};    // the name of the parameter with the length, such as "tokens"

  // Of ids: the name of the parameter with the types of the tokens, or "" without types, and the rows of their table.
  std::string types{};
  std::size_t type_rows = 0;
};

// Rows that a function of the program writes.
struct Result {
  std::string function;  // "run"
  std::string name;      // "last"
  std::size_t most = 0;  // rows
  std::size_t width = 0;
  std::vector<Argument> arguments{};
  bool of_rows = false;  // an answer for each row of the last hidden state
};

// A line of the table of --dry-run.
struct Row {
  std::string place;
  std::string what;
  double multiply_adds = 0;  // of the largest call
};

// What a language model needs to write a text token by token.
struct Generation {
  std::string stack;                 // its namespace
  std::string layers;                // the member of Weights
  std::size_t vocabulary = 0;        // logits
  std::size_t tokens = 0;            // the longest text
  Lines embed{};                     // the body of the function from ids to the input of the layers
  Lines settings{};                  // statements that set the options of the layers
  Argument ids{};                    // of `run`
  std::optional<Argument> source{};  // what an encoder reads, to whose output the layers attend
};

// The linear maps with 8 bits of a stack with 4-bit weights, and its bytes divided by those of int8.
struct Mixture {
  std::string stack;
  std::vector<std::string> int8_members;
  double share;
};

struct Program {
  Description description;
  Choices choices;
  std::set<std::string> headers;  // of <ladon/...>
  std::string parts;              // constants and types, in front of Weights
  std::vector<Member> weights{};
  Lines tables{};   // members of the struct Tables
  Lines prepare{};  // the lines that fill them
  Lines workspace{};
  Lines batch_workspace{};  // empty without run_batch (batch.hpp)
  std::vector<Function> functions{};
  std::vector<Result> results{};
  std::optional<Generation> generation{};
  std::vector<Row> rows{};
  std::vector<Mixture> mixtures{};  // of --keep and --budget
  std::set<std::string> used{};     // the names of all tensors outside the layers
  // Folders inside the model's folder that have tensors, too, and the names of their files in the program.
  std::map<std::string, std::string> files{};
};

// Returns the program of a model. `tensors` are those of its checkpoint. Throws Error, which names the first part of
// the model that Ladon lacks.
Program program_of(Description description, const families::Tensors& tensors, const Choices& choices);

// Adds a function with the parameters `parameters`, weights, tables, `output` and a workspace. Tables and the names of
// parameters are left out if no line of the body mentions them.
void add_function(Program& program, Lines comment, const std::string& result, const std::string& name,
                  const std::string& parameters, Lines body, const std::string& output);

// Return the parameters and the arguments for an argument of the model: "const float* x, std::size_t frames, ", and
// "x, frames, ".
std::string parameters(const Argument& argument);
std::string arguments(const Argument& argument);

// Returns the argument for a call without the types of tokens.
Argument without_types(Argument argument);

// Returns the rows that a function writes, or null if the program lacks the function.
const Result* result_of(const Program& program, const std::string& function);

// Returns whether the function takes the inputs of the model: "run", or in a model of several stacks "run_text" and
// others. Then all functions of a stack have its name at their end.
bool is_run(const Result& result);

// Returns the result from which `result` is computed, or null if the function takes inputs of the model.
const Result* source_of(const Program& program, const Result& result);

// Returns the result of the stack from which `result` is computed, perhaps `result` itself.
const Result& run_of(const Program& program, const Result& result);

// Returns the results of `run`, or of the `run` of each stack.
std::vector<const Result*> runs_of(const Program& program);

// Returns the inputs of the model, those of all stacks.
std::vector<Argument> inputs_of(const Program& program);

// Returns whether `run` also takes the types of tokens.
bool takes_types(const Program& program);

// Returns whether a function of the program has tables as a parameter.
bool takes_tables(const Program& program, const std::string& function);

}  // namespace ladon::import
