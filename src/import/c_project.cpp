// SPDX-License-Identifier: Apache-2.0
#include "c_project.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "c_library.hpp"
#include "chain.hpp"
#include "safetensors.hpp"

namespace ladon::import {
namespace {

// Returns "float last[..]; size_t last_rows" and the end of a call for a function.
std::string results(const CFunction& function, const std::string& indent) {
  return indent + "static float " + function.result + "[" + std::to_string(std::max<std::size_t>(function.most, 1)) +
         " * " + std::to_string(function.width) + "];\n" + indent + "size_t " + function.result + "_rows = 1;\n";
}
std::string call(const CFunction& function, const std::string& arguments) {
  return function.name + "(" + arguments + function.result + ", " +
         (function.has_rows ? "&" + function.result + "_rows, " : "") + "NULL)";
}

std::string main_source(const Program& program) {
  const CFunction function = c_functions(program, false).back();
  std::string inputs, arguments;
  for (const Argument& argument : function.arguments) {
    const bool ids = argument.kind == Kind::ids;
    const std::size_t count = argument.fixed ? argument.most * argument.width
                              : ids          ? 3
                                             : argument.most * argument.width;
    inputs += "  static const " + std::string(ids ? "int32_t " : "float ") + argument.name + "[" +
              std::to_string(count) + "] = {" + (ids ? "1, 2, 3" : "0") + "};\n";
    arguments += argument.name + ", ";
    if (!argument.fixed) arguments += std::to_string(ids ? 3 : argument.most) + ", ";
  }
  return filled(R"(// @MARK@. The smallest program with the model.
#include "@NAME@.h"

#include <stdio.h>

int main(void) {
@INPUTS@@RESULTS@  if (@NAME@_start(NULL, 0) != LADON_MODEL_OK) return 1;
  if (@CALL@ != LADON_MODEL_OK) return 1;
  printf("%zu rows of @WIDTH@ numbers; the first number is %g\n", @RESULT@_rows, (double)@RESULT@[0]);
  return 0;
}
)",
                {{"// @MARK@", file_mark(false)},
                 {"@NAME@", program.choices.name},
                 {"@INPUTS@", inputs},
                 {"@RESULTS@", results(function, "  ")},
                 {"@CALL@", call(function, arguments)},
                 {"@WIDTH@", std::to_string(function.width)},
                 {"@RESULT@", function.result}});
}

// Returns the statements that write a sample for NAME_board: the inputs and the result of the last function.
std::string sample_statements(const CFunction& function) {
  std::string text =
      "  if (const char* name = std::getenv(\"LADON_SAMPLE\")) {\n    std::ofstream sample(name, std::ios::binary);\n";
  for (const Argument& argument : function.arguments)
    for (const std::string& name : {argument.name, argument.types})
      if (!name.empty())
        text.append("    put(sample, ").append(name).append(".data(), ").append(name).append(".size());\n");
  return text + "    put(sample, " + function.result + ", " + function.result + "_rows * " +
         std::to_string(function.width) + ");\n  }\n";
}

// Returns the statements that compute the results of a stack, if the file has its inputs.
std::string stack_statements(const Program& program, const Result& run) {
  std::string body, arguments;
  for (const Argument& argument : run.arguments) {
    body += "  " + read_argument(argument, program.choices.name + "::") + "\n";
    arguments += pass_argument(argument);
  }
  const std::vector<CFunction> functions = c_functions(program, true);
  for (const CFunction& function : functions) {
    if (function.arguments[0].name != run.arguments[0].name) continue;
    body += results(function, "  ") + "  check(" + call(function, arguments) + ");\n  records.add(" +
            files::in_quotes(function.result) + ", " + function.result + ", " + function.result + "_rows, " +
            std::to_string(function.width) + ");\n";
  }
  if (functions.back().arguments[0].name == run.arguments[0].name) body += sample_statements(functions.back());
  return if_given(program, run, body);
}

// Returns a program that computes recorded inputs by the C functions, and also writes a sample for NAME_board.
std::string check_source(const Program& program) {
  std::string body;
  for (const Result* run : runs_of(program)) body += stack_statements(program, *run);
  return filled(R"(// @MARK@.
// Computes recorded inputs by the C functions: @NAME@_check FOLDER --inputs IN.safetensors --outputs OUT.safetensors. The
// file of all weights has the name in the environment variable LADON_WEIGHTS, or else the library has the weights.
// Writes the inputs and the last result to the file with the name in LADON_SAMPLE, for @NAME@_board.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <ladon/safetensors/records.hpp>

#include "@NAME@.h"
#include "@NAME@.hpp"

namespace {

void check(ladon_model_status status) {
  if (status != LADON_MODEL_OK) throw std::runtime_error("status " + std::to_string(status));
}

template <class T>
void put(std::ofstream& sample, const T* values, std::size_t count) {
  const auto size = static_cast<std::uint32_t>(count);
  sample.write(reinterpret_cast<const char*>(&size), sizeof size);
  sample.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
}

struct alignas(64) Line {
  char bytes[64];
};

}  // namespace

int main(int argc, char** argv) try {
  ladon::safetensors::Records records(argc, argv@ABILITIES@);
  std::unique_ptr<Line[]> weights;
  std::size_t bytes = 0;
  if (const char* name = std::getenv("LADON_WEIGHTS")) {
    bytes = std::filesystem::file_size(name);
    weights = std::make_unique<Line[]>(bytes / sizeof(Line) + 1);
    std::ifstream(name, std::ios::binary).read(weights[0].bytes, static_cast<std::streamsize>(bytes));
  }
  check(@NAME@_start(weights.get(), bytes));
@BODY@  records.write();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "@NAME@_check: %s\n", error.what());
  return 1;
}
)",
                {{"// @MARK@", file_mark(false)},
                 {"@ABILITIES@", takes_types(program) ? ", {.takes_types = true}" : ""},
                 {"@BODY@", body},
                 {"@NAME@", program.choices.name}});
}

