// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back, by a model's tokenizer.json. Hugging Face's crate tokenizers does the work.
//     const ladon::Tokenizer tokenizer("minilm/tokenizer.json");
//     const std::vector<std::int32_t> ids = tokenizer.encode("All is well").ids;
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ladon/safetensors/error.hpp>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ladon {

// Several threads may call the const functions of one Tokenizer at the same time.
class Tokenizer {
 public:
  using Error = safetensors::Error;

  struct Encoding {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> type_ids;  // as many as `ids`; BERT's token_type_ids
  };
  struct EncodeOptions {
    bool special_tokens = true;                                      // adds tokens such as [CLS] and [SEP]
    std::size_t most_ids = std::numeric_limits<std::size_t>::max();  // cuts texts, but not the special tokens
  };

  // Reads a tokenizer.json. Throws Error if the file cannot be read or is not a tokenizer. Padding and truncation,
  // which the file may ask for, are left out: the result has only the tokens of the text.
  explicit Tokenizer(const std::filesystem::path& file);

  // `text` is UTF-8. Throws Error if it is not, or if the special tokens alone are more than `most_ids`.
  [[nodiscard]] Encoding encode(std::string_view text, const EncodeOptions& options) const;
  [[nodiscard]] Encoding encode(std::string_view text) const { return encode(text, {}); }

  // Does the same with a pair of texts, as cross-encoders read. The file's post-processor joins the texts, and chooses
  // the types. `most_ids` cuts the longer text first, at its end, as transformers does with truncation=True: if both
  // texts are longer than half of the room, each keeps half.
  [[nodiscard]] Encoding encode_pair(std::string_view text, std::string_view pair, const EncodeOptions& options) const;
  [[nodiscard]] Encoding encode_pair(std::string_view text, std::string_view pair) const {
    return encode_pair(text, pair, {});
  }

  // Returns the text of the ids, as UTF-8. Leaves out ids that the vocabulary does not have.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens = true) const;

  // Return a token as the vocabulary writes it, and its id. Throw Error if there is no such token.
  [[nodiscard]] std::string token(std::int32_t id) const;
  [[nodiscard]] std::int32_t id(std::string_view token) const;

 private:
  struct Close {
    void operator()(void* tokenizer) const noexcept;
  };
  std::unique_ptr<void, Close> tokenizer_;  // a Tokenizer of the crate
};

}  // namespace ladon
