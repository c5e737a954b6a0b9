#include <algorithm>
#include <ostream>
#include <utility>

#include "reports.hpp"
#include "terminal.hpp"

namespace minilm {

Tokens tokens_of(const Model& model, const std::string& text) {
  std::vector<TokenId> ids = model.tokenizer.encode(text, max_tokens + 1);
  const bool cut = ids.size() > max_tokens;
  if (cut) ids.erase(ids.end() - 2);  // before [SEP]
  return {std::move(ids), cut};
}

void report_similarities(Model& model, const std::vector<std::string>& texts, std::ostream& out) {
  constexpr std::size_t widest_text = 48;
  std::vector<std::vector<TokenId>> ids;
  std::vector<std::string> shown;
  std::vector<std::size_t> cut;
  std::size_t width = 0;
  for (const std::string& text : texts) {
    Tokens tokens = tokens_of(model, text);
    ids.push_back(std::move(tokens.ids));
    if (tokens.cut) cut.push_back(ids.size());
    shown.push_back(std::to_string(shown.size() + 1) + "  " + printable(text));
    width = std::max(width, std::min(columns_of(shown.back()), widest_text));
  }
  const std::vector<Embedding> embeddings = model.encoder.embed(ids);
  const auto right = [](const std::string& text) {
    constexpr std::size_t cell = 7;
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
  for (const std::size_t number : cut)
    out << "Text " << number << " is longer than the model's " << max_tokens << " tokens: the rest is cut.\n";
}

}  // namespace minilm
