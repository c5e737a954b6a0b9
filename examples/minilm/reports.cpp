#include "reports.hpp"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "model_files.hpp"
#include "terminal.hpp"

namespace minilm {
namespace {

// Keeps the order of members, and writes floats with as few digits as distinguish them.
using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

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

Tokens tokens_of(const Model& model, const std::string& text) {
  std::vector<TokenId> ids = model.tokenizer.encode(valid(text)).ids;
  const bool cut = ids.size() > max_tokens;
  if (cut) ids.erase(ids.begin() + max_tokens - 1, ids.end() - 1);  // up to [SEP]
  return {std::move(ids), cut};
}

void report_similarities(Model& model, const std::vector<std::string>& texts, std::ostream& out) {
  constexpr std::size_t widest_text = 48, cell = 7;
  std::vector<std::vector<TokenId>> ids;
  std::vector<std::string> shown, notes;
  std::size_t width = 0;
  for (const std::string& text : texts) {
    const std::string number = std::to_string(shown.size() + 1);
    const Tokens tokens = tokens_of(model, text);
    ids.push_back(tokens.ids);
    shown.push_back(number + "  " + printable(text));
    width = std::max(width, std::min(columns_of(shown.back()), widest_text));
    if (tokens.cut)
      notes.push_back("Text " + number + " is longer than the model's " + std::to_string(max_tokens) +
                      " tokens: the rest is cut.\n");
  }
  const std::vector<Embedding> embeddings = model.encoder.embed(ids);
  const auto right = [&](const std::string& text) {
    return std::string(cell - std::min(cell, text.size()), ' ') + text;
  };
  out << std::string(width, ' ');
  for (std::size_t column = 1; column <= texts.size(); ++column) out << right(std::to_string(column));
  out << '\n';
  for (std::size_t row = 0; row < texts.size(); ++row) {
    out << fitted(shown[row], width);
    for (const Embedding& other : embeddings) out << right(fixed(similarity(embeddings[row], other), 3));
    out << '\n';
  }
  for (const std::string& note : notes) out << note;
}

void report_batch(Model& model, std::istream& in, std::ostream& out) {
  for (auto texts = next_texts(in); out && !texts.empty(); texts = next_texts(in)) {
    std::vector<std::vector<TokenId>> ids;
    for (const std::string& text : texts) ids.push_back(tokens_of(model, text).ids);
    const std::vector<Embedding> embeddings = model.encoder.embed(ids);
    // JSON cannot contain bytes that are not UTF-8, so U+FFFD replaces them.
    for (std::size_t i = 0; i < texts.size(); ++i)
      out << Json{{"text", texts[i]}, {"ids", ids[i]}, {"embedding", embeddings[i]}}.dump(
                 -1, ' ', false, Json::error_handler_t::replace)
          << '\n';
  }
  if (in.bad()) throw ModelError("the texts could not be read to their end");
}

}  // namespace minilm
