// SPDX-License-Identifier: Apache-2.0
#include "cpp_project.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "generation.hpp"
#include "safetensors.hpp"
#include "text_program.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

constexpr const char* mark = "Written by ladon-import";

std::string first_line(const Program& program) {
  const std::filesystem::path source = files::path_of(program.choices.source);  // without folders of this machine
  const std::string shown = files::utf8_of(source.parent_path().filename()) + "/" + files::utf8_of(source.filename());
  return file_mark(false) + " from " + files::escaped(shown) + " (model_type " +
         files::in_quotes(program.description.model_type) + ").\n";
}

std::string struct_of(const std::string& comment, const std::string& name, const Lines& members) {
  std::string text = "// " + comment + "\nstruct " + name + " {\n";
  for (const std::string& member : members) text += "  " + member + "\n";
  return text + "};\n\n";
}

// Breaks lines of more than 120 characters after a comma, as clang-format does. The next line begins below the
// character behind the last open bracket.
std::string wrapped(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    while (line.size() > 120 && !line.starts_with("//")) {
      const std::size_t comma = line.rfind(", ", 118);
      if (comma == line.npos || std::count(line.begin(), line.begin() + std::ptrdiff_t(comma), '"') % 2 != 0) break;
      std::size_t open = comma;
      for (int depth = 0; open != 0; --open) {
        const char c = line[open - 1];
        if (c == ')' || c == '}' || c == '>') ++depth;
        if ((c == '(' || c == '{' || c == '<') && depth-- == 0) break;
      }
      if (open == 0) open = line.find_first_not_of(' ');  // the bracket is in a line above
      if (open == 0 || open >= comma) break;
      result += line.substr(0, comma + 1) + "\n";
      line = std::string(open, ' ') + line.substr(comma + 2);
    }
    result += line + "\n";
  }
  return result;
}

std::string function_text(const Function& function) {
  std::string text;
  for (const std::string& line : function.comment) text += "// " + line + "\n";
  text += function.signature + " {\n";
  for (const std::string& line : function.body) text += "  " + line + "\n";
  return text + "}\n\n";
}

std::string weights_text(const Program& program) {
  std::size_t width = 0;
  const auto line = [](const Member& member) { return member.type + " " + member.name + ";"; };
  for (const Member& member : program.weights) width = std::max(width, std::min<std::size_t>(line(member).size(), 70));
  Lines lines;
  for (const Member& member : program.weights) {
    std::string text = line(member);
    text.resize(std::max(text.size(), width), ' ');
    lines.push_back(text + "  // " + files::escaped(member.tensor) + (member.tensor.ends_with('\\') ? "." : ""));
  }
  // ladon/model/weight_image.hpp
  lines.insert(lines.end(), {"", "template <class F>", "constexpr void for_each_part(F f) {"});
  for (const Member& member : program.weights) lines.push_back("  f(" + member.name + ");");
  lines.push_back("}");
  return struct_of("The tensors of the checkpoint. " + program.choices.name + "_weights.hpp fills them in.", "Weights",
                   lines);
}

std::string tables_text(const Program& program) {
  if (program.tables.empty()) return "";
  const auto uses = [&](const char* word) {
    return std::any_of(program.prepare.begin(), program.prepare.end(),
                       [&](auto& line) { return line.find(word) != line.npos; });
  };
  const Function prepare{{"Fills the tables, once for all calls."},
                         std::string("inline void prepare(const Weights&") + (uses("weights.") ? " weights" : "") +
                             ", Tables& tables) noexcept",
                         program.prepare};
  return struct_of("Numbers that do not depend on the input.", "Tables", program.tables) + function_text(prepare);
}

std::string batch_workspace_text(const Program& program) {
  if (program.batch_workspace.empty()) return "";
  return struct_of("The memory of a thread that computes batches of texts.", "BatchWorkspace", program.batch_workspace);
}

