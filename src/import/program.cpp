// SPDX-License-Identifier: Apache-2.0
// Fills a Program in: a function for each stack, its pooler and its head, and the memory that they need.
#include "program.hpp"

#include <algorithm>
#include <ladon/safetensors/error.hpp>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "chain.hpp"
#include "expectations.hpp"
#include "generation.hpp"
#include "layers.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

using families::Stack, families::Step;

// Layouts with matrices (in, out) have float32 weights only.
LayoutKind reduced(LayoutKind layout) {
  if (layout == LayoutKind::in_out) return LayoutKind::separate_qkv;
  return layout == LayoutKind::in_proj_in_out ? LayoutKind::in_proj : layout;
}

std::vector<Operation> operations(const std::vector<Step>& steps) { return {steps.begin(), steps.end()}; }

Argument input_of(const Stack& stack) {
  Argument argument{.name = identifier(stack.input.name)};
  const std::string prefix = argument.name.starts_with("decoder_") ? "decoder_" : "";
  const Step& first = stack.input.steps.front();
  if (const auto* lookup = std::get_if<families::Lookup>(&first)) {
    argument.most = stack.model.tokens, argument.rows = lookup->rows, argument.count = prefix + "tokens";
    for (const Step& step : stack.input.steps)
      if (const families::AddRow* const row = families::row_of_types(step))
        argument.types = identifier(row->ids), argument.type_rows = row->rows;
  } else if (const auto* patches = std::get_if<families::Patches>(&first)) {
    argument.kind = Kind::image, argument.fixed = true;
    argument.most = patches->frames * patches->channels * patches->rows * patches->columns;
  } else if (const auto* frames = std::get_if<families::Frames>(&first)) {
    argument.kind = Kind::frames, argument.fixed = frames->exact, argument.count = "frames";
    argument.most = frames->frames, argument.width = frames->channels;
  } else if (const auto* series = std::get_if<families::TimeSeriesPatches>(&first)) {
    argument.kind = Kind::time_series, argument.fixed = true, argument.most = series->length;
  }
  return argument;
}

std::string described(const Argument& argument) {
  switch (argument.kind) {
    case Kind::ids:
      return "`" + argument.name + "` [" + argument.count + "]" +
             (argument.types.empty() ? "" : " and `" + argument.types + "` [" + argument.count + "]");
    case Kind::frames:
      return "`" + argument.name + "` [" + (argument.fixed ? std::to_string(argument.most) : "frames") + " frames]";
    default:
      return "`" + argument.name + "` [" + std::to_string(argument.most) + "]";
  }
}
std::string limit(const Argument& argument) {
  if (argument.fixed) return "";
  return " At most " + std::to_string(argument.most) + " " + argument.count + ".";
}

// Returns the body behind a check of the argument's length. The first step has memory for the longest argument only.
Lines behind_check(const Argument& argument, Lines body) {
  if (argument.fixed) return body;
  const std::string most = "most_" + argument.count;
  body.insert(body.begin(), "LADON_EXPECTS(" + argument.count + " <= " + most + ", \"ladon: more " + argument.count +
                                " than " + most + "\", {}, {{\"" + argument.count + "\", " + argument.count + "}});");
  return body;
}

class Builder {
 public:
  Builder(Program& program, const families::Tensors& tensors)
      : program_(program), scene_{program, tensors, MemberNames({"weights",
                                                                 "tables",
                                                                 "workspace",
                                                                 "x",
                                                                 "y",
                                                                 "memory",
                                                                 "layers",
                                                                 "encoder_layers",
                                                                 "decoder_layers",
                                                                 "text_layers",
                                                                 "vision_layers",
                                                                 "last",
                                                                 "pooled",
                                                                 "answer",
                                                                 "options",
                                                                 "encoder",
                                                                 "decoder",
                                                                 "text",
                                                                 "vision",
                                                                 "tokens",
                                                                 "frames",
                                                                 "rows",
                                                                 "load",
                                                                 "run",
                                                                 "pool",
                                                                 "head",
                                                                 "encode",
                                                                 "decode",
                                                                 "prepare"})} {}

