// SPDX-License-Identifier: Apache-2.0
// Quantised panels: the input of a product with int8 weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/panel/token_rows.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail {

// Each token has a scale and a zero point, from the range of its features:
//     high   = max(0, features)
//     low    = min(0, features)
//     levels = 255                           127 if q + zero has 7 bits
//     scale  = (high - low) / levels
//     zero   = round(-low * (1 / scale))     0 .. levels; makes the feature 0 exact
//     q      = round(x * (1 / scale)), clamped to -zero .. levels - zero
//
// Panels of std::int16_t and std::int32_t hold q. Panels of std::uint8_t hold q + zero. Panels of std::int8_t also hold
// q + zero, with a `zero` that is 128 less. A tuple is a 32-bit lane with tuple_size features of a token
// (detail/vec/dot.hpp):
//     data         [panels][tuples][width][tuple_size]      q = 0 for features that are missing from the last tuple
//     parameters   [panels][parameters_per_token][width]    scales, and zero points if `data` holds q + zero
//
// At run time, microcontrollers store the integers in other orders (detail/cortex_m).
//
// A token with an infinite or NaN feature gets the scale NaN, and arbitrary q. A token whose scale would be less than
// 2^-126 gets the scale 0, and q = 0. With Rotated, the features are first divided by 8 and rotated
// (detail/panel/rows.hpp), and the scale is multiplied by 8. Without the division, sums of finite features could
// overflow.
template <class Element>
inline constexpr std::size_t parameters_per_token = vec::holds_zero_point<Element> ? 2 : 1;

// Each panel begins `stride` integers after the previous one.
template <class ElementType>
struct Int8PanelsView {
  using Element = ElementType;
  using Lanes = Int8PanelsView;
  const Element* data;
  const float* parameters;
  std::size_t stride;

  template <std::size_t Width>
  LADON_INLINE constexpr const float* scale(std::size_t panel) const noexcept {
    return parameters + panel * parameters_per_token<Element> * Width;
  }
  template <std::size_t Width>
  LADON_INLINE constexpr const float* zero(std::size_t panel) const noexcept {
    static_assert(vec::holds_zero_point<Element>);
    return scale<Width>(panel) + Width;
  }

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr Int8PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, scale<Width>(first), stride};
  }
};

template <class View>
inline constexpr bool is_quantised = std::is_integral_v<typename View::Element>;

// The range of each token's features: low <= 0 <= high. `not_finite` is NaN if a feature is infinite or NaN.
template <class Pack>
struct FeatureRange {
  // With `high = low`, g++ 12 fails on arrays of this type in constant expressions.
  Pack low = Pack::broadcast(0.0f), high = Pack::broadcast(0.0f), not_finite = Pack::broadcast(0.0f);

  LADON_INLINE constexpr void extend(const Pack& x) noexcept {
    low = minimum(x, low);
    high = maximum(x, high);
  }
  LADON_INLINE constexpr void check_finite(const Pack& x) noexcept {
    not_finite = fma(x, Pack::broadcast(0.0f), not_finite);
  }
  friend LADON_INLINE constexpr FeatureRange operator|(const FeatureRange& a, const FeatureRange& b) noexcept {
    return {minimum(a.low, b.low), maximum(a.high, b.high), a.not_finite + b.not_finite};
  }
};

template <class PackType, std::size_t Features, std::size_t Width, bool Rotated>
struct PackFeatures {
  static_assert(!Rotated || Features % rotated_block == 0);
  using Pack = PackType;
  static constexpr std::size_t width = Width;
  static constexpr bool rotated = Rotated;
  static constexpr std::size_t block = Rotated ? rotated_block : 4;

  const float* features;

  // Calls visit(i, packs) for each block of features. packs[j] holds feature i + j of each token, rotated if Rotated is
  // true. Features that are missing from the last block are 0.
  template <class Visit>
  LADON_INLINE constexpr void for_blocks(const Visit& visit) const noexcept {
    for (std::size_t i = 0; i < Features; i += block) {
      Pack packs[block];
      LADON_UNROLLED_FOR(j, block) {
        packs[j] = exists(i + j) ? Pack::load(features + (i + j) * Width) : Pack::broadcast(0.0f);
        if constexpr (Rotated) packs[j] = packs[j] * Pack::broadcast(1.0f / rotated_block);
      }
      if constexpr (Rotated) rotate_block(packs);
      visit(i, packs);
    }
  }
  static LADON_INLINE constexpr bool exists(std::size_t i) noexcept { return Features % block == 0 || i < Features; }
};

// Returns the scales of a pack of tokens. Four independent ranges hide the latency of min, max and fma.
template <int FeatureBits, class From>
LADON_INLINE constexpr auto token_scale(From features) noexcept {
  using Pack = typename From::Pack;
  FeatureRange<Pack> range[4];
  features.for_blocks([&](std::size_t, const Pack* packs) LADON_INLINE_LAMBDA {
    LADON_UNROLLED_FOR(j, From::block) {
      range[j % 4].extend(packs[j]);
      // The first feature of a rotated block is the sum of the original features, which is finite only if all of them
      // are.
      if (!From::rotated || j == 0) range[j % 4].check_finite(packs[j]);
    }
  });
  const FeatureRange<Pack> all = (range[0] | range[1]) | (range[2] | range[3]);
  return vec::scale_of_range<FeatureBits>(all.low, all.high, all.not_finite == Pack::broadcast(0.0f));
}

