// Runs the program stories in a shell, as a user does, and checks its output.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <cstdlib>
#include <sstream>
#include <string>

#include "fixtures.hpp"
#include "testing/program.hpp"

namespace stories {
namespace {

using examples::Answer, examples::check_refused, examples::has, examples::run_in_shell;

Answer run(const std::string& arguments, const std::string& environment = "") {
  return run_in_shell(environment + " " STORIES_COMMAND " " + arguments);
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("wrong usage gives the exit status 2") {
  for (const std::string arguments :
       {"--steps -1", "--steps many", "--temperature -0.1", "--temperature nan", "--temperature inf", "--top-p 1.5",
        "--top-p -1", "--top-p nan", "--seed -1", "--seed 99999999999999999999", "--seed x", "--precision fp16",
        "--prompt", "--colour", "text"}) {
    CAPTURE(arguments);
    const Answer answer = run(arguments);
    CHECK(answer.status == 2);
    CHECK(answer.out.empty());
    CHECK_FALSE(answer.err.empty());
  }
  const Answer help = run("--help");
  CHECK(help.status == 0);
  for (const char* option :
       {"--model", "--tokenizer", "--prompt", "--steps", "--temperature", "--top-p", "--seed", "--precision"})
    CHECK(has(help.out, option));
}

TEST_CASE("a missing or invalid model gives the exit status 1 and the reason") {
  const TemporaryFolder folder;
  const std::string absent = (folder.path() / model_file_name).string(),
                    environment = "LADON_STORIES_DIR='" + folder.path().string() + "'";
  check_refused(run("", environment), 1, "there is no " + absent);
  check_refused(run("", environment), 1, "karpathy/tinyllamas, folder stories260K");
  check_refused(run("--model '" + absent + "'"), 1, "there is no " + absent);
  static_cast<void>(folder.file(model_file_name, ""));
  check_refused(run("", environment), 1, "there is no " + (folder.path() / tokenizer_file_name).string());
  static_cast<void>(folder.file(tokenizer_file_name, ""));
  check_refused(run("", environment), 1, "expected a header of 28 bytes, found 0 bytes");
  check_refused(run("--model '" + folder.path().string() + "' --tokenizer '" + folder.path().string() + "'"), 1,
                "is not a regular file");
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("program_with_model");

TEST_CASE("the story goes to standard output, and the speed to standard error") {
  LADON_SKIP_WITHOUT(model_file());
  const Answer answer = run("--prompt 'The little dog' --temperature 0 --steps 13");
  CHECK(answer.status == 0);
  CHECK(answer.out == "The little dog was a little girl named Lily.\n");
  CHECK(has(answer.err, " tokens a second\n"));
  CHECK_FALSE(has(answer.err, "--seed"));
  const Answer same = run("--prompt 'The little dog' --temperature 0 --steps 13 --model '" + model_file().string() +
                          "' --tokenizer '" + tokenizer_file().string() + "'");
  CHECK(same.out == answer.out);
  CHECK(run("--copy-weights --prompt 'The little dog' --temperature 0 --steps 13").out == answer.out);
  CHECK(run("--temperature 0 --steps 0").out == run("--temperature 0 --steps 512").out);
  CHECK(run("--temperature 0 --steps 600").out == run("--temperature 0 --steps 512").out);
}

TEST_CASE("each precision tells a story") {
  LADON_SKIP_WITHOUT(model_file());
  const std::string arguments = "--prompt 'The little dog' --temperature 0 --steps 13 --precision ";
  for (const std::string precision : {"float32", "bfloat16", "int8"}) {
    CAPTURE(precision);
    CHECK(run(arguments + precision).out == "The little dog was a little girl named Lily.\n");
  }
}

TEST_CASE("a prompt may be any text") {
  LADON_SKIP_WITHOUT(model_file());
  for (const std::string prompt : {"", " ", "-x", "--", "[a, b]", "{}", "\"a\"", "a\nb", "%%", "# a", "a=b"}) {
    CAPTURE(prompt);
    const Answer answer = run("--temperature 0 --steps 20 --prompt '" + prompt + "'");
    CHECK(answer.status == 0);
    CHECK(answer.out.starts_with(prompt == " " ? "" : prompt));
  }
  // The prompt may contain bytes that are not printable ASCII. The program encodes these bytes, but does not print
  // them.
  CHECK(run("--temperature 0 --steps 5 --prompt '\u6771\xff'").out == "\n");
  check_refused(run("--prompt '" + std::string(600, 'Q') + "'"), 1,
                "the prompt is too long: expected at most 512 tokens");
}

TEST_CASE("the smallest and the largest temperatures give a story") {
  LADON_SKIP_WITHOUT(model_file());
  const std::string prompt = "--prompt 'The little dog' --steps 13 ";
  CHECK(run(prompt + "--temperature 1e-40").out == "The little dog was a little girl named Lily.\n");
  const Answer hot = run(prompt + "--temperature 1e30 --top-p 0.001");
  CHECK(hot.status == 0);
  CHECK(hot.out.starts_with("The little dog"));
}

TEST_CASE("a seed gives its story again") {
  LADON_SKIP_WITHOUT(model_file());
  const std::string arguments = "--prompt 'Tom was' --temperature 0.8";
  const std::string one = run(arguments + " --seed 1").out;
  CHECK(run(arguments + " --seed 1").out == one);
  CHECK(run(arguments + " --seed 2").out != one);
  const Answer any = run(arguments);
  const auto said = any.err.find("--seed ");
  REQUIRE(said != std::string::npos);
  CHECK(run(arguments + ' ' + any.err.substr(said, any.err.find(" gives", said) - said)).out == any.out);
}

TEST_CASE("an invalid vocabulary is refused") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  check_refused(run("--tokenizer '" + folder.file("empty", "").string() + "'"), 1, "the length of the longest token");
  check_refused(run("--tokenizer '" + model_file().string() + "'"), 1, "expected");
}

TEST_CASE("output that cannot be written") {
  LADON_SKIP_WITHOUT(model_file());
  if (!std::filesystem::exists("/dev/full")) return;
  const Answer answer = run("--temperature 0 >/dev/full");
  CHECK(answer.status == 1);
  CHECK(has(answer.err, "the text could not be written: No space left on device"));
}

TEST_SUITE_END();

}  // namespace stories

#endif
