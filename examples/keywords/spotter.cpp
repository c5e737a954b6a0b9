#include "spotter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace keywords {
namespace {

EmbeddingWeights find_embedding(const ladon::safetensors::File& file) {
  return {
      .class_token = file.tensor<float>("class_token", {model_width}),
      .position = file.tensor<float>("position", {token_count, model_width}),
      .embed_weight = file.tensor<float>("embed.weight", {model_width, coefficients}),
      .embed_bias = file.tensor<float>("embed.bias", {model_width}),
  };
}

Head find_head(const ladon::safetensors::File& file) {
  return {.weight = file.tensor<float>("head.weight", {label_count, model_width}),
          .bias = file.tensor<float>("head.bias", {label_count})};
}

}  // namespace

Logits softmax(const Logits& logits) noexcept {
  const float most = std::ranges::max(logits);
  Logits shares{};
  std::ranges::transform(logits, shares.begin(), [&](float logit) { return std::exp(logit - most); });
  const float sum = std::accumulate(shares.begin(), shares.end(), 0.0f);
  for (float& share : shares) share /= sum;
  return shares;
}

std::size_t largest(const Logits& logits) noexcept {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

Spotter::Spotter(const std::filesystem::path& file, Precision precision)
    : file_(file),
      embedding_(find_embedding(file_)),
      head_(find_head(file_)),
      network_(precision == Precision::int8 ? make_int8_network(file_) : make_float32_network(file_)),
      front_end_(std::make_unique<FrontEnd>()) {}

FeatureArray Spotter::features(Samples samples) noexcept {
  FeatureArray features;
  front_end_->compute(samples.data(), frame_count, features.data());
  return features;
}

Logits Spotter::logits(Samples samples) noexcept { return logits_of_features(features(samples)); }

Logits Spotter::logits_of_features(Features features) noexcept {
  return classify(features, [&](float* y) { network_->run(x_.data(), y); });
}

Logits Spotter::logits_of_features(Features features, ClassAttention& attention) noexcept {
  return classify(features, [&](float* y) { network_->run(x_.data(), y, attention); });
}

template <class Run>
Logits Spotter::classify(Features features, Run run) noexcept {
  embed(features.data(), embedding_, x_.data());
  std::array<float, model_width> y;
  run(y.data());
  Logits logits;
  ladon::linear(head_, y, logits);
  return logits;
}

}  // namespace keywords
