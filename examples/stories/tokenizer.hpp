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

inline constexpr TokenId begin_token = 1;  // begins every text; where the model writes it, its text is over
inline constexpr TokenId first_byte_token = 3;

// Byte-pair encoding as llama2.c does it, after SentencePiece: a text begins with a space that is not its own; each
// code point is a token, or one token a byte where the vocabulary lacks it; then the two neighbours whose joined piece
// has the best score become one token, the first such pair first, until no two can.
class Tokenizer {
 public:
  // Reads llama2.c's file of pieces and their scores: int32 length of the longest; then for each token float32 score,
  // int32 length, bytes. Throws Error when the file is not one of `vocabulary_size` tokens with what encode() needs.
  explicit Tokenizer(const std::filesystem::path& file);

  // begin_token and the text's tokens. Any bytes will do: what is no UTF-8 goes byte by byte.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text) const;

  // The bytes that `token` adds to a text after `previous`.
  [[nodiscard]] std::string_view decode(TokenId previous, TokenId token) const;

  // How the vocabulary writes a token.
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
  std::array<Token, vocabulary_size> tokens_;  // the pieces lie in the file
  std::unordered_map<std::string_view, TokenId> ids_;
  TokenId space_ = 0;
};

}  // namespace stories
