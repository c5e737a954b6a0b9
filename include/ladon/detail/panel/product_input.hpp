// SPDX-License-Identifier: Apache-2.0
// The input of a product in the form that its weights need: float panels for float32 weights (nothing is converted),
// bfloat16 panels for bfloat16 weights if the target multiplies them, quantised panels for int8 weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/panel/token_rows.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/token_scale.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Quantised panels. Each token has a scale and a zero point, from the range of its features:
//     high   = max(0, features)
//     low    = min(0, features)
//     levels = 255                           127 if q + zero has 7 bits
//     scale  = (high - low) / levels
//     zero   = round(-low * (1 / scale))     0 .. levels, so that the feature 0 is exact
//     q      = round(x * (1 / scale)), clamped to -zero .. levels - zero
//
// Panels of std::int16_t and std::int32_t hold q. Panels of std::uint8_t hold q + zero. Panels of std::int8_t also hold
// q + zero, with a `zero` that is 128 less. A tuple is a 32-bit lane with tuple_size features of a token
// (detail/vec/dot.hpp):
//     data         [panels][tuples][width][tuple_size]      q = 0 for features that are missing from the last tuple
//     parameters   [panels][parameters_per_token][width]    scale of each token; with q + zero, then also `zero`
//
// At run time, microcontrollers store the integers in other orders (detail/cortex_m).
//
// A token with an infinite or NaN feature gets the scale NaN, and arbitrary q. A token whose scale would be less than
// 2^-126 gets the scale 0, and q = 0. With Rotated, the features are divided by 8 and rotated first
// (detail/panel/rows.hpp): without the division, sums of finite features could overflow. The scale is multiplied by 8.
template <class Element>
inline constexpr std::size_t parameters_per_token = vec::holds_zero_point<Element> ? 2 : 1;

// Each panel begins `stride` integers after the previous one.
template <class ElementType>
struct Int8PanelsView {
  using Element = ElementType;
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
inline constexpr bool is_quantised = false;
template <class Element>
inline constexpr bool is_quantised<Int8PanelsView<Element>> = true;
template <class View>
inline constexpr bool is_quantised<WithTokenRows<View>> = is_quantised<View>;

// The lowest and highest feature of each token: low <= 0 <= high. `not_finite` is NaN if a feature is, or infinite.
template <class Pack>
struct FeatureRange {
  // With high = low, g++ 12 fails on arrays of this type in constant expressions.
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

