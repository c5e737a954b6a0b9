// Makes vocabularies of 512 tokens for tests, and the bytes of their files.
#pragma once

#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "fixtures.hpp"

namespace stories {

struct VocabularyEntry {
  std::string piece;
  float score;
};

inline std::string byte_name(std::size_t byte) {
  const char* digits = "0123456789ABCDEF";
  return std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>';
}

// Returns a vocabulary: the marks <unk>, <s> and </s>, a token for each byte, the pieces in `more`, and further pieces
// that no text uses.
inline std::vector<VocabularyEntry> vocabulary_with(const std::vector<VocabularyEntry>& more) {
  std::vector<VocabularyEntry> entries{{"<unk>", 0}, {"<s>", 0}, {"</s>", 0}};
  for (std::size_t byte = 0; byte < 256; ++byte) entries.push_back({byte_name(byte), 0});
  entries.insert(entries.end(), more.begin(), more.end());
  while (entries.size() < vocabulary_size) entries.push_back({"\x01\x01" + std::to_string(entries.size()), -1000});
  return entries;
}

inline std::string tokenizer_bytes(const std::vector<VocabularyEntry>& entries) {
  std::string bytes = bytes_of<std::int32_t>(8);
  for (const auto& [piece, score] : entries)
    bytes += bytes_of(score) + bytes_of(static_cast<std::int32_t>(piece.size())) + piece;
  return bytes;
}

}  // namespace stories
