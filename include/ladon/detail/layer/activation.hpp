// SPDX-License-Identifier: Apache-2.0
// Activations of the feed-forward network: y = f(x) for each lane of a pack.
//     relu        max(0, x)
//     gelu        x * (1 + erf(x / sqrt(2))) / 2
//     gelu_tanh   x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3)
//     silu        x / (1 + e^-x)
//
// The functions take and return packs (vector registers of floats), and access no arrays. The caller ignores the
// results of lanes without a token.
//
// A new activation needs an enumerator in model.hpp and an overload of `activate` in this file. Without the
// overload, a layer with the new enumerator does not compile. The tests have switch statements over Activation. With
// -Werror=switch, the tests do not compile until each switch has a case for the new enumerator.
#pragma once

#include <ladon/detail/layer/gelu_table.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

// Rejects an enumerator that has no overload below. The overloads below are more constrained than this template, so the
// compiler prefers an overload if one exists for the enumerator.
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

// gelu_tanh(x) = x * (1 + tanh(u)) / 2 = x / (1 + 2^z) with z = -2 log2(e) u, so an exponential replaces tanh. The
// comment at the top of this file defines u.
//
// `bounded` is the larger of x and -10. This bound keeps z below 126, as exp2_of_nonpositive requires. For x below -10,
// the result is about -1e-37 instead of a number between -1e-37 and zero.
template <Activation F, class Pack>
  requires(F == Activation::gelu_tanh)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  const Pack bounded = max(Pack::broadcast(-10.0f), x);
  const Pack z = bounded * fma(Pack::broadcast(-0.102943240f), bounded * bounded, Pack::broadcast(-2.30220819f));
  return bounded / (Pack::broadcast(1.0f) + exp2_of_nonpositive(z));
}

// For x <= -88.73, e^-x overflows to infinity, so the result is 0. The exact result would be a number between -2.6e-37
// and zero.
//
// `bounded` is the larger of x and -105. Without this bound, x = -inf would give -inf / inf = NaN.
template <Activation F, class Pack>
  requires(F == Activation::silu)
LADON_INLINE constexpr Pack activate(const Pack& x) noexcept {
  const Pack bounded = max(Pack::broadcast(-105.0f), x);
  return bounded / (Pack::broadcast(1.0f) + exp(Pack::broadcast(0.0f) - bounded));
}

// Replaces each x by activate<F>(x). GELU computes each step for all N packs before the next step, because each
// instruction of erf waits for the previous instruction.
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

// Applies the activation F to hidden features. If Rounded is true, the next product rounds the features to integers or
// to bfloat16, so a less accurate activation is enough (gelu_table.hpp).
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

// A function object that applies the activation F (activate_hidden). A matrix product applies the object to each sum
// before the sum is stored (detail/product/epilogue.hpp).
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