  // Calls visit(i, packs) for each block of features. The packs hold the features i .. i + block - 1, rotated if
  // Rotated is true, and zeros for those that are missing from the last block.
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

// Four independent ranges hide the latency of min, max and fma.
template <int FeatureBits, class From>
LADON_INLINE constexpr auto token_scale(From features) noexcept {
  using Pack = typename From::Pack;
  FeatureRange<Pack> range[4];
  features.for_blocks([&](std::size_t, const Pack* packs) LADON_INLINE_LAMBDA {
    LADON_UNROLLED_FOR(j, From::block) {
      range[j % 4].extend(packs[j]);
      // The first feature of a rotated block is the sum of the original ones, which is finite only if all of them are.
      if (!From::rotated || j == 0) range[j % 4].check_finite(packs[j]);
    }
  });
  const FeatureRange<Pack> all = (range[0] | range[1]) | (range[2] | range[3]);
  return vec::scale_of_range<FeatureBits>(all.low, all.high, all.not_finite == Pack::broadcast(0.0f));
}

// Quantises one pack of a panel. `to` receives the tuples (detail/panel/token_rows.hpp).
template <int FeatureBits, class Element, class From, class To>
LADON_INLINE constexpr void quantise_pack(From features, To&& to, float* parameters) noexcept {
  using Pack = typename From::Pack;
  using Dot = vec::TupleDot<Element, Pack>;
  static_assert(From::block % Dot::tuple_size == 0);
  const auto token = token_scale<FeatureBits>(features);
  const Pack zeros = Pack::broadcast(0.0f), zero = Pack::broadcast(vec::least_feature<Element>()) - token.least;
  const auto usable = zeros < token.reciprocal;
  // q needs no lower limit (quantised_feature in detail/vec/token_scale.hpp).
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

// For targets that rotate a panel [features][width] as a whole. `quantise` takes a rotated panel, and writes `scale`.
template <std::size_t Features, std::size_t Width, std::size_t Tokens, class Quantise>
constexpr void quantise_rotated(const float* panel, float* scale, Quantise quantise) noexcept {
  alignas(16) float rotated[Features * Width];
  for (std::size_t i = 0; i < Features * Width; ++i) rotated[i] = panel[i] * (1.0f / rotated_block);
  for (std::size_t t = 0; t < Width; ++t) rotate_blocks(rotated + t, Features, Width, rotated + t);
  quantise(rotated);
  for (std::size_t t = 0; t < Tokens; ++t) scale[t] *= rotated_block;
}

// Quantises a single token like quantise_pack, with one feature in each lane. Compilers vectorise the loop that rounds.
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
  // The lower limit: without -ffp-contract=off, an fma may compute `low`, so that the rounded `scaled` may be less.
  for (std::size_t i = 0; i < Features; ++i) {
    const float scaled = (reciprocal > 0 ? features[i] : 0.0f) * reciprocal;
    const float raised = scaled > low ? scaled : low, q = raised < high ? raised : high;
    const auto bits = ladon::bit_cast<std::uint32_t>(q + vec::round_to_low_bits);
    to[i] = static_cast<Element>(static_cast<std::int16_t>(bits & 0xffffu) + added);
  }
  parameters[0] = token.scale.lane[0];
  if constexpr (vec::holds_zero_point<Element>) parameters[1] = zero;
}

// Panels of bfloat16 numbers, for targets that multiply them (detail/vec/dot.hpp):
//     data   [panels][(features + 1) / 2][width][2]    0 for a feature that is missing from the last pair
//
// Features are rounded to nearest, ties to even: the relative error is at most 2^-8. Subnormal features count as 0.
// Each panel begins `stride` numbers after the previous one.
struct BFloat16PanelsView {
  using Element = BFloat16;
  const BFloat16* data;
  std::size_t stride;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr BFloat16PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, stride};
  }
};

// Panels [panels][Features][width] of at most MostFeatures features:
//     convert(panels, first, count, active)    converts `count` panels from panel `first` on, and returns a view of all
//     view(panels)                             returns a view of all panels
//
// `active` counts the tokens of all panels: if few of them lie in the last panel, they become rows.
//
// for_panels explains the arguments P and Packs.
template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct LinearInput {
  static constexpr bool converts = false;
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_INLINE constexpr PanelsView convert(const float* panels, std::size_t, std::size_t, std::size_t = all) noexcept {
    return {panels};
  }
  LADON_INLINE constexpr PanelsView view(const float* panels) const noexcept { return {panels}; }
};

// Float panels, and the rows of the last active panel.
template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(may_have_token_rows<Vectors, T, float, MostFeatures>)
struct alignas(64) LinearInput<Precision, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true;
  static constexpr std::size_t tokens = Tokens;
  static constexpr PanelLayout layout = T;
  using MostRows = TokenRowForm<Vectors, T, float, MostFeatures>;
  float data[MostRows::most_tokens * MostRows::stride];
  TokenRows<float, T.panels(Tokens)> rows;

  template <class Simd, PanelLayout P, std::size_t, std::size_t Features>
  LADON_INLINE constexpr auto convert(const float* panels, std::size_t first, std::size_t count,
                                      std::size_t active = all) noexcept {
    static_assert(Features <= MostFeatures);
    for (std::size_t p = first; p < first + count; ++p) {
      const RowsOfPanel in_rows = rows_of_tokens<Simd, P, float, Features>(active - p * T.width());
      rows.set(p, in_rows);
      if constexpr (may_have_token_rows<Simd, P, float, Features>) {
        using Form = TokenRowForm<Simd, P, float, Features>;
        static_assert(Form::most_tokens <= MostRows::most_tokens && Form::stride <= MostRows::stride);
        if (in_rows.end > 0) {
          floats_to_rows<typename Simd::template Pack<P.lanes>, P, Form, Features>(
              panels + p * Features * T.width() + in_rows.begin, in_rows.end - in_rows.begin, data);
        }
      }
    }
    return view(panels);
  }
  LADON_INLINE constexpr auto view(const float* panels) const noexcept {
    return WithTokenRows<PanelsView>{{panels}, rows.of, data};
  }
};

