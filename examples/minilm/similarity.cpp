#include <algorithm>
#include <ostream>

#include "reports.hpp"
#include "terminal.hpp"

namespace minilm {

bool is_cut(const Model& model, const std::string& text) {
  return model.tokenizer.encode(text, max_tokens + 1).size() > max_tokens;
}

void report_similarities(Model& model, const std::vector<std::string>& texts, std::ostream& out) {
  constexpr std::size_t widest_text = 48;
  std::vector<std::vector<TokenId>> ids;
  std::vector<std::string> shown;
  std::size_t width = 0;
  for (const std::string& text : texts) {
    ids.push_back(model.tokenizer.encode(text, max_tokens));
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
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (is_cut(model, texts[i]))
      out << "Text " << i + 1 << " is longer than the model's " << max_tokens << " tokens: the rest is cut.\n";
  }
}

}  // namespace minilm
