// SPDX-License-Identifier: Apache-2.0
#include "batch.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "layers.hpp"

namespace ladon::import {
namespace {

// The largest number of tokens of a call for several texts. Calls of 256 tokens are no faster, and leave threads
// without work.
constexpr std::size_t most_tokens = 128;

// Returns whether texts can share a call in which a mask keeps them apart: whether scores depend on positions only
// through the distance of key and query. Learned positions are added before the layers, for each text.
bool can_share_calls(const families::Stack& stack) {
  const bool depends_on_length =
      std::any_of(stack.rotary.begin(), stack.rotary.end(), [](const families::Rotary& rotary) {
        return rotary.scaling.kind == RotaryKind::dynamic || rotary.scaling.kind == RotaryKind::longrope ||
               rotary.rows != 0;
      });
  const bool scales_by_length = stack.model.score.by == Scale::keys && stack.model.score.scale == 0;
  return stack.behind.empty() && !stack.model.layer_bias && !depends_on_length && !scales_by_length;
}

// Returns the largest number of tokens of a call for several texts. A rotary table has a position for each token.
std::size_t tokens_together(const families::Stack& stack) {
  return stack.rotary.empty() ? most_tokens : std::min(most_tokens, stack.model.position.positions);
}

std::string passed(const Program& program, const std::string& function) {
  return takes_tables(program, function) ? "weights, tables, " : "weights, ";
}

// Adds the function embed, the steps before the layers. Returns whether it makes one row of each token.
bool add_embed(Scene& scene, const families::Stack& stack, const Argument& argument) {
  auto [body, rows] = input_steps(scene, stack, argument);
  if (rows.count != argument.count) return false;
  add_function(
      scene.program,
      {"Computes the input of the layers, `embedded` [" + argument.count + "][" + std::to_string(rows.width) + "]."},
      "void", "embed", parameters(argument), std::move(body), "embedded");
  return true;
}

// Returns what passes the types of the tokens of `texts`, if the model takes types.
std::string types_of(const Program& program, const std::string& texts) {
  return takes_types(program) ? texts + ".types, " : "";
}

// Returns the lines that compute texts which share a call. `settings` are the statements that set the options.
Lines together(const Program& program, const std::string& width, const Lines& settings) {
  Lines lines{"  } else {", "    ladon::for_each_text(part, [&](const ladon::BatchText& text) {",
              "      embed(text.ids, " + types_of(program, "text") + "text.tokens, " + passed(program, "embed") +
                  "workspace.x + text.first * " + width + ", workspace.single);",
              "    });"};
  std::string options;
  if (!settings.empty()) {
    options = ", options";
    lines.emplace_back("    Together::Options options;");
    for (const std::string& setting : settings) lines.push_back("    " + setting);
  }
  lines.push_back(
      "    ladon::run_together<Together>(part, workspace.x, weights.layers, workspace.last, workspace.together" +
      options + ");");
  lines.emplace_back("  }");
  return lines;
}

// Returns the call of the function of an end, from `from` to `to`.
std::string call_of(const Program& program, const Result& end, const std::string& from, const std::string& rows,
                    const std::string& to) {
  return end.function + "(" + from + ", " + (end.arguments[0].fixed ? "" : rows + ", ") +
         passed(program, end.function) + to + ", workspace.single);";
}

// Returns the lines that compute the result number `number` of the batch from the rows of a text.
Lines ends(const Program& program, const std::string& last, const std::string& rows, const std::string& number) {
  const Result& result = *batch_result(program);
  const std::string to = result.name + " + " + number + " * " + std::to_string(result.width);
  const Result* const pool = result_of(program, "pool");
  if (pool == nullptr || pool == &result) return {call_of(program, result, last, rows, to)};
  const std::string pooled = "workspace." + pool->name;
  return {call_of(program, *pool, last, rows, pooled), call_of(program, result, pooled, rows, to)};
}

void append(Lines& body, const Lines& lines, const std::string& indentation) {
  for (const std::string& line : lines) body.push_back(indentation + line);
}

// Adds the function run_batch. `most` is the largest number of tokens of a call for several texts, or 0 if each text
// has a call of its own. `settings` are the statements that set the options of such calls.
void add_run_batch(Program& program, std::size_t most, const Lines& settings) {
  const bool shares = most != 0;
  const std::string run = passed(program, "run");
  const std::string width = std::to_string(result_of(program, "run")->width);
  const Result& result = *batch_result(program);
  const std::string outputs = std::to_string(result.width);
  const std::string call =
      "run(part.ids, " + types_of(program, "part") + "part.lengths[0], " + run + "workspace.last, workspace.single);";
  Lines body{"const auto compute = [&](const ladon::Texts& part, std::size_t number) {"};
  if (shares) {
    body.insert(body.end(), {"  if (part.count == 1) {", "    " + call});
    append(body, together(program, width, settings), "");
    body.emplace_back("  ladon::for_each_text(part, [&](const ladon::BatchText& text) {");
    append(body, ends(program, "workspace.last + text.first * " + width, "text.tokens", "(number + text.number)"),
           "    ");
    body.emplace_back("  });");
  } else {
    const Result* const pool = result_of(program, "pool");
    const Result& first = pool == nullptr ? result : *pool;
    body.push_back((first.arguments[0].fixed ? "  " : "  const std::size_t rows = ") + call);
    append(body, ends(program, "workspace.last", "rows", "number"), "  ");
  }
  body.insert(body.end(), {"};", "ladon::for_each_call(texts, " + std::to_string(most) + ", share, compute);"});
  program.functions.push_back(
      {{"Computes `" + result.name + "` [texts.count][" + outputs + "] of texts that have at most " +
            std::to_string(result_of(program, "run")->arguments[0].most) + " tokens each." +
            (shares ? " Short texts share a call." : ""),
        "A team of threads computes a batch together: each thread has its own share and its own workspace. The result",
        "has the same bits for any number of threads."},
       "inline void run_batch(const ladon::Texts& texts, const Weights& weights, " +
           std::string(takes_tables(program, "run") ? "const Tables& tables, " : "") + "float* " + result.name +
           ", BatchWorkspace& workspace, ladon::Share share = {}) noexcept",
       std::move(body)});
}

}  // namespace

const Result* batch_result(const Program& program) {
  const Result* const head = result_of(program, "head");
  return head != nullptr && !head->of_rows ? head : result_of(program, "pool");
}

void add_batch(Scene& scene, const families::Stack& stack, const Argument& argument) {
  Program& program = scene.program;
  const Result* const run = result_of(program, "run");
  const Result* const pool = result_of(program, "pool");
  if (argument.kind != Kind::ids || run == nullptr || batch_result(program) == nullptr) return;
  if (pool == nullptr && stack.model.mask.causal) return;  // a language model
  const std::size_t width = run->width, rows = run->most;
  program.headers.insert("model/batch.hpp");
  const std::size_t most = can_share_calls(stack) && add_embed(scene, stack, argument) ? tokens_together(stack) : 0;
  const auto numbers = [&](std::size_t tokens) { return "[" + std::to_string(tokens * width) + "];"; };
  program.batch_workspace = {"Workspace single;  // of a text that has a call of its own",
                             "float last" + numbers(std::max(rows, most))};
  if (pool != nullptr && batch_result(program) != pool)
    program.batch_workspace.push_back("float pooled[" + std::to_string(pool->width) + "];");
  Lines settings;
  if (most != 0) {
    const std::string tokens = std::to_string(most), table = relative_table(stack) + "_together";
    program.parts +=
        "\n// Layers for several texts in one call.\nusing Together = ladon::Encoder<ladon::model_of_texts(" +
        stack.name + "::model, " + tokens + ")>;\n";
    program.batch_workspace.insert(
        program.batch_workspace.end(),
        {"float x" + numbers(most), "ladon::TextsWorkspace<Together, " + tokens + "> together;"});
    if (stack.relative_bias)
      add_relative_table(program, stack, table, most, scene.names.name_of(stack.relative_bias->tensor));
    settings = table_settings(stack, "options", table, true);
  }
  add_run_batch(program, most, settings);
}

}  // namespace ladon::import
