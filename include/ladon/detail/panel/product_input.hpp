// SPDX-License-Identifier: Apache-2.0
// The input of a product in the form that its weights need:
//     float32 weights     float panels; few tokens also become rows
//     bfloat16 weights    bfloat16 panels if the target multiplies them, otherwise like float32
//     int8 weights        quantised panels
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/int8_panels.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/token_rows.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Panels of bfloat16 numbers, for targets that multiply them (detail/vec/dot.hpp):
//     data   [panels][(features + 1) / 2][width][2]    0 for a feature that is missing from the last pair
//
// Features are rounded to nearest, ties to even: the relative error is at most 2^-8. Subnormal features count as 0.
// Each panel begins `stride` numbers after the previous one.
struct BFloat16PanelsView {
  using Element = BFloat16;
  using Lanes = BFloat16PanelsView;
  const BFloat16* data;
  std::size_t stride;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr BFloat16PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, stride};
  }
};

// Converts panels to the numbers that the weights of a product need:
//     panel(from, to, parameters, stride)   converts the first Packs packs of a panel
//     pack(from, to, parameters, t)         converts the tokens of a pack, from token t on; `to` stores each tuple, as
//                                           TuplesOfPanel does
template <class Precision, class Vectors>
struct Converter {
  static constexpr bool exists = false;
};
template <class Vectors>
  requires(Vectors::multiplies_bfloat16)
struct Converter<precision::BFloat16, Vectors> {
  static constexpr bool exists = true;
  using Element = BFloat16;
  static constexpr std::size_t block = 2;
  template <std::size_t>
  struct Parameters {
    static constexpr float* from(std::size_t) noexcept { return nullptr; }
  };

  static constexpr BFloat16PanelsView view(const BFloat16* data, const auto&, std::size_t stride) noexcept {
    return {data, stride};
  }
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  static LADON_INLINE constexpr void panel(const float* from, BFloat16* to, float*, std::size_t) noexcept {
    for (std::size_t t = 0; t < Packs * P.lanes; t += P.lanes)
      pack<Simd, P, Features>(from, TuplesOfPanel<BFloat16, P.width()>{to + 2 * t}, nullptr, t);
  }
  template <class Simd, PanelLayout P, std::size_t Features, class To>
  static LADON_INLINE constexpr void pack(const float* from, To&& to, float*, std::size_t t) noexcept {
    using Pack = typename Simd::template Pack<P.lanes>;
    for (std::size_t i = 0; i < Features; i += 2) {
      const float* const at = from + i * P.width() + t;
      const Pack pair[] = {Pack::load(at),
                           Features % 2 == 0 || i + 1 < Features ? Pack::load(at + P.width()) : Pack::broadcast(0.0f)};
      vec::TupleDot<BFloat16, Pack>::store_tuple(pair, to.tuple(i));
      to.stored(i);
    }
  }
};
template <int Bits, bool Rotated, int WeightBits, class Vectors>
struct Converter<precision::Int8<Bits, Rotated, WeightBits>, Vectors> {
  static constexpr bool exists = true;
  using Element = vec::Int8Element<Vectors, Bits>;
  static constexpr std::size_t tuple_size = vec::tuple_features<Element>;
  static constexpr std::size_t block = tuple_size > Vectors::int8_block ? tuple_size : Vectors::int8_block;
  template <std::size_t Tokens>
  struct Parameters {
    float data[Tokens * parameters_per_token<Element>];
    constexpr float* from(std::size_t token) noexcept { return data + token * parameters_per_token<Element>; }
  };

  static constexpr Int8PanelsView<Element> view(const Element* data, const auto& parameters,
                                                std::size_t stride) noexcept {
    return {data, parameters.data, stride};
  }
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  static LADON_INLINE constexpr void panel(const float* from, Element* to, float* parameters,
                                           std::size_t stride) noexcept {
    constexpr std::size_t width = P.width();
    if constexpr (cortex_m::has_engine<Element, Simd>) {
      if (!std::is_constant_evaluated()) {
        const auto quantise = [&](const float* features) {
          cortex_m::Engine<Element, Simd>::template quantise<Features, width, Packs, Bits>(features, to, parameters,
                                                                                           stride);
        };
        if constexpr (Rotated) return quantise_rotated<Features, width, Packs * P.lanes>(from, parameters, quantise);
        return quantise(from);
      }
    }
    if constexpr (is_single_token<Simd, P>) {
      quantise_single_token<Simd, Features, Bits, Rotated>(from, to, parameters);
    } else {
      for (std::size_t t = 0; t < Packs * P.lanes; t += P.lanes)
        pack<Simd, P, Features>(from, TuplesOfPanel<Element, width>{to + tuple_size * t}, parameters, t);
    }
  }
  template <class Simd, PanelLayout P, std::size_t Features, class To>
  static LADON_INLINE constexpr void pack(const float* from, To&& to, float* parameters, std::size_t t) noexcept {
    using Pack = typename Simd::template Pack<P.lanes>;
    quantise_pack<Bits, Element>(PackFeatures<Pack, Features, P.width(), Rotated>{from + t}, to, parameters + t);
  }
};

