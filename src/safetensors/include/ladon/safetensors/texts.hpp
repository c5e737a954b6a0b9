// SPDX-License-Identifier: Apache-2.0
// The texts of a program that ladon-import writes: the ids of --text, and the tokens that follow a prompt. With the
// macro LADON_HAS_TOKENIZER, the program must link ladon::tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <ladon/model/generation.hpp>
#include <ladon/model/sampling.hpp>
#include <ladon/safetensors/error.hpp>
#include <ladon/safetensors/records.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#ifdef LADON_HAS_TOKENIZER
#include <ladon/tokenizer.hpp>
#endif

namespace ladon::safetensors {

#ifdef LADON_HAS_TOKENIZER
inline namespace with_tokenizer {

inline constexpr bool has_tokenizer = true;

// Sets the ids of --text, or of a pair of texts, if they are given. A pair of more than `most` tokens is cut. Throws
// Error if tokenizer.json in the folder of the model cannot be read.
inline void read_text(Records& records, std::size_t most) {
  const std::string& text = records.text();
  if (text.empty()) return;
  const Tokenizer tokenizer(records.folder() / "tokenizer.json");
  const std::optional<std::string>& pair = records.text_pair();
  auto encoding = pair ? tokenizer.encode_pair(text, *pair) : tokenizer.encode(text);
  if (pair && encoding.ids.size() > most) {
    std::fprintf(stderr, "the pair of texts has %zu tokens, and is cut to %zu\n", encoding.ids.size(), most);
    encoding = tokenizer.encode_pair(text, *pair, {.most_ids = most});
  }
  records.set_ids(std::move(encoding.ids), std::move(encoding.type_ids));
}

inline std::string text_of(const std::filesystem::path& folder, const std::vector<std::int32_t>& ids) {
  return Tokenizer(folder / "tokenizer.json").decode(ids);
}

}  // namespace with_tokenizer
#else
inline namespace without_tokenizer {

inline constexpr bool has_tokenizer = false;

// Throws Error if --text is given.
inline void read_text(const Records& records, std::size_t) {
  if (!records.text().empty())
    throw Error(
        "--text needs ladon::tokenizer, which Ladon's sources build with cargo 1.85 or later: run CMake again with "
        "-DLADON_SOURCE_DIR=<folder of Ladon>");
}

inline std::string text_of(const std::filesystem::path&, const std::vector<std::int32_t>&) { return ""; }

}  // namespace without_tokenizer
#endif

// Returns how the command line says that tokens are chosen.
inline Sampling sampling_of(const Records& records) {
  const Generation& chosen = records.generation();
  return {.temperature = chosen.temperature, .top_k = chosen.top_k, .top_p = chosen.top_p, .seed = chosen.seed};
}

// Prints the tokens of a text from `token` on, the token that follows the prompt: at most as many as --generate says.
// `next(token)` appends a token to `text`, a TextGenerator, and returns the token that follows. `ends(token)` says
// whether the text ends. Prints text if `as_text` and if there is a tokenizer, and otherwise an id in each line.
template <class Text, class Next, class Ends>
void write_text(const Records& records, const Text& text, std::int32_t token, Next next, Ends ends, bool as_text) {
  std::vector<std::int32_t> ids;
  while (!ends(token)) {
    ids.push_back(token);
    if (ids.size() == records.generation().tokens) break;
    token = next(token);
  }
  if (as_text && has_tokenizer) {
    std::printf("%s\n", text_of(records.folder(), ids).c_str());
  } else {
    for (const std::int32_t id : ids) std::printf("%d\n", static_cast<int>(id));
  }
  if (text.status() == TextStatus::full) std::fprintf(stderr, "the text is full\n");
}

}  // namespace ladon::safetensors
