#include "word_piece.hpp"

#include <algorithm>
#include <fstream>

#include "model_error.hpp"
#include "words.hpp"

namespace minilm {
namespace {

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_code_point));
}

// Returns the position where the code point that ends at `end` begins.
std::size_t step_back(std::string_view text, std::size_t end) {
  do --end;
  while (!begins_code_point(text[end]));
  return end;
}

}  // namespace

WordPiece::WordPiece(const std::filesystem::path& vocabulary) {
  std::ifstream file(vocabulary, std::ios::binary);
  if (!file) throw ModelError(vocabulary.string() + ": cannot be opened");
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    ids_.insert_or_assign(line, static_cast<TokenId>(pieces_.size()));
    pieces_.push_back(std::move(line));
  }
  if (file.bad()) throw ModelError(vocabulary.string() + ": cannot be read");
  unknown_ = special(vocabulary, "[UNK]");
  begin_ = special(vocabulary, "[CLS]");
  end_ = special(vocabulary, "[SEP]");
}

TokenId WordPiece::special(const std::filesystem::path& vocabulary, const char* piece) const {
  const auto found = ids_.find(std::string_view(piece));
  if (found == ids_.end())
    throw ModelError(vocabulary.string() + ": expected a line " + piece + ", found none in " +
                     std::to_string(pieces_.size()) + " lines");
  return found->second;
}

std::vector<TokenId> WordPiece::encode(std::string_view text, std::size_t max_tokens) const {
  std::vector<TokenId> ids{begin_};
  each_word(text, [&](const std::string& word) {
    append_pieces(word, ids);
    return ids.size() + 1 < max_tokens;
  });
  ids.resize(std::min(ids.size(), max_tokens - 1));
  ids.push_back(end_);
  return ids;
}

void WordPiece::append_pieces(std::string_view word, std::vector<TokenId>& ids) const {
  const std::size_t first = ids.size();
  std::size_t taken = count_code_points(word) > longest_word ? 0 : word.size();
  for (std::size_t begin = 0; begin < word.size() && taken > 0; begin += taken) {
    const Match match = longest_piece(word.substr(begin), begin == 0 ? "" : "##");
    taken = match.bytes;
    ids.push_back(match.id);
  }
  // A word that is too long, or has a piece that is not in the vocabulary, becomes a single [UNK].
  if (taken == 0) {
    ids.resize(first);
    ids.push_back(unknown_);
  }
}

WordPiece::Match WordPiece::longest_piece(std::string_view rest, std::string_view mark) const {
  std::string candidate;
  for (std::size_t bytes = rest.size(); bytes > 0; bytes = step_back(rest, bytes)) {
    candidate.assign(mark).append(rest.substr(0, bytes));
    if (const auto found = ids_.find(candidate); found != ids_.end()) return {found->second, bytes};
  }
  return {unknown_, 0};
}

}  // namespace minilm