// Quantises one pack of a panel. `to` receives the tuples, for example TuplesOfPanel (detail/panel/token_rows.hpp).
template <int FeatureBits, class Element, class From, class To>
LADON_INLINE constexpr void quantise_pack(From features, To&& to, float* parameters) noexcept {
  using Pack = typename From::Pack;
  using Dot = vec::TupleDot<Element, Pack>;
  static_assert(From::block % Dot::tuple_size == 0);
  const auto token = token_scale<FeatureBits>(features);
  const Pack zeros = Pack::broadcast(0.0f), zero = Pack::broadcast(vec::least_feature<Element>()) - token.least;
  const auto usable = zeros < token.reciprocal;
  // q needs no lower limit: quantised_feature in detail/vec/token_scale.hpp gives the reason.
  const auto integer = [&](const Pack& x) LADON_INLINE_LAMBDA {
    return minimum(blend(usable, x, zeros) * token.reciprocal, token.most);
  };
  Pack tuple[Dot::tuple_size];
  features.for_blocks([&](std::size_t i, const Pack* packs) LADON_INLINE_LAMBDA {
    LADON_UNROLL
    for (std::size_t first = 0; first < From::block; first += Dot::tuple_size) {
      LADON_UNROLLED_FOR(j, Dot::tuple_size) tuple[j] = integer(packs[first + j]);
      if (!From::exists(i + first)) continue;
      Dot::store_tuple(tuple, zero, to.tuple(i + first));
      to.stored(i + first);
    }
  });
  (From::rotated ? token.scale * Pack::broadcast(rotated_block) : token.scale).store(parameters);
  if constexpr (vec::holds_zero_point<Element>) zero.store(parameters + From::width);
}

// Rotates and quantises a whole panel [features][width]. `quantise` takes the rotated panel and writes `scale`.
template <std::size_t Features, std::size_t Width, std::size_t Tokens, class Quantise>
constexpr void quantise_rotated(const float* panel, float* scale, Quantise quantise) noexcept {
  alignas(16) float rotated[Features * Width];
  for (std::size_t i = 0; i < Features * Width; ++i) rotated[i] = panel[i] * (1.0f / rotated_block);
  for (std::size_t t = 0; t < Width; ++t) rotate_blocks(rotated + t, Features, Width, rotated + t);
  quantise(rotated);
  for (std::size_t t = 0; t < Tokens; ++t) scale[t] *= rotated_block;
}

// Quantises a single token like quantise_pack, with one feature in each lane. Compilers vectorise the last loop.
template <class Simd, std::size_t Features, int FeatureBits, bool Rotated, class Element>
LADON_NOINLINE constexpr void quantise_single_token(const float* features, Element* to, float* parameters) noexcept {
  if constexpr (Rotated) {
    return quantise_rotated<Features, 1, 1>(features, parameters, [&](const float* rotated) {
      quantise_single_token<Simd, Features, FeatureBits, false>(rotated, to, parameters);
    });
  }
  using Pack = typename Simd::template Pack<Simd::lanes>;
  using One = vec::ArrayPack<1>;
  constexpr std::size_t rest = Features % Pack::lanes;
  FeatureRange<Pack> range;
  const auto add = [&](const Pack& x) LADON_INLINE_LAMBDA {
    range.extend(x);
    range.check_finite(x);
  };
  for (std::size_t i = 0; i < Features - rest; i += Pack::lanes) add(Pack::load(features + i));
  if constexpr (rest > 0) add(Pack::load_partial(features + Features - rest, rest));
  const One lowest{-reduce_max(Pack::broadcast(0.0f) - range.low)}, highest{reduce_max(range.high)};
  const One::Mask finite{reduce_add(range.not_finite) == 0.0f};
  const auto token = vec::scale_of_range<FeatureBits>(lowest, highest, finite);
  const float reciprocal = token.reciprocal.lane[0], low = token.least.lane[0], high = token.most.lane[0];
  const float zero = vec::least_feature<Element>() - low;
  const auto added = vec::holds_zero_point<Element> ? static_cast<std::int32_t>(zero) : 0;
  // `scaled` needs a lower limit. Without -ffp-contract=off, scale_of_range may compute `low` with an fma, from an
  // unrounded product. `scaled` is a rounded product, and may then be less than `low`.
  for (std::size_t i = 0; i < Features; ++i) {
    const float scaled = (reciprocal > 0 ? features[i] : 0.0f) * reciprocal;
    const float raised = scaled > low ? scaled : low, q = raised < high ? raised : high;
    const auto bits = ladon::bit_cast<std::uint32_t>(q + vec::round_to_low_bits);
    to[i] = static_cast<Element>(static_cast<std::int16_t>(bits & 0xffffu) + added);
  }
  parameters[0] = token.scale.lane[0];
  if constexpr (vec::holds_zero_point<Element>) parameters[1] = zero;
}

}  // namespace LADON_NAMESPACE::detail
