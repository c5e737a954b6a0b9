// SPDX-License-Identifier: Apache-2.0
// Tests the program ladon-import as users call it.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <filesystem>
#include <string>

#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"
#include "testing/program.hpp"

namespace ladon::import {
namespace {

using examples::Answer, examples::TemporaryFolder;

const std::string families_folder = LADON_FAMILIES_DIR;

Answer run(const std::string& arguments) { return examples::run_in_shell(LADON_IMPORT_COMMAND " " + arguments); }

}  // namespace

TEST_SUITE_BEGIN("tool");

TEST_CASE("a project has five files") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const Answer answer = run("'" + families_folder + "/gpt2' --cpp '" + out.string() + "' --name my-gpt");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  for (const char* name : {"my_gpt.hpp", "my_gpt_weights.hpp", "my_gpt_weights.cpp", "main.cpp", "CMakeLists.txt"})
    CHECK(std::filesystem::exists(out / name));
}

TEST_CASE("the table of --dry-run") {
  const Answer answer = run("'" + families_folder + "/gpt2' --dry-run");
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with("model_type \"gpt2\"\n"));
  CHECK(answer.out.find("embed wte.weight [") != std::string::npos);
  CHECK(answer.out.find("Bytes of the weights: ") != std::string::npos);
}

TEST_CASE("a model that Ladon lacks is named, and nothing is written") {
  const TemporaryFolder folder;
  (void)folder.file("config.json", R"({"model_type": "mixtral", "num_local_experts": 8})");
  (void)folder.file("model.safetensors", files::Checkpoint().add("a", 1, 1).content());
  const auto out = folder.path() / "out";
  const Answer answer = run("'" + folder.path().string() + "' --cpp '" + out.string() + "'");
  CHECK(answer.status == 1);
  CHECK(answer.err.find("\"num_local_experts\" is 8") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("what is not the folder of a model is named, with the way out") {
  const auto complaint = [](const std::filesystem::path& given) {
    const Answer answer = run("'" + given.string() + "' --dry-run");
    CHECK(answer.status == 1);
    return answer.err;
  };
  const TemporaryFolder folder;
  CHECK(complaint("bert-base-uncased").find("ladon-import downloads nothing") != std::string::npos);
  CHECK(complaint(folder.path()).find("expected config.json") != std::string::npos);
  (void)folder.file("model.gguf", "GGUF");
  CHECK(complaint(folder.path()).find("found model.gguf, which is not read") != std::string::npos);
  (void)folder.file("config.json", R"({"model_type": "gpt2"})");
  CHECK(complaint(folder.path() / "config.json").find("name the folder that contains config.json") !=
        std::string::npos);
  (void)folder.file("pytorch_model.bin", "PK");
  CHECK(complaint(folder.path()).find("pytorch_model.bin is not read: save_pretrained") != std::string::npos);
}

TEST_CASE("wrong usage") {
  CHECK(run("").status == 2);
  CHECK(run("'" + families_folder + "/gpt2'").status == 2);
  CHECK(run("'" + families_folder + "/gpt2' --dry-run --precision float8").status == 2);
}

TEST_SUITE_END();

}  // namespace ladon::import

#else
TEST_SUITE_BEGIN("tool");
TEST_CASE("arguments are quoted for a POSIX shell") { MESSAGE("skipped: there is no POSIX shell"); }
TEST_SUITE_END();
#endif
