// Tests the forms of a layer (ladon/model.hpp): places of norms, parallel residual connections, scales of the outputs
// of sublayers, kinds and gains of norms, and activations. The results must agree with the oracle for every length.
#include <doctest/doctest.h>

#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::FinalNorm, ladon::Model, ladon::NormGain, ladon::NormKind,
    ladon::NormOrder, ladon::Residual;
namespace layout = ladon::layout;

constexpr S grouped{.queries = 18, .model = 48, .heads = 6, .kv_heads = 3}, few{.queries = 5, .model = 48, .heads = 6},
    one{.queries = 1, .model = 67, .heads = 1};

template <S Shape, Model Config, class Layout = layout::InProj>
void check_layer() {
  check_encoder(layer_without_maps<Shape, Config, ladon::mask::Causal, Layout>(),
                {.layer = Config,
                 .projections = Layout::projections,
                 .output = Layout::output,
                 .epsilon = 1e-6f,
                 .activation_bits = activation_bits<typename Layout::Precision>});
}
template <S Shape, Model Config>
void check_stack() {
  check_encoder(
      encoder_subject<2, Shape, Config, ladon::mask::Unmasked, FinalNorm::with, layout::InProj, maps_of_wide_set>(),
      {.layers = 2, .layer = Config, .final_norm = true});
}
// Layers with float32, bfloat16 and int8 weights, of several tokens, of few and of one. Norms of outputs enlarge the
// errors of rounded inputs, so that the bound of several tokens would find no mistake. The usual test set has bfloat16
// weights with some forms, because forms and bfloat16 weights have no code in common. The quick test set has no int8
// weights either.
#if defined(LADON_TEST_WIDE)
constexpr bool every_precision = true;
#else
constexpr bool every_precision = false;
#endif
template <Model Config, bool BFloat16 = every_precision>
void check_form() {
  check_layer<few, Config, layout::WithoutBias<layout::InProj>>();
  check_layer<one, Config>();
#if !defined(LADON_TEST_SET_QUICK)
  constexpr S rounded = Config.norms_output() ? one : few;
  check_layer<grouped, Config>();
#if !LADON_DETERMINISTIC
  if constexpr (BFloat16) check_layer<rounded, Config, layout::BFloat16<layout::InProj>>();
#endif
  check_layer<rounded, Config, layout::Int8<layout::InProj>>();
#endif
}

// An activation works on single numbers, so two numbers of tokens are enough.
template <Activation F>
void check_activation() {
  constexpr Model config{.feed_forward = 35, .activation = F};
  if constexpr (every_precision) check_form<config>();
  check_layer<few, config>();
  check_layer<one, config>();
  check_layer<few, config, layout::Int8<layout::InProj>>();
}

constexpr Model gemma{.feed_forward = 31,
                      .activation = Activation::gelu_tanh,
                      .norm = NormOrder::both,
                      .gated = true,
                      .norm_kind = NormKind::rms,
                      .norm_gain = NormGain::one_plus_weight,
                      .bias = Bias::without};
constexpr Model glm{.feed_forward = 60, .norm = NormOrder::both};
constexpr Model olmo{.feed_forward = 20, .activation = Activation::silu, .norm = NormOrder::output, .gated = true};
constexpr Model neox{
    .feed_forward = 30, .activation = Activation::gelu, .norm = NormOrder::pre, .residual = Residual::parallel};
constexpr Model phi{.feed_forward = 30, .norm = NormOrder::pre, .residual = Residual::parallel_one_norm};
constexpr Model granite{.feed_forward = 20, .norm = NormOrder::pre, .residual_scale = 0.22f};
constexpr Model beit{.feed_forward = 20, .norm = NormOrder::pre, .layer_scale = true, .layer_bias = true};
constexpr Model dino{.feed_forward = 20, .norm = NormOrder::pre, .layer_scale = true};

// RMSNorm before attention, LayerNorm before the feed-forward network (TimesFM).
constexpr Model mixed{.feed_forward = 20,
                      .norm = NormOrder::pre,
                      .norm_kind = NormKind::rms,
                      .feed_forward_norm_kind = NormKind::layer,
                      .norm_gain = NormGain::one_plus_weight};
// Every member at the same time.
constexpr Model all{.feed_forward = 20,
                    .activation = Activation::xielu,
                    .norm = NormOrder::both,
                    .residual_scale = 0.5f,
                    .layer_scale = true,
                    .gated = true,
                    .feed_forward_norm_kind = NormKind::rms,
                    .norm_gain = NormGain::one_plus_weight,
                    .norm_bias = Bias::without};
constexpr Model scaled_post{.feed_forward = 40, .norm = NormOrder::post, .residual_scale = 1.5f, .layer_scale = true};

}  // namespace

TEST_CASE("norms before and after each sublayer, gains of 1 + weight") {
  check_form<glm, true>();
  check_layer<grouped, gemma>();
  check_layer<few, gemma>();
  check_layer<one, gemma, layout::WithoutBias<layout::SeparateQKV>>();
}
TEST_CASE("norms after each sublayer") { check_form<olmo>(); }
TEST_CASE("a parallel residual connection with two norms") { check_form<neox, true>(); }
TEST_CASE("a parallel residual connection with one norm") { check_form<phi>(); }
TEST_CASE("a factor of the outputs of sublayers") { check_form<granite>(); }
TEST_CASE("scales of the outputs of sublayers") { check_form<dino>(); }
TEST_CASE("numbers of each layer that are added to the scores, joined with a causal mask or alone") {
  check_form<beit>();
  check_stack<few, beit>();
}
TEST_CASE("scales in post-LN, several panels that share the weights") {
  check_layer<grouped, scaled_post>();
  check_layer<S{.queries = 67, .model = 16, .heads = 2}, scaled_post>();
}
TEST_CASE("two kinds of norms in a layer") { check_form<mixed>(); }
TEST_CASE("quick GELU") { check_activation<Activation::quick_gelu>(); }
TEST_CASE("squared ReLU") { check_activation<Activation::squared_relu>(); }
TEST_CASE("xIELU") { check_activation<Activation::xielu>(); }
TEST_CASE("stacks") {
  check_stack<grouped, all>();
  check_stack<few, neox>();
  check_stack<grouped, olmo>();
}

}  // namespace ladon_test
