// SPDX-License-Identifier: Apache-2.0
// Chooses the engine for int8 products of microcontrollers, and of other targets with packs of one lane. An engine has
// these functions, which are called only at run time:
//     quantise<Features, Width, Packs, FeatureBits>(panel, to, parameters, stride)
//         Quantises the first Packs packs of a panel [Features][Width], in the engine's order. A quantised
//         panel has `stride` integers.
//     product<P>(w, in, panels, epilogue)
//         The product for several tokens. P has the members layout, width, packs, rows and inner.
//     matrix_vector<Rows, Inner>(w, in, epilogue)
//         The product for a single token, if has_matrix_vector is true.
// `prepares_weights`: whether each pass over the weights widens them or loads them into registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/float_loops.hpp>
#include <ladon/detail/cortex_m/helium_int8.hpp>
#include <ladon/detail/cortex_m/m0.hpp>
#include <ladon/detail/cortex_m/one_lane.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail::cortex_m {

struct NoEngine {
  static constexpr bool prepares_weights = false, has_matrix_vector = false;
};

// `Element` is the type of a quantised feature.
template <class Element, std::size_t Lanes>
struct EngineOf : NoEngine {};
template <>
struct EngineOf<std::int16_t, 1> : one_lane::Engine {};
#if LADON_THUMB1
template <>
struct EngineOf<std::int32_t, 1> : m0::Engine {};
#elif LADON_HAS_HELIUM
template <>
struct EngineOf<std::uint8_t, 4> : helium::Engine {};
#endif
template <class Element, class Simd>
using Engine = EngineOf<Element, Simd::lanes>;
template <class Element, class Simd>
inline constexpr bool has_engine = !std::is_base_of_v<NoEngine, Engine<Element, Simd>>;

}  // namespace LADON_NAMESPACE::detail::cortex_m
