// all-MiniLM-L6-v2: a text's tokens to one vector of unit length; the closer two vectors, the closer the
// meanings.
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

// The cosine of two embeddings, which are of length 1.
float similarity(const Embedding& a, const Embedding& b);

// How much of its attention each token pays to each token: [layer_count][head_count][tokens][tokens], where
// the last index is the token looked at, and a row of it sums to 1.
struct Attention {
  std::size_t tokens = 0;
  std::vector<float> weights;

  [[nodiscard]] std::span<const float> row(std::size_t layer, std::size_t head, std::size_t token) const {
    return std::span(weights).subspan(((layer * head_count + head) * tokens + token) * tokens, tokens);
  }
};

// The precision of the weights of the six layers. Embeddings, biases and norms are float32.
enum class Precision { float32, int8 };

class SentenceEncoder {
 public:
  // Maps or copies the file (files::Load) and finds every tensor in it; throws ModelError. With Precision::int8, float
  // weights are quantised; int8 weights are used where they lie (Int8Layers).
  explicit SentenceEncoder(const std::filesystem::path& model_file, files::Load load = files::Load::map,
                           Precision precision = Precision::float32);

  // `ids` are what WordPiece::encode gave: at least one, at most max_tokens, each below vocabulary_size;
  // throws ModelError otherwise, and when the result is not finite (a damaged file).
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids);
  [[nodiscard]] Embedding embed(std::span<const TokenId> ids, Attention& attention);

  // Of several texts, each as above; with the same bits where a text has more than eight tokens, and a few units in the
  // last place off otherwise. As many as have max_tokens together share a run.
  [[nodiscard]] std::vector<Embedding> embed(std::span<const std::vector<TokenId>> texts);

  // What goes into the first layer, [ids][model_width]: word + position + type, normalised.
  void lookup(std::span<const TokenId> ids, float* x) const;

  using AnyLayers = std::variant<Layers, Int8Layers>;
  [[nodiscard]] const AnyLayers& layers() const noexcept { return layers_; }

 private:
  struct Runner {
    std::unique_ptr<Stack> stack;  // null until the first text that needs it
    std::vector<float> x;          // [capacity][model_width]
    std::vector<float> y;          // [capacity][model_width]
  };

  // What a run of several texts needs; null until there is one.
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
