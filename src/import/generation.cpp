// SPDX-License-Identifier: Apache-2.0
#include "generation.hpp"

#include <algorithm>
#include <utility>

#include "config.hpp"

namespace ladon::import {
namespace {

bool adds_rows(const families::Step& step) { return std::holds_alternative<families::Prepend>(step); }

const Result* head_of(const Program& program) {
  for (const Result& result : program.results)
    if (result.function == "head" && result.arguments[0].fixed && result.arguments[0].name == "last") return &result;
  return nullptr;
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
      "  template <std::size_t Tokens>\n  using Stack = ladon::Encoder<" +
      generation.stack +
      "::text_model(Tokens)>;\n"
      "  static constexpr std::size_t vocabulary = " +
      std::to_string(generation.vocabulary) + ";\n\n  const Weights& model;\n" +
      (program.tables.empty() ? "" : "  const Tables& tables;\n") + "  Workspace& workspace;\n  const " +
      generation.stack + "::Stack::Weights& weights = model." + generation.layers +
      ";\n\n"
      "  void embed(const std::int32_t* ids, std::size_t first, std::size_t tokens, float* x) const {\n    " +
      name + "::embed(ids, first, tokens, " + arguments("embed") +
      "x, workspace);\n  }\n"
      "  void head(const float* y, float* logits) const { " +
      name + "::head(y, " + arguments("head") + "logits, workspace); }\n";
  if (!generation.settings.empty()) {
    text +=
        "  template <class AnyStack>\n  typename AnyStack::Options options() const {\n"
        "    typename AnyStack::Options options{};\n";
    for (const std::string& line : generation.settings) text += "    " + line + "\n";
    text += "    return options;\n  }\n";
  }
  return text + "};\n\n";
}

}  // namespace

std::vector<std::int32_t> end_tokens_of(const std::filesystem::path& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    const auto path = folder / name;
    if (!std::filesystem::exists(path)) continue;
    const nlohmann::json json = families::read_json(path);
    const auto found = json.find("eos_token_id");
    if (found == json.end() || found->is_null()) continue;
    std::vector<std::int32_t> tokens;
    for (const nlohmann::json& token : found->is_array() ? *found : nlohmann::json::array({*found})) {
      if (!token.is_number_integer() || token < 0 || token > 0x7fffffff)
        throw safetensors::Error(path.string() + ": \"eos_token_id\" is " + found->dump() + ", and not a token id");
      tokens.push_back(token.get<std::int32_t>());
    }
    return tokens;
  }
  return {};
}

std::optional<Generation> generation_of(Scene& scene, const families::Stack& stack, const Argument& argument,
                                        const Lines& settings) {
  Program& program = scene.program;
  const auto& steps = stack.input.steps;
  const Result* const head = head_of(program);
  const bool is_causal = stack.model.mask.causal && !stack.attends_memory && !stack.relative_bias;
  const bool is_simple = argument.kind == Kind::ids && stack.behind.empty() && stack.pooler.empty() &&
                         std::none_of(steps.begin(), steps.end(), adds_rows);
  if (!is_causal || !is_simple || head == nullptr || head->width != argument.rows) return std::nullopt;

  const Program before = program;  // has all that the steps add to a program, because `run` has the same steps
  Rows rows{.at = argument.name, .count = argument.count, .most = argument.most, .width = 1, .read_only = true};
  Chain chain(scene, stack.name, rows);
  chain.position = "first";
  const std::vector<Operation> operations(steps.begin(), steps.end());
  chain.run(operations, "embedded");
  Generation generation{.stack = stack.name,
                        .layers = "layers",
                        .vocabulary = argument.rows,
                        .tokens = stack.model.tokens,
                        .embed = std::move(chain.body),
                        .settings = settings};
  program = before;
  return generation;
}

std::string text_types(const Program& program) {
  if (!program.generation) return "";
  const Generation& generation = *program.generation;
  const std::size_t prompt = std::min<std::size_t>(generation.tokens, 32);
  std::string ends = "token == ladon::no_token";
  for (const std::int32_t token : program.choices.end_tokens) ends += " || token == " + std::to_string(token);
  return parts_of(program, generation) +
         "// A text: its caches, and all memory of a call. At first all 0.\n"
         "using Text = ladon::TextGenerator<TextParts, " +
         std::to_string(prompt) +
         ">;\n\n"
         "// Begins a text with the tokens of a prompt. Returns the token that follows, which the text does not "
         "contain "
         "yet.\n// Returns ladon::no_token if the text is full, or if an id is not in the vocabulary: text.status().\n"
         "inline std::int32_t start_text(const std::int32_t* ids, std::size_t tokens, " +
         taken(program) + ", const ladon::Sampling& sampling = {}) noexcept {\n  TextParts parts{weights, " +
         (program.tables.empty() ? "" : "tables, ") +
         "workspace};\n  text.clear();\n  text.choose.start(sampling);\n  return text.next(parts, ids, tokens);\n}\n\n"
         "// Appends a token to the text. Returns the token that follows, or ladon::no_token.\n"
         "inline std::int32_t next_token(std::int32_t token, " +
         taken(program) + ") noexcept {\n  TextParts parts{weights, " + (program.tables.empty() ? "" : "tables, ") +
         "workspace};\n  return text.next(parts, &token, 1);\n}\n\n"
         "// Whether no token follows.\nconstexpr bool ends_text(std::int32_t token) { return " +
         ends + "; }\n\n";
}

}  // namespace ladon::import