std::string board_source(const Program& program) {
  const CFunction function = c_functions(program, true).back();
  std::string reads, arguments;
  for (const Argument& argument : function.arguments) {
    const std::string type = argument.kind == Kind::ids ? "int32_t" : "float";
    const auto read = [&](const std::string& name) {
      reads.append("  static ").append(type).append(" ").append(name);
      reads += "[" + std::to_string(argument.most * argument.width) + "];\n";
      arguments.append(name).append(", ");
    };
    read(argument.name);
    reads += "  const size_t " + argument.name + "_size = get(sample, " + argument.name + ");\n";
    if (!argument.types.empty()) {
      read(argument.types);
      reads += "  get(sample, " + argument.types + ");\n";
    }
    if (!argument.fixed)
      arguments += argument.name + "_size" + (argument.width == 1 ? "" : " / " + std::to_string(argument.width)) + ", ";
  }
  return filled(R"(// @MARK@.
// Computes the sample of @NAME@_check on a board in QEMU (examples/firmware/board), and prints the largest difference
// from the result on the build machine.
#include <board.hpp>

#include "@NAME@.h"

namespace {

// Reads a size and so many values.
template <class T, size_t N>
size_t get(board::File& file, T (&values)[N]) {
  std::uint32_t size = 0;
  file.read({reinterpret_cast<char*>(&size), sizeof size});
  if (size > N) board::exit(2);
  file.read({reinterpret_cast<char*>(values), size * sizeof(T)});
  return size;
}

void say(const char* what, std::uint64_t number) {
  board::print(what);
  board::print_number(number);
  board::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) board::exit(2);
  board::File sample(argv[1]);
  if (!sample.is_open()) board::exit(2);
@READS@  static float expected[@MOST@];
  const size_t expected_size = get(sample, expected);
@RESULTS@  if (@NAME@_start(nullptr, 0) != LADON_MODEL_OK) board::exit(3);
  board::paint_stack();
  const std::uint64_t before = board::instructions();
  if (@CALL@ != LADON_MODEL_OK) board::exit(4);
  const std::uint64_t instructions = board::instructions() - before;
  if (@RESULT@_rows * @WIDTH@ != expected_size) board::exit(5);
  float largest = 0, error = 0;
  for (size_t i = 0; i < expected_size; ++i) {
    const float size = expected[i] < 0 ? -expected[i] : expected[i];
    const float off = @RESULT@[i] < expected[i] ? expected[i] - @RESULT@[i] : @RESULT@[i] - expected[i];
    largest = largest < size ? size : largest;
    error = off <= error ? error : off;
  }
  const board::Image image = board::image();
  say("flash bytes         ", image.flash);
  say("RAM bytes           ", image.written);
  say("stack bytes         ", board::stack_used());
  say("instructions        ", instructions);
  say("error, parts per million of the largest value ", static_cast<std::uint64_t>(error / largest * 1e6f));
  board::exit(error <= 1e-4f * largest ? 0 : 1);
}
)",
                {{"// @MARK@", file_mark(false)},
                 {"@READS@", reads},
                 {"@MOST@", std::to_string(std::max<std::size_t>(function.most, 1) * function.width)},
                 {"@RESULTS@", results(function, "  ")},
                 {"@CALL@", call(function, arguments)},
                 {"@RESULT@", function.result},
                 {"@WIDTH@", std::to_string(function.width)},
                 {"@NAME@", program.choices.name},
                 {"NULL", "nullptr"}});
}

