// SPDX-License-Identifier: Apache-2.0
// Tests texts of a model with an encoder and a decoder, in C++ and C: each step must give the logits that `decode`
// gives for all tokens so far, without caches. CMakeLists.txt defines, for each model: SOURCE, statements that make the
// input `source` of the encoder; SOURCE_ARGUMENTS, the arguments for `source`; TABLES, the argument for the tables, if
// there are any; SUPPRESSED and SUPPRESSED_FIRST, ids in generation_config.json; TOKENS, the first tokens of the text.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <ladon/model/weight_image.hpp>

#include "seq2seq.h"
#include "seq2seq.hpp"
#include "seq2seq_weights.hpp"

namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::size_t vocabulary = SEQ2SEQ_VOCABULARY;
constexpr float hidden = -std::numeric_limits<float>::infinity();

struct alignas(64) Line {
  char bytes[64];
};
struct alignas(64) Memory {
  seq2seq::Weights weights;
  seq2seq::Workspace workspace;
  seq2seq::Text text;
#ifdef HAS_TABLES
  seq2seq::Tables tables;
#endif
  float memory[seq2seq::most_memory_rows * seq2seq::memory_width];
  float last[seq2seq::most_last_rows * seq2seq::last_width];
};
Memory m;

[[maybe_unused]] std::vector<float> samples(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i * i % 1000)));
  return values;
}

// Returns the logits behind `ids` without caches. No token of `never` may follow.
std::vector<float> logits_of(const Ids& ids, std::size_t memory_rows, const Ids& never) {
  const std::size_t rows =
      seq2seq::decode(ids.data(), ids.size(), m.memory, memory_rows, m.weights, TABLES m.last, m.workspace);
  std::vector<float> logits(vocabulary);
  seq2seq::head(m.last + (rows - 1) * seq2seq::last_width, m.weights, logits.data(), m.workspace);
  for (const std::int32_t id : never) logits[static_cast<std::size_t>(id)] = hidden;
  return logits;
}

bool agree(const float* actual, const std::vector<float>& expected) {
  float largest = 0;
  for (const float x : expected) largest = std::max(largest, x == hidden ? 0 : std::abs(x));
  for (std::size_t i = 0; i < vocabulary; ++i)
    if (!(actual[i] == expected[i] || std::abs(actual[i] - expected[i]) <= 2e-5f * largest)) return false;
  return true;
}

}  // namespace

TEST_CASE("texts behind an encoder") {
  const ladon::safetensors::Folder folder(LADON_MODEL_FOLDER);
  m.weights = seq2seq::load(folder);
  PREPARE;
  SOURCE;
  std::vector<Line> image(ladon::image_bytes<seq2seq::Weights> / sizeof(Line));
  ladon::write_image(m.weights, reinterpret_cast<std::byte*>(image.data()));
  REQUIRE(seq2seq_start(image.data(), image.size() * sizeof(Line)) == LADON_MODEL_OK);
  std::vector<Line> text_memory(seq2seq_text_bytes() / sizeof(Line) + 1);
  void* const c_text = text_memory.data();
  const Ids starts(std::begin(seq2seq::start_tokens), std::end(seq2seq::start_tokens));
  for (const Ids& prompt : {starts, Ids{5, 17, 3}}) {
    CAPTURE(prompt.size());
    Ids ids = prompt;
    std::memset(c_text, 0xff, seq2seq_text_bytes());  // every float is NaN
    std::int32_t c_token = -2;
    const bool is_default = prompt == starts;
    REQUIRE(seq2seq_text_start(SOURCE_ARGUMENTS is_default ? nullptr : ids.data(), is_default ? 0 : ids.size(), nullptr,
                               &c_token, c_text, nullptr) == LADON_MODEL_OK);
    Ids written;
    std::int32_t token =
        seq2seq::start_text(SOURCE_ARGUMENTS ids.data(), ids.size(), m.weights, TABLES m.text, m.workspace);
    const std::size_t memory_rows = seq2seq::encode(SOURCE_ARGUMENTS m.weights, TABLES m.memory, m.workspace);
    for (Ids never{SUPPRESSED, SUPPRESSED_FIRST};; never = {SUPPRESSED}) {
      const std::vector<float> expected = logits_of(ids, memory_rows, never);
      CAPTURE(ids.size());
      REQUIRE(m.text.status() == ladon::TextStatus::ready);
      CHECK(agree(m.text.logits(), expected));
      CHECK(token == ladon::Likeliest<vocabulary>{}(m.text.logits()));
      CHECK(agree(seq2seq_text_logits(c_text), expected));
      CHECK(c_token == token);
      if (ids.size() == seq2seq::most_decoder_tokens) break;
      ids.push_back(token);
      if (is_default) written.push_back(token);
      token = seq2seq::next_token(token, m.weights, TABLES m.text, m.workspace);
      REQUIRE(seq2seq_text_next(c_token, &c_token, c_text, nullptr) == LADON_MODEL_OK);
    }
    const Ids recorded{TOKENS};
    if (is_default && !recorded.empty())
      CHECK(Ids(written.begin(), written.begin() + std::ptrdiff_t(recorded.size())) == recorded);
    CHECK(seq2seq::next_token(1, m.weights, TABLES m.text, m.workspace) == ladon::no_token);
    CHECK(m.text.status() == ladon::TextStatus::full);
    CHECK(seq2seq_text_next(1, &c_token, c_text, nullptr) == LADON_MODEL_FULL);
  }
  std::int32_t next = 0, in_pieces = 0;
  // A prompt in two pieces gives the same text. Tokens that must not follow the prompt are known behind the last piece.
  const Ids prompt{5, 17, 3};
  REQUIRE(seq2seq_text_start(SOURCE_ARGUMENTS prompt.data(), 3, nullptr, &next, c_text, nullptr) == LADON_MODEL_OK);
  const std::vector<float> expected(seq2seq_text_logits(c_text), seq2seq_text_logits(c_text) + vocabulary);
  REQUIRE(seq2seq_text_begin(SOURCE_ARGUMENTS nullptr, c_text, nullptr) == LADON_MODEL_OK);
  REQUIRE(seq2seq_text_prompt(prompt.data(), 2, 0, &in_pieces, c_text, nullptr) == LADON_MODEL_OK);
  CHECK(in_pieces == ladon::no_token);
  REQUIRE(seq2seq_text_prompt(prompt.data() + 2, 1, 1, &in_pieces, c_text, nullptr) == LADON_MODEL_OK);
  CHECK(in_pieces == next);
  CHECK(agree(seq2seq_text_logits(c_text), expected));
  const std::int32_t unknown = vocabulary;
  CHECK(seq2seq_text_prompt(&unknown, 1, 0, &next, c_text, nullptr) == LADON_MODEL_BAD_ID);
  CHECK(seq2seq_text_start(SOURCE_ARGUMENTS & unknown, 1, nullptr, &next, c_text, nullptr) == LADON_MODEL_BAD_ID);
  CHECK(seq2seq_text_start(SOURCE_ARGUMENTS nullptr, 0, nullptr, &next, nullptr, nullptr) == LADON_MODEL_NULL);
  CHECK(seq2seq_text_start(SOURCE_ARGUMENTS nullptr, 0, nullptr, &next, text_memory[0].bytes + 4, nullptr) ==
        LADON_MODEL_MISALIGNED);
}
