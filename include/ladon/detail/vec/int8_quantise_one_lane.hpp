// SPDX-License-Identifier: Apache-2.0
// Quantises panels where a pack has one lane, such as Cortex-M3, RISC-V and scalar WebAssembly. The panels hold q.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Whether int8 products have packs of one lane and no special instruction.
template <class Element, class Simd>
inline constexpr bool uses_one_lane = !LADON_DSP && std::is_same_v<Element, std::int16_t> && Simd::lanes == 1;

#if !LADON_DSP
// A pack is one token.
template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
LADON_NOINLINE void quantise_panel(const float* panel, std::int16_t* to, float* scales, std::size_t) noexcept {
  for (std::size_t t = 0; t < Packs; ++t) {
    const auto token = scale_of_token<Features, FeatureBits>(panel + t, Width);
    const auto most = static_cast<std::int32_t>(token.most.lane[0]);
    const float reciprocal = token.reciprocal.lane[0];
    scales[t] = token.scale.lane[0];
    for (std::size_t i = 0; i < Features; ++i) {
      to[i / 2 * 2 * Width + 2 * t + i % 2] = quantised_feature(panel[i * Width + t], reciprocal, most);
    }
    if constexpr (Features % 2 != 0) to[Features / 2 * 2 * Width + 2 * t + 1] = 0;
  }
}
#endif

}  // namespace LADON_NAMESPACE::detail::vec
