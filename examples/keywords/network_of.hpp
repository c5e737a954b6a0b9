// Implements Network for one precision. Each file network_*.cpp instantiates NetworkOf for one precision.
#pragma once

#include <algorithm>
#include <array>
#include <ladon/safetensors.hpp>
#include <memory>

#include "converted_weights.hpp"
#include "network.hpp"

namespace keywords {

using FloatLayout = ladon::layout::WithoutProjectionBias<ladon::layout::InProj>;

// `Layout` states how the weights of the encoder layers are stored: FloatLayout for float32 weights, or the same layout
// with int8 weights.
template <class Layout>
class NetworkOf final : public Network {
 public:
  explicit NetworkOf(const ladon::safetensors::File& file) {
    const auto from = ladon::safetensors::load<EncoderOf<FloatLayout>>(file, "layers", {.epsilon = norm_epsilon});
    for (std::size_t i = 0; i < layer_count; ++i) convert(from.layers[i], weights_.layers[i]);
  }

  void run(const float* x, float* y) noexcept override { Encoder::run(x, weights_, y, workspace_, options); }

  void run(const float* x, float* y, ClassAttention& attention) noexcept override {
    typename Encoder::Maps maps;
    for (std::size_t i = 0; i < layer_count; ++i) maps[i] = maps_[i].data();
    Encoder::run(x, weights_, y, workspace_, options, maps);
    for (std::size_t i = 0; i < layer_count; ++i) std::copy_n(maps_[i].begin(), token_count, attention[i].begin());
  }

 private:
  using Encoder = EncoderOf<Layout>;
  static constexpr typename Encoder::Options options{.queries = 1};  // the last layer computes only row 0

  void convert(const auto& from, typename Encoder::Layer::Weights& to) {
    memory_.convert(from.attention.in_proj, to.attention.in_proj);
    memory_.convert(from.attention.out_proj, to.attention.out_proj);
    memory_.convert(from.linear1, to.linear1);
    memory_.convert(from.linear2, to.linear2);
    to.norm1 = from.norm1;
    to.norm2 = from.norm2;
  }

  examples::ConvertedWeights memory_;
  typename Encoder::Weights weights_{};
  typename Encoder::Workspace workspace_{};
  std::array<std::array<float, token_count * token_count>, layer_count> maps_{};  // [layers][queries][keys]
};

}  // namespace keywords
