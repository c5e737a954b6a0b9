#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace minilm {

// Cleans a text and splits it into words, as BERT's uncased models expect. Passes each word to `take`, until `take`
// returns false. The steps are:
//   1. removes U+0000, U+FFFD, control signs (Cc) except tab, LF and CR, format signs (Cf) and private signs (Co),
//   2. replaces whitespace by a space, and adds a space before and after each CJK ideograph,
//   3. decomposes the text canonically (NFD), and removes accents (Mn),
//   4. converts the text to lower case, code point by code point,
//   5. ends a word at each space, and makes each punctuation sign (P*, and every ASCII sign) a separate word.
//
// `text` is UTF-8. Step 1 also removes bytes that are not UTF-8, because they count as U+FFFD, as in most decoders. The
// words are UTF-8. After `take` has returned false, the rest of the text is not read.
void each_word(std::string_view text, const std::function<bool(const std::string& word)>& take);

}  // namespace minilm
