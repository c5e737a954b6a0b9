// Declares the sizes and the weights of KWT-1, the smallest Keyword Transformer (Berg, O'Connor and Cruz, Interspeech
// 2021, arXiv 2104.00769). KWT-1 distinguishes the 12 labels below. The weights are those of the repository
// ARM-software/keyword-transformer. features[t] has the features of frame t. KWT-1 computes the logits as follows:
//     x[0] = class token + position[0]
//     x[1 + t] = embed(features[t]) + position[1 + t]
//     12 encoder layers, post-LN
//     logits = head(y[0])
//
// The head reads only y[0], so only row 0 of the last layer is computed.
#pragma once

#include <array>
#include <cstddef>
#include <ladon/ladon.hpp>
#include <string_view>

#include "tables.hpp"

namespace keywords {

inline constexpr std::size_t layer_count = 12;
inline constexpr std::size_t model_width = 64;
inline constexpr std::size_t token_count = 1 + frame_count;  // the class token, and a token for each frame
inline constexpr float norm_epsilon = 1e-6f;

inline constexpr std::array<std::string_view, 12> labels{"_silence_", "_unknown_", "yes", "no",  "up",   "down",
                                                         "left",      "right",     "on",  "off", "stop", "go"};
inline constexpr std::size_t label_count = labels.size();

inline constexpr ladon::Model model{.layers = layer_count,
                                    .tokens = token_count,
                                    .model = model_width,
                                    .heads = 1,
                                    .feed_forward = 256,
                                    .activation = ladon::Activation::gelu_tanh};
inline constexpr ladon::Shape shape = model.shape();

template <class Layout>
using EncoderOf = ladon::Encoder<model, ladon::mask::Unmasked, Layout>;

// The weights outside of the encoder layers: EmbeddingWeights makes the input of the first layer, and Head makes the
// logits.
struct EmbeddingWeights {
  const float* class_token;   // [model_width]
  const float* position;      // [token_count][model_width]
  const float* embed_weight;  // [model_width][coefficients]
  const float* embed_bias;    // [model_width]
};
using Head = ladon::Linear<label_count, model_width>;

// Computes x [token_count][model_width] from features [frame_count][coefficients].
void embed(const float* features, const EmbeddingWeights& weights, float* x) noexcept;

}  // namespace keywords