std::string cmake_source(const Program& program, const CChoices& choices) {
  return filled(R"(# @MARK@.
cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES C CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CHECKPOINT "@CHECKPOINT@" CACHE PATH "The folder of the model")
set(IMAGE "" CACHE FILEPATH "@NAME@.weights of a build for the build machine; needed in a cross build")
@FIND_LADON@
if(IMAGE)
  set(weights IMAGE ${IMAGE})
else()
  set(weights FOLDER ${CHECKPOINT})
endif()
ladon_add_model(@NAME@ SOURCES ${CMAKE_CURRENT_SOURCE_DIR} ${weights} PRECISION @PRECISION@ @CHOICES@)
ladon_report(@NAME@)

if(CMAKE_CROSSCOMPILING)
  if(LADON_SOURCE_DIR)
    add_subdirectory(${LADON_SOURCE_DIR}/examples/firmware/board board EXCLUDE_FROM_ALL)
    add_executable(@NAME@_board EXCLUDE_FROM_ALL @NAME@_board.cpp)
    target_link_libraries(@NAME@_board PRIVATE @NAME@ board)
  endif()
else()
  add_executable(@NAME@_main main.c)
  target_link_libraries(@NAME@_main PRIVATE @NAME@)
  add_executable(@NAME@_check EXCLUDE_FROM_ALL @NAME@_check.cpp)
  target_link_libraries(@NAME@_check PRIVATE @NAME@ ladon::safetensors)
endif()
)",
                {{"# @MARK@", file_mark(true)},
                 {"@FIND_LADON@", find_ladon("kernel")},
                 {"@NAME@", program.choices.name},
                 {"@PRECISION@", precision_name(program.choices.precision)},
                 {"@CHECKPOINT@", choices.has_weights_folder ? "${CMAKE_CURRENT_SOURCE_DIR}/weights" : ""},
                 {" @CHOICES@",
                  std::string(choices.dispatch ? " DISPATCH" : "") + (choices.maps_weights ? " WEIGHTS mapped" : "")}});
}

}  // namespace

std::vector<SourceFile> checked_c_library_files(const Program& program) {
  auto files = c_library_files(program);
  files.push_back({program.choices.name + "_check.cpp", check_source(program)});
  return files;
}

std::vector<SourceFile> c_project_files(const Program& program, const CChoices& choices) {
  auto files = checked_c_library_files(program);
  files.insert(files.end(), {{"main.c", main_source(program)},
                             {program.choices.name + "_board.cpp", board_source(program)},
                             {"CMakeLists.txt", cmake_source(program, choices)}});
  return files;
}

}  // namespace ladon::import
