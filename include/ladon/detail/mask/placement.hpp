// SPDX-License-Identifier: Apache-2.0
// The positions of a run's queries among the keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// The active lengths and the offset of a run: query i has the position i + `offset` among the keys.
struct Placement {
  Lengths lengths;
  std::ptrdiff_t offset;
};

// If the offset in a mask's data is default_offset, the mask uses the offset of the run (Placement::offset).
// mask/offset.hpp documents default_offset for callers.
inline constexpr std::ptrdiff_t default_offset = PTRDIFF_MIN;

// Returns the offset that a mask applies: `requested`, or the offset of the run if `requested` is default_offset.
//
// The offset is clamped to -2^24 .. 2^24, so that sums with the offset cannot overflow. For shapes and windows of at
// most 2^23 tokens, the clamping does not change which keys are hidden.
constexpr std::ptrdiff_t resolve_offset(const Placement& placement, std::ptrdiff_t requested) noexcept {
  constexpr std::ptrdiff_t largest = std::ptrdiff_t(1) << 24;
  const std::ptrdiff_t offset = requested == default_offset ? placement.offset : requested;
  return offset < -largest ? -largest : offset > largest ? largest : offset;
}

}  // namespace LADON_NAMESPACE::detail
