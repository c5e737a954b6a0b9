// Fuzzes WordPiece, which must split any text into at most max_tokens tokens. The first byte of an input chooses
// max_tokens. The other bytes are the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "support/memory_file.hpp"
#include "support/word_piece_check.hpp"
#include "word_piece.hpp"

namespace {

// Returns a vocabulary with every printable ASCII character except capital letters, as the beginning and as the
// continuation of a word. Most words are therefore split into pieces instead of becoming [UNK].
std::string vocabulary() {
  std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n##ing\nun\n##able\ncafe\n東\n京\n##京\nα\n##ω\n";
  for (char c = '!'; c <= '~'; ++c) {
    if (c < 'A' || c > 'Z') lines.append(1, c).append("\n##").append(1, c).append("\n");
  }
  return lines;
}

const minilm::WordPiece& tokenizer() {
  static const minilm::WordPiece made(ladon_fuzz::MemoryFile(vocabulary()).path());
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ladon_fuzz::check_encoding(tokenizer(), text, std::max<std::size_t>(2, data[0]));
  ladon_fuzz::check_encoding(tokenizer(), text, size + 3);  // more tokens than any text of `size` bytes can have
  return 0;
}
