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
  const BFloat16* data;
  std::size_t stride;

  template <std::size_t Features, std::size_t Width>
  LADON_INLINE constexpr BFloat16PanelsView panels_from(std::size_t first) const noexcept {
    return {data + first * stride, stride};
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
  requires(may_have_token_rows<Vectors, T, float, MostFeatures>)
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

template <class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(Vectors::multiplies_bfloat16)
struct alignas(64) LinearInput<precision::BFloat16, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true, finds_half_panels = has_token_rows<BFloat16>;
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
          for_packs_of_rows<Pack, P, Form>(in_rows, to, [&](std::size_t t, auto&& tuples) {
            round_pack<Pack, P.width(), Features>(panel + t, tuples);
          });
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
  using Element = vec::Int8Element<Vectors, Bits>;
  static constexpr bool finds_half_panels = has_token_rows<Element>;
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
    for_packs_of_rows<Pack, P, Form>(in_rows, to, [&](std::size_t t, auto&& tuples) {
      quantise_pack<Bits, Element>(PackFeatures<Pack, Features, P.width(), Rotated>{panel + t}, tuples,
                                   to_parameters + t);
    });
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
