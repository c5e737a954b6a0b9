// Runs the program keywords in a shell, as a user does, and checks its output.
#include <doctest/doctest.h>

#ifndef _WIN32  // arguments are quoted for a POSIX shell

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures.hpp"
#include "model.hpp"
#include "testing/program.hpp"
#include "testing/svg.hpp"

namespace keywords {
namespace {

using examples::Answer, examples::check_refused, examples::content_of, examples::has, examples::run_in_shell;

Answer run(const std::string& arguments) { return run_in_shell("'" KEYWORDS_PROGRAM "' " + arguments); }

Answer run_with_model(const std::string& arguments) {
  return run("--model '" + model_file().string() + "' " + arguments);
}

std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

std::string recording_file(const std::string& name) { return quoted(model_folder() / (name + "_1000ms.wav")); }

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Returns a WAV file with the recordings `names` one after another, a second each.
std::string wav_of_recordings(const std::vector<std::string>& names) {
  std::vector<float> samples;
  for (const std::string& name : names) {
    const std::vector<float> second = read_all(model_folder() / (name + "_1000ms.wav"));
    samples.insert(samples.end(), second.begin(), second.end());
  }
  return wav_of({}, samples);
}

struct Word {
  std::string label;
  double start;  // seconds
};

void check_words(const nlohmann::json& words, const std::vector<Word>& expected) {
  CAPTURE(words.dump());
  REQUIRE(words.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(words[i].at("label") == expected[i].label);
    CHECK(std::abs(words[i].at("start").get<double>() - expected[i].start) < 0.35);
    CHECK(words[i].at("probability").get<double>() >= 0.6);
    CHECK(words[i].at("probability").get<double>() < 1);
  }
}

}  // namespace

TEST_SUITE_BEGIN("program");

TEST_CASE("wrong usage ends with 2") {
  check_refused(run(""), 2, "a WAV file is needed");
  check_refused(run("a.wav --colour"), 2, "--colour: no such option");
  check_refused(run("a.wav --precision int4"), 2, "int4 not in {float32,int8}");
  check_refused(run("a.wav b.wav --svg x.svg"), 2, "one recording is drawn, not 2");
  check_refused(run("a.wav --svg ''"), 2, "--svg: expected the name of a file");
  for (const char* stride : {"0", "5", "105", "1010", "-100", "x", "1e2"})
    check_refused(run(std::string("a.wav --stride ") + stride), 2, "expected a multiple of 10 from 10 to 1000, found");
  const Answer help = run("--help");
  CHECK(help.status == 0);
  CHECK(has(help.out, "--stride"));
}

TEST_CASE("a model that is absent, or no model, ends with 1 and says what is wrong") {
  const TemporaryFolder folder;
  const auto absent = folder.path() / "absent.safetensors";
  check_refused(run("a.wav --model " + quoted(absent)), 1, "there is no " + absent.string());
  check_refused(run("a.wav --model " + quoted(folder.file("text", "no model at all"))), 1, "text: expected a header");
  check_refused(
      run_in_shell("XDG_CACHE_HOME=" + quoted(folder.path()) + " LADON_KEYWORDS_DIR= '" KEYWORDS_PROGRAM "' a.wav"), 1,
      "there is no " + (folder.path() / "ladon/keywords/kwt1.safetensors").string());
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("program_with_model");

TEST_CASE("a word, its probability and a picture") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "yes_1000ms.wav");
  const Answer answer = run_with_model(recording_file("yes") + " " + recording_file("silence"));
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  CHECK(has(answer.out, "yes_1000ms.wav: yes 90.9%\n\nWhat the class token attends to:\n"));
  CHECK(has(answer.out, "silence_1000ms.wav: _silence_ 90.8%\n"));
  CHECK(has(answer.out, "\nlayer 11 |"));
  CHECK(has(run_with_model("--precision int8 " + recording_file("no")).out, "no_1000ms.wav: no 91."));
  // Without the option --model, the program finds the folder of the model through LADON_KEYWORDS_DIR.
  const Answer found =
      run_in_shell("LADON_KEYWORDS_DIR=" + quoted(model_folder()) + " '" KEYWORDS_PROGRAM "' " + recording_file("no"));
  CHECK(has(found.out, "no_1000ms.wav: no 91."));
}

TEST_CASE("JSON") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "yes_1000ms.wav");
  const Answer answer = run_with_model("--json " + recording_file("yes") + " " + recording_file("no"));
  CHECK(answer.status == 0);
  CHECK(answer.err.empty());
  const auto lines = json_lines(answer.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("file") == (model_folder() / "yes_1000ms.wav").string());
  CHECK(lines[0].at("label") == "yes");
  CHECK(lines[1].at("label") == "no");
  for (const auto& line : lines) {
    CHECK_FALSE(line.contains("words"));
    const auto logits = line.at("logits").get<std::vector<double>>();
    REQUIRE(logits.size() == label_count);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    CHECK(line.at("probability").get<double>() == doctest::Approx(std::exp(std::ranges::max(logits)) / sum));
  }
}

TEST_CASE("short recordings are padded with zeros") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  std::vector<float> samples = white_noise(5000);
  const std::string shorter =
      quoted(folder.file("short.wav", wav_of({.coding = Coding::floating, .bits = 32}, samples)));
  samples.resize(window_length);
  const std::string padded =
      quoted(folder.file("padded.wav", wav_of({.coding = Coding::floating, .bits = 32}, samples)));
  const auto lines = json_lines(run_with_model("--json " + shorter + " " + padded).out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("logits") == lines[1].at("logits"));
  CHECK_FALSE(lines[0].contains("words"));
}

