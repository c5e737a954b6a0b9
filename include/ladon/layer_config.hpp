// The configuration of a layer around the attention: feed-forward network, norms and biases.
#pragma once

#include <cstddef>

#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI {

// The activation of a feed-forward network.
//
//     relu        max(0, x)
//     gelu        x * (1 + erf(x / sqrt(2))) / 2        (Hendrycks and Gimpel, arXiv 1606.08415)
//     gelu_tanh   the approximation of gelu by tanh     (arXiv 1606.08415)
//     silu        x / (1 + e^-x)                        (arXiv 1606.08415, section 5)
enum class Activation { relu, gelu, gelu_tanh, silu };

// The place of the norms. `post`: after each residual ("Attention Is All You Need", arXiv 1706.03762, section 3.1).
// `pre`: before each part of the layer (arXiv 2002.04745).
enum class NormOrder { post, pre };

// The configuration of an encoder or decoder layer, as a template argument.
struct LayerConfig {
  std::size_t feed_forward = 0;  // hidden width; must not be 0
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::post;
  bool gated = false;  // hidden = f(gate x) * (linear1 x) instead of f(linear1 x) (arXiv 2002.05202)
  NormKind norm_kind = NormKind::layer;
  Bias bias = Bias::with;  // of the feed-forward network; the layout determines the biases of the attention
};

// The types of a feed-forward network's linear maps. The gate has the type First.
template <Shape S, LayerConfig Config, Order O>
struct FeedForwardLinears {
  using First = Linear<Config.feed_forward, S.model, O, Config.bias>;
  using Second = Linear<S.model, Config.feed_forward, O, Config.bias>;
};

}  // namespace ladon::inline LADON_ABI
