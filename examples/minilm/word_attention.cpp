#include "word_attention.hpp"

#include <algorithm>

namespace minilm {

std::vector<Word> words_of(std::span<const TokenId> ids, const ladon::Tokenizer& tokenizer, bool with_special) {
  std::vector<Word> words;
  for (std::size_t token = 0; token < ids.size(); ++token) {
    const std::string piece = tokenizer.token(ids[token]);
    const bool special = token == 0 || token + 1 == ids.size();
    // A word of a text never begins with "##", because '#' is a punctuation sign and so a separate word.
    if (!special && piece.starts_with("##")) {
      words.back().text += piece.substr(2);
      ++words.back().count;
    } else if (!special || with_special) {
      words.push_back({.text = piece, .label = {}, .first = token, .count = 1});
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto before =
        std::ranges::count(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i), words[i].text, &Word::text);
    words[i].label = words[i].text;
    if (before > 0) words[i].label.append("(").append(std::to_string(before + 1)).append(")");
  }
  return words;
}

std::vector<float> word_weights(const Attention& attention, std::size_t layer, std::size_t head, const Word& from,
                                std::span<const Word> words) {
  std::vector<float> weights;
  for (const Word& word : words) {
    float sum = 0;
    for (std::size_t token = from.first; token < from.first + from.count; ++token)
      for (const float weight : attention.row(layer, head, token).subspan(word.first, word.count)) sum += weight;
    weights.push_back(sum / static_cast<float>(from.count));
  }
  return weights;
}

}  // namespace minilm
