// SPDX-License-Identifier: Apache-2.0
// Includes all files about int8 products in this folder: the step of a product (tuple_dot.hpp) for each instruction
// set, and the loops and the quantisation of microcontrollers.
#pragma once

#include <ladon/detail/cortex_m/dsp_quantise.hpp>
#include <ladon/detail/cortex_m/helium_quantise.hpp>
#include <ladon/detail/cortex_m/m0_quantise.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/dot_arm64.hpp>
#include <ladon/detail/vec/dot_vnni.hpp>
#include <ladon/detail/vec/dot_wasm.hpp>
#include <ladon/detail/vec/dot_x86.hpp>
#include <ladon/detail/vec/int8_quantise_one_lane.hpp>

namespace LADON_NAMESPACE::detail::vec {

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

}  // namespace LADON_NAMESPACE::detail::vec
