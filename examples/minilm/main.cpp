#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "command_line.hpp"
#include "flush.hpp"
#include "model_files.hpp"
#include "reports.hpp"

namespace {

constexpr int failure = 1, wrong_usage = 2;

struct Options {
  std::vector<std::string> texts;
  minilm::AttentionQuestion attention;
  std::string batch_file;
  std::filesystem::path model_folder = minilm::default_model_folder();
  bool asks_attention = false;
  bool asks_batch = false;
  ladon::safetensors::Access access = ladon::safetensors::Access::map;
  std::string precision = "float32";
};

void check_texts(const Options& options) {
  const bool asks_similarity = !options.asks_attention && !options.asks_batch;
  if (!asks_similarity && !options.texts.empty())
    throw CLI::ValidationError(options.texts.front(), "not allowed with --attention or --batch");
  if (asks_similarity && options.texts.size() < 2) throw CLI::ValidationError("TEXT", "two or more texts are needed");
}

void describe(CLI::App& app, Options& options) {
  auto* attention = app.add_option("--attention", options.attention.text,
                                   "prints the attention of one word to the words of this text, for each head");
  app.add_option("--word", options.attention.word,
                 "the word whose attention is printed (default: 'it', or else the last word)")
      ->type_name("WORD")
      ->needs(attention);
  app.add_option("--layer", options.attention.layer, "prints only this layer, counted from 0")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, minilm::layer_count - 1))
      ->needs(attention);
  app.add_option("--head", options.attention.head, "prints only this head, counted from 0")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, minilm::head_count - 1))
      ->needs(attention);
  app.add_flag("--special", options.attention.special, "also prints [CLS] and [SEP], the tokens around the text")
      ->needs(attention);
  auto* batch =
      app.add_option("--batch", options.batch_file,
                     "reads one text from each line of FILE ('-': standard input), and prints one line with a "
                     "JSON object for each text");
  batch->type_name("FILE")->excludes(attention);
  app.add_option("--model", options.model_folder, "the folder with config.json, model.safetensors and tokenizer.json")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag_callback(
      "--copy-weights", [&options] { options.access = ladon::safetensors::Access::copy; },
      "copies the model into memory, so that later changes of its file have no effect");
  app.add_option("--precision", options.precision, "the type of the layers' weights")
      ->check(CLI::IsMember({"float32", "bfloat16", "int8"}))
      ->capture_default_str();
  app.allow_extras();
  app.callback([&app, &options, attention, batch] {
    options.asks_attention = attention->count() > 0;
    options.asks_batch = batch->count() > 0;
    options.texts = examples::arguments_of(app, "TEXT");
    check_texts(options);
  });
}

minilm::Model load(const Options& options) {
  const auto& folder = options.model_folder;
  const auto model_file = folder / minilm::model_file_name;
  const auto precision = options.precision == "int8"       ? minilm::Precision::int8
                         : options.precision == "bfloat16" ? minilm::Precision::bfloat16
                                                           : minilm::Precision::float32;
  if (!std::filesystem::exists(model_file))
    throw minilm::ModelError("there is no " + model_file.string() +
                             ": run examples/minilm/fetch_model, or name the model's folder with --model DIR");
  return {ladon::Tokenizer(folder / minilm::tokenizer_file_name),
          minilm::SentenceEncoder(folder, precision, options.access)};
}

void answer_batch(minilm::Model& model, const std::string& file_name) {
  if (file_name == "-") {
    report_batch(model, std::cin, std::cout);
    return;
  }
  std::ifstream file(file_name, std::ios::binary);
  if (!file) throw minilm::ModelError(file_name + ": cannot be opened");
  report_batch(model, file, std::cout);
}

int answer(const Options& options) {
  minilm::Model model = load(options);
  if (options.asks_attention) {
    report_attention(model, options.attention, std::cout);
  } else if (options.asks_batch) {
    answer_batch(model, options.batch_file);
  } else {
    report_similarities(model, options.texts, std::cout);
  }
  files::flush(std::cout, "the results");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "minilm TEXT TEXT...: how similar the texts are, from -1 to 1\n"
      "minilm --attention TEXT: the attention of one word to the words of the text\n"
      "minilm --batch FILE: tokens and embeddings as JSON\n"
      "The model is all-MiniLM-L6-v2, computed by Ladon.",
      "minilm"};
  return examples::run<Options>(app, argc, argv, failure, wrong_usage, describe, answer);
}
