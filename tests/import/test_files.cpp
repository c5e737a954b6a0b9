// SPDX-License-Identifier: Apache-2.0
// Tests that files are written all or none, and the comparison of results.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "compare.hpp"
#include "file_error.hpp"
#include "output_folder.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::import {
namespace {

namespace fs = std::filesystem;
using examples::error_of, examples::TemporaryFolder;

const std::vector<SourceFile> sources = {{"a.hpp", file_mark(false) + " a\n"},
                                         {"CMakeLists.txt", file_mark(true) + "\n"}};

std::string error_of_writing(const fs::path& folder) {
  return error_of<files::Error>([&] { write_folder(folder, sources); });
}

std::size_t count(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

TEST_SUITE_BEGIN("files");

TEST_CASE("a folder is made, and its own files are replaced") {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "b" / "c";
  write_folder(out, sources);
  CHECK(count(out) == 2);
  fs::create_directory(out / "build");
  write_folder(out, sources);
  CHECK(count(out) == 3);
}

TEST_CASE("a file of the user stays") {
  const TemporaryFolder folder;
  const fs::path other = folder.file("a.hpp", "int x;\n");
  CHECK(error_of_writing(folder.path()) ==
        other.string() + ": ladon-import has not written this file; name another folder, or delete the file");
  CHECK(count(folder.path()) == 1);
  CHECK(error_of_writing(other) == other.string() + " is not a folder; name another one");
}

TEST_CASE("the largest error is relative to the largest number") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::vector<float>& values, const std::string& shape) {
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return folder.file(name, files::Checkpoint().add("last", "F32", shape, bytes).content()).string();
  };
  const std::string recorded = file("a", {1, -4, 2, 0}, "[1,2,2]");
  CHECK(largest_error(recorded, file("b", {1, -4, 2, 0}, "[2,2]")) == 0);
  CHECK(largest_error(recorded, file("b", {1, -4, 2, 1}, "[2,2]")) == 0.25);
  CHECK(largest_error(recorded, file("b", {1, -4, 2, NAN}, "[2,2]")) > 1e9);
  const auto answer = [&](const std::string& name, float value) {
    const std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
    return folder.file(name, files::Checkpoint().add("answer", "F32", "[1]", bytes).content()).string();
  };
  CHECK(largest_error(answer("d", 2), answer("e", 1)) == 0.5);
  CHECK(error_of<files::Error>([&] { (void)largest_error(answer("d", 2), recorded); }) ==
        recorded + ": there is no tensor \"answer\"");
  // The results of two stacks.
  const auto answers = [&](const std::string& name, float text, float vision) {
    const std::string bytes(reinterpret_cast<const char*>(&text), sizeof text);
    const std::string others(reinterpret_cast<const char*>(&vision), sizeof vision);
    return folder
        .file(name, files::Checkpoint()
                        .add("answer_text", "F32", "[1]", bytes)
                        .add("answer_vision", "F32", "[1]", others)
                        .content())
        .string();
  };
  CHECK(largest_error(answers("f", 2, 4), answers("g", 2, 3)) == 0.25);
  CHECK(error_of<files::Error>([&] { (void)largest_error(answers("f", 2, 4), answer("g", 2)); }).find("answer_text") !=
        std::string::npos);
  const std::string wrong = file("c", {1, -4, 2, 1}, "[4,1]");
  CHECK(error_of<files::Error>([&] { (void)largest_error(recorded, wrong); }) ==
        wrong + ": \"last\" has the shape [4,1], but " + recorded + " has [2,2]");
}

TEST_SUITE_END();

}  // namespace ladon::import
