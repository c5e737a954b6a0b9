// Defines what counts.cpp and latency.cpp measure: attention and an encoder layer with random weights, for any shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <ladon/ladon.hpp>

namespace firmware {

// Generates numbers between -1 and 1 (the 32-bit generator of Numerical Recipes).
class Random {
 public:
  explicit constexpr Random(std::uint32_t seed) : state_(seed) {}
  constexpr float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<std::int32_t>(state_) >> 8) * 0x1p-23f;
  }
  void fill(std::span<float> values, float size) {
    for (float& value : values) value = size * next();
  }

 private:
  std::uint32_t state_;
};

template <ladon::Shape Given, class Mask = ladon::mask::Unmasked>
struct Attention {
  using Layer = ladon::MultiHeadAttention<Given, Mask>;
  static constexpr ladon::Shape shape = Layer::shape;
  static constexpr std::uint64_t products =
      4ull * shape.queries * shape.model * shape.model + 2ull * shape.queries * shape.queries * shape.model;

  static inline float x[shape.queries][shape.model], y[shape.queries][shape.model];
  static inline float in_weight[3 * shape.model][shape.model], in_bias[3 * shape.model];
  static inline float out_weight[shape.model][shape.model], out_bias[shape.model];
  static inline typename Layer::Workspace workspace;

  static std::span<float> input() { return {x[0], shape.queries * shape.model}; }
  static void prepare() {
    Random random(1);
    random.fill({in_weight[0], 3 * shape.model * shape.model}, 0.3f);
    random.fill({out_weight[0], shape.model * shape.model}, 0.3f);
    random.fill(in_bias, 0.1f);
    random.fill(out_bias, 0.1f);
    random.fill(input(), 2);
  }
  static void run(const typename Layer::Options& options = {}) {
    Layer::run(x, {.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}}, y, workspace, options);
  }
};

// An encoder layer. The feed-forward network is four times as wide as the model.
template <ladon::Shape Given, ladon::Activation Activation = ladon::Activation::relu>
struct Layer {
  static constexpr std::size_t model = Given.model, hidden = 4 * Given.model;
  using Encoder = ladon::EncoderLayer<ladon::Model{.feed_forward = hidden, .activation = Activation}.with(Given)>;
  using Own = Attention<Given>;
  static constexpr std::uint64_t products = Own::products + 2ull * Given.queries * model * hidden;

  static inline float weight1[hidden][model], bias1[hidden], weight2[model][hidden], bias2[model];
  static inline float scale[model], shift[model];
  static inline typename Encoder::Workspace workspace;

  static std::span<float> input() { return Own::input(); }
  static void prepare() {
    Own::prepare();
    Random random(2);
    random.fill({weight1[0], hidden * model}, 0.3f);
    random.fill({weight2[0], hidden * model}, 0.3f);
    random.fill(bias1, 0.1f);
    random.fill(bias2, 0.1f);
    random.fill(scale, 1);
    random.fill(shift, 0.1f);
  }
  static void run() {
    Encoder::run(
        Own::x,
        {.attention = {.in_proj = {Own::in_weight, Own::in_bias}, .out_proj = {Own::out_weight, Own::out_bias}},
         .linear1 = {weight1, bias1},
         .linear2 = {weight2, bias2},
         .norm1 = {scale, shift},
         .norm2 = {scale, shift}},
        Own::y, workspace);
  }
};

}  // namespace firmware
