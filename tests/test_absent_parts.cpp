// Tests layers without biases and without gates. A layer without biases must give the bits of a layer whose biases are
// zero. A layer without a gate must give the bits of a layer whose gate is always 1.
#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Bias, ladon::Model;
namespace layout = ladon::layout;

constexpr S shape{.queries = 9, .model = 10, .heads = 2, .kv_heads = 1, .value_width = 3};

void set_zero(Floats& values) { values.assign(values.size(), 0.0f); }

Outcome run(const Subject& subject, const AttentionProblem& problem) {
  return run_guarded(subject, task_of(subject, problem, {}));
}
Outcome run(const Subject& subject, const EncoderProblem& problem) {
  return run_guarded(subject, task_of(subject, problem, {}));
}

template <class Layout>
void check_attention_without_bias() {
  using ladon::mask::Unmasked;
  AttentionProblem problem = random_problem(shape.complete(), false, 5);
  oracle::AttentionWeights& w = problem.weights;
  const Subject with = self_subject<shape, Unmasked, Layout>();
  const Outcome biased = run(with, problem);

  const Floats output_bias = w.output.bias;
  set_zero(w.output.bias);
  const Outcome zero_output = run(with, problem);
  drop_biases(w, Bias::with, Bias::without);
  CHECK(same_bits(run(self_subject<shape, Unmasked, layout::WithoutOutputBias<Layout>>(), problem).y, zero_output.y));
  CHECK_FALSE(same_bits(zero_output.y, biased.y));

  w.output.bias = output_bias;
  for (oracle::Linear* linear : {&w.query, &w.key, &w.value}) set_zero(linear->bias);
  const Outcome zero_projections = run(with, problem);
  drop_biases(w, Bias::without, Bias::with);
  CHECK(same_bits(run(self_subject<shape, Unmasked, layout::WithoutProjectionBias<Layout>>(), problem).y,
                  zero_projections.y));
  CHECK_FALSE(same_bits(zero_projections.y, biased.y));

  for (oracle::Linear* linear : {&w.query, &w.key, &w.value}) linear->bias.assign(linear->out, 0.0f);
  set_zero(w.output.bias);
  const Outcome zero = run(with, problem);
  drop_biases(w, Bias::without, Bias::without);
  CHECK(same_bits(run(self_subject<shape, Unmasked, layout::WithoutBias<Layout>>(), problem).y, zero.y));
  CHECK_FALSE(same_bits(zero.y, zero_output.y));
}

template <Model Config>
Subject subject_of() {
  return layer_without_maps<shape, Config, ladon::mask::Unmasked>();
}

constexpr Model relu{.feed_forward = 7};
constexpr Model gated{.feed_forward = 7, .gated = true};
constexpr Model gated_without_bias{.feed_forward = 7, .gated = true, .bias = Bias::without};

}  // namespace

TEST_CASE("no bias gives the bits of a zero bias: attention, packed") {
  check_attention_without_bias<layout::InProj>();
}
TEST_CASE("no bias gives the bits of a zero bias: attention, one matrix a head") {
  check_attention_without_bias<layout::PerHead>();
}
#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("no bias gives the bits of a zero bias: attention, (in, out)") {
  check_attention_without_bias<layout::InOut>();
}
#endif

TEST_CASE("no bias gives the bits of a zero bias: feed-forward with a gate") {
  EncoderProblem problem = random_encoder(shape.complete(), {.layer = gated}, 1);
  const Outcome biased = run(subject_of<gated>(), problem);
  oracle::LayerWeights& w = problem.layers[0];
  for (oracle::Linear* linear : {&w.gate, &w.linear1, &w.linear2}) set_zero(linear->bias);
  const Outcome zero = run(subject_of<gated>(), problem);
  for (oracle::Linear* linear : {&w.gate, &w.linear1, &w.linear2}) linear->bias.clear();
  CHECK(same_bits(run(subject_of<gated_without_bias>(), problem).y, zero.y));
  CHECK_FALSE(same_bits(zero.y, biased.y));
}

TEST_CASE("a gate of ones gives the bits of no gate, where no feature is negative before ReLU") {
  EncoderProblem problem = random_encoder(shape.complete(), {.layer = gated}, 2);
  oracle::LayerWeights& w = problem.layers[0];
  for (float& bias : w.linear1.bias) bias += 20;
  const Outcome half_open = run(subject_of<gated>(), problem);
  set_zero(w.gate.weight);
  w.gate.bias.assign(w.gate.out, 1.0f);
  const Outcome open = run(subject_of<gated>(), problem);
  w.gate = {};
  CHECK(same_bits(run(subject_of<relu>(), problem).y, open.y));
  CHECK_FALSE(same_bits(open.y, half_open.y));
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("no bias gives the bits of a zero bias: attention, (out, in)") {
  check_attention_without_bias<layout::SeparateQKV>();
}
#endif

}  // namespace ladon_test
