// SPDX-License-Identifier: Apache-2.0
// Products of int8 weights on microcontrollers. All other targets use the loops of detail/product/product_int8.hpp.
#pragma once

#include <cstddef>

#include <ladon/detail/cortex_m/dsp.hpp>
#include <ladon/detail/cortex_m/helium_int8.hpp>
#include <ladon/detail/cortex_m/m0.hpp>
#include <ladon/detail/panel/quantise.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/int8_kernels.hpp>

namespace LADON_NAMESPACE::detail::cortex_m {

template <class Element, class Simd>
inline constexpr bool has_product =
    vec::uses_dsp<Element, Simd> || vec::uses_helium<Element, Simd> || vec::uses_thumb1<Element, Simd>;
template <class Element, class Simd>
inline constexpr bool has_matrix_vector = vec::uses_helium<Element, Simd>;

// Computes the product for several tokens. `in` has the order that vec::quantise_panel writes.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights,
          class Element, class Epilogue>
LADON_INLINE void product([[maybe_unused]] const Weights& w, [[maybe_unused]] Int8PanelsView<Element> in,
                          [[maybe_unused]] std::size_t panels, [[maybe_unused]] Epilogue epilogue) noexcept {
#if LADON_HAS_HELIUM
  if constexpr (vec::uses_helium<Element, Simd>) {
    helium::product<T.width(), Packs, Rows, Inner>(w, in, panels, epilogue);
  }
#endif
#if LADON_THUMB1
  if constexpr (vec::uses_thumb1<Element, Simd>) {
    thumb1::product<T.width(), Packs, Rows, Inner>(w, in, panels, epilogue);
  }
#endif
#if LADON_DSP
  if constexpr (vec::uses_dsp<Element, Simd>) {
    for_row_tiles<Rows, dsp::tile_rows<Packs>>([&]<std::size_t R>(std::size_t first) LADON_INLINE_LAMBDA {
      dsp::tile<T.width(), Packs, R, Inner>(w, first, in, panels, epilogue);
    });
  }
#endif
}

// Computes the product for a single token.
template <std::size_t Rows, std::size_t Inner, class Weights, class Element, class Epilogue>
LADON_INLINE void matrix_vector([[maybe_unused]] const Weights& w, [[maybe_unused]] Int8PanelsView<Element> in,
                                [[maybe_unused]] Epilogue epilogue) noexcept {
#if LADON_HAS_HELIUM
  helium::matrix_vector<Rows, Inner>(w, in, epilogue);
#endif
}

}  // namespace LADON_NAMESPACE::detail::cortex_m
