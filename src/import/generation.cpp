// SPDX-License-Identifier: Apache-2.0
#include "generation.hpp"

#include <algorithm>
#include <utility>

namespace ladon::import {
namespace {

bool adds_rows(const families::Step& step) { return std::holds_alternative<families::Prepend>(step); }

const Result* head_of_last(const Program& program) {
  const Result* const head = result_of(program, "head");
  return head != nullptr && head->arguments[0].fixed && head->arguments[0].name == "last" ? head : nullptr;
}

void expect_ids(const char* key, const std::vector<std::int32_t>& ids, std::size_t vocabulary) {
  for (const std::int32_t id : ids)
    if (static_cast<std::size_t>(id) >= vocabulary)
      throw Unsupported(std::string(key) + " has the id " + std::to_string(id) + ", and the vocabulary has " +
                        std::to_string(vocabulary) + " tokens");
}
void expect_tokens(const TextTokens& tokens, std::size_t vocabulary) {
  expect_ids("\"suppress_tokens\" or \"bad_words_ids\"", tokens.suppressed, vocabulary);
  expect_ids("\"begin_suppress_tokens\"", tokens.suppressed_first, vocabulary);
  expect_ids("\"decoder_start_token_id\" or a forced id", tokens.starts, vocabulary);
}

std::string array_of(const std::string& comment, const char* name, const std::vector<std::int32_t>& ids) {
  if (ids.empty()) return "";
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id);
  return "// " + comment + "\ninline constexpr std::int32_t " + name + "[] = {" + text + "};\n\n";
}
// Returns a loop that makes tokens impossible.
std::string suppression(const char* tokens, const std::string& logits) {
  return std::string("for (const std::int32_t id : ") + tokens + ") " + logits +
         "[id] = -std::numeric_limits<float>::infinity();\n";
}

std::string taken(const Program& program) {
  return std::string("const Weights& weights, ") + (program.tables.empty() ? "" : "const Tables& tables, ") +
         "Text& text, Workspace& workspace";
}

std::string parts_of(const Program& program, const Generation& generation) {
  const std::string& name = program.choices.name;
  const auto arguments = [&](const char* function) {
    return std::string("model, ") + (takes_tables(program, function) ? "tables, " : "");
  };
  std::string text =
      "// The parts of the model, as ladon/model/generation.hpp describes them.\nstruct TextParts {\n"
      "  template <std::size_t Tokens>\n  using Stack = ladon::" +
      std::string(generation.source ? "Decoder<" : "Encoder<") + generation.stack +
      "::text_model(Tokens)>;\n"
      "  static constexpr std::size_t vocabulary = " +
      std::to_string(generation.vocabulary) + ";\n\n  const Weights& model;\n" +
      (program.tables.empty() ? "" : "  const Tables& tables;\n") + "  Workspace& workspace;\n  const " +
      generation.stack + "::Stack::Weights& weights = model." + generation.layers +
      ";\n\n"
      "  void embed(const std::int32_t* ids, std::size_t first, std::size_t tokens, float* x) const {\n    " +
      name + "::embed(ids, first, tokens, " + arguments("embed") +
      "x, workspace);\n  }\n"
      "  void head(const float* y, float* logits) const {\n    " +
      name + "::head(y, " + arguments("head") + "logits, workspace);\n" +
      (program.choices.text_tokens.suppressed.empty() ? "" : "    " + suppression("suppressed_tokens", "logits")) +
      "  }\n";
  if (!generation.settings.empty()) {
    text +=
        "  template <class AnyStack>\n  typename AnyStack::Options options() const {\n"
        "    typename AnyStack::Options options{};\n";
    for (const std::string& line : generation.settings) text += "    " + line + "\n";
    text += "    return options;\n  }\n";
  }
  return text + "};\n\n";
}

std::string begin_text(const Program& program, const Generation& generation, const std::string& parts) {
  const std::string text =
      "// Begins a text without tokens. Then read_prompt appends the tokens of a prompt, perhaps in several parts.\n";
  const std::string start = "  text.choose.start(sampling);\n";
  if (!generation.source)
    return text + "inline void begin_text(Text& text, const ladon::Sampling& sampling = {}) noexcept {\n" +
           "  text.clear();\n" + start + "}\n\n";
  return text + "// The layers attend to the output of `encode`. Returns false if `encode` returns 0.\n" +
         "inline bool begin_text(" + parameters(*generation.source) + taken(program) +
         ", const ladon::Sampling& sampling = {}) noexcept {\n" + parts + "  const std::size_t rows = encode(" +
         arguments(*generation.source) + "weights, " + (takes_tables(program, "encode") ? "tables, " : "") +
         "workspace.memory, workspace);\n  text.clear();\n  if (rows == 0) return false;\n"
         "  text.start(parts, workspace.memory, rows);\n" +
         start + "  return true;\n}\n\n";
}

std::string read_prompt(const Program& program, const Generation& generation, const std::string& parts) {
  const std::string prompt = generation.ids.name + ", " + generation.ids.count;
  const std::string text =
      "// Appends a part of a prompt. With the last part, returns the token that follows, which the text does not "
      "contain yet.\n// Otherwise, returns ladon::no_token. If the text is full, or an id is not in the vocabulary, "
      "returns ladon::no_token,\n// too: text.status().\ninline std::int32_t read_prompt(" +
      parameters(generation.ids) + "bool is_last, " + taken(program) + ") noexcept {\n" + parts +
      "  if (!is_last) {\n    text.append(parts, " + prompt + ");\n    return ladon::no_token;\n  }\n";
  if (program.choices.text_tokens.suppressed_first.empty())
    return text + "  return text.next(parts, " + prompt + ");\n}\n\n";
  return text + "  if (text.read(parts, " + prompt + ") != ladon::TextStatus::ready) return ladon::no_token;\n  " +
         suppression("suppressed_first_tokens", "text.logits()") + "  return text.choose(text.logits());\n}\n\n";
}

std::string start_text(const Program& program, const Generation& generation) {
  std::string text =
      "// Begins a text with the tokens of a whole prompt: begin_text and read_prompt.\ninline std::int32_t "
      "start_text(";
  for (const Argument& argument : prompt_of(generation)) text += parameters(argument);
  text += taken(program) + ", const ladon::Sampling& sampling = {}) noexcept {\n";
  text += generation.source ? "  if (!begin_text(" + arguments(*generation.source) + text_arguments(program) +
                                  ", sampling)) return ladon::no_token;\n"
                            : "  begin_text(text, sampling);\n";
  return text + "  return read_prompt(" + arguments(generation.ids) + "true, " + text_arguments(program) + ");\n}\n\n";
}

}  // namespace

