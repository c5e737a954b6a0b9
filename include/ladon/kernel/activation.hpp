// Activations of the feed-forward network.
#pragma once

#include <ladon/kernel/elementary.hpp>

namespace ladon::inline LADON_ABI {

// relu: max(0, x). gelu: x * (1 + erf(x / sqrt(2))) / 2, exact. gelu_tanh: its approximation by tanh (both in Hendrycks
// and Gimpel, arXiv 1606.08415).
enum class Activation { relu, gelu, gelu_tanh };

namespace kernel {

template <class Pack>
LADON_INLINE constexpr Pack gelu(const Pack& x) noexcept {
  const Pack half = Pack::broadcast(0.5f) * x;
  return fma(half, erf(x * Pack::broadcast(0.70710678f)), half);
}

// (1 + tanh(u)) / 2 = 1 / (1 + e^(-2u)), u = sqrt(2 / pi) * (x + 0.044715 x^3)
template <class Pack>
LADON_INLINE constexpr Pack gelu_tanh(const Pack& x) noexcept {
  const Pack minus_2u = x * fma(Pack::broadcast(-0.0713548163f), x * x, Pack::broadcast(-1.59576912f));
  return x / (Pack::broadcast(1.0f) + exp(minus_2u));
}

template <Activation F, class Pack>
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  if constexpr (F == Activation::gelu) {
    return gelu(x);
  } else if constexpr (F == Activation::gelu_tanh) {
    return gelu_tanh(x);
  } else {
    return max(Pack::broadcast(0.0f), x);
  }
}

}  // namespace kernel
}  // namespace ladon::inline LADON_ABI
