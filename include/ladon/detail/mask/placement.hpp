// Where the tokens of a run stand among the keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI::detail {

// The active lengths of a run, and the run's own offset: query i stands at key i + offset.
struct Placement {
  Lengths lengths;
  std::ptrdiff_t offset;
};

// Stands for the run's own offset. mask/offset.hpp documents this value for callers.
inline constexpr std::ptrdiff_t default_offset = PTRDIFF_MIN;

// Returns the offset that a mask applies. Positions are below 2^24, so larger offsets are clamped to 2^24. A clamped
// offset hides the same keys, and sums with a clamped offset cannot overflow.
constexpr std::ptrdiff_t resolve_offset(const Placement& placement, std::ptrdiff_t requested) noexcept {
  constexpr std::ptrdiff_t largest = std::ptrdiff_t(1) << 24;
  const std::ptrdiff_t offset = requested == default_offset ? placement.offset : requested;
  return offset < -largest ? -largest : offset > largest ? largest : offset;
}

}  // namespace ladon::inline LADON_ABI::detail
