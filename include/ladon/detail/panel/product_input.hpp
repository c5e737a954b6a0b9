// SPDX-License-Identifier: Apache-2.0
// The input of a product in the form that its weights need: float panels for float32 weights (nothing is converted),
// bfloat16 panels for bfloat16 weights if the target multiplies them, quantised panels for int8 weights.
//     convert(panels, first, count)    converts `count` panels from panel `first` on; returns a view of all panels
//     view(panels)                     returns a view of all panels
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/quantise_features.hpp>
#include <ladon/detail/vec/dot_bfloat16.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE::detail {

// Panels of bfloat16 numbers, for targets that multiply them (detail/vec/dot_bfloat16.hpp):
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

// Rounds `panels` [count][Features][width] to `data`. The tokens of each panel fill Packs packs.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Features>
LADON_KERNEL constexpr void round_panels(const float* panels, std::size_t count, BFloat16* data,
                                         std::size_t stride) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  using Dot = vec::TupleDot<BFloat16, Pack>;
  constexpr std::size_t width = T.width(), whole = Features / 2 * 2;
  for (std::size_t p = 0; p < count; ++p) {
    const float* const from = panels + p * Features * width;
    BFloat16* const to = data + p * stride;
    for (std::size_t i = 0; i < whole; i += 2) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const float* const features = from + i * width + v * T.lanes;
        const Pack pair[2] = {Pack::load(features), Pack::load(features + width)};
        Dot::store_tuple(pair, to + i * width + 2 * v * T.lanes);
      }
    }
    if constexpr (whole < Features) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack pair[2] = {Pack::load(from + whole * width + v * T.lanes), Pack::broadcast(0.0f)};
        Dot::store_tuple(pair, to + whole * width + 2 * v * T.lanes);
      }
    }
  }
}

template <class Precision, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct LinearInput;

template <class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct LinearInput<precision::Float32, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = false;
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  LADON_INLINE constexpr PanelsView convert(const float* panels, std::size_t, std::size_t) noexcept {
    return {panels};
  }
  LADON_INLINE constexpr PanelsView view(const float* panels) const noexcept { return {panels}; }
};

template <class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct LinearInput<precision::BFloat16, Vectors, Tokens, MostFeatures, T>
    : LinearInput<precision::Float32, Vectors, Tokens, MostFeatures, T> {};

template <class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
  requires(Vectors::multiplies_bfloat16)
struct alignas(64) LinearInput<precision::BFloat16, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true;
  static constexpr std::size_t stride = (MostFeatures + 1) / 2 * 2 * T.width();
  BFloat16 data[T.panels(Tokens) * stride];

  // `panels` is the array [panels][Features][width] of all panels. for_panels explains P and Packs.
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  constexpr BFloat16PanelsView convert(const float* panels, std::size_t first, std::size_t count) noexcept {
    static_assert(Features <= MostFeatures);
    round_panels<Simd, P, Packs, Features>(panels + first * Features * T.width(), count, data + first * stride, stride);
    return view(panels);
  }
  LADON_INLINE constexpr BFloat16PanelsView view(const float*) const noexcept { return {data, stride}; }
};

template <int Bits, bool Rotated, class Vectors, std::size_t Tokens, std::size_t MostFeatures, PanelLayout T>
struct alignas(64) LinearInput<precision::Int8<Bits, Rotated>, Vectors, Tokens, MostFeatures, T> {
  static constexpr bool converts = true;
  using Element = typename Vectors::Int8Element;
  static constexpr std::size_t block =
      vec::tuple_features<Element> > Vectors::int8_block ? vec::tuple_features<Element> : Vectors::int8_block;
  static constexpr std::size_t stride = (MostFeatures + block - 1) / block * block * T.width();
  Element data[T.panels(Tokens) * stride];
  float parameters[T.panels(Tokens) * parameters_per_token<Element> * T.width()];

  // `panels` is the array [panels][Features][width] of all panels. for_panels explains P and Packs.
  template <class Simd, PanelLayout P, std::size_t Packs, std::size_t Features>
  constexpr Int8PanelsView<Element> convert(const float* panels, std::size_t first, std::size_t count) noexcept {
    static_assert(Features <= MostFeatures);
    quantise_panels<Simd, P, Packs, Features, Bits, Rotated>(
        panels + first * Features * T.width(), count, data + first * stride,
        parameters + first * parameters_per_token<Element> * T.width(), stride);
    return view(panels);
  }
  LADON_INLINE constexpr Int8PanelsView<Element> view(const float*) const noexcept {
    return {data, parameters, stride};
  }
};

// Converts the panels that have one of the first `active` tokens and belong to `share`.
template <class Simd, PanelLayout T, PanelLayout Last, std::size_t Tokens, std::size_t Features,
          class CallShare = WholeCall>
constexpr void convert_input(const float* panels, std::size_t active, auto& input, CallShare share = {}) noexcept {
  if constexpr (std::remove_reference_t<decltype(input)>::converts) {
    const auto run = [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
      input.template convert<Simd, P, Packs, Features>(panels, first, count);
    };
    for_panels<T, Last, Tokens>(active, run, share);
  }
}

}  // namespace LADON_NAMESPACE::detail
