// Tests kernels of layers with further norms, scales and activations: they give the bits of the C++ types.
#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "c_layer_forms.h"
#include "c_parallel.h"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

constexpr ladon::Model forms{.layers = 2,
                             .tokens = 5,
                             .model = 8,
                             .heads = 2,
                             .feed_forward = 12,
                             .activation = ladon::Activation::xielu,
                             .norm = ladon::NormOrder::both,
                             .residual_scale = 0.5f,
                             .layer_scale = true,
                             .norm_kind = ladon::NormKind::rms,
                             .feed_forward_norm_kind = ladon::NormKind::layer,
                             .norm_gain = ladon::NormGain::one_plus_weight,
                             .kinds = {{.unnormed_attention = true}, {}}};
constexpr ladon::Model parallel{.tokens = 5,
                                .model = 8,
                                .heads = 2,
                                .feed_forward = 12,
                                .activation = ladon::Activation::squared_relu,
                                .norm = ladon::NormOrder::pre,
                                .residual = ladon::Residual::parallel_one_norm,
                                .layer_scale = true};
constexpr ladon::Model parallel_int8 = [] {
  ladon::Model model = parallel;
  model.precision = ladon::PrecisionKind::int8;
  return model;
}();

// Sets the members that all layers have.
template <class To, class From>
To common_members(const From& from) {
  To to{};
  to.attention.in_proj_weight = from.attention.in_proj.weight.data;
  to.attention.in_proj_bias = from.attention.in_proj.bias.data;
  to.attention.out_proj_weight = from.attention.out_proj.weight.data;
  to.attention.out_proj_bias = from.attention.out_proj.bias.data;
  to.linear1_weight = from.linear1.weight.data;
  to.linear1_bias = from.linear1.bias.data;
  to.linear2_weight = from.linear2.weight.data;
  to.linear2_bias = from.linear2.bias.data;
  to.norm1_weight = from.norm1.weight.data;
  to.scale1 = from.scale1.data;
  to.scale2 = from.scale2.data;
  return to;
}

}  // namespace

TEST_CASE("a kernel with norms before and after sublayers, scales and xIELU gives the bits of the C++ type") {
  using Stack = ladon::Encoder<forms>;
  const RandomWeights<Stack::Weights> random;
  const std::vector<float> x = Random(4).normals(Stack::Input::size);
  std::vector<float> expected(Stack::Output::size), y(Stack::Output::size);
  const auto workspace = std::make_unique<Stack::Workspace>();
  Stack::run(x.data(), random.weights, expected.data(), *workspace);

  c_layer_forms_weights weights;
  for (std::size_t i = 0; i < forms.layers; ++i) {
    const auto& layer = random.weights.layers[i];
    auto& to = weights.layers[i] = common_members<c_layer_forms_layer_weights>(layer);
    to.norm2_weight = layer.norm2.weight.data;
    to.norm2_bias = layer.norm2.bias.data;
    to.output_norm1_weight = layer.output_norm1.weight.data;
    to.output_norm2_weight = layer.output_norm2.weight.data;
    to.output_norm2_bias = layer.output_norm2.bias.data;
    to.activation = layer.activation.data;
  }
  const auto run = [&] { return c_layer_forms_run(x.data(), &weights, y.data(), workspace.get()); };
  weights.layers[0].norm1_weight = nullptr;
  CHECK(run() == LADON_OK);
  CHECK(same_bits(y, expected));
  for (const float** needed : {&weights.layers[1].norm1_weight, &weights.layers[0].scale2,
                               &weights.layers[0].activation, &weights.layers[1].output_norm1_weight}) {
    const float* const kept = *needed;
    *needed = nullptr;
    CHECK(run() == LADON_NULL_WEIGHTS);
    *needed = kept;
  }
}

TEST_CASE("an int8 kernel with a parallel residual connection gives the bits of the C++ type") {
  using Layer = ladon::EncoderLayer<parallel_int8>;
  const RandomWeights<ladon::EncoderLayer<parallel>::Weights> random;
  auto floats = common_members<c_parallel_float_weights>(random.weights);
  floats.norm1_bias = random.weights.norm1.bias.data;
  alignas(64) static unsigned char memory[C_PARALLEL_QUANTISED_BYTES];
  c_parallel_weights quantised;
  REQUIRE(c_parallel_quantise(&floats, &quantised, memory) == LADON_OK);

#define LADON_LINEAR(to, from, name) \
  to.name = {from.name##_weight, from.name##_weight_scale, from.name##_weight_row_sum, from.name##_bias}
  Layer::Weights weights{};
  LADON_LINEAR(weights.attention, quantised.attention, in_proj);
  LADON_LINEAR(weights.attention, quantised.attention, out_proj);
  LADON_LINEAR(weights, quantised, linear1);
  LADON_LINEAR(weights, quantised, linear2);
#undef LADON_LINEAR
  weights.norm1.weight = quantised.norm1_weight;
  weights.norm1.bias = quantised.norm1_bias;
  weights.scale1 = quantised.scale1;
  weights.scale2 = quantised.scale2;
  const std::vector<float> x = Random(4).normals(Layer::Input::size);
  std::vector<float> expected(Layer::Output::size), y(Layer::Output::size);
  const auto workspace = std::make_unique<Layer::Workspace>();
  Layer::run(x.data(), weights, expected.data(), *workspace);
  CHECK(c_parallel_run(x.data(), &quantised, y.data(), workspace.get()) == LADON_OK);
  CHECK(same_bits(y, expected));
}

}  // namespace ladon_test