std::string constants_text(const Program& program) {
  std::string text = "// The sizes of the largest call.\n";
  const auto add = [&](const std::string& name, std::size_t value) {
    const std::string line = "inline constexpr std::size_t " + name + " = " + std::to_string(value) + ";\n";
    if (text.find(line) == text.npos) text += line;
  };
  for (const Result& result : program.results) {
    if (result.most > 1) add("most_" + result.name + "_rows", result.most);
    add(result.name + "_width", result.width);
    for (const Argument& argument : result.arguments) {
      if (!argument.fixed && !argument.count.empty()) add("most_" + argument.count, argument.most);
    }
  }
  return text + "\n";
}

// The code of the model is in an inline namespace with the settings of Ladon. So objects that were compiled with other
// settings do not link, instead of reading each other's structs.
std::string opened(const Program& program) {
  return "namespace " + program.choices.name + " {\ninline namespace LADON_ABI {\n\n";
}
std::string closed(const Program& program) {
  return "}  // namespace LADON_ABI\n}  // namespace " + program.choices.name + "\n";
}

std::string header(const Program& program) {
  std::string text = first_line(program) +
                     "#pragma once\n\n#include <algorithm>\n#include <cstddef>\n#include <cstdint>\n" +
                     (program.generation ? "#include <limits>\n\n" : "\n");
  for (const std::string& name : program.headers) text += "#include <ladon/" + name + ">\n";
  text += "\n" + opened(program) + program.parts + (program.parts.ends_with("\n\n") ? "" : "\n") +
          constants_text(program) + weights_text(program) +
          struct_of("The memory of a call.", "Workspace", program.workspace) + tables_text(program) +
          batch_workspace_text(program);
  for (const Function& function : program.functions) text += function_text(function);
  return text + text_types(program) + closed(program);
}

std::string load_signature(const Program& program) {
  std::string text = "Weights load(const ladon::safetensors::Folder& folder";
  for (const auto& [folder, file] : program.files) text += ", const ladon::safetensors::File& " + file;
  return text + ")";
}

std::string weights_header(const Program& program) {
  const std::string& name = program.choices.name;
  return first_line(program) + "#pragma once\n\n#include <ladon/safetensors.hpp>\n\n#include \"" + name + ".hpp\"\n\n" +
         opened(program) +
         "// Returns the weights of a checkpoint. They point into the folder, which must outlive them. Throws\n"
         "// ladon::safetensors::Error with the name of a tensor that is missing or has another shape.\n" +
         load_signature(program) + ";\n\n" + closed(program);
}

std::string weights_source(const Program& program) {
  const std::string& name = program.choices.name;
  std::string text = first_line(program) + "#include \"" + name + "_weights.hpp\"\n\n" + opened(program) +
                     load_signature(program) +
                     " {\n"
                     "  const ladon::safetensors::File& file = folder.file();\n  Weights weights;\n";
  for (const Member& member : program.weights)
    for (const std::string& line : member.load) text += "  " + line + "\n";
  return text + "  return weights;\n}\n\n" + closed(program);
}

Lines call(const Program& program, const Result& result) {
  Lines lines;
  const std::string space = program.choices.name + "::";
  const std::string passed = takes_tables(program, result.function) ? "weights, tables, " : "weights, ";
  if (source_of(program, result) != nullptr) {
    const Argument& input = result.arguments[0];
    const bool of_last = is_run(*source_of(program, result));
    const std::string rows = input.name + "_rows";
    const std::string from =
        of_last && input.fixed ? input.name + " + (" + rows + " - 1) * " + space + input.name + "_width" : input.name;
    // A result for each row has as many rows as the last hidden state.
    const std::string most = result.of_rows ? space + "most_" + input.name + "_rows * " : "";
    lines.push_back("static float " + result.name + "[" + most + space + result.name + "_width];");
    lines.push_back(space + result.function + "(" + from + ", " + (input.fixed ? "" : rows + ", ") + passed +
                    result.name + ", workspace);");
    lines.push_back("records.add(" + files::in_quotes(result.name) + ", " + result.name + ", " +
                    (result.of_rows ? rows : "1") + ", " + space + result.name + "_width);");
    return lines;
  }
  std::string arguments;
  for (const Argument& argument : result.arguments) {
    lines.push_back(read_argument(argument, space));
    arguments += pass_argument(argument);
  }
  lines.push_back("static float " + result.name + "[" + space + "most_" + result.name + "_rows * " + space +
                  result.name + "_width];");
  lines.push_back("const std::size_t " + result.name + "_rows = " + space + result.function + "(" + arguments + passed +
                  result.name + ", workspace);");
  lines.push_back("records.add(" + files::in_quotes(result.name) + ", " + result.name + ", " + result.name + "_rows, " +
                  space + result.name + "_width);");
  return lines;
}

