// A language model whose text can become shorter again, so that each round appends the same tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ladon_bench {

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  // Removes the tokens from number `length` on.
  virtual void shorten(std::size_t length) = 0;
  // Appends tokens, and computes the logits of the token that follows them.
  virtual void append(std::span<const std::int32_t> ids) = 0;
  // [vocabulary]
  [[nodiscard]] virtual std::span<const float> logits() const = 0;
};

// The weights lie in `folder`, and have 8 or 4 bits.
std::unique_ptr<LanguageModel> llama_int8(const std::string& folder);
std::unique_ptr<LanguageModel> llama_int4(const std::string& folder);

}  // namespace ladon_bench
