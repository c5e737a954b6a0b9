// What MiniLM is, and where its weights lie.
#pragma once

#include <array>
#include <cstddef>

#include "safetensors.hpp"

namespace minilm {

using files::Safetensors;

// sentence-transformers/all-MiniLM-L6-v2, config.json and sentence_bert_config.json.
inline constexpr std::size_t layer_count = 6;
inline constexpr std::size_t head_count = 12;
inline constexpr std::size_t model_width = 384;
inline constexpr std::size_t feed_forward_width = 1536;
inline constexpr std::size_t vocabulary_size = 30522;
inline constexpr std::size_t position_count = 512;  // rows of the table; texts are cut at max_tokens
inline constexpr std::size_t max_tokens = 256;
inline constexpr float layer_norm_epsilon = 1e-12f;

// A dense layer, row-major (out, in) and (out).
struct Dense {
  const float* weight;
  const float* bias;
};

// LayerNorm's factors and summands, (model_width) each.
struct Norm {
  const float* weight;
  const float* bias;
};

struct LayerTensors {
  Dense query;          // (model_width, model_width)
  Dense key;            // (model_width, model_width)
  Dense value;          // (model_width, model_width)
  Dense output;         // (model_width, model_width)
  Norm attention_norm;  // after the attention's residual
  Dense intermediate;   // (feed_forward_width, model_width)
  Dense back;           // (model_width, feed_forward_width)
  Norm output_norm;     // after the feed-forward's residual
};

struct Checkpoint {
  const float* word;      // (vocabulary_size, model_width)
  const float* position;  // (position_count, model_width)
  const float* type;      // (2, model_width): first and second sentence; here all is the first
  Norm embedding_norm;
  std::array<LayerTensors, layer_count> layers;
};

// Finds all of it in the file, by the names of Hugging Face's BertModel; throws ModelError for the first
// tensor that is not as it must be. What it gives points into the file: no weight is copied.
Checkpoint find_tensors(const Safetensors& file);

}  // namespace minilm