std::optional<Generation> generation_of(Scene& scene, const families::Stack& stack, const Argument& argument,
                                        const Lines& settings) {
  const Program& program = scene.program;
  const auto& steps = stack.input.steps;
  const Result* const head = head_of_last(program);
  // A stack that attends to a memory is always causal.
  const bool is_causal = stack.attends_memory || (stack.model.mask.causal && !stack.relative_bias);
  const bool is_simple = argument.kind == Kind::ids && stack.behind.empty() && stack.pooler.empty() &&
                         std::none_of(steps.begin(), steps.end(), adds_rows);
  if (!is_causal || !is_simple || head == nullptr || head->width != argument.rows) return std::nullopt;
  expect_tokens(program.choices.text_tokens, argument.rows);
  const Argument ids = without_types(argument);
  std::optional<Argument> source;
  if (stack.attends_memory) source = result_of(program, "run")->arguments[0];
  return Generation{.stack = stack.name,
                    .layers = stack.attends_memory ? stack.name + "_layers" : "layers",
                    .vocabulary = argument.rows,
                    .tokens = stack.model.tokens,
                    .embed = input_steps(scene, stack, ids, "first").body,
                    .settings = settings,
                    .ids = ids,
                    .source = source};
}

std::vector<Argument> prompt_of(const Generation& generation) {
  if (!generation.source) return {generation.ids};
  return {*generation.source, generation.ids};
}
std::size_t prompt_tokens(const Generation& generation) { return std::min<std::size_t>(generation.tokens, 32); }
std::string text_arguments(const Program& program) {
  return std::string("weights, ") + (program.tables.empty() ? "" : "tables, ") + "text, workspace";
}
std::string prompt_arguments(const Generation& generation) {
  std::string text;
  for (const Argument& argument : prompt_of(generation)) text += arguments(argument);
  return text;
}

std::string text_types(const Program& program) {
  if (!program.generation) return "";
  const Generation& generation = *program.generation;
  const TextTokens& tokens = program.choices.text_tokens;
  const std::string parts =
      std::string("  TextParts parts{weights, ") + (program.tables.empty() ? "" : "tables, ") + "workspace};\n";
  std::string ends = "token == ladon::no_token";
  for (const std::int32_t token : tokens.ends) ends += " || token == " + std::to_string(token);
  return array_of("These tokens never follow.", "suppressed_tokens", tokens.suppressed) +
         array_of("These tokens do not follow the prompt.", "suppressed_first_tokens", tokens.suppressed_first) +
         (generation.source ? array_of("A text begins with these tokens, or with others that the caller gives.",
                                       "start_tokens", tokens.starts)
                            : "") +
         parts_of(program, generation) +
         "// A text: its caches, and all memory of a call. At first all 0.\nusing Text = "
         "ladon::TextGenerator<TextParts, " +
         std::to_string(prompt_tokens(generation)) + ">;\n\n" + begin_text(program, generation, parts) +
         read_prompt(program, generation, parts) + start_text(program, generation) +
         "// Appends a token to the text. Returns the token that follows, or ladon::no_token.\n"
         "inline std::int32_t next_token(std::int32_t token, " +
         taken(program) + ") noexcept {\n" + parts +
         "  return text.next(parts, &token, 1);\n}\n\n"
         "// Whether no token follows.\nconstexpr bool ends_text(std::int32_t token) { return " +
         ends + "; }\n\n";
}

}  // namespace ladon::import
