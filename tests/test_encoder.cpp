// Tests encoder layers and stacks: LayerNorm and RMSNorm, post-LN and pre-LN, every activation, with and without gates
// and biases, every mask, every length.
#include <doctest/doctest.h>

#include "attention_subject.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::FinalNorm, ladon::Model, ladon::NormKind, ladon::NormOrder;
namespace layout = ladon::layout;

// In the usual test set, the maps of shapes with several panels are captured.
template <S Shape>
constexpr Maps maps_of = Shape.queries > 32 ? Maps::with : maps_of_wide_set;

template <S Shape, Model Config, class Mask, class Layout = ladon::layout::InProj>
void check_layer(float epsilon = 1e-5f) {
  check_encoder(layer_subject<Shape, Config, Mask, Layout, ladon::detail::vec::NativeVectors, maps_of<Shape>>(),
                {.layer = Config, .projections = Layout::projections, .output = Layout::output, .epsilon = epsilon});
}

template <std::size_t Layers, S Shape, Model Config, class Mask, FinalNorm Final, class Layout = ladon::layout::InProj>
void check_stack(float epsilon = 1e-5f) {
  check_encoder(encoder_subject<Layers, Shape, Config, Mask, Final, Layout, maps_of<Shape>>(),
                {.layers = Layers,
                 .layer = Config,
                 .projections = Layout::projections,
                 .output = Layout::output,
                 .final_norm = Final == FinalNorm::with,
                 .epsilon = epsilon});
}

// Several cases use these shapes, so they share most instantiations. The last panel of 35 tokens has another layout
// than the other panels.
constexpr S two_heads{.queries = 35, .model = 10, .heads = 2}, one_head{.queries = 35, .model = 16, .heads = 1};

}  // namespace

#if !defined(LADON_TEST_EMULATED)
TEST_CASE("layer: post-LN, ReLU") { check_layer<two_heads, Model{.feed_forward = 20}, ladon::mask::Unmasked>(); }

#endif

TEST_CASE("layer: pre-LN, exact GELU, causal and padding") {
  check_layer<S{.queries = 33, .model = 10, .heads = 2},
              Model{.feed_forward = 31, .activation = Activation::gelu, .norm = NormOrder::pre}, CausalAndPadding>(
      1e-12f);
}

TEST_CASE("layer of Llama: RMSNorm before each part, a SiLU gate, no biases, grouped heads, causal") {
  check_layer<S{.queries = 18, .model = 12, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 21,
                    .activation = Activation::silu,
                    .norm = NormOrder::pre,
                    .gated = true,
                    .norm_kind = NormKind::rms,
                    .bias = Bias::without},
              ladon::mask::Causal, layout::WithoutBias<layout::SeparateQKV>>(1e-6f);
}

#if !defined(LADON_TEST_EMULATED)
TEST_CASE("layer of the Keyword Transformer: GELU by tanh, one head, a bias only in attention's output") {
  check_layer<one_head, Model{.feed_forward = 30, .activation = Activation::gelu_tanh}, ladon::mask::Unmasked,
              layout::WithoutProjectionBias<layout::InProj>>(1e-6f);
}

TEST_CASE("stack: pre-LN with a final norm, padding") {
  check_stack<2, S{.queries = 20, .model = 8, .heads = 2}, Model{.feed_forward = 16, .norm = NormOrder::pre},
              ladon::mask::Padding, FinalNorm::with>();
}

#endif

// Every check includes a call with .queries = 1.
TEST_CASE("stack: token 0 alone, post-LN, biases") {
  check_stack<2, two_heads, Model{.feed_forward = 9}, ladon::mask::Unmasked, FinalNorm::without>();
}

#if !defined(LADON_TEST_EMULATED)
TEST_CASE("stack: token 0 alone, post-LN, no biases of projections") {
  check_stack<2, one_head, Model{.feed_forward = 9}, ladon::mask::Unmasked, FinalNorm::without,
              layout::WithoutProjectionBias<layout::InProj>>();
}
#endif

