// Fuzzes the vocabulary files of WordPiece. The first line of an input is a text, and the other lines are the
// vocabulary file. WordPiece must accept the file or throw ModelError.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model_error.hpp"
#include "support/memory_file.hpp"
#include "support/word_piece_check.hpp"
#include "word_piece.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(0, end), vocabulary = input.substr(std::min(end + 1, size));
  const ladon_fuzz::MemoryFile file(vocabulary);
  try {
    const minilm::WordPiece tokenizer(file.path());
    const auto lines = static_cast<std::size_t>(std::ranges::count(vocabulary, '\n'));
    ladon_fuzz::require(tokenizer.size() == lines + (vocabulary.ends_with('\n') ? 0 : 1), "each line is a piece");
    ladon_fuzz::check_encoding(tokenizer, text, 2 + size % 7);
    ladon_fuzz::check_encoding(tokenizer, text, size + 3);  // more tokens than any text of `size` bytes can have
  } catch (const minilm::ModelError& error) {
    ladon_fuzz::require_shown(error.what(), "an error");
  }
  return 0;
}
