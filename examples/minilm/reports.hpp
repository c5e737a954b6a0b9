// Declares the functions that print the results of the program to a stream. All functions throw ModelError.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <ladon/tokenizer.hpp>
#include <optional>
#include <string>
#include <vector>

#include "minilm.hpp"

namespace minilm {

struct Model {
  ladon::Tokenizer tokenizer;
  SentenceEncoder encoder;
};

struct Tokens {
  std::vector<TokenId> ids;
  bool cut;  // the text has more tokens than the model reads
};
// Returns the tokens of any bytes. U+FFFD replaces bytes that are not UTF-8.
Tokens tokens_of(const Model& model, const std::string& text);

// Prints a table with the cosine of each pair of texts.
void report_similarities(Model& model, const std::vector<std::string>& texts, std::ostream& out);

// Prints one JSON object {"text", "ids", "embedding"} for each line of `in`. An empty line is the empty text.
void report_batch(Model& model, std::istream& in, std::ostream& out);

struct AttentionQuestion {
  std::string text;
  std::optional<std::string> word;   // the word whose attention is printed; default: "it", or else the last word
  std::optional<std::size_t> layer;  // default: all layers
  std::optional<std::size_t> head;   // default: all heads
  bool special = false;              // also show [CLS] and [SEP]
};

// Prints the attention of one word to the words of the text, for each head.
void report_attention(Model& model, const AttentionQuestion& question, std::ostream& out);

}  // namespace minilm
