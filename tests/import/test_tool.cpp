// SPDX-License-Identifier: Apache-2.0
// Tests the program ladon-import as users call it.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <filesystem>
#include <fstream>
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
  // A program that adds the project must be compiled as the project is: the cache also holds for the program.
  CHECK(examples::has(examples::content_of(out / "CMakeLists.txt"), "set(CMAKE_BUILD_TYPE Release CACHE "));
  // Objects with other settings of Ladon do not link.
  for (const char* name : {"my_gpt.hpp", "my_gpt_weights.hpp", "my_gpt_weights.cpp"})
    CHECK(examples::has(examples::content_of(out / name), "namespace my_gpt {\ninline namespace LADON_ABI {\n"));
}

TEST_CASE("--activation-bits is a member of the layers' models, with integers only") {
  const TemporaryFolder folder;
  const std::string gpt = "'" + families_folder + "/gpt2' --cpp '" + (folder.path() / "out").string() + "' ";
  CHECK(run(gpt + "--name gpt --precision rotated_int8 --activation-bits 7").status == 0);
  CHECK(examples::has(examples::content_of(folder.path() / "out" / "gpt.hpp"),
                      "    .precision = ladon::PrecisionKind::rotated_int8,\n    .activation_bits = 7,\n"));
  examples::check_refused(run(gpt + "--activation-bits 7"), 2, "--activation-bits: needs --precision int8, int4");
}

TEST_CASE("--cache-precision is a member of the model with which a text grows") {
  const TemporaryFolder folder;
  const std::string out = " --cpp '" + (folder.path() / "out").string() + "' --cache-precision ";
  std::string config = examples::content_of(families_folder + "/gpt2/config.json");
  const auto replace = [&](const std::string& text, const std::string& by) {
    for (std::size_t at; (at = config.find(text)) != std::string::npos;) config.replace(at, text.size(), by);
  };
  replace("GPT2Model", "GPT2LMHeadModel");
  replace("50256", "1");  // the ids of GPT-2 exceed the small vocabulary
  std::ofstream(folder.path() / "config.json") << config;
  const std::string gpt = "'" + folder.path().string() + "' --without-weights" + out;
  CHECK(run(gpt + "bfloat16 --name gpt").status == 0);
  CHECK(examples::has(examples::content_of(folder.path() / "out" / "gpt.hpp"),
                      "  grows.tokens = tokens;\n  grows.cache_precision = ladon::CachePrecision::bfloat16;\n"));
  examples::check_refused(run(gpt + "float16"), 2, "--cache-precision: float16 not in {float32,bfloat16,int8}");
  examples::check_refused(run("'" + families_folder + "/dinov3'" + out + "int8"), 1,
                          "--cache-precision is for models that write texts, and this model writes none");
}

TEST_CASE("the table of --dry-run") {
  const Answer answer = run("'" + families_folder + "/gpt2' --dry-run");
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with("model_type \"gpt2\"\n"));
  CHECK(answer.out.find("embed wte.weight [") != std::string::npos);
  CHECK(answer.out.find("Bytes of the weights: ") != std::string::npos);
  CHECK(examples::has(answer.out, "sizeof(gpt2::Workspace), which the compiler knows: --memory DIR"));
}

TEST_CASE("--memory writes the headers of each precision, and a program") {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const std::string gpt = "'" + families_folder + "/gpt2' ";
  CHECK(run(gpt + "--memory '" + out.string() + "' --precision int4 --keep linear2").status == 0);
  for (const char* name : {"gpt2_float32.hpp", "gpt2_bfloat16.hpp", "gpt2_int8.hpp", "gpt2_int4.hpp", "CMakeLists.txt"})
    CHECK(std::filesystem::exists(out / name));
  CHECK(examples::has(examples::content_of(out / "memory.cpp"), "sizeof(gpt2_int8::Workspace)"));
  CHECK(run(gpt + "--memory a --cpp a").err.find("each needs a folder of its own") != std::string::npos);
}

TEST_CASE("--budget and --keep choose linear maps with 8 bits") {
  const std::string gpt = "'" + families_folder + "/gpt2' --dry-run --precision ";
  const Answer answer = run(gpt + "int4 --keep linear2 --keep 'layers[.]0'");
  CHECK(answer.status == 0);
  CHECK(answer.out.find("% of the bytes of int8. 8 bits have: layers.0 layers.1.linear2\n") != std::string::npos);
  const Answer whole = run(gpt + "int4 --budget 100");
  CHECK(whole.out.find("take 100% of the bytes of int8") != std::string::npos);
  examples::check_refused(run(gpt + "int4 --budget 1"), 1, "--budget is 1%, and the weights take ");
  examples::check_refused(run(gpt + "int4 --keep '('"), 2, "'(' is not a regular expression");
  examples::check_refused(run(gpt + "int8 --keep linear2"), 2, "need --precision int4 or rotated_int4");
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
  CHECK(complaint(folder.path()).find("found model.gguf: a GGUF file is not read") != std::string::npos);
  CHECK(complaint(folder.path() / "model.gguf").find("whose weights Ladon quantises itself") != std::string::npos);
  (void)folder.file("adapter_config.json", R"({"peft_type": "LORA"})");
  std::filesystem::remove(folder.path() / "model.gguf");
  CHECK(complaint(folder.path()).find("found an adapter (adapter_config.json): merge it") != std::string::npos);
  (void)folder.file("config.json", R"({"model_type": "gpt2"})");
  CHECK(complaint(folder.path() / "config.json").find("name the folder that contains config.json") !=
        std::string::npos);
  (void)folder.file("model.gguf", "GGUF");
  CHECK(complaint(folder.path()).find("found model.gguf: a GGUF file is not read") != std::string::npos);
  (void)folder.file("pytorch_model.bin", "PK");
  CHECK(complaint(folder.path()).find("pytorch_model.bin is not read: save_pretrained") != std::string::npos);
}

