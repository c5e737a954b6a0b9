// SPDX-License-Identifier: Apache-2.0
// The activations of model.hpp, for each lane of a pack.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/model.hpp>

namespace LADON_NAMESPACE::detail {

// Below -5.66, the computed GELU is 0, because erf returns -1. The bound -6 prevents a NaN for x = -inf. A NaN stays
// NaN.
template <class Pack>
LADON_INLINE constexpr Pack bounded_for_gelu(const Pack& x) noexcept {
  return maximum(Pack::broadcast(-6.0f), x);
}

// Returns void if `F` has no branch.
template <Activation F, class Pack>
LADON_INLINE constexpr auto activate(const Pack& x) noexcept {
  if constexpr (F == Activation::relu) {
    return maximum(Pack::broadcast(0.0f), x);
  } else if constexpr (F == Activation::gelu) {
    const Pack bounded = bounded_for_gelu(x), half = Pack::broadcast(0.5f) * bounded;
    return fma(half, erf(bounded * Pack::broadcast(0.70710678f)), half);
  } else if constexpr (F == Activation::gelu_tanh) {
    // x * (1 + tanh(u)) / 2 = x / (1 + 2^z) with z = -2 log2(e) u, and u as in model.hpp. For x >= -10, z is below 126,
    // as exp2_of_nonpositive requires. For x below -10, the result is about -1e-37.
    const Pack bounded = maximum(Pack::broadcast(-10.0f), x);
    const Pack z = bounded * fma(Pack::broadcast(-0.102943240f), bounded * bounded, Pack::broadcast(-2.30220819f));
    return bounded / (Pack::broadcast(1.0f) + exp2_of_nonpositive(z));
  } else if constexpr (F == Activation::silu) {
    // For x <= -88.73, e^-x is infinite and the result is 0. The bound -105 prevents a NaN for x = -inf.
    const Pack bounded = maximum(Pack::broadcast(-105.0f), x);
    return bounded / (Pack::broadcast(1.0f) + exp(Pack::broadcast(0.0f) - bounded));
  } else if constexpr (F == Activation::quick_gelu) {
    const Pack bounded = maximum(Pack::broadcast(-61.0f), x);  // as for silu: 1.702 * 61 is above 88.73
    return bounded / (Pack::broadcast(1.0f) + exp(bounded * Pack::broadcast(-1.702f)));
  } else if constexpr (F == Activation::squared_relu) {
    const Pack bounded = maximum(Pack::broadcast(0.0f), x);
    return bounded * bounded;
  }
}
template <Activation F>
inline constexpr bool has_activation =
    F == Activation::xielu || !std::is_void_v<decltype(activate<F>(vec::ArrayPack<1>{}))>;

// If the next product rounds the hidden features to int8 or bfloat16, GELU comes from a table.
//     gelu(x) = x / 2 + |x| g(|x|)     g(a) = erf(a / sqrt(2)) / 2
//
// A table has 16 polynomials of degree 3 in 3 * a - k. The segment k is the integer nearest to 3 * a. Above a = 5, g is
// 1/2. One register holds the 16 coefficients of one degree, and one instruction looks up a coefficient for every lane.
//
// The absolute error of g is at most 2.3e-6 for gelu and gelu_tanh. The polynomials are minimax (Remez). Segment 15 has
// a least-squares fit with the value 1/2 at a = 5, so gelu(x) is exactly 0 for x <= -5. Gain: bench/tuning-log.md.
template <Activation F>
inline constexpr bool uses_gelu_table = vec::uses_exp2_table && (F == Activation::gelu || F == Activation::gelu_tanh);

// Coefficient [degree][segment] of the polynomials.
struct alignas(64) GeluTable {
  float coefficient[4][16];
};
// clang-format off
inline constexpr GeluTable gelu_table{{
    {-2.5103839e-08f, 0.130557209f, 0.247505292f, 0.341342807f, 0.408787698f, 0.452209502f, 0.477250308f, 0.490185261f, 0.496170133f, 0.498650432f, 0.499571115f, 0.499877214f, 0.49996835f, 0.499992669f, 0.49999848f, 0.5f},
    {0.132982194f, 0.125793472f, 0.106482483f, 0.0806574225f, 0.0546708107f, 0.033159662f, 0.0179972779f, 0.00874063186f, 0.00379852997f, 0.00147714082f, 0.000513994135f, 0.000160036987f, 4.4586548e-05f, 1.11148483e-05f, 2.47921298e-06f, 4.78693164e-06f},
    {-1.24333737e-05f, -0.00694207055f, -0.0117616896f, -0.0133807594f, -0.0121145509f, -0.00920608267f, -0.0060127615f, -0.00341829611f, -0.00170433952f, -0.00074890774f, -0.000290984579f, -0.000100209872f, -3.06414768e-05f, -8.32998649e-06f, -2.01540433e-06f, 1.67287326e-05f},
    {-0.00243325741f, -0.00205935119f, -0.0010933138f, -6.18357581e-06f, 0.000777965237f, 0.00108412234f, 0.000996358693f, 0.000719371252f, 0.00043147651f, 0.000220562215f, 9.744618e-05f, 3.75314557e-05f, 1.2673554e-05f, 3.76710227e-06f, 9.88526608e-07f, 2.02313731e-05f},
}};
// The coefficients for gelu_tanh: g(a) = tanh(sqrt(2 / pi) (a + 0.044715 a^3)) / 2.
inline constexpr GeluTable gelu_tanh_table{{
    {-2.56730122e-08f, 0.130545899f, 0.247434601f, 0.34119007f, 0.408613086f, 0.452118427f, 0.477299243f, 0.490339398f, 0.496347249f, 0.49878785f, 0.499651849f, 0.499914736f, 0.499982476f, 0.49999702f, 0.499999583f, 0.5f},
    {0.132982224f, 0.125761405f, 0.106400296f, 0.0805912465f, 0.054701928f, 0.0332863815f, 0.018133672f, 0.00880634692f, 0.00378294545f, 0.00142171257f, 0.000461194257f, 0.000127207531f, 2.93649482e-05f, 5.58267675e-06f, 8.60079581e-07f, 7.93276286e-07f},
    {-1.271579e-05f, -0.00696883956f, -0.011775245f, -0.013349303f, -0.0120583195f, -0.00917636137f, -0.00603192346f, -0.00346175954f, -0.00173648947f, -0.000756767695f, -0.000283396075f, -8.99334264e-05f, -2.38186403e-05f, -5.18311526e-06f, -9.12387748e-07f, 2.63426386e-06f},
    {-0.00244477857f, -0.0020628795f, -0.00108141871f, 8.65512811e-06f, 0.000777680601f, 0.00106861896f, 0.000982189435f, 0.000717889459f, 0.000439031981f, 0.000227922414f, 0.000100236139f, 3.69636728e-05f, 1.12737698e-05f, 2.80183076e-06f, 5.58954525e-07f, 3.3165536e-06f},
}};
// clang-format on

template <class Pack>
LADON_INLINE constexpr Pack gelu_from_table(const GeluTable& table, const Pack& x) noexcept {
  const Pack bounded = bounded_for_gelu(x), magnitude = copy_sign(bounded, Pack::broadcast(0.0f));
  const Pack scaled = minimum(Pack::broadcast(15.0f), magnitude * Pack::broadcast(3.0f));
  const Pack magic = Pack::broadcast(vec::round_to_low_bits);
  const Pack segment = in_order(scaled + magic);
  const Pack rest = scaled - in_order(segment - magic);
  Pack g = entry_at_low_bits(table.coefficient[3], segment);
  LADON_UNROLL
  for (std::size_t i = 3; i > 0; --i) g = fma(g, rest, entry_at_low_bits(table.coefficient[i - 1], segment));
  return fma(magnitude, g, bounded * Pack::broadcast(0.5f));
}

// Rounded: the next product rounds the features, so a less accurate activation is enough. Without a table, GELU
// computes each step for all packs before the next step, because each instruction of erf waits for the previous one.
template <Activation F, bool Rounded, class Pack, std::size_t N>
LADON_INLINE constexpr void activate_hidden(Pack (&x)[N]) noexcept {
  if constexpr (Rounded && uses_gelu_table<F>) {
    for (Pack& pack : x) pack = gelu_from_table(F == Activation::gelu ? gelu_table : gelu_tanh_table, pack);
  } else if constexpr (F == Activation::gelu && N > 1) {
    Pack erfs[N];
    LADON_UNROLLED_FOR(i, N) x[i] = bounded_for_gelu(x[i]);
    LADON_UNROLLED_FOR(i, N) erfs[i] = x[i] * Pack::broadcast(0.70710678f);
    vec::erf(erfs);
    LADON_UNROLLED_FOR(i, N) {
      const Pack half = Pack::broadcast(0.5f) * x[i];
      x[i] = fma(half, erfs[i], half);
    }
  } else {
    for (Pack& pack : x) pack = activate<F>(pack);
  }
}

// A product applies this function object to its sums (detail/product/epilogue.hpp).
template <Activation F, bool Rounded = false>
struct Activate {
  // ReLU is a single instruction, and its square needs two.
  static constexpr bool long_code = F != Activation::relu && F != Activation::squared_relu;
  // The argument has the weights of a layer, which only xIELU needs.
  static LADON_INLINE constexpr Activate of(const auto&) noexcept { return {}; }
  template <class Pack, std::size_t N>
  LADON_INLINE constexpr void apply(Pack (&x)[N]) const noexcept {
    activate_hidden<F, Rounded>(x);
  }
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& x) const noexcept {
    Pack packs[1]{x};
    apply(packs);
    return packs[0];
  }
};

