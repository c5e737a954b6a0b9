// Computes KWT-1 with Ladon: takes one second of sound, and returns the logits of twelve labels.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <ladon/safetensors/file.hpp>
#include <memory>
#include <span>

#include "front_end.hpp"
#include "model.hpp"
#include "network.hpp"

namespace keywords {

// The precision of the matrices of the encoder layers. All other weights are float32.
enum class Precision { float32, int8 };

using Samples = std::span<const float, window_length>;                // -1 to 1, 16 kHz
using Features = std::span<const float, frame_count * coefficients>;  // [frame_count][coefficients]
using FeatureArray = std::array<float, frame_count * coefficients>;
using Logits = std::array<float, label_count>;

// Returns the probability of each label.
Logits softmax(const Logits& logits) noexcept;

// Returns the index of the largest element.
std::size_t largest(const Logits& logits) noexcept;

class Spotter {
 public:
  // Maps the file kwt1.safetensors. With Precision::int8, quantises the matrices of the encoder layers. Throws
  // ladon::safetensors::Error or examples::Error.
  explicit Spotter(const std::filesystem::path& file, Precision precision = Precision::float32);

  // Returns the features of one second of sound.
  FeatureArray features(Samples samples) noexcept;

  Logits logits(Samples samples) noexcept;
  Logits logits_of_features(Features features) noexcept;
  // Like logits_of_features(features), but also writes the attention weights of the class token to `attention`.
  Logits logits_of_features(Features features, ClassAttention& attention) noexcept;

 private:
  template <class Run>
  Logits classify(Features features, Run run) noexcept;

  ladon::safetensors::File file_;
  EmbeddingWeights embedding_;
  Head head_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<FrontEnd> front_end_;
  std::array<float, token_count * model_width> x_{};
};

}  // namespace keywords
