// Implements the steps of reading a text, for weights of any precision. Only reader.cpp and reader_int8.cpp include
// this file.
#pragma once

#include "reader.hpp"

namespace date_reader {

// Returns the row of a character in the table of character embeddings.
std::size_t character_id(char character) noexcept;

// Writes the input of the encoder to `tokens`: the embeddings of the slots, then of the characters. The last character
// of a text always gets the last of the 40 position embeddings. So a weekday before a date does not change the
// positions of the date's characters. The functions slot(row, i), character(row, i) and position(row, i) of `tables`
// return elements of the embedding tables.
template <class Tables>
void embed(const Tables& tables, const Squeezed& text, float (&tokens)[shape.queries][shape.model]) noexcept {
  for (std::size_t s = 0; s < slots; ++s) {
    for (std::size_t i = 0; i < shape.model; ++i) tokens[s][i] = tables.slot(s, i);
  }
  const std::size_t first_place = longest_text - text.size;
  for (std::size_t c = 0; c < text.size; ++c) {
    const std::size_t id = character_id(text.characters[c]);
    for (std::size_t i = 0; i < shape.model; ++i) {
      tokens[slots + c][i] = tables.character(id, i) + tables.position(first_place + c, i);
    }
  }
}

// Computes the logits of the digits from the encoder's output `tokens`. The classifier is one linear layer, which is
// always float32.
void classify(const float (&tokens)[shape.queries][shape.model], Logits& logits) noexcept;

// Sets reading.digits to the likeliest class (0 to 9, or "no date") for each of the eight digits. Sets the status to
// no_date if these classes make no date, or if the probability of one of them is below weights::sure_enough.
void choose_date(const Logits& logits, Reading& reading) noexcept;

template <class Precision, class Tables>
void run_model_with(const typename EncoderOf<Precision>::Weights& weights, const Tables& tables, const Squeezed& text,
                    Logits& logits, WorkspaceOf<Precision>& workspace, Attention* attention) noexcept {
  using AnyEncoder = EncoderOf<Precision>;
  embed(tables, text, workspace.tokens);
  const typename AnyEncoder::Options options{.queries = slots, .keys = slots + text.size};
  if (attention == nullptr) {
    AnyEncoder::run(workspace.tokens, weights, workspace.tokens, workspace.encoder, options);
  } else {
    typename AnyEncoder::Maps maps{};
    for (std::size_t i = 0; i < layers; ++i) maps[i] = &attention->map[i][0][0][0];
    AnyEncoder::run(workspace.tokens, weights, workspace.tokens, workspace.encoder, options, maps);
  }
  classify(workspace.tokens, logits);
}

template <class Precision, class Tables>
Reading read_with(const typename EncoderOf<Precision>::Weights& weights, const Tables& tables, std::string_view text,
                  WorkspaceOf<Precision>& workspace, Attention* attention) noexcept {
  Reading reading{};
  reading.status = squeeze(text, reading.text);
  if (reading.status != Status::date) return reading;
  Logits logits;
  run_model_with(weights, tables, reading.text, logits, workspace, attention);
  choose_date(logits, reading);
  return reading;
}

}  // namespace date_reader
