// SPDX-License-Identifier: Apache-2.0
#include "text_program.hpp"

#include <vector>

#include "cpp_project.hpp"
#include "generation.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

// Returns the token ids that a tokenizer makes of a text, or null if the model reads no text.
const Argument* ids_of_text(const Program& program) {
  if (!program.choices.has_tokenizer) return nullptr;
  for (const Result* run : runs_of(program))
    if (run->arguments[0].kind == Kind::ids && (run->arguments.size() == 1 || program.generation))
      return run->arguments.data();
  return nullptr;
}
bool takes_text(const Program& program) { return ids_of_text(program) != nullptr; }
// Whether the program takes a pair of texts. Programs that write a text continue a single one.
bool takes_pair(const Program& program) {
  return takes_text(program) && !program.generation && runs_of(program).size() == 1;
}
bool needs_tokenizer(const Program& program) {
  return takes_text(program) || (program.choices.has_tokenizer && program.generation);
}

constexpr const char* tokenizer_functions = R"(#ifdef LADON_HAS_TOKENIZER
[[maybe_unused]] constexpr bool has_tokenizer = true;
// Sets the ids of --text, or of a pair of texts. A pair of more than `most` tokens is cut.
[[maybe_unused]] void read_text(ladon::safetensors::Records& records, std::size_t most) {
  const ladon::Tokenizer tokenizer(records.folder() / "tokenizer.json");
  const std::string& text = records.text();
  const std::optional<std::string>& pair = records.text_pair();
  auto encoding = pair ? tokenizer.encode_pair(text, *pair) : tokenizer.encode(text);
  if (pair && encoding.ids.size() > most) {
    std::fprintf(stderr, "the pair of texts has %zu tokens, and is cut to %zu\n", encoding.ids.size(), most);
    encoding = tokenizer.encode_pair(text, *pair, {.most_ids = most});
  }
  records.set_ids(std::move(encoding.ids), std::move(encoding.type_ids));
}
[[maybe_unused]] std::string text_of(const std::filesystem::path& folder, const std::vector<std::int32_t>& ids) {
  return ladon::Tokenizer(folder / "tokenizer.json").decode(ids);
}
#else
[[maybe_unused]] constexpr bool has_tokenizer = false;
[[maybe_unused]] void read_text(const ladon::safetensors::Records&, std::size_t) {
  throw ladon::safetensors::Error("--text needs ladon::tokenizer: install cargo 1.85, and run CMake again");
}
[[maybe_unused]] std::string text_of(const std::filesystem::path&, const std::vector<std::int32_t>&) { return ""; }
#endif

)";

constexpr const char* prints_ids =
    R"(void print(const ladon::safetensors::Records&, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t id : ids) std::printf("%d\n", static_cast<int>(id));
}

)";
constexpr const char* prints_text =
    R"(void print(const ladon::safetensors::Records& records, const std::vector<std::int32_t>& ids) {
  if (@PRINTS_TEXT@) {
    std::printf("%s\n", text_of(records.folder(), ids).c_str());
    return;
  }
  for (const std::int32_t id : ids) std::printf("%d\n", static_cast<int>(id));
}

)";
constexpr const char* writes_text = R"(// Prints the tokens that follow a prompt.
void write_text(const ladon::safetensors::Records& records, @PROMPT@const @NAME@::Weights& weights, @TABLES@@NAME@::Text& text, @NAME@::Workspace& workspace) {
  const ladon::safetensors::Generation& chosen = records.generation();
  const ladon::Sampling sampling{.temperature = chosen.temperature, .top_k = chosen.top_k, .top_p = chosen.top_p, .seed = chosen.seed};
  std::vector<std::int32_t> ids;
  std::int32_t id = @NAME@::start_text(@PASSED_PROMPT@@PASSED@, sampling);
  while (!@NAME@::ends_text(id)) {
    ids.push_back(id);
    if (ids.size() == chosen.tokens) break;
    id = @NAME@::next_token(id, @PASSED@);
  }
  print(records, ids);
  if (text.status() == ladon::TextStatus::full) std::fprintf(stderr, "the text is full\n");
}

)";

