// SPDX-License-Identifier: Apache-2.0
#include "c_library.hpp"

#include <algorithm>
#include <cctype>

#include "c_batch.hpp"
#include "c_text.hpp"
#include "module_description.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

// The statuses are the same in all headers. The compiler warns of a call whose status the program drops.
constexpr const char* statuses = R"(#ifndef LADON_CHECK_STATUS
#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define LADON_CHECK_STATUS [[nodiscard]]
#elif defined(__GNUC__)
#define LADON_CHECK_STATUS __attribute__((warn_unused_result))
#else
#define LADON_CHECK_STATUS
#endif
#endif
#ifndef LADON_MODEL_STATUS
#define LADON_MODEL_STATUS
typedef enum ladon_model_status {
  LADON_MODEL_OK = 0,
  LADON_MODEL_NULL = 1,            /* an argument is a null pointer */
  LADON_MODEL_NOT_STARTED = 2,     /* NAME_start was not called, or failed */
  LADON_MODEL_BAD_WEIGHTS = 3,     /* the weights are those of another model, or damaged */
  LADON_MODEL_BAD_LENGTH = 4,      /* a length is 0, or larger than the model allows */
  LADON_MODEL_BAD_ID = 5,          /* a token id is not in the vocabulary, or a token type not in its table */
  LADON_MODEL_MISALIGNED = 6,      /* the workspace or the weights are not aligned to 64 bytes */
  LADON_MODEL_UNSUPPORTED_ISA = 7, /* this machine lacks the instructions for which the library was compiled */
  LADON_MODEL_FULL = 8             /* a text has the largest number of tokens */
} ladon_model_status;
#endif
)";

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Returns whether the function writes the number of rows, too. Otherwise, the result has one row.
bool has_rows(const Result& result) { return is_run(result) || result.of_rows; }

// The results that C programs compute: `last` and what comes behind it.
std::vector<const Result*> exported(const Program& program) {
  std::vector<const Result*> results;
  for (const Result& result : program.results)
    if (result.function != "encode" && result.function != "decode") results.push_back(&result);
  return results;
}
// A function that C programs call.
struct Entry {
  const Result& result;
  std::string name;
  std::vector<Argument> arguments;
};
std::vector<Entry> entries(const Program& program) {
  std::vector<Entry> all;
  for (const Result* result : exported(program)) {
    const std::vector<Argument>& arguments = run_of(program, *result).arguments;
    all.push_back({*result, result->function, arguments});
    if (!takes_types(program)) continue;
    all.push_back({*result, result->function + "_with_types", arguments});
    Argument& ids = all[all.size() - 2].arguments[0];
    ids = without_types(ids);
  }
  return all;
}

std::string passed(const Entry& entry) {
  std::string text;
  for (const Argument& argument : entry.arguments) text += arguments(argument);
  return text;
}

std::string parameter_list(const Entry& entry) {
  const std::string rows = has_rows(entry.result) ? "size_t *" + entry.result.name + "_rows, " : "";
  return "(" + c_parameters(entry.arguments) + "float *" + entry.result.name + ", " + rows + "void *workspace)";
}

std::string comment(const Entry& entry) {
  const Result& result = entry.result;
  std::string text = "/* Computes `" + result.name + "` ";
  text += has_rows(result) ? "[rows][" + std::to_string(result.width) + "], of at most " + std::to_string(result.most) +
                                 " rows, and writes their number to " + result.name + "_rows"
                           : "[" + std::to_string(result.width) + "]";
  text += ".\n";
  for (const Argument& argument : entry.arguments) {
    text += " *   " + argument.name;
    if (argument.kind == Kind::ids) {
      text += "  token ids below " + std::to_string(argument.rows) + ", from 1 to " + std::to_string(argument.most);
    } else if (argument.fixed) {
      text += "  " + std::to_string(argument.most * argument.width) + " numbers";
    } else {
      text += "  1 to " + std::to_string(argument.most) + " frames of " + std::to_string(argument.width) + " numbers";
    }
    text += "\n";
    if (!argument.types.empty())
      text += " *   " + argument.types + "  a type below " + std::to_string(argument.type_rows) +
              " for each token; a null pointer stands for types of 0\n";
  }
  return text + " */\n";
}

