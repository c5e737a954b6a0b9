// Attention between words, from attention between their pieces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "minilm.hpp"
#include "word_piece.hpp"

namespace minilm {

// Some tokens in a row that were one word of the text, or [CLS] or [SEP].
struct Word {
  std::string text;   // in lower case and without accents, as the model sees it
  std::string label;  // the same; the second "the" is "the(2)"
  std::size_t first;  // token
  std::size_t count;  // tokens
};

// The words of what WordPiece::encode gave.
std::vector<Word> words_of(std::span<const TokenId> ids, const WordPiece& tokenizer, bool with_special);

// What `from` pays to each of `words` in one head: the sum over the pieces of the word looked at, the mean
// over those of `from` (Clark et al., arXiv 1906.04341, section 4.1).
std::vector<float> word_weights(const Attention& attention, std::size_t layer, std::size_t head, const Word& from,
                                std::span<const Word> words);

}  // namespace minilm
