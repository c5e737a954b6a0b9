#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace minilm {

using TokenId = std::uint32_t;

// The uncased WordPiece tokenizer of BERT (Devlin et al., arXiv 1810.04805; google-research/bert,
// tokenization.py): each word (words.hpp) is cut into the longest pieces that the vocabulary has,
// from its beginning on; pieces that continue a word are written ##piece.
class WordPiece {
 public:
  static constexpr std::size_t longest_word = 100;  // code points; a longer word is [UNK]

  // Reads a vocabulary: one piece a line, its line number (from 0) is its id.
  // Throws ModelError when the file cannot be read, or lacks [UNK], [CLS] or [SEP].
  explicit WordPiece(const std::filesystem::path& vocabulary);

  // [CLS] pieces.. [SEP], at most `max_tokens` (two or more) in all: the rest of the text is cut.
  // The text is UTF-8; what is not is dropped.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, std::size_t max_tokens) const;

  // How a piece is written in the vocabulary. `id` is one that encode() gave.
  [[nodiscard]] const std::string& piece(TokenId id) const { return pieces_.at(id); }

  [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };

  struct Match {
    TokenId id;
    std::size_t bytes;  // of the word; 0 where no piece fits
  };

  void append_pieces(std::string_view word, std::vector<TokenId>& ids) const;
  [[nodiscard]] Match longest_piece(std::string_view rest, std::string_view mark) const;
  [[nodiscard]] TokenId special(const std::filesystem::path& vocabulary, const char* piece) const;

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
  TokenId unknown_ = 0;
  TokenId begin_ = 0;  // [CLS]
  TokenId end_ = 0;    // [SEP]
};

}  // namespace minilm