std::string c_header(const Program& program) {
  const std::string& name = program.choices.name;
  const std::string names = upper(name);
  std::string text =
      file_mark(false) + " from a model of the type " + files::in_quotes(program.description.model_type) +
      ". For C11 and C++.\n#ifndef LADON_MODEL_" + names + "_H\n#define LADON_MODEL_" + names +
      "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" + statuses +
      "\n/* The sizes of the largest call. */\n";
  for (const Argument& argument : inputs_of(program))
    if (!argument.fixed)
      text += "#define " + names + "_MOST_" + upper(argument.count) + " " + std::to_string(argument.most) + "\n";
  for (const Result* result : exported(program)) {
    if (has_rows(*result))
      text += "#define " + names + "_MOST_" + upper(result->name) + "_ROWS " + std::to_string(result->most) + "\n";
    text += "#define " + names + "_" + upper(result->name) + "_WIDTH " + std::to_string(result->width) + "\n";
  }
  text +=
      "\n/* Must be called once, before all other functions. `weights` is the content of the file that the program " +
      name +
      "_image\n * writes, at an address that is a multiple of 64 and stays valid. If the library contains the "
      "weights,\n * `weights` may be a null pointer. */\nLADON_CHECK_STATUS ladon_model_status " +
      name +
      "_start(const void *weights, size_t bytes);\n\n/* The size of the memory that a call needs. A call takes this "
      "memory at an address that is a multiple of 64 as\n * `workspace`. With a null pointer, it uses memory of the "
      "library, and only one call may run at a time. */\nsize_t " +
      name + "_workspace_bytes(void);\n\n";
  for (const Entry& entry : entries(program))
    text += comment(entry) + "LADON_CHECK_STATUS ladon_model_status " + name + "_" + entry.name +
            parameter_list(entry) + ";\n\n";
  return text + c_batch_declarations(program) + c_text_declarations(program) +
         "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

// Returns the statements that check the arguments.
std::string checks(const Entry& entry) {
  const Result& result = entry.result;
  std::string text =
      "  if (!state.started) return LADON_MODEL_NOT_STARTED;\n"
      "  Workspace* const memory = memory_at(workspace);\n"
      "  if (memory == nullptr) return LADON_MODEL_MISALIGNED;\n  if (" +
      result.name + " == nullptr" + (has_rows(result) ? " || " + result.name + "_rows == nullptr" : "");
  for (const Argument& argument : entry.arguments) text += " || " + argument.name + " == nullptr";
  text += ") return LADON_MODEL_NULL;\n";
  return text + c_checks(entry.arguments);
}

// Returns the statements that call the functions of the C++ program whose last result is that of the entry.
std::string calls(const Program& program, const Entry& entry) {
  const Result& result = entry.result;
  const std::string space = program.choices.name + "::";
  const auto call = [&](const Result& any, const std::string& arguments, const std::string& to) {
    const std::string tables = takes_tables(program, any.function) ? "state.tables, " : "";
    return space + any.function + "(" + arguments + "state.weights, " + tables + to + ", memory->parts);\n";
  };
  const Result& run = run_of(program, result);
  // An input that is shorter than a convolution gives no rows.
  if (is_run(result))
    return "  *" + result.name + "_rows = " + call(run, passed(entry), result.name) + "  if (*" + result.name +
           "_rows == 0) return LADON_MODEL_BAD_LENGTH;\n";
  std::string text = "  const std::size_t rows = " + call(run, passed(entry), "memory->" + run.name) +
                     "  if (rows == 0) return LADON_MODEL_BAD_LENGTH;\n";
  // A result behind another one, such as the answer of a pooled row, is computed from it.
  const auto end = [&](const auto& self, const Result& any, const std::string& to) -> std::string {
    const Argument& input = any.arguments[0];
    const std::string rows_before = "memory->" + input.name;
    if (input.name == run.name) {
      const std::string from =
          input.fixed ? rows_before + " + (rows - 1) * " + space + run.name + "_width, " : rows_before + ", rows, ";
      return "  " + call(any, from, to);
    }
    return self(self, *source_of(program, any), rows_before) + "  " + call(any, rows_before + ", ", to);
  };
  text += end(end, result, result.name);
  return result.of_rows ? text + "  *" + result.name + "_rows = rows;\n" : text;
}

std::string c_source(const Program& program) {
  const std::string& name = program.choices.name;
  const bool has_tables = !program.tables.empty();
  const auto ends = exported(program);
  std::string text = file_mark(false) + ".\n// The C functions of " + name + ".h.\n#include \"" + name +
                     ".h\"\n\n#include <ladon/model/weight_image.hpp>\n\n#include \"" + name +
                     ".hpp\"\n\nnamespace {\n\n";
  text += "struct alignas(64) Workspace {\n  " + name + "::Workspace parts;\n";
  // The rows that other results are computed from.
  for (const Result* result : ends)
    if (std::ranges::any_of(ends, [&](const Result* end) { return source_of(program, *end) == result; }))
      text += "  float " + result->name + "[" + std::to_string(std::max<std::size_t>(result->most, 1) * result->width) +
              "];\n";
  text += "};\n\nstruct State {\n  bool started;\n  " + name + "::Weights weights;\n" +
          (has_tables ? "  " + name + "::Tables& tables;\n" : "") + "};\n" +
          // In a variable of their own, the zeros of the tables take no bytes of the library.
          (has_tables ? name + "::Tables tables;\n" : "") + "constinit State state{" +
          (has_tables ? "false, {}, tables" : "") +
          "};\nWorkspace own;\n\n"
          "// Returns a null pointer if the address is wrong.\n"
          "Workspace* memory_at(void* workspace) {\n"
          "  if (workspace == nullptr) return &own;\n"
          "  if (reinterpret_cast<std::uintptr_t>(workspace) % alignof(Workspace) != 0) return nullptr;\n"
          "  return static_cast<Workspace*>(workspace);\n}\n\n"
          "[[maybe_unused]] bool are_below(std::int32_t most, const std::int32_t* ids, std::size_t count) {\n"
          "  for (std::size_t i = 0; i < count; ++i)\n"
          "    if (ids[i] < 0 || ids[i] >= most) return false;\n"
          "  return true;\n}\n\n}  // namespace\n\n";
  text +=
      "#ifndef LADON_MODEL_FUNCTION  // ladon_add_model gives other names to the functions of each instruction set\n"
      "#define LADON_MODEL_FUNCTION(name) " +
      name + "_##name\n#endif\n\nextern \"C\" {\n#ifdef LADON_MODEL_HAS_WEIGHTS\nextern const unsigned char " + name +
      "_weights_image[];\n#endif\n\nladon_model_status LADON_MODEL_FUNCTION(start)(const void* weights, size_t bytes) "
      "{\n"
      "  state.started = false;\n"
      "#ifdef LADON_MODEL_HAS_WEIGHTS\n  if (weights == nullptr) {\n    weights = " +
      name +
      "_weights_image;\n    bytes = ladon::stated_image_bytes(weights);\n  }\n#endif\n  if (weights == nullptr) return "
      "LADON_MODEL_NULL;\n"
      "  if (reinterpret_cast<std::uintptr_t>(weights) % ladon::image_alignment != 0) return LADON_MODEL_MISALIGNED;\n"
      "  if (!ladon::is_image<" +
      name + "::Weights>(weights, bytes)) return LADON_MODEL_BAD_WEIGHTS;\n  state.weights = ladon::from_image<" +
      name + "::Weights>(weights);\n" + (has_tables ? "  " + name + "::prepare(state.weights, state.tables);\n" : "") +
      "  state.started = true;\n  return LADON_MODEL_OK;\n}\n\n"
      "size_t LADON_MODEL_FUNCTION(workspace_bytes)(void) { return sizeof(Workspace); }\n";
  for (const Entry& entry : entries(program))
    text += "\nladon_model_status LADON_MODEL_FUNCTION(" + entry.name + ")" + parameter_list(entry) + " {\n" +
            checks(entry) + calls(program, entry) + "  return LADON_MODEL_OK;\n}\n";
  return text + c_batch_definitions(program) + c_text_definitions(program) + "}\n";
}

// Returns the list of the C functions, which the functions of a library with several instruction sets include.
std::string function_list(const Program& program) {
  std::string text = file_mark(false) +
                     ".\nLADON_FUNCTION(ladon_model_status, start, (const void *weights, size_t bytes), (weights, "
                     "bytes))\nLADON_FUNCTION(size_t, workspace_bytes, (void), ())\n";
  for (const Entry& entry : entries(program)) {
    const Result& result = entry.result;
    const std::string rows = has_rows(result) ? result.name + "_rows, " : "";
    text += "LADON_FUNCTION(ladon_model_status, " + entry.name + ", " + parameter_list(entry) + ", (" + passed(entry) +
            result.name + ", " + rows + "workspace))\n";
  }
  return text + c_batch_list(program) + c_text_list(program);
}

// Returns the program that writes the file of all weights.
std::string image_source(const Program& program) {
  const std::string& name = program.choices.name;
  return file_mark(false) + ".\n// Writes all weights into one file: " + name +
         "_image FOLDER OUT\n#include <cstdio>\n#include <exception>\n#include <fstream>\n#include <vector>\n\n"
         "#include <ladon/model/weight_image.hpp>\n\n#include \"" +
         name +
         "_weights.hpp\"\n\nint main(int argc, char** argv) try {\n"
         "  if (argc != 3) {\n    std::fprintf(stderr, \"usage: " +
         name +
         "_image FOLDER OUT\\n\");\n    return 2;\n  }\n"
         "  const ladon::safetensors::Folder folder(argv[1]);\n" +
         other_files(program) + "  const auto weights = " + name + "::load(folder" + other_arguments(program) +
         ");\n  std::vector<std::byte> image(ladon::image_bytes_of(weights));\n"
         "  ladon::write_image(weights, image.data());\n"
         "  std::ofstream out(argv[2], std::ios::binary);\n"
         "  out.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));\n"
         "  out.close();\n  if (!out) {\n    std::fprintf(stderr, \"" +
         name +
         "_image: %s cannot be written\\n\", argv[2]);\n    return 1;\n  }\n  return 0;\n"
         "} catch (const std::exception& error) {\n  std::fprintf(stderr, \"" +
         name + "_image: %s\\n\", error.what());\n  return 1;\n}\n";
}

}  // namespace

