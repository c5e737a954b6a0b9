// SPDX-License-Identifier: Apache-2.0
// LinearInput: memory for the quantised input of a linear map. The steps of attention and of layers pass the input of a
// product to matmul as a view:
//
//     PanelsView        panels of floats, for float32 and bfloat16 weights
//     Int8PanelsView    quantised panels, for int8 weights
//
// A LinearInput makes these views from panels of floats:
//
//     quantise(panels, first, count)   quantises `count` panels from panel `first` on; returns a view of all panels
//     view(panels)                     returns a view of all panels; precondition: `quantise` has quantised the panels
//                                      that the caller will read through the view
//
// For float32 and bfloat16 weights, a LinearInput is empty. `quantise` and `view` then only return a view of the floats
// in `panels`.
//
// detail/memory/panels.hpp defines panels and packs.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/memory/int8_panels.hpp>
#include <ladon/detail/memory/panels.hpp>
#include <ladon/weights.hpp>

namespace ladon::inline LADON_ABI::detail {

// Memory for the inputs of Tokens tokens with at most MostFeatures features.
template <class Precision, class Target, std::size_t Tokens, std::size_t MostFeatures, Tiling T>
struct LinearInput;

template <class Target, std::size_t Tokens, std::size_t MostFeatures, Tiling T>
struct LinearInput<precision::Float32, Target, Tokens, MostFeatures, T> {
  static constexpr bool quantises = false;
  template <class Simd, std::size_t Packs, std::size_t Features>
  LADON_INLINE constexpr PanelsView quantise(const float* panels, std::size_t, std::size_t) noexcept {
    return {panels};
  }
  LADON_INLINE constexpr PanelsView view(const float* panels) const noexcept { return {panels}; }
};

template <class Target, std::size_t Tokens, std::size_t MostFeatures, Tiling T>
struct LinearInput<precision::BFloat16, Target, Tokens, MostFeatures, T>
    : LinearInput<precision::Float32, Target, Tokens, MostFeatures, T> {};

template <int Bits, class Target, std::size_t Tokens, std::size_t MostFeatures, Tiling T>
struct alignas(64) LinearInput<precision::Int8<Bits>, Target, Tokens, MostFeatures, T> {
  static constexpr bool quantises = true;
  using Element = typename Target::Int8Element;
  static constexpr std::size_t group =
      simd::group_features<Element> > Target::int8_block ? simd::group_features<Element> : Target::int8_block;
  static constexpr std::size_t stride = (MostFeatures + group - 1) / group * group * T.width();
  Element data[T.panels(Tokens) * stride];
  float tokens[T.panels(Tokens) * token_numbers<Element> * T.width()];

  // Quantises `count` panels of `panels` [panels][Features][width], from panel `first` on. The tokens of each of these
  // panels fill Packs packs.
  template <class Simd, std::size_t Packs, std::size_t Features>
  constexpr Int8PanelsView<Element> quantise(const float* panels, std::size_t first, std::size_t count) noexcept {
    static_assert(Features <= MostFeatures);
    quantise_panels<Simd, T, Packs, Features, Bits>(panels, first, count, data, tokens, stride);
    return view(panels);
  }
  LADON_INLINE constexpr Int8PanelsView<Element> view(const float*) const noexcept { return {data, tokens, stride}; }
};

// Quantises the first `active` tokens of `panels` [panels][Features][width] for a product with int8 weights. Quantises
// only the panels that belong to `part`. If Input::quantises is false, the function does nothing.
template <class Simd, Tiling T, std::size_t Tokens, std::size_t Features, class Input, class Part = WholeCall>
constexpr void quantise_input(const float* panels, std::size_t active, Input& input, Part part = {}) noexcept {
  if constexpr (Input::quantises) {
    const auto run = [&]<std::size_t Packs>(std::size_t first, std::size_t count) {
      input.template quantise<Simd, Packs, Features>(panels, first, count);
    };
    for_panels<T, Tokens>(active, run, part);
  }
}

}  // namespace ladon::inline LADON_ABI::detail
