// SPDX-License-Identifier: Apache-2.0
#include "ladon/tokenizer.hpp"

#include "mapped_file.hpp"
#include "utf8.hpp"

extern "C" {
// The functions of c_functions.rs, which describes them.
struct LadonTokenizerAnswer {
  bool failed;
  const std::uint32_t* ids;
  const std::uint32_t* type_ids;
  std::size_t count;
  const char* text;
  std::size_t text_bytes;
  void* owned;
};
LadonTokenizerAnswer ladon_tokenizer_open(const std::byte* json, std::size_t bytes, void** out);
void ladon_tokenizer_close(void* tokenizer);
LadonTokenizerAnswer ladon_tokenizer_encode(const void* tokenizer, const char* text, std::size_t bytes,
                                            const char* pair, std::size_t pair_bytes, bool special, std::size_t most);
LadonTokenizerAnswer ladon_tokenizer_decode(const void* tokenizer, const std::uint32_t* ids, std::size_t count,
                                            bool skip_special);
LadonTokenizerAnswer ladon_tokenizer_token(const void* tokenizer, std::uint32_t id);
LadonTokenizerAnswer ladon_tokenizer_id(const void* tokenizer, const char* text, std::size_t bytes);
void ladon_tokenizer_free(void* owned);
}

namespace ladon {
namespace {

// Owns the values of an answer.
class Answer {
 public:
  // Throws Tokenizer::Error if the call failed.
  explicit Answer(const LadonTokenizerAnswer& answer) : answer_(answer), owned_(answer.owned) {
    if (answer_.failed) throw Tokenizer::Error(text());
  }

  [[nodiscard]] std::vector<std::int32_t> ids() const { return {answer_.ids, answer_.ids + answer_.count}; }
  [[nodiscard]] std::vector<std::int32_t> type_ids() const {
    return {answer_.type_ids, answer_.type_ids + answer_.count};
  }
  [[nodiscard]] std::string text() const { return {answer_.text, answer_.text_bytes}; }

 private:
  struct Free {
    void operator()(void* owned) const noexcept { ladon_tokenizer_free(owned); }
  };
  LadonTokenizerAnswer answer_;
  std::unique_ptr<void, Free> owned_;
};

}  // namespace

Tokenizer::Tokenizer(const std::filesystem::path& file) {
  const files::MappedFile json(file, files::Load::copy);
  void* opened = nullptr;
  try {
    const Answer answer(ladon_tokenizer_open(json.bytes().data(), json.bytes().size(), &opened));
  } catch (const Error& error) {
    throw Error(files::utf8_of(file) + ": " + error.what());
  }
  tokenizer_.reset(opened);
}

void Tokenizer::Close::operator()(void* tokenizer) const noexcept { ladon_tokenizer_close(tokenizer); }

Tokenizer::Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const Answer answer(ladon_tokenizer_encode(tokenizer_.get(), text.data(), text.size(), nullptr, 0,
                                             options.special_tokens, options.most_ids));
  return {answer.ids(), answer.type_ids()};
}

Tokenizer::Encoding Tokenizer::encode_pair(std::string_view text, std::string_view pair,
                                           const EncodeOptions& options) const {
  if (pair.data() == nullptr) pair = "";  // a null pointer stands for no second text
  const Answer answer(ladon_tokenizer_encode(tokenizer_.get(), text.data(), text.size(), pair.data(), pair.size(),
                                             options.special_tokens, options.most_ids));
  return {answer.ids(), answer.type_ids()};
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const {
  const std::vector<std::uint32_t> unsigned_ids(ids.begin(), ids.end());
  return Answer(ladon_tokenizer_decode(tokenizer_.get(), unsigned_ids.data(), unsigned_ids.size(), skip_special_tokens))
      .text();
}

std::string Tokenizer::token(std::int32_t id) const {
  return Answer(ladon_tokenizer_token(tokenizer_.get(), static_cast<std::uint32_t>(id))).text();
}

std::int32_t Tokenizer::id(std::string_view token) const {
  return Answer(ladon_tokenizer_id(tokenizer_.get(), token.data(), token.size())).ids().at(0);
}

}  // namespace ladon