// The input of products, made from panels [panels][Features][width] with at most MostFeatures features:
//     convert(panels, first, count, active)    converts `count` panels from `first` on; returns a view of all panels
//     view(panels)                             returns a view of all panels
//
// `active` counts the tokens of all panels. If the last panel has few tokens, these become rows (token_rows.hpp). If
// finds_half_panels is true, products read from the view that a panel is half full, so for_panels makes no separate
// call for this panel.
//
// for_panels explains the arguments P and Packs.
template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct LinearInput {
  static constexpr bool converts = false, finds_half_panels = false;
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_INLINE constexpr PanelsView convert(const float* panels, std::size_t, std::size_t, std::size_t = all) noexcept {
    return {panels};
  }
  LADON_INLINE constexpr PanelsView view(const float* panels) const noexcept { return {panels}; }
};

// Float panels, and the rows of the last active panel.
template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(!Converter<Precision, Vectors>::exists && may_have_token_rows<Vectors, T, float, MostFeatures>)
struct alignas(64) LinearInput<Precision, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true, finds_half_panels = true;
  static constexpr std::size_t tokens = Tokens;
  static constexpr PanelLayout layout = T;
  using MostRows = TokenRowForm<Vectors, T, float, MostFeatures>;
  // With quads, a product would convert bfloat16 weights again for every four tokens.
  static constexpr bool in_quads = !std::is_same_v<Precision, precision::BFloat16>;
  float data[MostRows::most_tokens * MostRows::stride];
  TokenRows<float, T.panels(Tokens)> rows;

  template <class Simd, PanelLayout P, std::size_t, std::size_t Features>
  LADON_INLINE constexpr auto convert(const float* panels, std::size_t first, std::size_t count,
                                      std::size_t active = all) noexcept {
    static_assert(Features <= MostFeatures);
    for (std::size_t p = first; p < first + count; ++p) {
      const RowsOfPanel in_rows = rows_of_tokens<Simd, P, float, Features, in_quads>(active - p * T.width());
      rows.set(p, in_rows);
      if constexpr (may_have_token_rows<Simd, P, float, Features>) {
        using Form = TokenRowForm<Simd, P, float, Features>;
        static_assert(Form::most_tokens <= MostRows::most_tokens && Form::stride <= MostRows::stride);
        const float* const from = panels + p * Features * T.width() + in_rows.begin;
        if constexpr (Form::most_quads > 0) {
          if (in_rows.quads > 0) {
            floats_to_quads<Simd, P, Features>(from, in_rows.quads, data);
            continue;
          }
        }
        if (in_rows.begin < in_rows.end) {
          floats_to_rows<typename Simd::template Pack<P.lanes>, P, Form, Features>(from, in_rows.end - in_rows.begin,
                                                                                   data);
        }
      }
    }
    return view(panels);
  }
  LADON_INLINE constexpr auto view(const float* panels) const noexcept {
    return WithTokenRows<PanelsView>{{panels}, rows.of, data};
  }
};

template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(Converter<Precision, Vectors>::exists)
struct alignas(64) LinearInput<Precision, Vectors, Tokens, MostFeatures, T> {
  using To = Converter<Precision, Vectors>;
  using Element = typename To::Element;
  static constexpr bool converts = true, finds_half_panels = has_token_rows<Element>;
  static constexpr std::size_t tokens = Tokens;
  static constexpr std::size_t stride = (MostFeatures + To::block - 1) / To::block * To::block * T.width();
  static constexpr PanelLayout layout = T;
  Element data[T.panels(Tokens) * stride];
  LADON_NO_UNIQUE_ADDRESS typename To::template Parameters<T.panels(Tokens) * T.width()> parameters;
  LADON_NO_UNIQUE_ADDRESS TokenRows<Element, T.panels(Tokens)> rows;

  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_KERNEL constexpr auto convert(const float* panels, std::size_t first, std::size_t count,
                                      std::size_t active = all) noexcept {
    static_assert(Features <= MostFeatures);
    for (std::size_t p = first; p < first + count; ++p) {
      const float* const panel = panels + p * Features * T.width();
      const RowsOfPanel in_rows = rows_of_tokens<Simd, P, Element, Features>(active - p * T.width());
      Element* const to = data + p * stride;
      float* const to_parameters = parameters.from(p * T.width());
      rows.set(p, in_rows);
      if constexpr (may_have_token_rows<Simd, P, Element, Features>) {
        if (in_rows.end > 0) {
          if (in_rows.begin > 0) To::template panel<Simd, P, P.packs / 2, Features>(panel, to, to_parameters, stride);
          for_packs_of_rows<typename Simd::template Pack<P.lanes>, P, TokenRowForm<Simd, P, Element, Features>>(
              in_rows, to, [&](std::size_t t, auto&& tuples) {
                To::template pack<Simd, P, Features>(panel, tuples, to_parameters, t);
              });
          continue;
        }
      }
      To::template panel<Simd, P, Packs, Features>(panel, to, to_parameters, stride);
    }
    return view(panels);
  }
  LADON_INLINE constexpr auto view(const float*) const noexcept {
    return with_token_rows(To::view(data, parameters, stride), rows);
  }
};

// Whether for_panels makes a separate call for a half panel of these inputs.
template <PanelLayout T, class... Inputs>
inline constexpr bool halves_apart = T.halves_panels && !(Inputs::finds_half_panels && ...);

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
