// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm (NormKind in weights.hpp) of one panel. `in` and `out` are [features][T.width()], and may be
// the same array. Each lane has a token, or, with a single token, a feature.
//
// A second pass computes the variance from the deviations from the mean. The formula (mean of squares) - mean^2 would
// cancel digits. If the variance is outside least_variance .. most_variance, the token is multiplied by a power of two
// and computed again, so that very large and very small features get the right norm.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Between these limits, squares that underflow do not change the result, and no sum overflows.
inline constexpr float least_variance = 0x1p-100f, most_variance = 0x1p100f;
inline constexpr int most_rescalings = 2;  // brings each float between 2^-50 and 2^50

// If the variance of a token is outside the limits, multiplies the token by a power of two, and its epsilon by the
// square of this power. Writes all tokens to `out`. Sizes are arguments, so that all kernels share this function.
LADON_COLD constexpr void rescale_tokens(const float* in, std::size_t features, std::size_t width, std::size_t tokens,
                                         const float* variance, float* epsilon, float* out) noexcept {
  LADON_AS_WRITTEN
  for (std::size_t t = 0; t < tokens; ++t) {
    const float factor = variance[t] < least_variance ? 0x1p64f : variance[t] <= most_variance ? 1.0f : 0x1p-64f;
    epsilon[t] = vec::in_order(epsilon[t] * factor) * factor;
    for (std::size_t i = t; i < features * width; i += width) out[i] = in[i] * factor;
  }
}

template <class AnyNorm, class Pack>
LADON_INLINE constexpr Pack gain_of(const Pack& weight) noexcept {
  if constexpr (AnyNorm::gain == NormGain::one_plus_weight) return Pack::broadcast(1.0f) + weight;
  return weight;
}

// Normalises the first `Packs` packs of a panel. Lanes without a token are computed and ignored. All loops are in one
// function, because with an inlined function for each loop, g++ 12 inlines other functions of the layer differently.
template <class Simd, PanelLayout T, std::size_t Packs, class AnyNorm>
constexpr void normalize_panel(const float* in, const AnyNorm& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  constexpr std::size_t features = AnyNorm::size, tokens = Packs * Pack::lanes;
  constexpr bool centred = AnyNorm::kind == NormKind::layer;
  const Pack inverse_features = Pack::broadcast(1.0f / static_cast<float>(features)), one = Pack::broadcast(1.0f);
  const auto offset = [](std::size_t i, std::size_t v) { return i * T.width() + v * Pack::lanes; };
  Pack mean[Packs], scale[Packs], epsilon[Packs];
  LADON_UNROLLED_FOR(v, Packs) epsilon[v] = Pack::broadcast(norm.epsilon);
  for (int rescalings = most_rescalings;; --rescalings) {
    LADON_UNROLLED_FOR(v, Packs) mean[v] = scale[v] = Pack::broadcast(0.0f);
    if constexpr (centred) {
      for (std::size_t i = 0; i < features; ++i) {
        LADON_UNROLLED_FOR(v, Packs) mean[v] = mean[v] + Pack::load(in + offset(i, v));
      }
      LADON_UNROLLED_FOR(v, Packs) mean[v] = mean[v] * inverse_features;
    }
    for (std::size_t i = 0; i < features; ++i) {
      LADON_UNROLLED_FOR(v, Packs) {
        Pack x = Pack::load(in + offset(i, v));
        if constexpr (centred) x = x - mean[v];
        scale[v] = fma(x, x, scale[v]);
      }
    }
    auto within = Pack::every_lane(true);
    LADON_UNROLLED_FOR(v, Packs) {
      scale[v] = fma(scale[v], inverse_features, epsilon[v]);
      within = within & (Pack::broadcast(least_variance) <= scale[v]) & (scale[v] <= Pack::broadcast(most_variance));
    }
    if (rescalings == 0 || !(reduce_max(blend(within, Pack::broadcast(0.0f), one)) > 0)) break;
    float variances[tokens], epsilons[tokens];
    for (std::size_t v = 0; v < Packs; ++v) {
      scale[v].store(variances + v * Pack::lanes);
      epsilon[v].store(epsilons + v * Pack::lanes);
    }
    rescale_tokens(in, features, T.width(), tokens, variances, epsilons, out);
    for (std::size_t v = 0; v < Packs; ++v) epsilon[v] = Pack::load(epsilons + v * Pack::lanes);
    in = out;
  }
  // A token of zeros without an epsilon has the norm 0.
  const Pack least = Pack::broadcast((std::numeric_limits<float>::min)());
  LADON_UNROLLED_FOR(v, Packs) scale[v] = one / sqrt(maximum(least, scale[v]));
  for (std::size_t i = 0; i < features; ++i) {
    const Pack weight = gain_of<AnyNorm>(Pack::broadcast(norm.weight.data[i]));
    [[maybe_unused]] Pack bias = Pack::broadcast(0.0f);
    if constexpr (AnyNorm::biased) bias = Pack::broadcast(norm.bias.data[i]);
    LADON_UNROLLED_FOR(v, Packs) {
      const Pack x = Pack::load(in + offset(i, v));
      if constexpr (centred) {
        fma((x - mean[v]) * scale[v], weight, bias).store(out + offset(i, v));
      } else {
        (x * scale[v] * weight).store(out + offset(i, v));
      }
    }
  }
}