  void build() {
    std::vector<Stack>& stacks = program_.description.stacks;
    expect_model(program_.description, scene_.tensors, program_.choices.precision);
    const bool has_decoder = std::any_of(stacks.begin(), stacks.end(), [](auto& s) { return s.attends_memory; });
    for (Stack& stack : stacks) {
      if (has_decoder) {
        stack.attends_memory ? add_decoder(stack) : add_tower(stack, "encode", "memory");
      } else {
        add_tower(stack, "run" + suffix(stack), "last" + suffix(stack));
      }
    }
    for (const Stack& stack : stacks) {
      if (!has_decoder || stack.attends_memory) add_ends(stack);
    }
    if (stacks.size() == 1) add_batch(scene_, stacks.front(), argument_of(stacks.front()));
    if (stacks.size() == 1 || has_decoder) add_generation(stacks.back());
    expect_tensors(program_, scene_.tensors);
    add_buffers(has_decoder);
    std::string spaces;
    for (const Stack& stack : stacks)
      spaces +=
          namespace_of(stack, program_.choices, program_.generation && program_.generation->stack == stack.name) + "\n";
    program_.parts.insert(0, spaces);
  }

 private:
  [[nodiscard]] std::string suffix(const Stack& stack) const {
    return program_.description.stacks.size() == 1 || stack.attends_memory ? "" : "_" + stack.name;
  }
  // Returns the input of a stack. The lengths of several texts have different names.
  [[nodiscard]] Argument argument_of(const Stack& stack) const {
    Argument argument = input_of(stack);
    for (const Stack& other : program_.description.stacks)
      if (&other != &stack && !argument.fixed && input_of(other).count == argument.count) {
        argument.count = stack.name + "_" + argument.count;
        break;
      }
    return argument;
  }
  static Rows first_rows(const Argument& argument) {
    return {.at = argument.name,
            .count = argument.fixed ? std::to_string(argument.most) : argument.count,
            .most = argument.most,
            .width = argument.width,
            .fixed = argument.fixed,
            .read_only = true};
  }
  // A function from the model's argument to the last hidden state of a stack.
  void add_tower(Stack& stack, const std::string& name, const std::string& output) {
    const Argument argument = argument_of(stack);
    Chain chain(scene_, stack.name, first_rows(argument));
    chain.types = argument.types;
    std::vector<Operation> chained = operations(stack.input.steps);
    chained.emplace_back(
        Layers{.stack = &stack, .member = layers_of(stack), .of_text = argument.kind == Kind::ids && !argument.fixed});
    for (const Step& step : stack.behind) chained.emplace_back(step);
    chain.run(chained, output);
    settings_ = chain.settings;
    chain.body.push_back("return " + chain.rows.count + ";");
    add_function(program_,
                 {"Computes the last hidden state `" + output + "` [rows][" + std::to_string(chain.rows.width) +
                      "] of " + described(argument) + ".",
                  "Returns the number of rows." + limit(argument)},
                 "std::size_t", name, parameters(argument), behind_check(argument, std::move(chain.body)), output);
    if (!argument.types.empty())
      add_function(program_, {"Does the same with types of 0."}, "std::size_t", name,
                   parameters(without_types(argument)),
                   {"return " + name + "(" + argument.name + ", nullptr, " + argument.count + ", weights, " +
                    (takes_tables(program_, name) ? "tables, " : "") + output + ", workspace);"},
                   output);
    program_.results.push_back({name, output, chain.rows.most, chain.rows.width, {argument}});
  }

  [[nodiscard]] std::string layers_of(const Stack& stack) const {
    return program_.description.stacks.size() == 1 ? "layers" : stack.name + "_layers";
  }