std::string c_parameters(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) {
    text += (argument.kind == Kind::ids ? "const int32_t *" : "const float *") + argument.name + ", ";
    if (!argument.types.empty()) text += "const int32_t *" + argument.types + ", ";
    if (!argument.fixed) text += "size_t " + argument.count + ", ";
  }
  return text;
}

std::string c_checks(const std::vector<Argument>& arguments) {
  std::string text;
  for (const Argument& argument : arguments) {
    if (argument.fixed) continue;
    text += "  if (" + argument.count + " == 0 || " + argument.count + " > " + std::to_string(argument.most) +
            ") return LADON_MODEL_BAD_LENGTH;\n";
    if (argument.kind == Kind::ids)
      text += "  if (!are_below(" + std::to_string(argument.rows) + ", " + argument.name + ", " + argument.count +
              ")) return LADON_MODEL_BAD_ID;\n";
    if (!argument.types.empty())
      text += "  if (" + argument.types + " != nullptr && !are_below(" + std::to_string(argument.type_rows) + ", " +
              argument.types + ", " + argument.count + ")) return LADON_MODEL_BAD_ID;\n";
  }
  return text;
}

std::vector<SourceFile> c_library_files(const Program& program) {
  const std::string& name = program.choices.name;
  auto files = cpp_project_files(program);
  std::erase_if(files, [](const SourceFile& file) { return file.name == "main.cpp" || file.name == "CMakeLists.txt"; });
  files.insert(files.end(), {{name + ".h", c_header(program)},
                             {name + "_c.cpp", c_source(program)},
                             {name + "_functions.inc", function_list(program)},
                             {name + "_image.cpp", image_source(program)},
                             module_description(program)});
  return files;
}

std::vector<CFunction> c_functions(const Program& program, bool with_types) {
  std::vector<CFunction> functions;
  for (const auto& [result, name, arguments] : entries(program))
    if (!takes_types(program) || with_types != arguments[0].types.empty())
      functions.push_back(
          {program.choices.name + "_" + name, result.name, result.most, result.width, has_rows(result), arguments});
  return functions;
}

}  // namespace ladon::import
