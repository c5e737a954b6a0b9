// Tests the conversions between paths and UTF-8 (src/files/utf8.hpp), and files whose names are not ASCII.
#include <doctest/doctest.h>

#include <fstream>

#include "mapped_file.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"
#include "utf8.hpp"

namespace ladon::files {
namespace {

namespace fs = std::filesystem;
using examples::content_of, examples::TemporaryFolder;

// "Groesse" with two German letters, and two Chinese characters.
constexpr const char* name =
    "Gr\xc3\xb6\xc3\x9f"
    "e-\xe6\xa8\xa1\xe5\x9e\x8b";
constexpr const char16_t* name_in_utf16 = u"Gr\u00f6\u00dfe-\u6a21\u578b";

}  // namespace

TEST_SUITE_BEGIN("utf8");

TEST_CASE("a path of a text in UTF-8 has the characters of the text, and becomes the text again") {
  CHECK(path_of(name) == fs::path(name_in_utf16));
  CHECK(utf8_of(path_of(name)) == name);
}

TEST_CASE("a file whose name is not ASCII is replaced, mapped and copied") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / path_of(name);
  for (const char* content : {"old", "new"}) {
    replace_file(utf8_of(file), content);
    CHECK(content_of(folder.path() / fs::path(name_in_utf16)) == content);
  }
  for (const Load load : {Load::map, Load::copy}) CHECK(MappedFile(file, load).bytes().size() == 3);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("an error names a file whose name is not ASCII") {
  CHECK(examples::error_of<Error>([] { MappedFile(path_of(name)); }) == std::string(name) + ": no such file");
}

TEST_CASE("an index names a shard whose name is not ASCII") {
  const TemporaryFolder folder;
  Checkpoint shard;
  shard.add("a", 2, 3, 1);
  replace_file(utf8_of(folder.path() / path_of(name)), shard.content());
  const std::string index = R"({"weight_map": {"a": ")" + std::string(name) + "\"}}";
  const Safetensors file(folder.file("model.safetensors.index.json", index));
  CHECK(file.tensors().at("a").shape == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("the arguments of main do not contain the name of the program") {
#ifndef _WIN32  // where they are those of the process
  const char* const words[] = {"program", "a", name};
  CHECK(arguments_of_main(3, words) == std::vector<std::string>{"a", name});
  CHECK(arguments_of_main(1, words).empty());
  CHECK(arguments_of_main(0, words).empty());
#endif
}

TEST_SUITE_END();

}  // namespace ladon::files
