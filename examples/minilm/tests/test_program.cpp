// Runs the program minilm in a shell, as a user does, and checks its output.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <sstream>

#include "fixtures.hpp"
#include "testing/program.hpp"

namespace minilm {
namespace {

using examples::Answer, examples::check_refused, examples::has;
using nlohmann::json;

Answer run(const std::string& arguments) { return examples::run_in_shell("'" MINILM_PROGRAM "' " + arguments); }

std::vector<json> batch(const std::string& texts) {
  const TemporaryFolder folder;
  const std::string file = "'" + folder.file("texts", texts).string() + "'";
  const Answer answer = run("--batch " + file);
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(run("--batch - <" + file).out == answer.out);
  std::vector<json> lines;
  std::istringstream stream(answer.out);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("wrong usage gives the exit status 2") {
  check_refused(run(""), 2, "two or more texts");
  check_refused(run("'one text'"), 2, "two or more texts");
  check_refused(run("a b --batch c"), 2, "not allowed with --batch");
  check_refused(run("--colour a b"), 2, "--colour");
  check_refused(run("--precision int4 a b"), 2, "int4 not in {float32,bfloat16,int8}");
  CHECK(run("--help").status == 0);
}

TEST_CASE("a missing or invalid model gives the exit status 1 and the reason") {
  const TemporaryFolder folder;
  const std::string model = " --model '" + folder.path().string() + "'";
  check_refused(run("a b" + model), 1, "there is no " + (folder.path() / "model.safetensors").string());
  static_cast<void>(folder.file("model.safetensors", "not a model at all"));
  check_refused(run("a b" + model), 1, "tokenizer.json");
  add_description(folder, "tokenizer.json");
  check_refused(run("a b" + model), 1, "config.json");
  add_description(folder, "config.json");
  check_refused(run("a b" + model), 1, "expected a header of at most 10 bytes");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("program_with_model");

TEST_CASE("similarities") {
  LADON_SKIP_WITHOUT(model_file());
  const std::string texts = "'All is well' 'Everything is fine' '[the dog, ate]'";
  const Answer answer = run(texts);
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "      1      2      3\n  1.000  0.709  "));
  CHECK(has(answer.out, "  1  \"All is well\"\n  0.709  1.000  "));
  CHECK(has(answer.out, "  1.000  3  \"[the dog, ate]\"\n"));  // one text, not a list of two texts
  CHECK(run("--copy-weights " + texts).out == answer.out);
  for (const char* precision : {"bfloat16 ", "int8 "})
    CHECK(run("--precision " + (precision + texts)).out.size() == answer.out.size());
  const Answer marks = run("'a\x1b\xff' -- -x --");
  CHECK(has(marks.out, "\"a\\u001b\uFFFD\"\n"));  // neither controls the terminal
  CHECK(has(marks.out, "2  \"-x\"\n"));
  CHECK(has(marks.out, "3  \"--\"\n"));
  CHECK(has(run("a \"$(yes word | head -255)\"").out, " (only the first 256 tokens)\n"));
}

TEST_CASE("a batch has the ids of recorded texts") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(recorded_file());
  const json data = recorded();
  std::vector<json> expected;
  std::string texts;
  for (const char* part : {"cases", "tokenizer"}) {
    for (const json& text : data.at(part)) {
      const std::string line = text.at("text");
      if (has(line, "\n")) continue;
      expected.push_back(text);
      texts += line + '\n';
    }
  }
  CHECK(expected.size() > 30);
  const std::vector<json> lines = batch(texts);
  REQUIRE(lines.size() == expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].at("text") == expected[i].at("text"));
    CHECK(lines[i].at("ids") == expected[i].at("ids"));
    CHECK(lines[i].at("embedding").size() == width);
  }
}

TEST_CASE("a batch takes any bytes and line ends") {
  LADON_SKIP_WITHOUT(model_file());
  const std::vector<json> lines = batch("\nbad \xff\xc3 \"bytes\"\nwindows\r\nlast");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].at("ids") == json{101, 102});
  CHECK(has(lines[1].at("text"), "bad \uFFFD"));
  CHECK(lines[1].at("ids") == batch("bad \"bytes\"").at(0).at("ids"));
  CHECK(lines[2].at("text") == "windows");
  CHECK(lines[3].at("text") == "last");
  CHECK(batch("").empty());
  check_refused(run("--batch absent"), 1, "absent: cannot be opened");
}

TEST_CASE("output that cannot be written gives the exit status 1 and the reason") {
  LADON_SKIP_WITHOUT(model_file());
  if (!std::filesystem::exists("/dev/full")) return;
  const std::string reason = "the results could not be written: No space left on device";
  check_refused(run("a b >/dev/full"), 1, reason);
  // The results of the first texts exceed the buffer of the stream.
  check_refused(examples::run_in_shell("yes | head -100 | '" MINILM_PROGRAM "' --batch - >/dev/full"), 1, reason);
}

TEST_SUITE_END();

}  // namespace minilm

#endif