// Returns the sum of f(in[i]) over all features. `f` maps a pack to a pack. Lanes beyond the last feature add 0.
template <class Pack, std::size_t Features, class F>
LADON_INLINE constexpr float sum_of(const float* in, F f) noexcept {
  constexpr std::size_t rest = Features % Pack::lanes;
  Pack sum = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features - rest; i += Pack::lanes) sum = sum + f(Pack::load(in + i));
  if constexpr (rest > 0) {
    const Pack last = f(Pack::load_partial(in + Features - rest, rest));
    sum = sum + blend(Pack::lane_index() < Pack::broadcast(static_cast<float>(rest)), last, Pack::broadcast(0.0f));
  }
  return reduce_add(sum);
}

// Writes out[i] = f(in[i], load) for all features, one pack at a time. load(w) returns the elements of the array `w`
// [Features] for the features of this pack. Reads and writes nothing beyond the last feature.
template <class Pack, std::size_t Features, class F>
LADON_INLINE constexpr void for_features(const float* in, float* out, F f) noexcept {
  constexpr std::size_t rest = Features % Pack::lanes;
  for (std::size_t i = 0; i < Features - rest; i += Pack::lanes) {
    f(Pack::load(in + i), [&](const float* from) { return Pack::load(from + i); }).store(out + i);
  }
  if constexpr (rest > 0) {
    constexpr std::size_t i = Features - rest;
    f(Pack::load_partial(in + i, rest), [&](const float* from) {
      return Pack::load_partial(from + i, rest);
    }).store_partial(out + i, rest);
  }
}

// For rows outside a layer: a norm whose gain is the same factor for all features.
template <std::size_t Size, NormKind K>
struct NormWithFactor {
  static constexpr std::size_t size = Size;
  static constexpr NormKind kind = K;
  static constexpr bool biased = false;
  float factor, epsilon;
};

// Returns the gains of a pack of features. for_features explains `load`.
template <class Pack, class AnyNorm>
LADON_INLINE constexpr Pack load_gain(const AnyNorm& norm, auto load) noexcept {
  if constexpr (requires { norm.factor; }) {
    return Pack::broadcast(norm.factor);
  } else {
    return gain_of<AnyNorm>(load(norm.weight.data));
  }
}

template <class Simd, class AnyNorm>
constexpr void normalize_single_token(const float* in, const AnyNorm& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  constexpr std::size_t features = AnyNorm::size;
  constexpr bool centred = AnyNorm::kind == NormKind::layer;
  constexpr float inverse_features = 1.0f / static_cast<float>(features);
  [[maybe_unused]] Pack mean = Pack::broadcast(0.0f);
  const auto deviation = [&](const Pack& x) {
    if constexpr (centred) return x - mean;
    return x;
  };
  float epsilon = norm.epsilon, variance = 0;
  for (int rescalings = most_rescalings;; --rescalings) {
    if constexpr (centred) {
      mean = Pack::broadcast(sum_of<Pack, features>(in, [](const Pack& x) { return x; }) * inverse_features);
    }
    const float squares = sum_of<Pack, features>(in, [&](const Pack& x) { return deviation(x) * deviation(x); });
    variance = vec::unfused(inverse_features * squares) + epsilon;
    if (rescalings == 0 || (least_variance <= variance && variance <= most_variance)) break;
    rescale_tokens(in, features, 1, 1, &variance, &epsilon, out);
    in = out;
  }
  constexpr float least = (std::numeric_limits<float>::min)();
  const Pack scale = Pack::broadcast(1.0f / vec::sqrt_scalar(variance < least ? least : variance));
  for_features<Pack, features>(in, out, [&](const Pack& x, auto load) {
    if constexpr (centred) {
      Pack bias = Pack::broadcast(0.0f);
      if constexpr (AnyNorm::biased) bias = load(norm.bias.data);
      return fma((x - mean) * scale, load_gain<Pack>(norm, load), bias);
    } else {
      return x * scale * load_gain<Pack>(norm, load);
    }
  });
}

// Normalises rows [rows][features] outside a layer. Deterministic builds add the squares of a row one after another,
// because other orders depend on the number of lanes.
template <class Vectors, class AnyNorm>
constexpr void normalize_rows(const float* in, const AnyNorm& norm, std::size_t rows, float* out) noexcept {
  vec::with_packs<std::conditional_t<LADON_DETERMINISTIC, vec::ConstantPacks, Vectors>>([&]<class Simd>(Simd) {
    for (std::size_t r = 0; r < rows; ++r) {
      normalize_single_token<Simd>(in + r * AnyNorm::size, norm, out + r * AnyNorm::size);
    }
  });
}

template <class AnyNorm>
LADON_INLINE constexpr void expect_tensors([[maybe_unused]] const AnyNorm& norm) noexcept {
  LADON_EXPECTS(norm.weight.data != nullptr, "ladon: a norm lacks its weight", norm.caller);
  if constexpr (AnyNorm::biased) {
    LADON_EXPECTS(norm.bias.data != nullptr, "ladon: a LayerNorm lacks its bias", norm.caller);
  }
}

template <class Simd, PanelLayout T, std::size_t Packs, class AnyNorm>
LADON_INLINE constexpr void normalize(const float* in, const AnyNorm& norm, float* out) noexcept {
  expect_tensors(norm);
  if constexpr (is_single_token<Simd, T>) {
    normalize_single_token<Simd>(in, norm, out);
  } else {
    normalize_panel<Simd, T, Packs>(in, norm, out);
  }
}

}  // namespace LADON_NAMESPACE::detail
