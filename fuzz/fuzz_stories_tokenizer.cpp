// Fuzzes the tokenizer of the stories. The tokenizer must accept any vocabulary file or throw Error, and must encode
// any text. An input consists of the length of the text in one byte, the text, and the vocabulary file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "error.hpp"
#include "printable.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"
#include "tokenizer.hpp"

namespace {

using ladon_fuzz::require, stories::TokenId, stories::Tokenizer;

bool is_byte(TokenId token) {
  return token >= stories::first_byte_token && token < stories::first_byte_token + TokenId{256};
}

// Returns whether decode(encode(text)) must be `text` for every text without '<'. The vocabulary must meet two
// conditions for this. First, only the tokens of bytes, such as <0x0A>, may contain <0x. Otherwise, encode() could
// merge the token of a byte and a neighbour into a longer piece, and decode() would return the characters <0x0A>
// instead of the byte. Second, the piece of begin_token must contain '<'. Otherwise, encode() could find begin_token
// inside a text, and decode() would drop a space behind begin_token, as llama2.c does.
bool is_invertible(const Tokenizer& tokenizer) {
  for (TokenId token = 0; token < stories::vocabulary_size; ++token)
    if (!is_byte(token) && tokenizer.piece(token).find("<0x") != std::string_view::npos) return false;
  return tokenizer.piece(stories::begin_token).find('<') != std::string_view::npos;
}

void check(const Tokenizer& tokenizer, std::string_view text) {
  const auto tokens = tokenizer.encode(text);
  require(!tokens.empty() && tokens.front() == stories::begin_token, "a text begins with its mark");
  require(tokens.size() <= text.size() + 2, "a text has at most a token for each byte");
  std::string decoded;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    require(tokens[i] < stories::vocabulary_size, "a token is in the vocabulary");
    if (i > 0) decoded += tokenizer.decode(tokens[i - 1], tokens[i]);
    static_cast<void>(stories::printable(tokenizer.piece(tokens[i])));
  }
  if (is_invertible(tokenizer) && text.find('<') == text.npos) require(decoded == text, "tokens decode to their text");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t length = std::min<std::size_t>(data[0], rest.size());
  const ladon_fuzz::MemoryFile file(rest.substr(length));
  try {
    check(Tokenizer(file.path()), rest.substr(0, length));
  } catch (const examples::Error& error) {
    // `escaped` replaces only bytes that could control a terminal. The text of an error must contain no such byte, so
    // `escaped` must not change the text. The text may contain white space and UTF-8.
    require(stories::escaped(error.what()) == error.what(), "an error cannot steer a terminal");
  }
  return 0;
}
