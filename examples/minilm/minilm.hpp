// all-MiniLM-L6-v2 computes a vector of length 1 from the tokens of a text. The more similar two texts are in meaning,
// the more similar are their vectors.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "checkpoint.hpp"
#include "safetensors.hpp"
#include "stack.hpp"
#include "word_piece.hpp"

namespace minilm {

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

// The precision of the weights of the six layers. Embeddings, biases and norms are float32.
enum class Precision { float32, bfloat16, int8 };

class SentenceEncoder {
 public:
  // Maps or copies the file (files::Load), and finds every tensor in the file. Throws ModelError. With
  // Precision::bfloat16, the weights are rounded. With Precision::int8, float weights are rotated and quantised. Int8
  // weights in the file are used in place, whether they are rotated or not (Int8LayersOf).
  explicit SentenceEncoder(const std::filesystem::path& model_file, files::Load load = files::Load::map,
                           Precision precision = Precision::float32);

  // Computes the embedding of a text. `ids` are the result of WordPiece::encode: 1 to max_tokens ids, each below
  // vocabulary_size. Throws ModelError if `ids` breaks this rule, or if the file is damaged so that the result is not
  // finite.
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids);
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids, Attention& attention);

  // Computes the embeddings of several texts. Consecutive texts share one run of the encoder, up to max_tokens tokens
  // in a run. The functions above run each text alone, and may compute a different embedding of the same text. The
  // difference is a few units in the last place, because a run of up to 8 tokens, or of 17 to 24 tokens, may add in a
  // different order than a longer run. With bfloat16 or int8 weights on AVX512_BF16, the difference may be larger,
  // because attention adds pairs of neighbouring keys.
  [[nodiscard]] std::vector<Embedding> embed(std::span<const std::vector<TokenId>> texts);

  // Computes the input of the first layer, [ids][model_width]: the LayerNorm of the sum of the word, position and type
  // embeddings.
  void lookup(std::span<const TokenId> ids, float* x) const;

  using AnyLayers = std::variant<Layers, BFloat16Layers, Int8Layers, RotatedInt8Layers>;
  [[nodiscard]] const AnyLayers& layers() const noexcept { return layers_; }

 private:
  struct Runner {
    std::unique_ptr<Stack> stack;  // null until the first text of this capacity
    std::vector<float> x;          // [capacity][model_width]
    std::vector<float> y;          // [capacity][model_width]
  };

  // The memory for runs that compute several texts at once. The member `shared_` is null until the first such run.
  struct Shared {
    std::unique_ptr<SharedStack> stack;
    SharedStack::Sight sight;
    std::array<float, max_tokens * model_width> x;
    std::array<float, max_tokens * model_width> y;
  };

  Embedding embed(std::span<const TokenId> ids, Attention* attention);
  void embed_in_one_run(std::span<const std::vector<TokenId>> texts, std::vector<Embedding>& embeddings);
  Runner& runner(std::size_t index);

  Safetensors file_;
  Embeddings embeddings_;
  AnyLayers layers_;
  std::array<Runner, capacities.size()> runners_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace minilm
