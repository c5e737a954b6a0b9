#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace minilm {

// Cleans a text and splits it into words, as for the training of BERT's uncased models. Passes each word to `take`,
// until `take` returns false:
//   1. U+0000, U+FFFD, controls (Cc but tab, LF, CR), format (Cf) and private (Co) signs are removed,
//   2. whitespace becomes a space, and a CJK ideograph gets a space on either side,
//   3. canonical decomposition (NFD), and the accents (Mn) are removed,
//   4. lower case, code point by code point,
//   5. a word ends at a space; a punctuation sign (P*, and every ASCII sign) is a separate word.
//
// `text` is UTF-8. Bytes that are not UTF-8 count as U+FFFD, as in most decoders, so they are removed, too. The words
// are UTF-8. The text is read only as far as `take` accepts words.
void each_word(std::string_view text, const std::function<bool(const std::string& word)>& take);

}  // namespace minilm
