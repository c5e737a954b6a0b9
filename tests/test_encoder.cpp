// Encoder layers and stacks: both norms in both orders, every activation, with and without gates and biases, every
// mask, every length.
#include <doctest/doctest.h>

#include "encoder_check.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::FinalNorm, ladon::LayerConfig, ladon::NormKind, ladon::NormOrder;
namespace layout = ladon::layout;

template <S Shape, LayerConfig Config, class Mask, class Layout = ladon::layout::InProj>
void check_layer(float epsilon = 1e-5f) {
  check_encoder(layer_subject<Shape, Config, Mask, Layout>(),
                {.layer = Config, .projections = Layout::projections, .output = Layout::output, .epsilon = epsilon});
}

template <std::size_t Layers, S Shape, LayerConfig Config, class Mask, FinalNorm Final>
void check_stack(float epsilon = 1e-5f) {
  check_encoder(encoder_subject<Layers, Shape, Config, Mask, Final>(),
                {.layers = Layers, .layer = Config, .final_norm = Final == FinalNorm::with, .epsilon = epsilon});
}

}  // namespace

TEST_CASE("layer: post-LN, ReLU") {
  check_layer<S{.queries = 17, .model = 12, .heads = 3}, LayerConfig{.feed_forward = 20}, ladon::mask::None>();
}

TEST_CASE("layer: pre-LN, exact GELU, causal and padding") {
  check_layer<S{.queries = 33, .model = 10, .heads = 2},
              LayerConfig{.feed_forward = 31, .activation = Activation::gelu, .norm = NormOrder::pre},
              CausalAndPadding>(1e-12f);
}

// Weights of the feed-forward network that are large enough for panels to share them, more panels than do, the last one
// narrower, and hidden features that do not fall into equal chunks.
TEST_CASE("layer: several groups of panels, post-LN") {
  check_layer<S{.queries = 32 * 5 + 3, .model = 128, .heads = 2}, LayerConfig{.feed_forward = 515},
              ladon::mask::None>();
}

// Rows of W2 that lie 4 KB apart: on AVX-512, and in AVX2's last panel, tiles of 8 and 7 of them.
#if defined(__SSE2__)
template <std::size_t RowStride>
constexpr std::size_t tile_rows =
    ladon::detail::tile_rows<ladon::detail::Tiling{16, 2, 12}, 2, ladon::detail::WeightMatrix<float, RowStride, 1>>;
static_assert(tile_rows<1024> == 8);
static_assert(tile_rows<1040> == 12);
#endif
TEST_CASE("layer: 1024 hidden features") {
  check_layer<S{.queries = 37, .model = 31, .heads = 1}, LayerConfig{.feed_forward = 1024}, ladon::mask::None>();
}

TEST_CASE("layer: Llama's, with RMSNorm before each part, a gate of SiLU, no biases, grouped heads, causal") {
  check_layer<S{.queries = 18, .model = 12, .heads = 4, .kv_heads = 2},
              LayerConfig{.feed_forward = 21,
                          .activation = Activation::silu,
                          .norm = NormOrder::pre,
                          .gated = true,
                          .norm_kind = NormKind::rms,
                          .bias = Bias::without},
              ladon::mask::Causal, layout::WithoutBias<layout::SeparateQKV>>(1e-6f);
}

TEST_CASE("stack: pre-LN with a final norm, padding") {
  check_stack<2, S{.queries = 20, .model = 8, .heads = 2}, LayerConfig{.feed_forward = 16, .norm = NormOrder::pre},
              ladon::mask::Padding, FinalNorm::with>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layer: post-LN, exact GELU, padding, a hidden layer narrower than the model") {
  check_layer<S{.queries = 7, .model = 20, .heads = 5}, LayerConfig{.feed_forward = 3, .activation = Activation::gelu},
              ladon::mask::Padding>(1e-12f);
}

TEST_CASE("layer: post-LN, GELU by tanh, causal, weights (in, out)") {
  check_layer<S{.queries = 40, .model = 9, .heads = 3, .kv_heads = 1, .head_width = 4, .value_width = 5},
              LayerConfig{.feed_forward = 33, .activation = Activation::gelu_tanh}, ladon::mask::Causal,
              ladon::layout::InOut>();
}

TEST_CASE("layer: several groups of panels, pre-LN, a gate") {
  check_layer<S{.queries = 70, .model = 128, .heads = 1},
              LayerConfig{.feed_forward = 515, .norm = NormOrder::pre, .gated = true}, ladon::mask::Padding>();
}

TEST_CASE("layer: several panels, heads that are narrower than the model and leave no room for sums") {
  check_layer<S{.queries = 70, .model = 128, .heads = 2, .value_width = 3}, LayerConfig{.feed_forward = 515},
              ladon::mask::None, ladon::layout::SeparateQKV>();
}

TEST_CASE("layer: pre-LN, ReLU, no mask, a single token") {
  check_layer<S{.queries = 1, .model = 3, .heads = 1}, LayerConfig{.feed_forward = 1, .norm = NormOrder::pre},
              ladon::mask::None>();
}

TEST_CASE("layer: post-LN, a gate of GELU, (in, out), no output bias, padding") {
  check_layer<S{.queries = 21, .model = 8, .heads = 2},
              LayerConfig{.feed_forward = 11, .activation = Activation::gelu, .gated = true}, ladon::mask::Padding,
              layout::WithoutOutputBias<layout::InOut>>();
}

TEST_CASE("layer: RMSNorm after each residual, SiLU, feed-forward without biases") {
  check_layer<S{.queries = 5, .model = 7, .heads = 1},
              LayerConfig{
                  .feed_forward = 4, .activation = Activation::silu, .norm_kind = NormKind::rms, .bias = Bias::without},
              ladon::mask::None>();
}

TEST_CASE("stack: RMSNorm before each part and at the end, gates") {
  check_stack<2, S{.queries = 10, .model = 6, .heads = 2},
              LayerConfig{.feed_forward = 9,
                          .activation = Activation::silu,
                          .norm = NormOrder::pre,
                          .gated = true,
                          .norm_kind = NormKind::rms},
              ladon::mask::Causal, FinalNorm::with>();
}

TEST_CASE("stack: post-LN, GELU, causal") {
  check_stack<2, S{.queries = 17, .model = 6, .heads = 1},
              LayerConfig{.feed_forward = 12, .activation = Activation::gelu}, ladon::mask::Causal,
              FinalNorm::without>();
}

TEST_CASE("stack: three pre-LN layers, both masks") {
  check_stack<3, S{.queries = 9, .model = 4, .heads = 2}, LayerConfig{.feed_forward = 8, .norm = NormOrder::pre},
              CausalAndPadding, FinalNorm::with>(1e-12f);
}
#endif

}  // namespace ladon_test
