#include <array>
#include <cstdio>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model_error.hpp"
#include "reports.hpp"

namespace minilm {
namespace {

// Writes a number with 9 significant digits, which distinguish any two floats.
void write(std::ostream& out, float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  out << text.data();
}

void write(std::ostream& out, TokenId value) { out << value; }

template <class Values>
void write_list(std::ostream& out, const Values& values) {
  const char* separator = "[";
  for (const auto value : values) {
    out << separator;
    write(out, value);
    separator = ", ";
  }
  out << ']';
}

// Returns the next texts, one for each line. The program computes these texts together, so the function returns all
// lines that are already available, at most 64. If no line is available, waits for one line. Returns no text at the end
// of the input.
std::vector<std::string> next_texts(std::istream& in) {
  constexpr std::size_t most = 64;
  std::vector<std::string> texts;
  std::string text;
  while (texts.size() < most && (texts.empty() || in.rdbuf()->in_avail() > 0) && std::getline(in, text)) {
    if (text.ends_with('\r')) text.pop_back();  // the line end of Windows
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

void report_batch(Model& model, std::istream& in, std::ostream& out) {
  using nlohmann::json;
  for (auto texts = next_texts(in); out && !texts.empty(); texts = next_texts(in)) {
    std::vector<std::vector<TokenId>> ids;
    for (const std::string& text : texts) ids.push_back(model.tokenizer.encode(text, max_tokens));
    const std::vector<Embedding> embeddings = model.encoder.embed(ids);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // JSON cannot contain bytes that are not UTF-8, so U+FFFD replaces them.
      out << "{\"text\": " << json(texts[i]).dump(-1, ' ', false, json::error_handler_t::replace) << ", \"ids\": ";
      write_list(out, ids[i]);
      out << ", \"embedding\": ";
      write_list(out, embeddings[i]);
      out << "}\n";
    }
  }
  if (in.bad()) throw ModelError("the texts could not be read to their end");
}

}  // namespace minilm
