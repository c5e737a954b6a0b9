// SPDX-License-Identifier: Apache-2.0
#include "text_program.hpp"

#include "cpp_files.hpp"

namespace ladon::import {
namespace {

// Returns the arguments behind the ids: "weights, tables, text, workspace".
std::string passed(const Program& program) {
  return std::string("weights, ") + (program.tables.empty() ? "" : "tables, ") + "text, workspace";
}
bool takes_text(const Program& program) {
  const Result* const run = result_of(program, "run");
  return program.choices.has_tokenizer && run != nullptr && run->arguments.size() == 1 &&
         run->arguments[0].kind == Kind::ids;
}

constexpr const char* tokenizer_functions = R"(#ifdef LADON_HAS_TOKENIZER
std::vector<std::int32_t> ids_of(const std::string& folder, const std::string& text) {
  return ladon::Tokenizer(folder + "/tokenizer.json").encode(text).ids;
}
[[maybe_unused]] std::string text_of(const std::string& folder, const std::vector<std::int32_t>& ids) {
  return ladon::Tokenizer(folder + "/tokenizer.json").decode(ids);
}
#else
std::vector<std::int32_t> ids_of(const std::string&, const std::string&) {
  throw ladon::safetensors::Error("--text needs ladon::tokenizer: install cargo 1.85, and run CMake again");
}
[[maybe_unused]] std::string text_of(const std::string&, const std::vector<std::int32_t>&) { return ""; }
#endif

)";

constexpr const char* prints_ids =
    R"(void print(const ladon::safetensors::Records&, const std::vector<std::int32_t>& ids) {
  for (const std::int32_t id : ids) std::printf("%d\n", static_cast<int>(id));
}

)";
constexpr const char* prints_text =
    R"(void print(const ladon::safetensors::Records& records, const std::vector<std::int32_t>& ids) {
  if (!records.text().empty()) {
    std::printf("%s\n", text_of(records.folder(), ids).c_str());
    return;
  }
  for (const std::int32_t id : ids) std::printf("%d\n", static_cast<int>(id));
}

)";
constexpr const char* writes_text = R"(// Prints the tokens that follow a prompt.
void write_text(const ladon::safetensors::Records& records, const std::vector<std::int32_t>& prompt, const @NAME@::Weights& weights, @TABLES@@NAME@::Text& text, @NAME@::Workspace& workspace) {
  const ladon::safetensors::Generation& chosen = records.generation();
  const ladon::Sampling sampling{.temperature = chosen.temperature, .top_k = chosen.top_k, .top_p = chosen.top_p, .seed = chosen.seed};
  std::vector<std::int32_t> ids;
  std::int32_t id = @NAME@::start_text(prompt.data(), prompt.size(), @PASSED@, sampling);
  while (!@NAME@::ends_text(id)) {
    ids.push_back(id);
    if (ids.size() == chosen.tokens) break;
    id = @NAME@::next_token(id, @PASSED@);
  }
  print(records, ids);
  if (text.status() == ladon::TextStatus::full) std::fprintf(stderr, "the text is full\n");
}

)";

}  // namespace

std::string text_usage(const Program& program) {
  std::string text;
  if (takes_text(program)) text += "//     @NAME@ FOLDER --text TEXT\n";
  if (program.generation) text += "//     @NAME@ FOLDER ID... --generate N\n";
  return filled(text, {{"@NAME@", program.choices.name}});
}

std::string text_functions(const Program& program) {
  const std::string& name = program.choices.name;
  const bool tokenizes = takes_text(program);
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
  if (program.generation)
    text += (tokenizes ? prints_text : prints_ids) +
            filled(writes_text, {{"@NAME@", name},
                                 {"@TABLES@", program.tables.empty() ? "" : "const " + name + "::Tables& tables, "},
                                 {"@PASSED@", passed(program)}});
  return text + "}  // namespace\n";
}

std::string text_abilities(const Program& program) {
  Lines abilities;
  if (takes_text(program)) abilities.emplace_back(".takes_text = true");
  if (program.generation) abilities.emplace_back(".writes_text = true");
  if (abilities.empty()) return "";
  return ", {" + abilities[0] + (abilities.size() == 1 ? "" : ", " + abilities[1]) + "}";
}

std::string text_reading(const Program& program) {
  if (!takes_text(program)) return "";
  return "  if (!records.text().empty()) records.set_ids(ids_of(records.folder(), records.text()));\n";
}

std::string text_writing(const Program& program) {
  if (!program.generation) return "";
  return "  if (records.generation().tokens != 0) {\n    static " + program.choices.name +
         "::Text text;\n    write_text(records, input_ids, " + passed(program) + ");\n    return 0;\n  }\n";
}

std::string text_library(const Program& program) {
  if (!takes_text(program)) return "";
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
