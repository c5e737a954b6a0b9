// SPDX-License-Identifier: Apache-2.0
#include "memory_project.hpp"

#include "chain.hpp"
#include "generation.hpp"

namespace ladon::import {
namespace {

// Returns a statement that prints the size of a type of each program.
std::string say(std::span<const Program> programs, const std::string& what, const std::string& type) {
  std::string sizes;
  for (const Program& program : programs)
    sizes += std::string("           {\"") + precision_name(program.choices.precision) + "\", sizeof(" +
             program.choices.name + "::" + type + ")},\n";
  return "  say(\"" + what + "\", {\n" + sizes + "       });\n";
}

std::string source(std::span<const Program> programs) {
  const Program& model = programs.front();
  std::string includes, body = say(programs, "Memory of a call (Workspace)", "Workspace");
  for (const Program& program : programs) includes += "#include \"" + program.choices.name + ".hpp\"\n";
  if (!model.tables.empty()) body += say(programs, "Tables, once for all calls (Tables)", "Tables");
  if (!model.batch_workspace.empty())
    body += say(programs, "Memory of a thread for batches (BatchWorkspace)", "BatchWorkspace");
  if (model.generation) {
    const std::string caches = "TextParts::Stack<1>::";
    body += say(programs, "A text, with its caches and the memory of its calls (Text)", "Text");
    body += say(programs, "The caches of a text", caches + "Caches");
    if (model.generation->source) body += say(programs, "The caches of the encoder's output", caches + "MemoryCaches");
  }
  return filled(R"(// @MARK@.
// Prints the memory of a model, for the instruction set that this program is compiled for (LADON_ARCH).
#include <cstddef>
#include <cstdio>
#include <initializer_list>

@INCLUDES@
namespace {

struct Size {
  const char* precision;
  std::size_t bytes;
};

void say(const char* what, std::initializer_list<Size> sizes) {
  std::printf("%s:", what);
  for (const Size& size : sizes)
    std::printf("%s %zu%s in %s", &size == sizes.begin() ? "" : ",", size.bytes, &size == sizes.begin() ? " bytes" : "",
                size.precision);
  std::printf(".\n");
}

}  // namespace

int main() {
@BODY@}
)",
                {{"// @MARK@", file_mark(false)}, {"@INCLUDES@", includes}, {"@BODY@", body}});
}

// The file is the same for all models, so that a folder that received another model needs no new configuration.
std::string cmake_source() {
  return file_mark(true) + R"(.
cmake_minimum_required(VERSION 3.25)
project(memory LANGUAGES CXX)

set(LADON_SOURCE_DIR "" CACHE PATH "Ladon's sources; empty: an installed copy")
if(LADON_SOURCE_DIR)
  add_subdirectory(${LADON_SOURCE_DIR} ladon EXCLUDE_FROM_ALL)
else()
  find_package(ladon REQUIRED)
endif()

add_executable(memory memory.cpp)
target_link_libraries(memory PRIVATE ladon::native)
)";
}

}  // namespace

std::vector<SourceFile> memory_project_files(std::span<const Program> programs) {
  std::vector<SourceFile> files{{"memory.cpp", source(programs)}, {"CMakeLists.txt", cmake_source()}};
  for (const Program& program : programs) files.push_back(cpp_project_files(program).front());
  return files;
}

}  // namespace ladon::import
