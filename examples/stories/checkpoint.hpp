// Declares the sizes of stories260K, and structs that point to its weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace stories {

using TokenId = std::uint32_t;

// The sizes in the header of the model's file (karpathy/tinyllamas on Hugging Face, folder stories260K).
inline constexpr std::size_t model_width = 64;
inline constexpr std::size_t feed_forward_width = 172;
inline constexpr std::size_t layer_count = 5;
inline constexpr std::size_t head_count = 8;
inline constexpr std::size_t kv_head_count = 4;
inline constexpr std::size_t vocabulary_size = 512;
inline constexpr std::size_t max_positions = 512;

inline constexpr std::size_t head_width = model_width / head_count;
inline constexpr std::size_t kv_width = kv_head_count * head_width;

// Parameters that the file does not contain, and that are fixed in llama2.c.
inline constexpr float norm_epsilon = 1e-5f;
inline constexpr float rotary_base = 10000;

// All matrices are row-major, (out, in): y = W x. Linear maps have no biases.
struct LayerTensors {
  const float* attention_norm;     // (model_width): RMSNorm before the attention
  const float* query;              // (model_width, model_width)
  const float* key;                // (kv_width, model_width)
  const float* value;              // (kv_width, model_width)
  const float* output;             // (model_width, model_width)
  const float* feed_forward_norm;  // (model_width): RMSNorm before the feed-forward
  const float* gate;               // (feed_forward_width, model_width), w1: silu(gate x) multiplies `up x`
  const float* up;                 // (feed_forward_width, model_width), w3
  const float* down;               // (model_width, feed_forward_width), w2
};

struct Checkpoint {
  const float* embedding;  // (vocabulary_size, model_width): the embeddings, and the weight of the classifier
  std::array<LayerTensors, layer_count> layers;
  const float* final_norm;  // (model_width)
};

// Finds all tensors in a file of llama2.c's "version 0" format. Throws Error, which names `file`, if the header or the
// size does not fit this model. The results point into `bytes`, so no weight is copied. `bytes` must begin at a
// multiple of 4.
Checkpoint find_tensors(std::span<const std::byte> bytes, const std::filesystem::path& file);

}  // namespace stories
