// Computes attention between words from attention between pieces of words.
#pragma once

#include <cstddef>
#include <ladon/tokenizer.hpp>
#include <span>
#include <string>
#include <vector>

#include "minilm.hpp"

namespace minilm {

// Consecutive tokens that are one word of the text, or [CLS] or [SEP].
struct Word {
  std::string text;   // in lower case and without accents, as the model sees it
  std::string label;  // the text, with a number for repeated words: the second "the" is "the(2)"
  std::size_t first;  // the first token
  std::size_t count;  // the number of tokens
};

// Returns the words of a text from the ids of its tokens, [CLS] and [SEP] included.
std::vector<Word> words_of(std::span<const TokenId> ids, const ladon::Tokenizer& tokenizer, bool with_special);

// Returns the attention of the word `from` to each of `words` in one head. The attention to a word is the sum of the
// attention to its pieces, averaged over the pieces of `from` (Clark et al., arXiv 1906.04341, section 4.1).
std::vector<float> word_weights(const Attention& attention, std::size_t layer, std::size_t head, const Word& from,
                                std::span<const Word> words);

}  // namespace minilm