  void add_decoder(Stack& stack) {
    const Result memory = program_.results.back();
    stack.model.memory = memory.most;
    const Argument argument = argument_of(stack);
    Chain chain(scene_, stack.name, first_rows(argument));
    std::vector<Operation> chained = operations(stack.input.steps);
    chained.emplace_back(Layers{&stack, layers_of(stack), "memory", "memory_rows"});
    for (const Step& step : stack.behind) chained.emplace_back(step);
    chain.run(chained, "last");
    settings_ = chain.settings;
    chain.body.push_back("return " + chain.rows.count + ";");
    const std::string width = std::to_string(chain.rows.width);
    add_function(program_,
                 {"Computes the last hidden state `last` [rows][" + width + "] of " + described(argument) + ", which",
                  "attends to `memory` [memory_rows][" + std::to_string(memory.width) + "], the result of encode."},
                 "std::size_t", "decode", parameters(argument) + "const float* memory, std::size_t memory_rows, ",
                 behind_check(argument, std::move(chain.body)), "last");
    const std::string encode = takes_tables(program_, "encode") ? "weights, tables, " : "weights, ";
    const std::string decode = takes_tables(program_, "decode") ? "weights, tables, " : "weights, ";
    add_function(
        program_, {"Does both. Returns the number of rows of `last`."}, "std::size_t", "run",
        parameters(memory.arguments[0]) + parameters(argument),
        {"const std::size_t memory_rows = encode(" + arguments(memory.arguments[0]) + encode +
             "workspace.memory, workspace);",
         "return decode(" + arguments(argument) + "workspace.memory, memory_rows, " + decode + "last, workspace);"},
        "last");
    memory_numbers_ = memory.most * memory.width;
    program_.results.push_back({"run", "last", chain.rows.most, chain.rows.width, {memory.arguments[0], argument}});
  }

  // The pooler and the head, if the checkpoint has their tensors.
  void add_ends(const Stack& stack) {
    const auto run = std::find_if(program_.results.begin(), program_.results.end(), [&](auto& result) {
      return result.name == "last" || result.name == "last" + suffix(stack);
    });
    Rows rows{.at = run->name, .count = "rows", .most = run->most, .width = run->width, .read_only = true};
    if (!stack.pooler.empty() && !add_end(stack, stack.pooler, "pool", "pooled", rows)) return;
    if (!stack.pooler.empty()) {
      const Result& pooled = program_.results.back();
      rows = {.at = pooled.name, .count = "1", .most = 1, .width = pooled.width, .fixed = true, .read_only = true};
    }
    if (!stack.head.empty()) add_end(stack, stack.head, "head", "answer", rows);
  }

  bool add_end(const Stack& stack, const std::vector<Step>& steps, const std::string& name, const std::string& output,
               Rows rows) {
    const Program before = program_;
    const MemberNames names = scene_.names;
    const bool of_rows = stack.head_of_rows && name == "head";
    const bool of_one_row = std::none_of(steps.begin(), steps.end(), families::makes_one_row) && !of_rows;
    if (of_one_row) rows.count = "1", rows.most = 1, rows.fixed = true;
    const std::string input = rows.at, to = output + suffix(stack);
    Chain chain(scene_, name + suffix(stack), rows);
    const std::vector<Operation> chained = operations(steps);
    chain.run(chained, to);
    if (const std::string missing = missing_tensor(program_.used, scene_.tensors); !missing.empty()) {
      if (missing.find('/') != missing.npos)
        throw Unsupported("modules.json asks for the tensor " + files::in_quotes(missing) + ", which is missing");
      program_ = before, scene_.names = names;
      program_.rows.push_back({name + suffix(stack), "left out, because the checkpoint lacks " + missing, 0});
      return false;
    }
    const bool reads_rows =
        std::any_of(chain.body.begin(), chain.body.end(), [](auto& line) { return line.find(" rows") != line.npos; });
    const std::string width = std::to_string(chain.rows.width);
    add_function(program_,
                 {"Computes `" + to + "` " + (of_rows ? "[rows]" : "") + "[" + width + "] from `" + input + "` " +
                  (of_one_row ? "[" + std::to_string(rows.width) + "], one row."
                              : "[rows][" + std::to_string(rows.width) + "].")},
                 "void", name + suffix(stack),
                 "const float* " + input + ", " +
                     (of_one_row   ? ""
                      : reads_rows ? "std::size_t rows, "
                                   : "std::size_t, "),
                 std::move(chain.body), to);
    program_.results.push_back({name + suffix(stack),
                                to,
                                of_rows ? chain.rows.most : 1,
                                chain.rows.width,
                                {{.name = input, .fixed = of_one_row}},
                                of_rows});
    return true;
  }

