#include <algorithm>

#include "lane_product.hpp"
#include "model.hpp"

namespace keywords {
namespace {

using Block = std::array<Lanes, coefficients>;  // the features of one frame in each lane

Block load_block(const float* features, std::size_t frames) noexcept {
  alignas(Lanes) std::array<float, coefficients * lane_count> lanes{};
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (std::size_t i = 0; i < coefficients; ++i) lanes[i * lane_count + frame] = features[frame * coefficients + i];
  }
  Block block;
  for (std::size_t i = 0; i < coefficients; ++i) block[i] = load(lanes.data() + i * lane_count);
  return block;
}

}  // namespace

void embed(const float* features, const EmbeddingWeights& weights, float* x) noexcept {
  for (std::size_t j = 0; j < model_width; ++j) x[j] = weights.class_token[j] + weights.position[j];
  for (std::size_t first = 0; first < frame_count; first += lane_count) {
    const std::size_t frames = std::min(lane_count, frame_count - first);
    const Block block = load_block(features + first * coefficients, frames);
    lane_product<model_width, coefficients>(weights.embed_weight, weights.embed_bias, block.data(), frames,
                                            [&](std::size_t frame, std::size_t j, float y) {
                                              const std::size_t element = (1 + first + frame) * model_width + j;
                                              x[element] = y + weights.position[element];
                                            });
  }
}

}  // namespace keywords
