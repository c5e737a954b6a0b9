// SPDX-License-Identifier: Apache-2.0
// Activations of the feed-forward network: y = f(x) for each lane of a pack.
//     relu        max(0, x)
//     gelu        x * (1 + erf(x / sqrt(2))) / 2
//     gelu_tanh   x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3)
//     silu        x / (1 + e^-x)
//
// A new activation needs an enumerator in model.hpp and an overload of `activate` in this file.
#pragma once

#include <ladon/detail/layer/gelu_table.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

// Rejects an enumerator without an overload. The overloads are more constrained.
template <Activation F, class Pack>
constexpr Pack activate(const Pack& x) noexcept {
  static_assert(sizeof(Pack) == 0,
                "ladon: an Activation needs its overload of activate in detail/layer/activation.hpp");
  return x;
}

template <Activation F, class Pack>
  requires(F == Activation::relu)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  return max(Pack::broadcast(0.0f), x);
}

template <Activation F, class Pack>
  requires(F == Activation::gelu)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  const Pack half = Pack::broadcast(0.5f) * x;
  return fma(half, erf(x * Pack::broadcast(0.70710678f)), half);
}

// x * (1 + tanh(u)) / 2 = x / (1 + 2^z) with z = -2 log2(e) u. For x >= -10, z is below 126, as exp2_of_nonpositive
// requires. For x below -10, the result is about -1e-37.
template <Activation F, class Pack>
  requires(F == Activation::gelu_tanh)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  const Pack bounded = max(Pack::broadcast(-10.0f), x);
  const Pack z = bounded * fma(Pack::broadcast(-0.102943240f), bounded * bounded, Pack::broadcast(-2.30220819f));
  return bounded / (Pack::broadcast(1.0f) + exp2_of_nonpositive(z));
}

// For x <= -88.73, e^-x is infinite and the result is 0. Without the bound -105, x = -inf would give NaN.
template <Activation F, class Pack>
  requires(F == Activation::silu)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  const Pack bounded = max(Pack::broadcast(-105.0f), x);
  return bounded / (Pack::broadcast(1.0f) + exp(Pack::broadcast(0.0f) - bounded));
}

// GELU computes each step for all N packs before the next step, because each instruction of erf waits for the last one.
template <Activation F, class Pack, std::size_t N>
LADON_INLINE constexpr void activate(Pack (&x)[N]) noexcept {
  if constexpr (F == Activation::gelu && N > 1) {
    Pack erfs[N];
    vec::for_each_index<N>([&](std::size_t i) { erfs[i] = x[i] * Pack::broadcast(0.70710678f); });
    vec::erf(erfs);
    vec::for_each_index<N>([&](std::size_t i) {
      const Pack half = Pack::broadcast(0.5f) * x[i];
      x[i] = fma(half, erfs[i], half);
    });
  } else {
    for (std::size_t i = 0; i < N; ++i) x[i] = activate<F>(x[i]);
  }
}

// If Rounded is true, the next product rounds the features, so a less accurate activation is enough (gelu_table.hpp).
template <Activation F, bool Rounded, class Pack>
LADON_INLINE constexpr Pack activate_hidden(const Pack& x) noexcept {
  if constexpr (Rounded && uses_gelu_table<F>) {
    return gelu_from_table(F == Activation::gelu ? gelu_table : gelu_tanh_table, x);
  } else {
    return activate<F>(x);
  }
}

template <Activation F, bool Rounded, class Pack, std::size_t N>
LADON_INLINE constexpr void activate_hidden(Pack (&x)[N]) noexcept {
  if constexpr (Rounded && uses_gelu_table<F>) {
    for (std::size_t i = 0; i < N; ++i) x[i] = activate_hidden<F, Rounded>(x[i]);
  } else {
    activate<F>(x);
  }
}

// A product applies this function object to each sum before it is stored (detail/product/epilogue.hpp).
template <Activation F, bool Rounded = false>
struct Activate {
  static constexpr bool long_code = true;
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& x) const noexcept {
    return activate_hidden<F, Rounded>(x);
  }
};

// ReLU is a single instruction.
template <bool Rounded>
struct Activate<Activation::relu, Rounded> {
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& x) const noexcept {
    return activate<Activation::relu>(x);
  }
};

}  // namespace LADON_NAMESPACE::detail
