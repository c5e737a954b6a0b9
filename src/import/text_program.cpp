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

std::string text_include(const Program& program) {
  if (!needs_tokenizer(program) && !program.generation) return "";
  return "#include <ladon/safetensors/texts.hpp>\n";
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
  return "  ladon::safetensors::read_text(records, " + program.choices.name + "::most_" + ids->count + ");\n";
}

std::string text_writing(const Program& program) {
  if (!program.generation) return "";
  const std::string& name = program.choices.name;
  std::string text = "  if (records.generation().tokens != 0) {\n", prompt;
  for (const Argument& argument : prompt_of(*program.generation)) prompt += pass_argument(argument);
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
  // The ids of a command line continue as ids. Without --text, the input of an encoder is no text, but the result is.
  const std::string as_text = !needs_tokenizer(program) ? "false"
                              : takes_text(program)     ? "!records.text().empty()"
                                                        : "true";
  return text +
         filled(
             R"(    static @NAME@::Text text;
    const std::int32_t first = @NAME@::start_text(@PROMPT@@PASSED@, ladon::safetensors::sampling_of(records));
    const auto next = [&](std::int32_t token) { return @NAME@::next_token(token, @PASSED@); };
    ladon::safetensors::write_text(records, text, first, next, @NAME@::ends_text, @AS_TEXT@);
    return 0;
  }
)",
             {{"@NAME@", name}, {"@PROMPT@", prompt}, {"@PASSED@", text_arguments(program)}, {"@AS_TEXT@", as_text}});
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
