#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "error.hpp"
#include "flush.hpp"
#include "model_file.hpp"
#include "replace_file.hpp"
#include "reports.hpp"

namespace {

constexpr int failure = 1, wrong_usage = 2;
constexpr int frame_milliseconds = static_cast<int>(1000 * keywords::frame_step / keywords::sample_rate);

struct Options {
  std::vector<std::string> files;
  std::filesystem::path model = keywords::default_model_file();
  std::string svg_file;
  std::string precision = "float32";
  int stride = 100;  // milliseconds
  bool json = false;
};

void check_files(const Options& options) {
  if (options.files.empty()) throw CLI::ValidationError("FILE", "a WAV file is needed");
  if (!options.svg_file.empty() && options.files.size() > 1)
    throw CLI::ValidationError("--svg", "one recording is drawn, not " + std::to_string(options.files.size()));
}

std::string check_stride(const std::string& text) {
  int stride = 0;
  const bool is_number = CLI::detail::lexical_cast(text, stride);
  if (is_number && stride >= frame_milliseconds && stride <= 1000 && stride % frame_milliseconds == 0) return "";
  return "expected a multiple of " + std::to_string(frame_milliseconds) + " from 10 to 1000, found " + text;
}

std::string check_file_name(const std::string& text) { return text.empty() ? "expected the name of a file" : ""; }

void describe(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "prints a JSON object for each recording, in a line of its own");
  app.add_option("--svg", options.svg_file, "also draws the spectrogram and the attention of one recording")
      ->type_name("FILE")
      ->check(check_file_name);
  app.add_option("--stride", options.stride, "milliseconds from one window of a long recording to the next")
      ->type_name("MS")
      ->check(check_stride)
      ->capture_default_str();
  app.add_option("--precision", options.precision, "of the layers' weights")
      ->check(CLI::IsMember({"float32", "int8"}))
      ->capture_default_str();
  app.add_option("--model", options.model, std::string("the file ") + keywords::model_file_name)
      ->type_name("FILE")
      ->capture_default_str();
  app.footer(
      "Recordings are WAV files of 16-bit PCM or float samples, at any rate, with any number of channels.\n"
      "Exit status: 0; 1 where a file cannot be read or written; 2 for wrong usage.");
  app.allow_extras();
  app.callback([&app, &options] {
    options.files = examples::arguments_of(app, "FILE");
    check_files(options);
  });
}

keywords::Spotter load(const Options& options) {
  if (!std::filesystem::exists(options.model))
    throw examples::Error("there is no " + options.model.string() +
                          ": run examples/keywords/fetch_model, or name the model with --model FILE");
  return keywords::Spotter(options.model,
                           options.precision == "int8" ? keywords::Precision::int8 : keywords::Precision::float32);
}

void answer_file(const std::string& file, const Options& options, keywords::Spotter& spotter) {
  const auto stride = static_cast<std::size_t>(options.stride / frame_milliseconds) * keywords::frame_step;
  const keywords::Findings findings = keywords::find_words(file, spotter, stride);
  if (!options.svg_file.empty()) files::replace_file(options.svg_file, svg_report(file, findings, spotter));
  if (options.json) {
    report_json(file, findings, std::cout);
  } else {
    report_text(file, findings, spotter, std::cout);
  }
  files::flush(std::cout, "the results");
}

// Prints the answer for each file. If a recording cannot be read, reports the error and continues with the next file.
int answer(const Options& options) {
  keywords::Spotter spotter = load(options);
  int status = 0;
  for (const std::string& file : options.files) {
    try {
      answer_file(file, options, spotter);
    } catch (const examples::Error& error) {
      std::cerr << "keywords: " << error.what() << '\n';
      status = failure;
      if (!std::cout) break;
    }
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "keywords FILE...: the word of each recording, of twelve labels, and what the model attends to.\n"
      "A recording of more than a second may have several words.\n"
      "By KWT-1 (a transformer of 607 thousand weights), computed by Ladon",
      "keywords"};
  return examples::run<Options>(app, argc, argv, failure, wrong_usage, describe, answer);
}
