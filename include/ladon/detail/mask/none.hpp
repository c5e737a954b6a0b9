// SPDX-License-Identifier: Apache-2.0
// The mask that hides no active key, bound to the lengths of a call.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/by_position.hpp>

namespace LADON_NAMESPACE::detail {

struct BoundNone : BoundByPosition<BoundNone> {
  static constexpr bool hides_keys = false;
  std::size_t keys;

  constexpr explicit BoundNone(std::size_t active_keys) noexcept : keys(active_keys) {}
  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, keys}}; }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t) const noexcept {
    return Pack::every_lane(true);
  }
};

}  // namespace LADON_NAMESPACE::detail
