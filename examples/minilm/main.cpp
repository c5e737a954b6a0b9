#include <CLI/CLI.hpp>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <ladon/tokenizer.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "command_line.hpp"
#include "flush.hpp"
#include "minilm.hpp"

namespace {

using minilm::Embedding, minilm::Error;
// Keeps the order of members, and writes floats with as few digits as distinguish them.
using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

struct Options {
  std::vector<std::string> texts;
  std::optional<std::string> batch_file;
  std::filesystem::path folder = minilm::default_folder();
  std::string precision = "float32";
  bool copies_weights = false;
};

struct Model {
  ladon::Tokenizer tokenizer;
  minilm::SentenceEncoder encoder;
};

// Returns JSON on one line, in which U+FFFD replaces bytes that are not UTF-8, and control characters are escaped.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

using Tokens = std::vector<std::vector<minilm::TokenId>>;

Tokens tokens_of(const Model& model, const std::vector<std::string>& texts, std::size_t most = minilm::max_tokens) {
  Tokens ids;
  for (const std::string& text : texts) {
    const std::string utf8 = Json::parse(line_of(text));  // the tokenizer refuses other bytes
    ids.push_back(model.tokenizer.encode(utf8, {.most_ids = most}).ids);
  }
  return ids;
}

void print_similarities(Model& model, const std::vector<std::string>& texts) {
  constexpr std::size_t most = minilm::max_tokens;
  const Tokens uncut = tokens_of(model, texts, most + 1);
  const std::vector<Embedding> embeddings = model.encoder.embed(tokens_of(model, texts));
  std::cout << std::fixed << std::setprecision(3);
  for (std::size_t column = 1; column <= texts.size(); ++column) std::cout << std::setw(7) << column;
  std::cout << '\n';
  for (std::size_t row = 0; row < texts.size(); ++row) {
    for (const Embedding& other : embeddings) std::cout << std::setw(7) << minilm::similarity(embeddings[row], other);
    std::cout << "  " << row + 1 << "  " << line_of(texts[row]);
    if (uncut[row].size() > most) std::cout << " (only the first " << most << " tokens)";
    std::cout << '\n';
  }
}

// Returns the next texts, one for each line. The program computes these texts together, so the function returns all
// lines that are already available, at most 64. If no line is available, waits for one line. Returns no text at the end
// of the input.
std::vector<std::string> next_texts(std::istream& in) {
  std::vector<std::string> texts;
  std::string text;
  while (texts.size() < 64 && (texts.empty() || in.rdbuf()->in_avail() > 0) && std::getline(in, text)) {
    if (text.ends_with('\r')) text.pop_back();  // the line end of Windows
    texts.push_back(text);
  }
  return texts;
}

void print_batch(Model& model, std::istream& in) {
  for (auto texts = next_texts(in); std::cout && !texts.empty(); texts = next_texts(in)) {
    const Tokens ids = tokens_of(model, texts);
    const std::vector<Embedding> embeddings = model.encoder.embed(ids);
    for (std::size_t i = 0; i < texts.size(); ++i)
      std::cout << line_of({{"text", texts[i]}, {"ids", ids[i]}, {"embedding", embeddings[i]}}) << '\n';
  }
  if (in.bad()) throw Error("the texts could not be read to their end");
}

void describe(CLI::App& app, Options& options) {
  app.add_option("--batch", options.batch_file,
                 "reads one text from each line of FILE ('-': standard input), and prints one line with a JSON object "
                 "for each text")
      ->type_name("FILE");
  app.add_option("--model", options.folder, "the folder with config.json, model.safetensors and tokenizer.json")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--copy-weights", options.copies_weights,
               "copies the model into memory, so that later changes of its file have no effect");
  app.add_option("--precision", options.precision, "the type of the layers' weights")
      ->check(CLI::IsMember({"float32", "bfloat16", "int8"}))
      ->capture_default_str();
  app.allow_extras();
  app.callback([&app, &options] {
    options.texts = examples::arguments_of(app, "TEXT");
    if (options.batch_file && !options.texts.empty())
      throw CLI::ValidationError(options.texts.front(), "not allowed with --batch");
    if (!options.batch_file && options.texts.size() < 2)
      throw CLI::ValidationError("TEXT", "two or more texts are needed");
  });
}

int answer(const Options& options) {
  if (const auto file = options.folder / "model.safetensors"; !std::filesystem::exists(file))
    throw Error("there is no " + file.string() +
                ": run examples/minilm/fetch_model, or name the model's folder with --model DIR");
  const auto access = options.copies_weights ? minilm::Access::copy : minilm::Access::map;
  Model model{ladon::Tokenizer(options.folder / "tokenizer.json"),
              minilm::SentenceEncoder(options.folder, options.precision, access)};
  if (!options.batch_file) {
    print_similarities(model, options.texts);
  } else if (*options.batch_file == "-") {
    print_batch(model, std::cin);
  } else {
    std::ifstream file(*options.batch_file, std::ios::binary);
    if (!file) throw Error(*options.batch_file + ": cannot be opened");
    print_batch(model, file);
  }
  files::flush(std::cout, "the results");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "minilm TEXT TEXT...: how similar the texts are, from -1 to 1\n"
      "minilm --batch FILE: tokens and embeddings as JSON\n"
      "The model is all-MiniLM-L6-v2, computed by Ladon.",
      "minilm"};
  return examples::run<Options>(app, argc, argv, 1, 2, describe, answer);
}
