// Checks the promises of WordPiece about the tokens of a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "require.hpp"
#include "word_piece.hpp"
#include "words.hpp"

namespace ladon_fuzz {

// Checks that the tokens from `next` on encode the word: either [UNK], or pieces that make the word. Moves `next`
// behind the tokens of the word.
inline void take_word(const minilm::WordPiece& tokenizer, std::string_view word,
                      const std::vector<minilm::TokenId>& tokens, std::size_t& next) {
  require(next + 1 < tokens.size(), "each word has a token");
  if (tokenizer.piece(tokens[next]) == "[UNK]") {
    ++next;
    return;
  }
  for (bool first = true; !word.empty(); first = false) {
    require(next + 1 < tokens.size(), "the pieces of a word make the whole word");
    std::string_view piece = tokenizer.piece(tokens[next++]);
    if (!first) {
      require(piece.starts_with("##"), "a piece that continues a word begins with ##");
      piece.remove_prefix(2);
    }
    require(!piece.empty() && word.starts_with(piece), "the pieces of a word make the word");
    word.remove_prefix(piece.size());
  }
}

inline void check_encoding(const minilm::WordPiece& tokenizer, std::string_view text, std::size_t max_tokens) {
  const auto tokens = tokenizer.encode(text, max_tokens);
  require(tokens.size() >= 2 && tokens.size() <= max_tokens, "a text has from two to max_tokens tokens");
  for (const minilm::TokenId token : tokens) require(token < tokenizer.size(), "a token is in the vocabulary");
  require(tokenizer.piece(tokens.front()) == "[CLS]", "a text begins with [CLS]");
  require(tokenizer.piece(tokens.back()) == "[SEP]", "a text ends with [SEP]");
  if (tokens.size() == max_tokens) return;  // the text may be truncated
  std::size_t next = 1;
  minilm::each_word(text, [&](const std::string& word) {
    require(!word.empty() && word.find_first_of(" \t\r\n") == word.npos, "a word has no space");
    take_word(tokenizer, word, tokens, next);
    return true;
  });
  require(next + 1 == tokens.size(), "each token belongs to a word");
}

}  // namespace ladon_fuzz
