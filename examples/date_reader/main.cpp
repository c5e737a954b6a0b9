#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "flush.hpp"
#include "reports.hpp"

namespace {

using date_reader::Failure;
using date_reader::failure;

struct Options {
  std::string text;
  std::string svg_file;
  std::string batch_file;
  std::string precision = "float32";
  bool has_text = false;
  bool asks_batch = false;
};

// Sets options.text to all arguments that are not options, with spaces between them, because a shell splits a date into
// words.
void take_text(const std::vector<std::string>& arguments, Options& options) {
  for (const std::string& argument : arguments) {
    if (options.has_text) options.text += ' ';
    options.text += argument;
    options.has_text = true;
  }
  if (options.has_text && options.asks_batch) throw CLI::ValidationError(options.text, "not allowed with --batch");
}

void describe(CLI::App& app, Options& options) {
  auto* svg = app.add_option("--svg", options.svg_file, "also writes a picture of the attention of all heads");
  svg->type_name("FILE");
  auto* batch = app.add_option("--batch", options.batch_file,
                               "reads one text from each line of FILE ('-': standard input), and prints its date or an "
                               "empty line");
  batch->type_name("FILE")->excludes(svg);
  app.add_option("--precision", options.precision, "the type of the weights")
      ->check(CLI::IsMember({"float32", "int8"}))
      ->capture_default_str();
  app.footer(
      "Exit status: 0; 1 if TEXT is no date; 2 if TEXT is empty, too long or not ASCII, for wrong usage, and for\n"
      "files that cannot be read or written.");
  app.allow_extras();
  app.callback([&app, &options, batch] {
    options.asks_batch = batch->count() > 0;
    take_text(examples::arguments_of(app, "TEXT"), options);
  });
}

int answer_batch(const date_reader::Model& model, const std::string& file_name) {
  if (file_name == "-") return date_reader::report_batch(model, std::cin, std::cout);
  std::ifstream file(file_name, std::ios::binary);
  if (!file) throw Failure(file_name + ": cannot be opened");
  return date_reader::report_batch(model, file, std::cout);
}

int answer(const Options& options) {
  const date_reader::Model model = date_reader::model_of(options.precision == "int8" ? date_reader::Precision::int8
                                                                                     : date_reader::Precision::float32);
  const int status = options.asks_batch ? answer_batch(model, options.batch_file)
                     : options.has_text ? date_reader::report_text(model, options.text, std::cout, options.svg_file)
                                        : date_reader::report_examples(model, std::cout, options.svg_file);
  files::flush(std::cout, "the results");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "date_reader: reads some example dates\n"
      "date_reader TEXT: reads a date as people write dates, and shows the attention of each digit\n"
      "date_reader --batch FILE: reads many texts\n"
      "The model is an encoder of 43 thousand weights, computed by Ladon.",
      "date_reader"};
  return examples::run<Options>(app, argc, argv, failure, failure, describe, answer);
}
