// SPDX-License-Identifier: Apache-2.0
// Includes all files about int8 products in this folder: the step of a product (tuple_dot.hpp) for each instruction
// set, and the loops and the quantisation of microcontrollers.
#pragma once

#include <ladon/detail/simd/int8_dsp.hpp>
#include <ladon/detail/simd/int8_helium.hpp>
#include <ladon/detail/simd/int8_quantise_one_lane.hpp>
#include <ladon/detail/simd/int8_thumb1.hpp>
#include <ladon/detail/simd/neon_dot.hpp>
#include <ladon/detail/simd/pair_dot.hpp>
#include <ladon/detail/simd/quad_dot.hpp>
#include <ladon/detail/simd/tuple_dot.hpp>
#include <ladon/detail/simd/wasm_dot.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// Whether the target has its own function quantise_panel, which stores the integers of a panel in the order that the
// target's loops need.
template <class Element, class Simd>
inline constexpr bool quantises_panels =
    uses_dsp<Element, Simd> || uses_helium<Element, Simd> || uses_thumb1<Element, Simd> || uses_one_lane<Element, Simd>;

// Whether this target prepares int8 weights in each pass over the weights: it converts them to wider integers, or loads
// them into registers.
template <class Element, class Simd>
inline constexpr bool prepares_weights =
    uses_dsp<Element, Simd> || uses_helium<Element, Simd> || uses_thumb1<Element, Simd>;

}  // namespace ladon::inline LADON_ABI::detail::simd
