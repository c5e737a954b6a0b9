// Runs the program minilm in a shell, as a user does, and checks its output.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "minilm.hpp"
#include "testing/program.hpp"

namespace minilm {
namespace {

using examples::Answer, examples::check_refused, examples::has, examples::run_in_shell;

Answer run(const std::string& arguments) { return run_in_shell("'" MINILM_PROGRAM "' " + arguments); }

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("wrong usage gives the exit status 2") {
  check_refused(run(""), 2, "two or more texts");
  check_refused(run("'one text'"), 2, "two or more texts");
  check_refused(run("a b --attention c"), 2, "not allowed with --attention");
  check_refused(run("--batch x --attention c"), 2, "excludes");
  check_refused(run("a b --word c"), 2, "--attention");
  check_refused(run("--attention a --layer 6"), 2, "--layer");
  check_refused(run("--attention a --head 12"), 2, "--head");
  check_refused(run("--attention a --head -1"), 2, "--head");
  check_refused(run("--colour a b"), 2, "--colour");
  check_refused(run("--precision int4 a b"), 2, "int4 not in {float32,bfloat16,int8}");
  CHECK(run("--help").status == 0);
}

TEST_CASE("a missing or invalid model gives the exit status 1 and the reason") {
  const TemporaryFolder folder;
  const std::string model = " --model '" + folder.path().string() + "'";
  check_refused(run("a b" + model), 1, "there is no " + (folder.path() / model_file_name).string());
  static_cast<void>(folder.file(model_file_name, "not a model at all"));
  check_refused(run("a b" + model), 1, tokenizer_file_name);
  const std::filesystem::path description(MINILM_DESCRIPTION);
  std::filesystem::copy_file(description / tokenizer_file_name, folder.path() / tokenizer_file_name);
  check_refused(run("a b" + model), 1, "config.json");
  add_config(folder);
  check_refused(run("a b" + model), 1, "expected a header of at most 10 bytes");
  const std::string header =
      R"({"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[30522,383],"data_offsets":[0,0]}})";
  static_cast<void>(
      folder.file(model_file_name, std::string{static_cast<char>(header.size())} + std::string(7, '\0') + header));
  check_refused(run("a b" + model), 1, "embeddings.word_embeddings");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("program_with_model");

TEST_CASE("similarities") {
  LADON_SKIP_WITHOUT(default_model_folder() / model_file_name);
  const Answer answer = run("'All is well' 'Everything is fine' '[the dog, ate]'");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "1  All is well"));
  CHECK(has(answer.out, "3  [the dog, ate]"));  // one text, not a list of two texts
  CHECK(has(answer.out, "1.000"));
  CHECK(std::ranges::count(answer.out, '\n') == 4);
  CHECK(run("--precision int8 'All is well' 'Everything is fine' '[the dog, ate]'").out.size() == answer.out.size());
  CHECK(run("--copy-weights 'All is well' 'Everything is fine' '[the dog, ate]'").out == answer.out);
  const Answer dashes = run("a -- -x --y --");
  CHECK(dashes.status == 0);
  for (const char* text : {"1  a ", "2  -x ", "3  --y ", "4  -- "}) CHECK(has(dashes.out, text));
  std::string words;
  for (int i = 0; i < 255; ++i) words += "word ";
  CHECK(has(run("a '" + words + "'").out, "Text 2 is longer than the model's 256 tokens"));
}

TEST_CASE("attention") {
  LADON_SKIP_WITHOUT(default_model_folder() / model_file_name);
  const std::string hungry = "--attention 'A dog ate the food because it was hungry'";
  const Answer all = run(hungry);
  CHECK(all.status == 0);
  CHECK(has(all.out, "layer 3 head 1   dog 0.529"));
  CHECK(has(all.out, "dog 0.078"));
  CHECK_FALSE(has(all.out, "[CLS] 0."));
  CHECK(has(run(hungry + " --special").out, "[CLS] 0.355"));
  const Answer one = run(hungry + " --layer 3 --head 1");
  CHECK(has(one.out, "dog      0.529"));
  CHECK(has(one.out, "food     0.051"));
  const Answer food = run("--attention 'A dog ate the food because it was delicious' --layer 3 --head 1");
  CHECK(has(food.out, "food       0.251"));
  CHECK(has(food.out, "dog        0.104"));
  CHECK(has(run(hungry + " --word Dog --layer 2").out, "What 'dog' looks at"));
  CHECK(has(run("--attention 'A dog'").out, "What 'dog' looks at"));
  check_refused(run(hungry + " --word cat"), 1, "the word 'cat' is not in the text");
  check_refused(run("--attention ' '"), 1, "no word");
}

TEST_CASE("batches") {
  LADON_SKIP_WITHOUT(default_model_folder() / model_file_name);
  const TemporaryFolder folder;
  const auto file = folder.file("texts", "Hello\n\nbad \xff\xc3 \"bytes\"\nwindows\r\nlast");
  const Answer answer = run("--batch '" + file.string() + "'");
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  const auto lines = json_lines(answer.out);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].at("text") == "Hello");
  CHECK(lines[0].at("ids") == nlohmann::json{101, 7592, 102});
  CHECK(lines[1].at("text") == "");
  CHECK(lines[1].at("ids") == nlohmann::json{101, 102});
  CHECK(has(lines[2].at("text"), "bad \uFFFD"));
  CHECK(lines[3].at("text") == "windows");
  CHECK(lines[4].at("text") == "last");
  for (const auto& line : lines) {
    REQUIRE(line.at("embedding").size() == model_width);
    double length = 0;
    for (const double value : line.at("embedding")) length += value * value;
    CHECK(std::abs(length - 1) < 1e-6);
  }
  CHECK(run("--batch - <'" + file.string() + "'").out == answer.out);
  CHECK(run("--batch - </dev/null").out.empty());
  check_refused(run("--batch '" + (folder.path() / "absent").string() + "'"), 1, "absent: cannot be opened");
}

TEST_CASE("output that cannot be written gives the exit status 1 and the reason") {
  LADON_SKIP_WITHOUT(default_model_folder() / model_file_name);
  if (!std::filesystem::exists("/dev/full")) return;
  const TemporaryFolder folder;
  std::string lines;  // the results of the first texts exceed the buffer of the stream
  for (int i = 0; i < 100; ++i) lines += "a\n";
  const std::string reason = "the results could not be written: No space left on device";
  check_refused(run("a b >/dev/full"), 1, reason);
  check_refused(run("--batch '" + folder.file("texts", lines).string() + "' >/dev/full"), 1, reason);
}

TEST_SUITE_END();

}  // namespace minilm

#endif
