// What a layer has besides its attention.
#pragma once

#include <cstddef>

#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI {

// relu: max(0, x). gelu: x * (1 + erf(x / sqrt(2))) / 2, exact. gelu_tanh: its approximation by tanh (both in Hendrycks
// and Gimpel, arXiv 1606.08415). silu: x / (1 + e^-x) (the same, section 5).
enum class Activation { relu, gelu, gelu_tanh, silu };

// Where a layer normalises: after each residual ("Attention Is All You Need", 3.1), or what goes into each of its parts
// (arXiv 2002.04745).
enum class NormOrder { post, pre };

struct LayerConfig {
  std::size_t feed_forward = 0;  // hidden width
  Activation activation = Activation::relu;
  NormOrder norm = NormOrder::post;
  bool gated = false;  // hidden = f(gate x) * (linear1 x) instead of f(linear1 x) (arXiv 2002.05202)
  NormKind norm_kind = NormKind::layer;
  Bias bias = Bias::with;  // of the feed-forward network; a layout says which of attention's projections have one
};

// The two linears of a feed-forward network; its gate is of the first's type.
template <Shape S, LayerConfig Config, Order O>
struct FeedForwardLinears {
  using First = Linear<Config.feed_forward, S.model, O, Config.bias>;
  using Second = Linear<S.model, Config.feed_forward, O, Config.bias>;
};

}  // namespace ladon::inline LADON_ABI