std::string main_text(const Program& program) {
  const std::string& name = program.choices.name;
  std::string text = first_line(program) +
                     "// Computes the model. The options are those of ladon/safetensors/records.hpp:\n"
                     "//     " +
                     name + " FOLDER --inputs IN.safetensors --outputs OUT.safetensors\n" + text_usage(program);
  text += "#include <cstdio>\n#include <exception>\n\n#include <ladon/safetensors/records.hpp>\n" +
          text_include(program) + "\n#include \"" + name +
          "_weights.hpp\"\n\nint main(int argc, char** argv) try {\n"
          "  ladon::safetensors::Records records(argc, argv" +
          text_abilities(program) +
          ");\n"
          "  const ladon::safetensors::Folder folder(records.folder());\n" +
          text_reading(program) + other_files(program) + "  const " + name + "::Weights weights = " + name +
          "::load(folder" + other_arguments(program) + ");\n  static " + name + "::Workspace workspace;\n";
  if (!program.tables.empty())
    text += "  static " + name + "::Tables tables;\n  " + name + "::prepare(weights, tables);\n";
  // The lines behind the prompt of a text.
  const bool has_source = program.generation && program.generation->source;
  const std::string behind_prompt = has_source ? "const auto " + program.generation->ids.name : "static float last[";
  for (const Result* run : runs_of(program)) {
    std::string statements;
    for (const Result& result : program.results) {
      if (&run_of(program, result) != run) continue;
      for (const std::string& line : call(program, result)) {
        if (line.starts_with(behind_prompt)) statements += text_writing(program);
        statements += "  " + line + "\n";
      }
    }
    text += if_given(program, *run, statements);
  }
  return text +
         "  records.write();\n  return 0;\n} catch (const std::exception& error) {\n"
         "  std::fprintf(stderr, \"" +
         name + ": %s\\n\", error.what());\n  return 1;\n}\n";
}

std::string cmake_text(const Program& program) {
  const std::string& name = program.choices.name;
  return file_mark(true) + ". Builds the library " + name + "_model and the program " + name +
         ":\n"
         "#     cmake -B build && cmake --build build\n"
         "# If Ladon is not installed, the first command needs -DLADON_SOURCE_DIR=<folder of Ladon's sources>.\n"
         "cmake_minimum_required(VERSION 3.25)\n"
         "project(" +
         name +
         " LANGUAGES CXX)\n\n"
         "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)\n"
         "  set(CMAKE_BUILD_TYPE Release CACHE STRING \"Debug, Release, RelWithDebInfo or MinSizeRel\" "
         "FORCE)\nendif()\n" +
         find_ladon("safetensors") +
         "\n"
         "# The model with its weights, for programs of your own.\n"
         "add_library(" +
         name + "_model STATIC " + name +
         "_weights.cpp)\n"
         "target_include_directories(" +
         name +
         "_model PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
         "target_link_libraries(" +
         name +
         "_model PUBLIC ladon::safetensors ladon::native)\n\n"
         "add_executable(" +
         name +
         " main.cpp)\n"
         "target_link_libraries(" +
         name + " PRIVATE " + name + "_model)\n" + text_library(program);
}

}  // namespace

