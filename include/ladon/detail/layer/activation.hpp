// Activations of the feed-forward network.
#pragma once

#include <ladon/detail/simd/elementary.hpp>
#include <ladon/layer_config.hpp>

namespace ladon::inline LADON_ABI::detail {

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

// From -88.73 down e^-x is infinite and the result 0, where the true one is above -2.6e-37; without the lower end -inf
// would be divided by infinity.
template <class Pack>
LADON_INLINE constexpr Pack silu(const Pack& x) noexcept {
  const Pack z = max(Pack::broadcast(-105.0f), x);
  return z / (Pack::broadcast(1.0f) + exp(Pack::broadcast(0.0f) - z));
}

template <Activation F, class Pack>
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  if constexpr (F == Activation::gelu) {
    return gelu(x);
  } else if constexpr (F == Activation::gelu_tanh) {
    return gelu_tanh(x);
  } else if constexpr (F == Activation::silu) {
    return silu(x);
  } else {
    return max(Pack::broadcast(0.0f), x);
  }
}

// An activation as the transform of an epilogue (detail/linear/epilogue.hpp).
template <Activation F>
struct Activate {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& x) const noexcept {
    return activate<F>(x);
  }
};

}  // namespace ladon::inline LADON_ABI::detail
