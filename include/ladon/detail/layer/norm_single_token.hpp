// The norms of a single token, its features in the lanes (layer_norm.hpp and rms_norm.hpp have the equations).
#pragma once

#include <cstddef>

#include <ladon/detail/simd/vectors.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI::detail {

// The sum of f(pack) over Features numbers; lanes beyond the last count as 0.
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

// out[i] = f(in[i], load) for packs of features; load(w) gives the same features of w.
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

template <class Simd, std::size_t Features>
constexpr void normalize_one(const float* in, const Norm<Features>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  constexpr float share = 1.0f / static_cast<float>(Features);
  const Pack mean = Pack::broadcast(sum_of<Pack, Features>(in, [](const Pack& x) { return x; }) * share);
  const float variance = share * sum_of<Pack, Features>(in, [&](const Pack& x) { return (x - mean) * (x - mean); });
  const Pack scale = Pack::broadcast(1.0f / simd::sqrt_scalar(variance + norm.epsilon));
  for_features<Pack, Features>(in, out, [&](const Pack& x, auto load) {
    return fma((x - mean) * scale, load(norm.weight.data), load(norm.bias.data));
  });
}

template <class Simd, std::size_t Features>
constexpr void normalize_one(const float* in, const Norm<Features, NormKind::rms>& norm, float* out) noexcept {
  using Pack = typename Simd::template Pack<Simd::lanes>;
  constexpr float share = 1.0f / static_cast<float>(Features);
  const float squares = share * sum_of<Pack, Features>(in, [](const Pack& x) { return x * x; });
  const Pack scale = Pack::broadcast(1.0f / simd::sqrt_scalar(squares + norm.epsilon));
  for_features<Pack, Features>(in, out, [&](const Pack& x, auto load) { return x * scale * load(norm.weight.data); });
}

}  // namespace ladon::inline LADON_ABI::detail
