// SPDX-License-Identifier: Apache-2.0
// All int8 products and quantisations of this folder.
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

// Whether quantise_panel stores the integers of a panel in an order of the target's loops.
template <class Element, class Simd>
inline constexpr bool quantises_panels =
    uses_dsp<Element, Simd> || uses_helium<Element, Simd> || uses_thumb1<Element, Simd> || uses_one_lane<Element, Simd>;

// Whether each pass over int8 weights widens them or loads them into registers.
template <class Element, class Simd>
inline constexpr bool prepares_weights =
    uses_dsp<Element, Simd> || uses_helium<Element, Simd> || uses_thumb1<Element, Simd>;

}  // namespace LADON_NAMESPACE::detail::vec
