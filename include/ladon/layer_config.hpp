// SPDX-License-Identifier: Apache-2.0
// LayerConfig configures the feed-forward network of a layer, the norms, and the place of the norms. The attention of
// the layer is configured by the template arguments Shape, Mask, Layout, Score and Position (encoder_layer.hpp).
#pragma once

#include <cstddef>

#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

// The activation f of the feed-forward network. detail/layer/activation.hpp implements each activation:
//     relu        max(0, x)
//     gelu        x * (1 + erf(x / sqrt(2))) / 2, exact
//     gelu_tanh   the approximation of gelu by tanh
//     silu        x / (1 + e^-x)
//
// Hendrycks and Gimpel (arXiv 1606.08415) define gelu, gelu_tanh and, in section 5, silu.
enum class Activation { relu, gelu, gelu_tanh, silu };

// Where a layer applies its norms:
//     post   after each residual connection ("Attention Is All You Need", section 3.1)
//     pre    before each sublayer, on the sublayer's input (arXiv 2002.04745)
enum class NormOrder { post, pre };

struct LayerConfig {
  std::size_t feed_forward = 0;  // number of hidden features of the feed-forward network
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::post;
  bool gated = false;  // true: hidden = f(gate(x)) * linear1(x) (arXiv 2002.05202); false: hidden = f(linear1(x))
  NormKind norm_kind = NormKind::layer;
  Bias bias = Bias::with;       // whether the feed-forward network has biases; for attention, the layout decides
  Bias norm_bias = Bias::with;  // whether LayerNorms have biases; RMSNorm never has a bias
};

// The type of a layer's norms and of a stack's final norm.
template <Shape S, LayerConfig Config>
using LayerNormOf = Norm<S.model, Config.norm_kind, Config.norm_bias>;

// The types of the linear maps of a feed-forward network. linear1 and the gate have the type First, and linear2 has the
// type Second.
template <Shape S, LayerConfig Config, Order O, class Precision = precision::Float32>
struct FeedForwardLinears {
  using First = Linear<Config.feed_forward, S.model, O, Config.bias, Precision>;
  using Second = Linear<S.model, Config.feed_forward, O, Config.bias, Precision>;
};

}  // namespace LADON_NAMESPACE