TEST_CASE("the words of a long recording") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "yes_1000ms.wav");
  const TemporaryFolder folder;
  const std::string four = quoted(folder.file("four.wav", wav_of_recordings({"yes", "no", "noise", "silence"})));
  const std::string six =
      quoted(folder.file("six.wav", wav_of_recordings({"yes", "yes", "silence", "no", "no", "yes"})));
  for (const char* options : {"--json ", "--json --precision int8 ", "--json --stride 50 ", "--json --stride 200 "}) {
    CAPTURE(options);
    const auto lines = json_lines(run_with_model(options + four + " " + six).out);
    REQUIRE(lines.size() == 2);
    check_words(lines[0].at("words"), {{"yes", 0}, {"no", 1}});
    check_words(lines[1].at("words"), {{"yes", 0}, {"yes", 1}, {"no", 3}, {"no", 4}, {"yes", 5}});
    CHECK(lines[0].at("start").get<double>() < 2);
    CHECK((lines[0].at("label") == "yes" || lines[0].at("label") == "no"));
  }
  const Answer answer = run_with_model(four);
  CHECK(has(answer.out, "four.wav\n  0.00 s  yes    73."));
  CHECK(has(answer.out, "\n  1.00 s  no     75."));
  CHECK(has(answer.out, "What the class token attends to in the second from 0."));
  CHECK(has(run_with_model("--stride 1000 " + four).out, "\n  0.00 s  yes    90.9%\n  1.00 s  no     91."));
}

TEST_CASE("a window of a stream has the logits of the window alone") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "yes_1000ms.wav");
  const TemporaryFolder folder;
  const std::string two = quoted(folder.file("two.wav", wav_of_recordings({"noise", "yes"})));
  const auto lines = json_lines(run_with_model("--json --stride 1000 " + two + " " + recording_file("yes")).out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].at("start") == 1.0);
  CHECK(lines[0].at("logits") == lines[1].at("logits"));
}

TEST_CASE("a long recording without words") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  const std::vector<float> samples(window_length + 1);
  const std::string silence = quoted(folder.file("silence.wav", wav_of({}, samples)));
  CHECK(has(run_with_model(silence).out, "silence.wav: no words\n"));
  CHECK(json_lines(run_with_model("--json " + silence).out).at(0).at("words").empty());
}

TEST_CASE("the SVG picture") {
  LADON_SKIP_WITHOUT(model_file());
  LADON_SKIP_WITHOUT(model_folder() / "yes_1000ms.wav");
  const TemporaryFolder folder;
  const auto picture = folder.path() / "yes.svg";
  const Answer answer = run_with_model("--svg " + quoted(picture) + " " + recording_file("yes"));
  CHECK(answer.status == 0);
  CHECK(has(answer.out, "yes 90.9%"));
  const std::string svg = content_of(picture);
  CHECK(examples::is_well_formed(svg));
  CHECK(has(svg, ">yes_1000ms.wav: yes 90.9%</text>"));
  check_refused(run_with_model("--svg " + quoted(folder.path() / "absent/a.svg") + " " + recording_file("yes")), 1,
                "absent/a.svg: cannot be written");
}

TEST_CASE("recordings that cannot be read end with 1, and the others are answered") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  const std::string good = quoted(folder.file("[good, or not] -x.wav", wav_of({}, white_noise(16000))));
  const std::string bad = quoted(folder.file("bad.wav", "bad"));
  const Answer answer = run_with_model("--json " + bad + " " + good);
  CHECK(answer.status == 1);
  CHECK(json_lines(answer.out).size() == 1);
  CHECK(has(answer.err, "keywords: "));
  CHECK(has(answer.err, "bad.wav: is not a WAV file"));
  check_refused(run_with_model("-- --absent"), 1, "--absent: cannot be opened");
  CHECK(
      run_with_model("--json '" + folder.file("wrong \xff name", wav_of({}, white_noise(100))).string() + "'").status ==
      0);
}

TEST_CASE("a pipe ends with 1, and the program does not wait for its writer") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  const std::string pipe = quoted(folder.path() / "pipe");
  REQUIRE(run_in_shell("mkfifo " + pipe).status == 0);
  check_refused(run_with_model(pipe), 1, "pipe: is not a regular file");
}

TEST_CASE("a model with a weight that is not finite ends with 1, and no picture is written") {
  LADON_SKIP_WITHOUT(model_file());
  const TemporaryFolder folder;
  std::string bytes = examples::content_of(model_file());
  const std::size_t weight_bytes = 4;
  // Replaces the last weight in the model's file by NaN.
  bytes.replace(bytes.size() - weight_bytes, weight_bytes, "\xff\xff\xff\x7f");
  const std::string damaged = " --model " + quoted(folder.file("damaged.safetensors", bytes));
  const std::string sound = quoted(folder.file("sound.wav", wav_of({}, white_noise(16000))));
  const std::string longer = quoted(folder.file("longer.wav", wav_of({}, white_noise(20000))));
  const auto picture = folder.path() / "a.svg";
  check_refused(run(sound + damaged + " --svg " + quoted(picture)), 1, "the result of the model is not finite");
  check_refused(run(longer + damaged + " --json"), 1, "the result of the model is not finite");
  CHECK_FALSE(std::filesystem::exists(picture));
}

TEST_CASE("output that cannot be written ends with 1, and the error says why") {
  LADON_SKIP_WITHOUT(model_file());
  if (!std::filesystem::exists("/dev/full")) return;
  const TemporaryFolder folder;
  const std::string sound = quoted(folder.file("sound.wav", wav_of({}, white_noise(16000))));
  check_refused(run_with_model(sound + " " + sound + " >/dev/full"), 1,
                "the results could not be written: No space left on device");
}

TEST_SUITE_END();

}  // namespace keywords

#endif
