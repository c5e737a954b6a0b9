// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm of a single token, with one feature in each lane. layer_norm.hpp and rms_norm.hpp have the
// formulas.
//
// The arrays and their shapes:
//     in, out, weight, bias    [Features]; `in` and `out` may be the same array
//
// Special cases: if `Features` is not a multiple of the number of lanes, the last features do not fill a pack. sum_of
// and for_features read the last features with a partial load. for_features writes these features with a partial
// store. Memory beyond the last feature is neither read nor written.
//
// detail/vec/array.hpp defines packs.
#pragma once

#include <cstddef>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the sum of f(in[i]) over all features. `f` maps a pack to a pack. Lanes beyond the last feature add 0.
template <class Pack, std::size_t Features, class F>
LADON_INLINE constexpr float sum_of(const float* in, F f) noexcept {
  constexpr std::size_t rest = Features % Pack::lanes;
  Pack sum = Pack::broadcast(0.0f);
  for (std::size_t i = 0; i < Features - rest; i += Pack::lanes) sum = sum + f(Pack::load(in + i));
  if constexpr (rest > 0) {
    const Pack last = f(Pack::load_partial(in + Features - rest, rest));
    sum = sum + select(Pack::lane_index() < Pack::broadcast(static_cast<float>(rest)), last, Pack::broadcast(0.0f));
  }
  return reduce_add(sum);
}

// Writes out[i] = f(in[i], load) for all features, one pack at a time. `f` may call the function `load`: load(w)
// returns the elements of the array `w` [Features] for the features of this pack.
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

// Writes the LayerNorm of `in` to `out`. The variance is computed in a second pass, from the deviations from the mean.
template <class Simd, std::size_t Features, Bias B>
constexpr void normalize_single_token(const float* in, const Norm<Features, NormKind::layer, B>& norm,
                                      float* out) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  constexpr float inverse_features = 1.0f / static_cast<float>(Features);
  const Pack mean = Pack::broadcast(sum_of<Pack, Features>(in, [](const Pack& x) { return x; }) * inverse_features);
  const float squares = sum_of<Pack, Features>(in, [&](const Pack& x) { return (x - mean) * (x - mean); });
  const float variance = inverse_features * squares;
  const Pack scale = Pack::broadcast(1.0f / vec::sqrt_scalar(variance + norm.epsilon));
  for_features<Pack, Features>(in, out, [&](const Pack& x, auto load) {
    Pack bias = Pack::broadcast(0.0f);
    if constexpr (B == Bias::with) bias = load(norm.bias.data);
    return fma((x - mean) * scale, load(norm.weight.data), bias);
  });
}

// Writes the RMSNorm of `in` to `out`.
template <class Simd, std::size_t Features, Bias B>
constexpr void normalize_single_token(const float* in, const Norm<Features, NormKind::rms, B>& norm,
                                      float* out) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  constexpr float inverse_features = 1.0f / static_cast<float>(Features);
  const float squares = sum_of<Pack, Features>(in, [](const Pack& x) { return x * x; });
  const float mean_of_squares = inverse_features * squares;
  const Pack scale = Pack::broadcast(1.0f / vec::sqrt_scalar(mean_of_squares + norm.epsilon));
  for_features<Pack, Features>(in, out, [&](const Pack& x, auto load) { return x * scale * load(norm.weight.data); });
}

}  // namespace LADON_NAMESPACE::detail
