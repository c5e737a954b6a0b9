// SPDX-License-Identifier: Apache-2.0
// Defines the types of the arguments and results of a bound mask's functions. A bound mask is a mask together with the
// data and the lengths of one call (mask/policy.hpp). detail/panel/panels.hpp defines panels.
#pragma once

#include <cstddef>

#include <ladon/detail/panel/range.hpp>

namespace LADON_NAMESPACE::detail {

// Two ranges of keys, for one panel of queries:
// - `visible`: keys outside this range are hidden from every query of the panel. The kernels skip blocks of keys
//   outside this range.
// - `unmasked`: every query sees every key in this range. The kernels do not call may_see for these keys.
struct KeyRanges {
  Range visible;
  Range unmasked;
  friend constexpr KeyRanges operator&(const KeyRanges& a, const KeyRanges& b) noexcept {
    return {a.visible & b.visible, a.unmasked & b.unmasked};
  }
};

// A block of scores: one head, one panel of queries, and some consecutive keys.
struct ScoreBlock {
  std::size_t head;
  Range queries;
  Range keys;
};

// The Scratch type of a mask whose lanes() needs no memory.
struct NoScratch {};

}  // namespace LADON_NAMESPACE::detail