template <class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(Vectors::multiplies_bfloat16)
struct alignas(64) LinearInput<precision::BFloat16, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true;
  static constexpr std::size_t tokens = Tokens, stride = (MostFeatures + 1) / 2 * 2 * T.width();
  static constexpr PanelLayout layout = T;
  BFloat16 data[T.panels(Tokens) * stride];
  LADON_NO_UNIQUE_ADDRESS TokenRows<BFloat16, T.panels(Tokens)> rows;

  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_KERNEL constexpr auto convert(const float* panels, std::size_t first, std::size_t count,
                                      std::size_t active = all) noexcept {
    static_assert(Features <= MostFeatures);
    using Pack = typename Simd::template Pack<P.lanes>;
    for (std::size_t p = first; p < first + count; ++p) {
      const float* const panel = panels + p * Features * T.width();
      const RowsOfPanel in_rows = rows_of_tokens<Simd, P, BFloat16, Features>(active - p * T.width());
      rows.set(p, in_rows);
      if constexpr (may_have_token_rows<Simd, P, BFloat16, Features>) {
        if (in_rows.end > 0) {
          using Form = TokenRowForm<Simd, P, BFloat16, Features>;
          BFloat16* const to = data + p * stride;
          if (in_rows.begin > 0) round_packs<Pack, P.packs / 2, P.width(), Features>(panel, to);
          for (std::size_t t = in_rows.begin; t < in_rows.end; t += P.lanes) {
            round_pack<Pack, P.width(), Features>(
                panel + t, TuplesOfRows<Pack, Form, BFloat16>{to + Form::offset + (t - in_rows.begin) * Form::stride,
                                                              in_rows.end - t});
          }
          continue;
        }
      }
      round_packs<Pack, Packs, P.width(), Features>(panel, data + p * stride);
    }
    return view(panels);
  }
  LADON_INLINE constexpr auto view(const float*) const noexcept {
    return with_token_rows(BFloat16PanelsView{data, stride}, rows);
  }

 private:
  // Returns the features i and i + 1.
  template <class Pack, std::size_t Width, std::size_t Features>
  static LADON_INLINE constexpr void load_pair(const float* from, std::size_t i, Pack (&pair)[2]) noexcept {
    pair[0] = Pack::load(from + i * Width);
    pair[1] = Features % 2 == 0 || i + 1 < Features ? Pack::load(from + (i + 1) * Width) : Pack::broadcast(0.0f);
  }
  template <class Pack, std::size_t Packs, std::size_t Width, std::size_t Features>
  static LADON_INLINE constexpr void round_packs(const float* panel, BFloat16* to) noexcept {
    for (std::size_t i = 0; i < Features; i += 2) {
      LADON_UNROLLED_FOR(v, Packs) {
        Pack pair[2];
        load_pair<Pack, Width, Features>(panel + v * Pack::lanes, i, pair);
        vec::TupleDot<BFloat16, Pack>::store_tuple(pair, to + i * Width + 2 * v * Pack::lanes);
      }
    }
  }
  template <class Pack, std::size_t Width, std::size_t Features, class To>
  static LADON_INLINE constexpr void round_pack(const float* from, To&& to) noexcept {
    for (std::size_t i = 0; i < Features; i += 2) {
      Pack pair[2];
      load_pair<Pack, Width, Features>(from, i, pair);
      vec::TupleDot<BFloat16, Pack>::store_tuple(pair, to.tuple(i));
      to.stored(i);
    }
  }
};

template <int Bits, bool Rotated, int WeightBits, class Vectors, std::size_t Tokens, std::size_t MostFeatures,
          PanelLayout T>
