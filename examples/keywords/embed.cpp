#include <algorithm>

#include "lanes.hpp"
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
    const std::size_t row = (1 + first) * model_width;
    constexpr std::size_t tile = 4;  // sums that are independent, so that their additions overlap
    for (std::size_t j = 0; j < model_width; j += tile) {
      std::array<Lanes, tile> sums;
      for (std::size_t k = 0; k < tile; ++k) sums[k] = Lanes(weights.embed_bias[j + k]);
      for (std::size_t i = 0; i < coefficients; ++i) {
        for (std::size_t k = 0; k < tile; ++k)
          sums[k] = add_product(sums[k], Lanes(weights.embed_weight[(j + k) * coefficients + i]), block[i]);
      }
      alignas(Lanes) std::array<float, tile * lane_count> lanes;
      for (std::size_t k = 0; k < tile; ++k) store(sums[k], lanes.data() + k * lane_count);
      for (std::size_t frame = 0; frame < frames; ++frame) {
        for (std::size_t k = 0; k < tile; ++k) {
          const std::size_t element = row + frame * model_width + j + k;
          x[element] = lanes[k * lane_count + frame] + weights.position[element];
        }
      }
    }
  }
}

}  // namespace keywords
