// all-MiniLM-L6-v2 computes a vector of length 1 from the tokens of a text. The more similar two texts are in meaning,
// the more similar are their vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "imported.hpp"

namespace minilm {

using TokenId = std::int32_t;
using Embedding = std::array<float, model_width>;

// Returns the cosine of two embeddings. Both embeddings have the length 1, so the cosine is their scalar product.
float similarity(const Embedding& a, const Embedding& b);

// The attention of each token to each token: [layer_count][head_count][tokens][tokens]. The last index is the key. Each
// row sums to 1.
struct Attention {
  std::size_t tokens = 0;
  std::vector<float> weights;

  [[nodiscard]] std::span<const float> row(std::size_t layer, std::size_t head, std::size_t token) const {
    return std::span(weights).subspan(((layer * head_count + head) * tokens + token) * tokens, tokens);
  }
};

// The precision of the weights of all linear maps and of the table of words.
enum class Precision { float32, bfloat16, int8 };

class SentenceEncoder {
 public:
  // `folder` has config.json and model.safetensors. With Precision::bfloat16, the weights are rounded. With
  // Precision::int8, float weights are rotated and quantised, and int8 weights of the file are used in place, rotated
  // or not. Throws ladon::safetensors::Error with the name of a tensor that is missing or wrong.
  explicit SentenceEncoder(const std::filesystem::path& folder, Precision precision = Precision::float32,
                           ladon::safetensors::Access access = ladon::safetensors::Access::map);

  // Computes the embedding of a text: 1 to max_tokens ids, each below vocabulary_size. Throws ModelError if `ids`
  // breaks this rule, or if the file is damaged so that the result is not finite.
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids);
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids, Attention& attention);

  // Computes the embeddings of several texts, which share calls (docs/import.md). The last bits may differ from those
  // of a text alone.
  [[nodiscard]] std::vector<Embedding> embed(std::span<const std::vector<TokenId>> texts);

 private:
  Folder folder_;
  std::unique_ptr<Imported> model_;
};

}  // namespace minilm
