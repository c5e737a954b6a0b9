// Declares the sizes of MiniLM, and structs that point to its weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ladon/bfloat16.hpp>
#include <memory>
#include <vector>

#include "safetensors.hpp"

namespace minilm {

using files::Safetensors;

// The sizes in config.json and sentence_bert_config.json of sentence-transformers/all-MiniLM-L6-v2.
inline constexpr std::size_t layer_count = 6;
inline constexpr std::size_t head_count = 12;
inline constexpr std::size_t model_width = 384;
inline constexpr std::size_t feed_forward_width = 1536;
inline constexpr std::size_t vocabulary_size = 30522;
inline constexpr std::size_t position_count = 512;  // rows of Embeddings::position; texts use the first max_tokens
inline constexpr std::size_t max_tokens = 256;
inline constexpr float layer_norm_epsilon = 1e-12f;

// A dense layer: weight is (out, in), row-major, and bias is (out).
struct Dense {
  const float* weight;
  const float* bias;
};

// A dense layer with bfloat16 weights.
struct BFloat16Dense {
  const ladon::BFloat16* weight;
  const float* bias;
};

// A dense layer with int8 weights. Row r is approximately scale[r] * weight[r], and row_sum[r] is the sum of weight[r].
struct Int8Dense {
  const std::int8_t* weight;
  const float* scale;
  const std::int32_t* row_sum;
  const float* bias;
};

// A dense layer with rotated int8 weights (ladon::layout::RotatedInt8).
struct RotatedInt8Dense : Int8Dense {};

// The tensors of LayerNorm, (model_width) each: y = normalised x * weight + bias.
struct Norm {
  const float* weight;
  const float* bias;
};

template <class AnyDense>
struct LayerTensors {
  AnyDense query;         // (model_width, model_width)
  AnyDense key;           // (model_width, model_width)
  AnyDense value;         // (model_width, model_width)
  AnyDense output;        // (model_width, model_width)
  Norm attention_norm;    // after the attention's residual
  AnyDense intermediate;  // (feed_forward_width, model_width)
  AnyDense back;          // (model_width, feed_forward_width)
  Norm output_norm;       // after the feed-forward's residual
};
template <class AnyDense>
using LayersOf = std::array<LayerTensors<AnyDense>, layer_count>;
using Layers = LayersOf<Dense>;

struct Embeddings {
  const float* word;      // (vocabulary_size, model_width)
  const float* position;  // (position_count, model_width)
  const float* type;      // (2, model_width): rows for the first and the second sentence; MiniLM uses only the first
  Norm norm;
};

// find_embeddings and find_layers find tensors in `file`, by the names of Hugging Face's BertModel. Both functions
// throw ModelError for the first missing or wrong tensor. The results point into `file`, so no weight is copied.
Embeddings find_embeddings(const Safetensors& file);
Layers find_layers(const Safetensors& file);

// Owns bfloat16 copies of the weights of all layers. The constructor rounds the float weights of the file.
class BFloat16Layers {
 public:
  // Throws ModelError for the first missing or wrong tensor.
  explicit BFloat16Layers(const Safetensors& file);

  [[nodiscard]] const LayersOf<BFloat16Dense>& layers() const noexcept { return layers_; }

 private:
  std::vector<std::shared_ptr<const void>> memory_;
  LayersOf<BFloat16Dense> layers_;
};

// Provides the int8 weights of all layers, and owns the tensors that the file does not contain. The template argument
// AnyInt8Dense is Int8Dense or RotatedInt8Dense.
//
// If `ladon-weights quantise` wrote the file, the int8 weights of the file are used in place. For a dense layer X, they
// are X.weight of dtype I8, and X.weight_scale of dtype F32 and shape (out, 1). Otherwise, the constructor quantises
// the float weights of the file.
template <class AnyInt8Dense>
class Int8LayersOf {
 public:
  // Throws ModelError as find_layers does. Also throws if only some dense layers have int8 weights, if a weight or a
  // scale is not finite, or if a scale has the wrong sign. Scales of rotated weights are negative.
  explicit Int8LayersOf(const Safetensors& file);

  [[nodiscard]] const LayersOf<AnyInt8Dense>& layers() const noexcept { return layers_; }

 private:
  std::vector<std::shared_ptr<const void>> memory_;
  LayersOf<AnyInt8Dense> layers_;
};
using Int8Layers = Int8LayersOf<Int8Dense>;
using RotatedInt8Layers = Int8LayersOf<RotatedInt8Dense>;

// Returns whether the file has int8 weights that are not rotated.
bool has_plain_int8_weights(const Safetensors& file);

}  // namespace minilm
