#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace minilm {

// Cleans a text, cuts it into words, as BERT's uncased models were trained to see them, and gives each word to `take`,
// until that returns false:
//   1. U+0000, U+FFFD, controls (Cc but tab, LF, CR), format (Cf) and private (Co) signs go,
//   2. whitespace becomes a space, and a CJK ideograph gets one on either side,
//   3. canonical decomposition (NFD), and the accents (Mn) go,
//   4. lower case, code point by code point,
//   5. a word ends at a space; a punctuation sign (P*, and every ASCII sign) is a word by itself.
//
// `text` is UTF-8. Bytes that are none count as U+FFFD, as most decoders replace them, so they go
// as well. The words are UTF-8. The text is read only as far as words are taken.
void each_word(std::string_view text, const std::function<bool(const std::string& word)>& take);

}  // namespace minilm
