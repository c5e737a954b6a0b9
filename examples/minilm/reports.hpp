// What the program answers, each to a stream. All throw ModelError.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "minilm.hpp"
#include "word_piece.hpp"

namespace minilm {

struct Model {
  WordPiece tokenizer;
  SentenceEncoder encoder;
};

// Whether the model reads less of a text than there is.
bool is_cut(const Model& model, const std::string& text);

// A table of the cosines between all pairs of texts.
void report_similarities(Model& model, const std::vector<std::string>& texts, std::ostream& out);

// One JSON object {"text", "ids", "embedding"} for each line of `in`; an empty line is the empty text.
void report_batch(Model& model, std::istream& in, std::ostream& out);

struct AttentionQuestion {
  std::string text;
  std::optional<std::string> word;   // whose attention; else "it", else the last word
  std::optional<std::size_t> layer;  // else all, and so for
  std::optional<std::size_t> head;
  bool special = false;  // show [CLS] and [SEP] among the words
};

// Which words each head lets a word look at.
void report_attention(Model& model, const AttentionQuestion& question, std::ostream& out);

}  // namespace minilm