TEST_CASE("stack: token 0 alone, pre-LN, padding, grouped heads, no biases of projections") {
  check_stack<2, S{.queries = 35, .model = 20, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 9, .norm = NormOrder::pre}, ladon::mask::Padding, FinalNorm::with,
              layout::WithoutProjectionBias<layout::InProj>>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layer: post-LN, GELU by tanh, causal, weights (in, out)") {
  check_layer<S{.queries = 40, .model = 9, .heads = 3, .kv_heads = 1, .head_width = 4, .value_width = 5},
              Model{.feed_forward = 33, .activation = Activation::gelu_tanh}, ladon::mask::Causal,
              ladon::layout::InOut>();
}

TEST_CASE("layer: pre-LN, ReLU, no mask, a single token") {
  check_layer<S{.queries = 1, .model = 3, .heads = 1}, Model{.feed_forward = 1, .norm = NormOrder::pre},
              ladon::mask::Unmasked>();
}

TEST_CASE("layer: LayerNorm without a bias, no other biases, a single token and several") {
  constexpr Model config{.feed_forward = 9, .bias = Bias::without, .norm_bias = Bias::without};
  using Layout = layout::WithoutBias<layout::InProj>;
  check_layer<S{.queries = 1, .model = 10, .heads = 2}, config, ladon::mask::Unmasked, Layout>();
  check_layer<S{.queries = 19, .model = 10, .heads = 2}, config, ladon::mask::Causal, Layout>();
}

TEST_CASE("stack: pre-LN, LayerNorm without a bias before each part and at the end") {
  check_stack<2, S{.queries = 10, .model = 6, .heads = 2},
              Model{.feed_forward = 9, .norm = NormOrder::pre, .norm_bias = Bias::without}, ladon::mask::Causal,
              FinalNorm::with>();
}

TEST_CASE("layer: post-LN, a GELU gate, (in, out), no output bias, padding") {
  check_layer<S{.queries = 21, .model = 8, .heads = 2},
              Model{.feed_forward = 11, .activation = Activation::gelu, .gated = true}, ladon::mask::Padding,
              layout::WithoutOutputBias<layout::InOut>>();
}

TEST_CASE("layer: RMSNorm after each residual, SiLU, feed-forward without biases") {
  check_layer<S{.queries = 5, .model = 7, .heads = 1},
              Model{
                  .feed_forward = 4, .activation = Activation::silu, .norm_kind = NormKind::rms, .bias = Bias::without},
              ladon::mask::Unmasked>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("layer: post-LN, exact GELU, padding, a hidden layer narrower than the model") {
  check_layer<S{.queries = 7, .model = 20, .heads = 5}, Model{.feed_forward = 3, .activation = Activation::gelu},
              ladon::mask::Padding>(1e-12f);
}

TEST_CASE("stack: RMSNorm before each part and at the end, gates") {
  check_stack<2, S{.queries = 10, .model = 6, .heads = 2},
              Model{.feed_forward = 9,
                    .activation = Activation::silu,
                    .norm = NormOrder::pre,
                    .gated = true,
                    .norm_kind = NormKind::rms},
              ladon::mask::Causal, FinalNorm::with>();
}

TEST_CASE("stack: post-LN, GELU, causal") {
  check_stack<2, S{.queries = 17, .model = 6, .heads = 1}, Model{.feed_forward = 12, .activation = Activation::gelu},
              ladon::mask::Causal, FinalNorm::without>();
}

TEST_CASE("stack: three pre-LN layers, causal and padding") {
  check_stack<3, S{.queries = 9, .model = 4, .heads = 2}, Model{.feed_forward = 8, .norm = NormOrder::pre},
              CausalAndPadding, FinalNorm::with>(1e-12f);
}
#endif

}  // namespace ladon_test
