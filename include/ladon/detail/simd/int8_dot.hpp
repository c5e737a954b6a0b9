// The step of int8 products (group_dot.hpp) for every type of features and every pack.
#pragma once

#include <ladon/detail/simd/dsp.hpp>
#include <ladon/detail/simd/group_dot.hpp>
#include <ladon/detail/simd/helium_dot.hpp>
#include <ladon/detail/simd/pair_dot.hpp>
#include <ladon/detail/simd/quad_dot.hpp>

namespace ladon::inline LADON_ABI::detail::simd {

// Whether a target quantises panels in an order of its own. quantise_panel then quantises a panel. All other targets
// only have its declaration.
#if !LADON_DSP && !LADON_HAS_HELIUM
template <std::size_t Features, std::size_t Width, std::size_t Packs, int ActivationBits, class Element>
void quantise_panel(const float* panel, Element* to, float* tokens, std::size_t stride) noexcept;
#endif
template <class Element, class Simd>
inline constexpr bool quantises_panels = uses_dsp<Element, Simd> || uses_helium<Element, Simd>;

}  // namespace ladon::inline LADON_ABI::detail::simd
