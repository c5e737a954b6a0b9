#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <system_error>

#include "command_line.hpp"
#include "flush.hpp"
#include "generate.hpp"
#include "model_files.hpp"

namespace {

constexpr int failure = 1, wrong_usage = 2;

struct Options {
  std::filesystem::path model;      // empty: the default file
  std::filesystem::path tokenizer;  // empty: the file beside the model
  std::string prompt;
  std::size_t steps = 256;
  float temperature = 1;
  float top_p = 0.9f;
  std::optional<std::uint64_t> seed;
  files::Load load = files::Load::map;
  std::string precision = "float32";
};

// Returns an error unless the text is a whole number from 0 on. Without this check, CLI11 converts "-1" to the largest
// number of the type.
std::string whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return "expected a whole number, found " + text;
}

void check(const Options& options) {
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    throw CLI::ValidationError("--temperature", "expected a number of at least 0");
  if (!(options.top_p >= 0 && options.top_p <= 1))
    throw CLI::ValidationError("--top-p", "expected a number from 0 to 1");
}

void describe(CLI::App& app, Options& options) {
  const std::string folder = stories::default_folder().string() + "/";
  const std::string longest = std::to_string(stories::max_positions);
  app.add_option("--model", options.model, "the file of the model [" + folder + stories::model_file_name + "]")
      ->type_name("FILE");
  app.add_option("--tokenizer", options.tokenizer,
                 std::string("the file of the vocabulary [") + stories::tokenizer_file_name + ", beside the model]")
      ->type_name("FILE");
  app.add_option("--prompt", options.prompt, "the beginning of the story")->type_name("TEXT");
  app.add_option("--steps", options.steps,
                 "the number of tokens, prompt included; 0 and numbers above " + longest + " mean " + longest)
      ->type_name("N")
      ->check(whole_number)
      ->capture_default_str();
  app.add_option("--temperature", options.temperature,
                 "0: always the likeliest token; 1: the probabilities of the model")
      ->type_name("T")
      ->capture_default_str();
  app.add_option("--top-p", options.top_p,
                 "choose among the likeliest tokens whose probabilities add up to P; 0 and 1: among all tokens")
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "the seed of the random choices: equal seeds give equal stories [random]")
      ->type_name("S")
      ->check(whole_number);
  app.add_option("--precision", options.precision,
                 "the type of the layers' weights: float32, bfloat16 or int8 [float32]")
      ->type_name("P")
      ->check(CLI::IsMember({"float32", "bfloat16", "int8"}));
  app.add_flag_callback(
      "--copy-weights", [&options] { options.load = files::Load::copy; },
      "copy the model into memory, so that later changes of its file have no effect");
  app.callback([&options] { check(options); });
  app.footer("The story goes to standard output. The speed in tokens per second goes to standard error.");
}

stories::Precision precision_of(const std::string& name) {
  if (name == "int8") return stories::Precision::int8;
  return name == "bfloat16" ? stories::Precision::bfloat16 : stories::Precision::float32;
}

std::uint64_t some_seed() {
  std::random_device random;
  return random();
}

int answer(const Options& options) {
  const auto model_file =
      stories::existing(options.model.empty() ? stories::default_folder() / stories::model_file_name : options.model);
  const auto tokenizer_file = stories::existing(
      options.tokenizer.empty() ? model_file.parent_path() / stories::tokenizer_file_name : options.tokenizer);
  stories::Model model(model_file, options.load, precision_of(options.precision));
  const stories::Tokenizer tokenizer(tokenizer_file);
  const std::uint64_t seed = options.seed ? *options.seed : some_seed();
  const float top_p = options.top_p > 0 ? options.top_p : 1;
  stories::Sampler sampler({.temperature = options.temperature, .top_p = top_p, .seed = seed});
  const std::size_t steps = options.steps == 0 ? stories::max_positions : options.steps;

  const auto timing = stories::generate(model, tokenizer, sampler, tokenizer.encode(options.prompt), steps, std::cout);
  files::flush(std::cout, "the text");
  if (timing.positions > 1)
    std::cerr << "stories: " << std::fixed << std::setprecision(1) << timing.tokens_per_second()
              << " tokens a second\n";
  if (!options.seed && options.temperature > 0) std::cerr << "stories: --seed " << seed << " gives this story again\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"stories: a small story, by stories260K (a Llama of 260 thousand weights), computed by Ladon",
               "stories"};
  return examples::run<Options>(app, argc, argv, failure, wrong_usage, describe, answer);
}
