// SPDX-License-Identifier: Apache-2.0
// Compares the output of the program of --memory with the sizes of the structs in the projects of --cpp.
#include <doctest/doctest.h>

#include <string>

#include "sized_float32/sized_float32.hpp"
#include "sized_int8/sized_int8.hpp"
#include "testing/program.hpp"

namespace {

// Returns the line of the output that begins with `what`.
std::string line_of(const std::string& output, const std::string& what) {
  const std::size_t begin = output.find(what + ": ");
  if (begin == output.npos) return "";
  return output.substr(begin, output.find('\n', begin) - begin) + ",";
}

bool says(const std::string& line, std::size_t bytes, const std::string& precision) {
  return line.find(" " + std::to_string(bytes) + " bytes in " + precision + ",") != line.npos ||
         line.find(" " + std::to_string(bytes) + " in " + precision + ",") != line.npos;
}

}  // namespace

#define CHECK_SIZE(what, type)                                 \
  {                                                            \
    const std::string line = line_of(output, what);            \
    CAPTURE(line);                                             \
    CHECK(says(line, sizeof(sized_float32::type), "float32")); \
    CHECK(says(line, sizeof(sized_int8::type), "int8"));       \
  }

TEST_CASE("the program of --memory prints the sizes of the program's structs") {
  const examples::Answer answer = examples::run_in_shell(LADON_MEMORY_COMMAND);
  REQUIRE(answer.status == 0);
  const std::string& output = answer.out;
  CHECK_SIZE("Memory of a call (Workspace)", Workspace)
  CHECK_SIZE("Tables, once for all calls (Tables)", Tables)
  CHECK_SIZE("A text, with its caches and the memory of its calls (Text)", Text)
  CHECK_SIZE("The caches of a text", TextParts::Stack<1>::Caches)
  CHECK_SIZE("The caches of the encoder's output", TextParts::Stack<1>::MemoryCaches)
  CHECK(sizeof(sized_float32::Workspace) != sizeof(sized_int8::Workspace));
}