TEST_CASE("tensors that contradict config.json are named, with the sizes in config.json") {
  const TemporaryFolder folder;
  const std::filesystem::path source = std::filesystem::path(families_folder) / "gpt2";
  const std::string config = examples::content_of(source / "config.json");
  std::filesystem::copy_file(source / "model.safetensors", folder.path() / "model.safetensors");
  const auto complaint = [&](const std::string& from, const std::string& to) {
    REQUIRE(config.find(from) != std::string::npos);
    (void)folder.file("config.json", std::string(config).replace(config.find(from), from.size(), to));
    const auto out = folder.path() / "out";
    const Answer answer = run("'" + folder.path().string() + "' --cpp '" + out.string() + "'");
    CHECK(answer.status == 1);
    CHECK_FALSE(std::filesystem::exists(out));
    return answer.err;
  };
  const std::string layers = R"("n_layer": 2)";
  CHECK(examples::has(complaint(layers, R"("n_layer": 3)"),
                      R"(the tensors are not those of config.json ("n_layer" 3, "n_embd" )"));
  CHECK(examples::has(complaint(layers, R"("n_layer": 3)"), R"(there is no "h.2.)"));
  CHECK(
      examples::has(complaint(layers, R"("n_layer": 1)"), R"(the layers "h" of config.json ("n_layer" 1, "n_embd" )"));
  CHECK(examples::has(complaint(layers, R"("n_layer": 1)"), R"(have no place for "h.1.)"));
  CHECK(examples::has(complaint(R"("vocab_size": )", R"("vocab_size": 1)"), R"(("vocab_size" is 1)"));
}

TEST_CASE("a tokenizer.json that Git LFS has not fetched, or that ends too early, is named") {
  const TemporaryFolder folder;
  for (const char* name : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(std::filesystem::path(families_folder) / "gpt2" / name, folder.path() / name);
  (void)folder.file("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n");
  const Answer answer = run("'" + folder.path().string() + "' --dry-run");
  CHECK(answer.status == 1);
  CHECK(examples::has(answer.err, "tokenizer.json: expected the tokenizer as JSON, found a pointer of Git LFS"));
  (void)folder.file("tokenizer.json", "{\"version\": \"1.0\",");
  CHECK(examples::has(run("'" + folder.path().string() + "' --dry-run").err, "tokenizer.json: is not valid JSON"));
}

TEST_CASE("wrong usage") {
  CHECK(examples::has(run("'" + families_folder + "/gpt2' --cpp a --c ./a/").err, "each needs a folder of its own"));
  CHECK(run("'" + families_folder + "/gpt2' --cpp a --c a").err.find("each needs a folder of its own") !=
        std::string::npos);
  CHECK(run("").status == 2);
  CHECK(run("'" + families_folder + "/gpt2'").status == 2);
  CHECK(run("'" + families_folder + "/gpt2' --dry-run --precision float8").status == 2);
}

TEST_CASE("a wrong option is named, with the way out") {
  const std::string gpt = "'" + families_folder + "/gpt2' ";
  const auto refuses = [&](const std::string& arguments, const std::string& why) {
    examples::check_refused(run(gpt + arguments), 2, why);
  };
  refuses("--dry-run --precison int8", "ladon-import: --precison is unknown; perhaps --precision\n");
  refuses("--dry-run --precison=int8", "ladon-import: --precison is unknown; perhaps --precision\n");
  refuses("-cpp a", "ladon-import: -cpp is unknown; perhaps --cpp\n");
  refuses("--dry-run --quantisation int8", "ladon-import: --quantisation is unknown\n");
  refuses("--wasm a", "ladon-import: --wasm is an option of ./dev import, which calls ladon-import\n");
  refuses("another --dry-run",
          "ladon-import: another: only one FOLDER is allowed, and " + families_folder + "/gpt2 is given");
  refuses("--cpp a --cpp b", "ladon-import: --cpp is given 2 times; allowed: once");
  refuses("--cpp a --dispatch", "--dispatch: needs --c DIR");
  refuses("--cpp a --weights mapped", "--weights: needs --c DIR");
}

TEST_SUITE_END();

}  // namespace ladon::import

#else
TEST_SUITE_BEGIN("tool");
TEST_CASE("arguments are quoted for a POSIX shell") { MESSAGE("skipped: there is no POSIX shell"); }
TEST_SUITE_END();
#endif