std::string writing_functions(const Program& program, const Generation& generation) {
  const std::string& name = program.choices.name;
  std::string prompt, passed_prompt;
  for (const Argument& argument : prompt_of(generation)) {
    prompt += std::string("const std::vector<") + (argument.kind == Kind::ids ? "std::int32_t" : "float") + ">& " +
              argument.name + ", ";
    passed_prompt += pass_argument(argument);
  }
  const std::string text = (needs_tokenizer(program) ? prints_text : prints_ids) + std::string(writes_text);
  return filled(text, {{"@NAME@", name},
                       {"@PRINTS_TEXT@", takes_text(program) ? "!records.text().empty()" : "has_tokenizer"},
                       {"@PROMPT@", prompt},
                       {"@TABLES@", program.tables.empty() ? "" : "const " + name + "::Tables& tables, "},
                       {"@PASSED_PROMPT@", passed_prompt},
                       {"@PASSED@", text_arguments(program)}});
}

}  // namespace

std::string text_usage(const Program& program) {
  std::string text;
  if (takes_text(program))
    text += std::string("//     @NAME@ FOLDER --text TEXT") + (takes_pair(program) ? " [--text-pair TEXT]" : "") + "\n";
  if (program.generation) {
    const Kind kind = prompt_of(*program.generation)[0].kind;
    text += std::string("//     @NAME@ FOLDER ") + (kind == Kind::ids ? "ID..." : "--inputs IN.safetensors") +
            " --generate N\n";
  }
  return filled(text, {{"@NAME@", program.choices.name}});
}

std::string text_functions(const Program& program) {
  const bool tokenizes = needs_tokenizer(program);
  std::string text;
  if (tokenizes)
    text += R"(
#ifdef LADON_HAS_TOKENIZER  // CMakeLists.txt defines it
#include <ladon/tokenizer.hpp>
#endif
)";
  if (!tokenizes && !program.generation) return text;
  text += "\nnamespace {\n\n";
  if (tokenizes) text += tokenizer_functions;
  if (program.generation) text += writing_functions(program, *program.generation);
  return text + "}  // namespace\n";
}

std::string text_abilities(const Program& program) {
  Lines abilities;
  if (takes_text(program)) abilities.emplace_back(".takes_text = true");
  if (takes_pair(program)) abilities.emplace_back(".takes_pair = true");
  if (program.generation) abilities.emplace_back(".writes_text = true");
  if (takes_types(program)) abilities.emplace_back(".takes_types = true");
  std::string text;
  for (const std::string& ability : abilities) text += (text.empty() ? ", {" : ", ") + ability;
  return text + (text.empty() ? "" : "}");
}

std::string text_reading(const Program& program) {
  const Argument* const ids = ids_of_text(program);
  if (ids == nullptr) return "";
  return "  if (!records.text().empty()) read_text(records, " + program.choices.name + "::most_" + ids->count + ");\n";
}

std::string text_writing(const Program& program) {
  if (!program.generation) return "";
  const std::string& name = program.choices.name;
  std::string text = "  if (records.generation().tokens != 0) {\n", arguments;
  for (const Argument& argument : prompt_of(*program.generation)) arguments += argument.name + ", ";
  if (const Argument& ids = program.generation->ids; program.generation->source) {
    // transformers has the same name for the beginning of a text.
    const std::string given = read_argument(ids, name + "::");
    const std::string starts =
        "std::vector<std::int32_t>(std::begin(" + name + "::start_tokens), std::end(" + name + "::start_tokens))";
    const std::string value = given.substr(given.find("records."));
    text += "    const auto " + ids.name + " = " +
            (program.choices.text_tokens.starts.empty()
                 ? value
                 : "records.has(" + files::in_quotes(ids.name) + ")\n                  ? " +
                       value.substr(0, value.size() - 1) + "\n                  : " + starts + ";") +
            "\n";
  }
  return text + "    static " + name + "::Text text;\n    write_text(records, " + arguments + text_arguments(program) +
         ");\n    return 0;\n  }\n";
}

std::string text_library(const Program& program) {
  if (!needs_tokenizer(program)) return "";
  return filled(R"(
# --text needs ladon::tokenizer, which is there if there is cargo.
if(COMMAND ladon_need_tokenizer)
  ladon_need_tokenizer(has_tokenizer)
endif()
if(TARGET ladon::tokenizer)
  target_link_libraries(@NAME@ PRIVATE ladon::tokenizer)
  target_compile_definitions(@NAME@ PRIVATE LADON_HAS_TOKENIZER)
endif()
)",
                {{"@NAME@", program.choices.name}});
}

}  // namespace ladon::import
