// Tests decoder layers and stacks: post-LN and pre-LN, a gate, masks over the text and over the encoder's output (the
// memory), and all lengths. Also tests that the bound finds mistakes in a decoder layer.
#include <functional>
#include <utility>

#include <doctest/doctest.h>

#include "decoder_check.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::FinalNorm, ladon::Model, ladon::NormKind, ladon::NormOrder;
using ladon::mask::Unmasked, ladon::mask::Causal, ladon::mask::Padding;

template <class SelfMask, class MemoryMask>
DecoderForm form_of(const Model& layer) {
  return {.layer = layer,
          .self_causal = MaskOf<SelfMask>::causal,
          .self_padding = MaskOf<SelfMask>::padding,
          .memory_padding = MaskOf<MemoryMask>::padding};
}

template <S Shape, std::size_t Memory, Model Config, class SelfMask, class MemoryMask,
          class Layout = ladon::layout::InProj, Maps M = maps_of_wide_set>
void check_layer() {
  check_decoder(decoder_layer_subject<Shape, Memory, Config, SelfMask, MemoryMask, Layout, M>(),
                form_of<SelfMask, MemoryMask>(Config));
}

template <std::size_t Layers, S Shape, std::size_t Memory, Model Config, class SelfMask, class MemoryMask,
          FinalNorm Final>
void check_stack() {
  DecoderForm form = form_of<SelfMask, MemoryMask>(Config);
  form.layers = Layers;
  form.final_norm = Final == FinalNorm::with;
  check_decoder(decoder_subject<Layers, Shape, Memory, Config, SelfMask, MemoryMask, Final>(), form);
}

constexpr S small{.queries = 18, .model = 12, .heads = 3};
constexpr Model post{.feed_forward = 20};
constexpr Model pre{.feed_forward = 15, .activation = Activation::gelu, .norm = NormOrder::pre};

}  // namespace

TEST_CASE("decoder layer: post-LN, causal, a memory with padding") {
  check_layer<small, 21, post, Causal, Padding, ladon::layout::InProj, Maps::with>();
}

TEST_CASE("decoder layer: pre-LN, causal and padding, the whole memory") {
  check_layer<small, 33, pre, CausalAndPadding, Unmasked, ladon::layout::InProj, Maps::with>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("decoder layer: post-LN, no masks, grouped heads, (in, out)") {
  check_layer<S{.queries = 5, .model = 8, .heads = 4, .kv_heads = 2, .head_width = 3, .value_width = 5}, 40,
              Model{.feed_forward = 7, .gated = true}, Unmasked, Unmasked, ladon::layout::InOut>();
}

TEST_CASE("decoder layer: LayerNorm without a bias") {
  check_layer<S{.queries = 6, .model = 8, .heads = 2}, 9, Model{.feed_forward = 5, .norm_bias = Bias::without}, Causal,
              Unmasked>();
}

TEST_CASE("decoder layers: a factor of sublayers, gains of 1 + weight, two kinds of norms, xIELU") {
  constexpr Model scaled{.feed_forward = 8,
                         .activation = Activation::xielu,
                         .norm = NormOrder::pre,
                         .residual_scale = 0.5f,
                         .norm_kind = NormKind::rms,
                         .feed_forward_norm_kind = NormKind::layer,
                         .norm_gain = ladon::NormGain::one_plus_weight};
  check_layer<S{.queries = 18, .model = 48, .heads = 6, .kv_heads = 3}, 19, scaled, Causal, Unmasked>();
  check_layer<S{.queries = 6, .model = 8, .heads = 2}, 9, Model{.feed_forward = 5, .residual_scale = 2}, Causal,
              Unmasked>();
}

TEST_CASE("decoder layers: norms before and after each sublayer") {
  constexpr Model both{.feed_forward = 8,
                       .norm = NormOrder::both,
                       .residual_scale = 0.5f,
                       .norm_kind = NormKind::rms,
                       .feed_forward_norm_kind = NormKind::layer};
  check_layer<S{.queries = 18, .model = 48, .heads = 6, .kv_heads = 3}, 19, both, Causal, Unmasked>();
  check_layer<S{.queries = 1, .model = 8, .heads = 2}, 9, Model{.feed_forward = 5, .norm = NormOrder::both}, Causal,
              Padding>();
}

TEST_CASE("decoder stack: post-LN") {
  check_stack<2, S{.queries = 9, .model = 6, .heads = 2}, 17, Model{.feed_forward = 8}, Causal, Padding,
              FinalNorm::without>();
}
#endif

TEST_CASE("decoder stack: pre-LN with RMSNorm before each part and at the end") {
  check_stack<2, S{.queries = 19, .model = 6, .heads = 2}, 20,
              Model{.feed_forward = 8, .norm = NormOrder::pre, .norm_kind = NormKind::rms}, Causal, Unmasked,
              FinalNorm::with>();
}

namespace {

// Runs a correct layer, and then makes the mistake `mistake` in the weights of the oracle. Returns how far the layer's
// result is from the oracle's, in units of the allowed error.
template <Model Config>
double distance_after(const std::function<void(DecoderProblem&)>& mistake) {
  const Subject subject = decoder_layer_subject<small, 33, Config, CausalAndPadding, Unmasked>();
  DecoderProblem problem = random_decoder(subject.shape, form_of<CausalAndPadding, Unmasked>(Config), 1);
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}, {}));
  REQUIRE(worst_distance(outcome.y, expected_decoder(subject, problem, {}, {}).y) <= 1);
  mistake(problem);
  return worst_distance(outcome.y, expected_decoder(subject, problem, {}, {}).y);
}

}  // namespace

TEST_CASE("mistakes in a decoder layer break the bound") {
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.layers[0].own.attention.output.bias[1] = 0; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.layers[0].cross.value.bias[2] = 0; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.layers[0].cross.output.bias[3] = 0; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.memory[5] *= 1.001f; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { std::swap(p.layers[0].own.attention, p.layers[0].cross); }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { std::swap(p.layers[0].own.norm1, p.layers[0].own.norm2); }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { std::swap(p.layers[0].own.norm2, p.layers[0].norm3); }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.layers[0].norm3.bias[4] = 0; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.form.layer.norm = NormOrder::post; }) > 1);
  CHECK(distance_after<pre>([](DecoderProblem& p) { p.form.self_causal = false; }) > 1);
}

}  // namespace ladon_test
