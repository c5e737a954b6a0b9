#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint.hpp"
#include "mapped_file.hpp"

namespace stories {

inline constexpr TokenId begin_token = 1;  // begins every text; if the model writes this token, its text has ended
inline constexpr TokenId first_byte_token = 3;

// Encodes texts by byte-pair encoding, like llama2.c, which follows SentencePiece. First, adds a space before the text,
// and makes each code point a token. If the vocabulary lacks a code point, each byte of the code point becomes a token.
// Then repeatedly joins two neighbouring tokens into one token. Of all pairs of neighbours, chooses the pair whose
// joined piece has the best score, or the first of several pairs with this score. Ends when no two neighbours can be
// joined.
class Tokenizer {
 public:
  // Reads llama2.c's file of pieces and scores. The file begins with the int32 length of the longest piece. Each token
  // follows with a float32 score, the int32 length of its piece, and the bytes of the piece. Throws Error if the file
  // does not have `vocabulary_size` tokens, or lacks the tokens that encode() needs.
  explicit Tokenizer(const std::filesystem::path& file);

  // Returns begin_token and the tokens of the text. The text may have any bytes: bytes that are not UTF-8 become byte
  // tokens.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text) const;

  // Returns the bytes that `token` adds to a text if the token before it is `previous`.
  [[nodiscard]] std::string_view decode(TokenId previous, TokenId token) const;

  // Returns a token as the vocabulary writes it.
  [[nodiscard]] std::string_view piece(TokenId token) const { return tokens_.at(token).piece; }

 private:
  struct Token {
    std::string_view piece;
    float score;
  };

  [[nodiscard]] std::vector<TokenId> code_points(std::string_view text) const;
  [[nodiscard]] const TokenId* find(std::string_view piece) const;
  void merge(std::vector<TokenId>& tokens) const;

  files::MappedFile file_;
  std::array<Token, vocabulary_size> tokens_;  // the pieces point into the file
  std::unordered_map<std::string_view, TokenId> ids_;
  TokenId space_ = 0;
};

}  // namespace stories
