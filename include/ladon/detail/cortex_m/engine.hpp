// SPDX-License-Identifier: Apache-2.0
// Chooses the engine for int8 products of microcontrollers and of other targets with packs of one lane. All other
// targets use the tiles of detail/product. An engine has these functions, which are not for constant evaluation:
//     quantise<Features, Width, Packs, FeatureBits>(panel, to, parameters, stride)
//         Quantises the first Packs packs of a panel [Features][Width], in the order of the engine. The other tokens
//         may have any values. `stride` is the number of integers of the quantised panel.
//     product<P>(w, in, panels, epilogue)
//         Computes the product for several tokens. P has the members layout, width, packs, rows and inner.
//     matrix_vector<Rows, Inner>(w, in, epilogue)
//         Computes the product for a single token, if has_matrix_vector is true.
// `prepares_weights` is true if each pass over the weights widens them or loads them into registers.
//
// The tiles of float products (detail/product/tile.hpp) have loops in assembly (vfp.hpp, helium_float.hpp).
// LADON_TILE_ASSEMBLY is defined if the target has a loop, and `assembly::has_loop` is true for the tiles of the loop.
#pragma once

#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/dsp.hpp>
#include <ladon/detail/cortex_m/helium_float.hpp>
#include <ladon/detail/cortex_m/helium_int8.hpp>
#include <ladon/detail/cortex_m/m0.hpp>
#include <ladon/detail/cortex_m/one_lane.hpp>
#include <ladon/detail/cortex_m/vfp.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail::cortex_m {

struct NoEngine {
  static constexpr bool prepares_weights = false, has_matrix_vector = false;
};

// `Element` is the type of a quantised feature.
template <class Element, class Simd>
constexpr auto choose_engine() noexcept {
#if LADON_HAS_HELIUM
  if constexpr (std::is_same_v<Element, std::uint8_t> && std::is_base_of_v<vec::HeliumVectors, Simd>) {
    return helium::Engine{};
  } else
#endif
#if LADON_THUMB1
      if constexpr (std::is_same_v<Element, std::int32_t> && Simd::lanes == 1) {
    return m0::Engine{};
  } else
#endif
      if constexpr (std::is_same_v<Element, std::int16_t> && Simd::lanes == 1) {
#if LADON_DSP
    return dsp::Engine{};
#else
    return one_lane::Engine{};
#endif
  } else {
    return NoEngine{};
  }
}
template <class Element, class Simd>
using Engine = decltype(choose_engine<Element, Simd>());
template <class Element, class Simd>
inline constexpr bool has_engine = !std::is_same_v<Engine<Element, Simd>, NoEngine>;

}  // namespace LADON_NAMESPACE::detail::cortex_m