std::string other_files(const Program& program) {
  std::string text;
  for (const auto& [folder, file] : program.files)
    text += "  const ladon::safetensors::File " + file + "(folder.path() / " + files::in_quotes(folder) + ");\n";
  return text;
}
std::string other_arguments(const Program& program) {
  std::string text;
  for (const auto& [folder, file] : program.files) text += ", " + file;
  return text;
}

std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [word, value] : values)
    for (std::size_t place = text.find(word); place != text.npos; place = text.find(word, place + value.size()))
      text.replace(place, word.size(), value);
  return text;
}

std::string find_ladon(const std::string& component) {
  return filled(R"cmake(set(LADON_SOURCE_DIR "" CACHE PATH "Ladon's sources; empty: an installed copy")
if(LADON_SOURCE_DIR)
  set(LADON_BUILD_SAFETENSORS ON)
  add_subdirectory(${LADON_SOURCE_DIR} ladon EXCLUDE_FROM_ALL)
else()
  find_package(ladon COMPONENTS @COMPONENT@)
  if(NOT ladon_FOUND)
    message(FATAL_ERROR "CMake does not find an installed Ladon with the component @COMPONENT@. Give the folder of Ladon's sources \
(-DLADON_SOURCE_DIR=<folder>), or the folder where Ladon is installed (-DCMAKE_PREFIX_PATH=<folder>)")
  endif()
endif()
)cmake",
                {{"@COMPONENT@", component}});
}

std::string file_mark(bool is_cmake) { return std::string(is_cmake ? "# " : "// ") + mark; }

std::string read_argument(const Argument& argument, const std::string& space) {
  const std::string name = files::in_quotes(argument.name);
  if (argument.kind == Kind::ids)
    return "const auto " + argument.name + " = records.ids(" + name + ", " + space + "most_" + argument.count + ", " +
           std::to_string(argument.rows) + ");" +
           (argument.types.empty()
                ? ""
                : "\n  const auto " + argument.types + " = records.types(" + files::in_quotes(argument.types) + ", " +
                      argument.name + ".size(), " + std::to_string(argument.type_rows) + ");");
  const std::string most = argument.fixed ? std::to_string(argument.most * argument.width)
                                          : space + "most_" + argument.count + " * " + std::to_string(argument.width);
  return "const auto " + argument.name + " = records.numbers(" + name + ", " + most +
         (argument.fixed ? ", " + std::to_string(argument.most * argument.width) : "") + ");";
}
std::string pass_argument(const Argument& argument) {
  std::string text = argument.name + ".data(), ";
  if (argument.fixed) return text;
  if (!argument.types.empty()) text += argument.types + ".data(), ";
  const std::string size = argument.name + ".size()";
  return text + size + (argument.width == 1 ? "" : " / " + std::to_string(argument.width)) + ", ";
}

std::string if_given(const Program& program, const Result& run, const std::string& statements) {
  if (runs_of(program).size() == 1) return statements;
  std::string text, condition;
  for (const Argument& argument : run.arguments)
    condition += (condition.empty() ? "" : " && ") + std::string("records.") +
                 (argument.kind == Kind::ids ? "has_ids(" : "has(") + files::in_quotes(argument.name) + ")";
  std::istringstream lines(statements);
  for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  return "  if (" + condition + ") {\n" + text + "  }\n";
}

std::vector<SourceFile> cpp_project_files(const Program& program) {
  const std::string& name = program.choices.name;
  return {{name + ".hpp", wrapped(header(program))},
          {name + "_weights.hpp", wrapped(weights_header(program))},
          {name + "_weights.cpp", wrapped(weights_source(program))},
          {"main.cpp", wrapped(main_text(program))},
          {"CMakeLists.txt", cmake_text(program)}};
}

}  // namespace ladon::import