// xIELU has two learned numbers. As in the reference implementation, e^x is e^-1e-6 for x between -1e-6 and 0.
template <bool Rounded>
struct Activate<Activation::xielu, Rounded> {
  static constexpr bool long_code = true;
  float positive, negative;
  static constexpr Activate of(const auto& weights) noexcept {
    LADON_EXPECTS(weights.activation.data != nullptr, "ladon: a layer with Activation::xielu lacks `activation`",
                  weights.linear1.caller);
    return {weights.activation.data[0], weights.activation.data[1]};
  }
  template <class Pack, std::size_t N>
  LADON_INLINE constexpr void apply(Pack (&x)[N]) const noexcept {
    for (Pack& pack : x) pack = (*this)(pack);
  }
  template <class Pack>
  LADON_INLINE constexpr Pack operator()(const Pack& x) const noexcept {
    const Pack bounded = maximum(Pack::broadcast(-105.0f), minimum(Pack::broadcast(-1e-6f), x));
    const Pack power = Pack::broadcast(negative) * (exp(bounded) - Pack::broadcast(1.0f));
    const Pack above = x * fma(Pack::broadcast(positive), x, Pack::broadcast(0.5f));
    return blend(Pack::broadcast(0.0f) < x, above, fma(Pack::broadcast(0.5f - negative), x, power));
  }
};

// Replaces each of `count` numbers outside a layer by f(number). `f` maps a pack to a pack.
template <class Simd, class F>
constexpr void transform_floats(float* x, std::size_t count, F f) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  const std::size_t rest = count % Pack::lanes, whole = count - rest;
  for (std::size_t i = 0; i < whole; i += Pack::lanes) f(Pack::load(x + i)).store(x + i);
  if (rest > 0) f(Pack::load_partial(x + whole, rest)).store_partial(x + whole, rest);
}

}  // namespace LADON_NAMESPACE::detail
