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

// The uncased WordPiece tokenizer of BERT (Devlin et al., arXiv 1810.04805; google-research/bert, tokenization.py).
// Each word (words.hpp) is split from its beginning into the longest pieces that the vocabulary has. A piece that
// continues a word is written ##piece.
class WordPiece {
 public:
  static constexpr std::size_t longest_word = 100;  // code points; a longer word is [UNK]

  // Reads a vocabulary with one piece in each line. The id of a piece is its line number, from 0. Throws ModelError if
  // the file cannot be read, or lacks [UNK], [CLS] or [SEP].
  explicit WordPiece(const std::filesystem::path& vocabulary);

  // Returns [CLS], the pieces, and [SEP]: at most `max_tokens` tokens in all. `max_tokens` must be at least 2. The rest
  // of the text is left out. The text is UTF-8. Bytes that are not UTF-8 are left out.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, std::size_t max_tokens) const;

  // Returns a piece as the vocabulary writes it. `id` is a result of encode().
  [[nodiscard]] const std::string& piece(TokenId id) const { return pieces_.at(id); }

  [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };

  struct Match {
    TokenId id;
    std::size_t bytes;  // bytes of the word; 0 if no piece fits
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