  void add_generation(const Stack& stack) {
    const Argument argument = argument_of(stack);
    program_.generation = generation_of(scene_, stack, argument, settings_);
    if (!program_.generation) return;
    program_.headers.insert("model/generation.hpp");
    const Lines& body = program_.generation->embed;
    const bool has_positions =
        std::any_of(body.begin(), body.end(), [](auto& line) { return line.find("first") != line.npos; });
    add_function(program_,
                 {"Writes the input `embedded` [" + argument.count + "][" + std::to_string(stack.model.model) +
                  "] of the layers for the tokens first, first + 1, .. of a text."},
                 "void", "embed",
                 "const std::int32_t* " + argument.name + ", std::size_t " + (has_positions ? "first" : "/*first*/") +
                     ", std::size_t " + argument.count + ", ",
                 body, "embedded");
  }

  void add_buffers(bool has_memory) {
    Lines buffers;
    const auto add = [&](const char* name, std::size_t numbers) {
      if (numbers != 0) buffers.push_back(std::string("float ") + name + "[" + std::to_string(numbers) + "];");
    };
    add("x", scene_.x), add("y", scene_.y), add("memory", has_memory ? memory_numbers_ : 0);
    program_.workspace.insert(program_.workspace.begin(), buffers.begin(), buffers.end());
  }

  Program& program_;
  Scene scene_;
  std::size_t memory_numbers_ = 0;
  Lines settings_{};  // the statements that set the options of the layers
};

}  // namespace

void add_function(Program& program, Lines comment, const std::string& result, const std::string& name,
                  const std::string& parameters, Lines body, const std::string& output) {
  const auto mentions = [&](const char* word) {
    return std::any_of(body.begin(), body.end(), [&](auto& line) { return line.find(word) != line.npos; });
  };
  const std::string tables = mentions("tables") ? "const Tables& tables, " : "";
  const std::string weights = mentions("weights") ? "const Weights& weights, " : "const Weights&, ";
  const std::string workspace = mentions("workspace") ? "Workspace& workspace" : "Workspace&";
  program.functions.push_back({std::move(comment),
                               "inline " + result + " " + name + "(" + parameters + weights + tables + "float* " +
                                   output + ", " + workspace + ") noexcept",
                               std::move(body)});
}

std::string parameters(const Argument& argument) {
  const std::string type = argument.kind == Kind::ids ? "const std::int32_t* " : "const float* ";
  const std::string types = argument.types.empty() ? "" : type + argument.types + ", ";
  return type + argument.name + ", " + types + (argument.fixed ? "" : "std::size_t " + argument.count + ", ");
}
std::string arguments(const Argument& argument) {
  const std::string types = argument.types.empty() ? "" : argument.types + ", ";
  return argument.name + ", " + types + (argument.fixed ? "" : argument.count + ", ");
}
Argument without_types(Argument argument) {
  argument.types.clear();
  return argument;
}

Program program_of(Description description, const families::Tensors& tensors, const Choices& choices) {
  Program program{.description = std::move(description), .choices = choices, .headers = {"ladon.hpp"}, .parts = ""};
  for (Stack& stack : program.description.stacks) {
    if (has_integers(choices.precision)) stack.model.activation_bits = choices.activation_bits;
    if (choices.precision != PrecisionKind::float32) stack.model.layout = reduced(stack.model.layout);
  }
  try {
    Builder(program, tensors).build();
  } catch (const Unsupported& missing) {
    throw safetensors::Error(choices.source + ": \"model_type\" is " +
                             files::in_quotes(program.description.model_type) + ": " + missing.what());
  }
  return program;
}

}  // namespace ladon::import