struct alignas(64) LinearInput<precision::Int8<Bits, Rotated, WeightBits>, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true;
  using Element = typename Vectors::Int8Element;
  static constexpr std::size_t tuple_size = vec::tuple_features<Element>;
  static constexpr std::size_t block = tuple_size > Vectors::int8_block ? tuple_size : Vectors::int8_block;
  static constexpr std::size_t tokens = Tokens, stride = (MostFeatures + block - 1) / block * block * T.width();
  static constexpr std::size_t parameters_stride = parameters_per_token<Element> * T.width();
  static constexpr PanelLayout layout = T;
  Element data[T.panels(Tokens) * stride];
  float parameters[T.panels(Tokens) * parameters_stride];
  LADON_NO_UNIQUE_ADDRESS TokenRows<Element, T.panels(Tokens)> rows;

  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_KERNEL constexpr auto convert(const float* panels, std::size_t first, std::size_t count,
                                      std::size_t active = all) noexcept {
    static_assert(Features <= MostFeatures);
    for (std::size_t p = first; p < first + count; ++p) {
      const float* const panel = panels + p * Features * T.width();
      const RowsOfPanel in_rows = rows_of_tokens<Simd, P, Element, Features>(active - p * T.width());
      Element* const to = data + p * stride;
      float* const to_parameters = parameters + p * parameters_stride;
      rows.set(p, in_rows);
      if constexpr (may_have_token_rows<Simd, P, Element, Features>) {
        if (in_rows.end > 0) {
          if (in_rows.begin > 0) quantise<Simd, P, P.packs / 2, Features>(panel, to, to_parameters);
          quantise_rows<Simd, P, Features>(panel, in_rows, to, to_parameters);
          continue;
        }
      }
      quantise<Simd, P, Packs, Features>(panel, to, to_parameters);
    }
    return view(panels);
  }
  LADON_INLINE constexpr auto view(const float*) const noexcept {
    return with_token_rows(Int8PanelsView<Element>{data, parameters, stride}, rows);
  }

 private:
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  static LADON_INLINE constexpr void quantise(const float* panel, Element* to, float* to_parameters) noexcept {
    constexpr std::size_t width = P.width();
    if constexpr (cortex_m::has_engine<Element, Simd>) {
      if (!std::is_constant_evaluated()) {
        const auto quantise_panel = [&](const float* features) {
          cortex_m::Engine<Element, Simd>::template quantise<Features, width, Packs, Bits>(features, to, to_parameters,
                                                                                           stride);
        };
        if constexpr (Rotated)
          return quantise_rotated<Features, width, Packs * P.lanes>(panel, to_parameters, quantise_panel);
        return quantise_panel(panel);
      }
    }
    if constexpr (is_single_token<Simd, P>) {
      quantise_single_token<Simd, Features, Bits, Rotated>(panel, to, to_parameters);
    } else {
      using Pack = typename Simd::template Pack<P.lanes>;
      for (std::size_t v = 0; v < Packs; ++v) {
        quantise_pack<Bits, Element>(PackFeatures<Pack, Features, width, Rotated>{panel + v * P.lanes},
                                     TuplesOfPanel<Element, width>{to + tuple_size * v * P.lanes},
                                     to_parameters + v * P.lanes);
      }
    }
  }
  template <class Simd, PanelLayout P, std::size_t Features>
  static LADON_INLINE void quantise_rows(const float* panel, RowsOfPanel in_rows, Element* to,
                                         float* to_parameters) noexcept {
    using Pack = typename Simd::template Pack<P.lanes>;
    using Form = TokenRowForm<Simd, P, Element, Features>;
    for (std::size_t t = in_rows.begin; t < in_rows.end; t += P.lanes) {
      quantise_pack<Bits, Element>(
          PackFeatures<Pack, Features, P.width(), Rotated>{panel + t},
          TuplesOfRows<Pack, Form, Element>{to + Form::offset + (t - in_rows.begin) * Form::stride, in_rows.end - t},
          to_parameters + t);
    }
  }
};

template <class Simd, PanelLayout Last, std::size_t Features, class CallShare = WholeCall>
constexpr void convert_input(const float* panels, std::size_t active, auto& input, CallShare share = {}) noexcept {
  using Input = std::remove_reference_t<decltype(input)>;
  if constexpr (Input::converts) {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      input.template convert<Simd, P, Packs, Features>(panels, first, count, active);
    };
    for_panels<Input::layout, Last, Input::tokens>(active, run, share);
  }
}

}  // namespace LADON_NAMESPACE::detail
