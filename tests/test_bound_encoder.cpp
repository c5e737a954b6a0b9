// Tests that the bound finds mistakes in an encoder layer. The mistakes are a missing bias, a wrong epsilon, a wrong
// kind of norm, and a wrong activation. A further mistake swaps the gate and the features that the gate multiplies.
#include <algorithm>
#include <functional>

#include <doctest/doctest.h>

#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::Model, ladon::NormKind, ladon::NormOrder;

constexpr S shape{.queries = 17, .model = 12, .heads = 3};
constexpr Model post{.feed_forward = 20, .activation = Activation::gelu};
constexpr Model pre{.feed_forward = 20, .activation = Activation::gelu_tanh, .norm = NormOrder::pre};

// Runs a correct layer, and makes the mistake `mistake` in the weights or options of the oracle. Returns how far the
// layer's result is from the oracle's, in units of the allowed error. The input of the first norm has the magnitude
// `size`.
template <Model Config>
double distance_after(const std::function<void(EncoderProblem&)>& mistake, float size = 1) {
  const Subject subject = layer_without_maps<shape, Config, ladon::mask::Unmasked>();
  const EncoderForm form{.layer = Config, .epsilon = 1e-12f};
  EncoderProblem problem = random_encoder(subject.shape, form, 1);
  for (Floats* values :
       {&problem.x, &problem.layers[0].attention.output.weight, &problem.layers[0].attention.output.bias}) {
    for (float& value : *values) value *= size;
  }
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
  REQUIRE(worst_distance(outcome.y, expected_encoder(subject, problem, {}).y) <= 1);
  mistake(problem);
  return worst_distance(outcome.y, expected_encoder(subject, problem, {}).y);
}

template <Model Config>
void check_mistakes() {
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].attention.output.bias[2] = 0; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].linear1.bias[3] = 0; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].linear2.bias[4] = 0; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].norm1.bias[5] = 0; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].norm2.bias[6] = 0; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { p.layers[0].norm1.weight[7] *= 1.0001f; }) > 1);
  CHECK(distance_after<Config>([](EncoderProblem& p) { std::swap(p.layers[0].norm1, p.layers[0].norm2); }) > 1);
}

}  // namespace

TEST_CASE("mistakes in an encoder layer break the bound: post-LN") { check_mistakes<post>(); }
TEST_CASE("mistakes in an encoder layer break the bound: pre-LN") { check_mistakes<pre>(); }

TEST_CASE("an epsilon of 1e-5 in place of 1e-12 breaks the bound") {
  const auto first = [](EncoderProblem& p) { p.layers[0].norm1.epsilon = 1e-5f; };
  const auto second = [](EncoderProblem& p) { p.layers[0].norm2.epsilon = 1e-5f; };
  CHECK(distance_after<post>(first, 0.5f) > 1);
  CHECK(distance_after<post>(second) > 1);
  CHECK(distance_after<pre>(first) > 1);
  CHECK(distance_after<pre>(second) > 1);
  CHECK(distance_after<post>(first, 0.1f) > 10);
  CHECK(distance_after<pre>(first, 0.1f) > 10);
}

TEST_CASE("GELU by tanh in place of the exact GELU breaks the bound, and vice versa") {
  CHECK(distance_after<post>([](EncoderProblem& p) { p.form.layer.activation = Activation::gelu_tanh; }) > 1);
  CHECK(distance_after<pre>([](EncoderProblem& p) { p.form.layer.activation = Activation::gelu; }) > 1);
  CHECK(distance_after<post>([](EncoderProblem& p) { p.form.layer.activation = Activation::relu; }) > 1);
}

constexpr Model gated{.feed_forward = 20, .activation = Activation::silu, .gated = true};
constexpr Model rms{.feed_forward = 20,
                    .activation = Activation::silu,
                    .norm = NormOrder::pre,
                    .norm_kind = NormKind::rms,
                    .bias = Bias::without};

TEST_CASE("mistakes with a gate break the bound") {
  CHECK(distance_after<gated>([](EncoderProblem& p) { p.form.layer.gated = false; }) > 1);
  CHECK(distance_after<gated>([](EncoderProblem& p) { p.layers[0].gate.bias[3] = 0; }) > 1);
  CHECK(distance_after<gated>([](EncoderProblem& p) { std::swap(p.layers[0].gate, p.layers[0].linear1); }) > 1);
  CHECK(distance_after<gated>([](EncoderProblem& p) { p.form.layer.activation = Activation::relu; }) > 1);
  CHECK(distance_after<gated>([](EncoderProblem& p) { p.form.layer.activation = Activation::gelu; }) > 1);
}

TEST_CASE("mistakes with RMSNorm break the bound") {
  const auto layer_norm = [](EncoderProblem& p) {
    p.form.layer.norm_kind = NormKind::layer;
    for (oracle::Norm* norm : {&p.layers[0].norm1, &p.layers[0].norm2}) norm->bias.assign(norm->weight.size(), 0.0f);
  };
  CHECK(distance_after<rms>(layer_norm) > 1);
  CHECK(distance_after<rms>([](EncoderProblem& p) { p.layers[0].norm1.weight[7] *= 1.0001f; }) > 1);
  CHECK(distance_after<rms>([](EncoderProblem& p) { std::swap(p.layers[0].norm1, p.layers[0].norm2); }) > 1);
  CHECK(distance_after<rms>([](EncoderProblem& p) { p.layers[0].norm1.epsilon = 1e-5f; }) > 1);
  CHECK(distance_after<rms>([](EncoderProblem& p) { p.layers[0].norm2.epsilon = 1e-5f; }) > 1);
  CHECK(distance_after<rms>([](EncoderProblem& p) { p.layers[0].linear1.bias.assign(20, 0.001f); }) > 1);
}

TEST_CASE("pre-LN in place of post-LN, and vice versa, breaks the bound") {
  CHECK(distance_after<post>([](EncoderProblem& p) { p.form.layer.norm = NormOrder::pre; }) > 1);
  CHECK(distance_after<pre>([](EncoderProblem& p) { p.form.layer.norm = NormOrder::post; }) > 1);
}

namespace {

constexpr Model with_output_norms{.feed_forward = 20,
                                  .activation = Activation::xielu,
                                  .norm = NormOrder::both,
                                  .residual_scale = 0.5f,
                                  .layer_scale = true,
                                  .norm_gain = ladon::NormGain::one_plus_weight};
constexpr Model parallel{.feed_forward = 20, .norm = NormOrder::pre, .residual = ladon::Residual::parallel};

}  // namespace

TEST_CASE("mistakes with norms of outputs, scales and xIELU break the bound") {
  const auto distance = distance_after<with_output_norms>;
  CHECK(distance([](EncoderProblem& p) { p.form.layer.residual_scale = 0.5001f; }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { std::swap(p.layers[0].scale1, p.layers[0].scale2); }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { p.layers[0].scale1[2] *= 1.0001f; }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { std::swap(p.layers[0].output_norm1, p.layers[0].output_norm2); }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { p.layers[0].output_norm2.one_plus_weight = false; }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { std::swap(p.layers[0].activation[0], p.layers[0].activation[1]); }, 1) > 1);
}

TEST_CASE("a sequential layer in place of a parallel layer breaks the bound") {
  const auto distance = distance_after<parallel>;
  CHECK(distance([](EncoderProblem& p) { p.form.layer.residual = ladon::Residual::sequential; }, 1) > 1);
  CHECK(distance([](EncoderProblem& p) { p.form.layer.residual = ladon::Residual::parallel_one_norm; }, 1) > 1);
}

}  // namespace ladon_test
