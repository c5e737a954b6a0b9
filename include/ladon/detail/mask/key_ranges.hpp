// The types in which kernels ask a bound mask, and in which the mask answers.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/range.hpp>

namespace ladon::inline LADON_ABI::detail {

// Keys for a panel of queries. Keys outside `visible` are hidden from every query of the panel. Kernels skip the blocks
// of keys outside `visible`. Keys inside `unmasked` are visible to every query. Kernels do not call may_see for keys
// inside `unmasked`.
struct KeyRanges {
  Range visible;
  Range unmasked;
  friend constexpr KeyRanges operator&(const KeyRanges& a, const KeyRanges& b) noexcept {
    return {a.visible & b.visible, a.unmasked & b.unmasked};
  }
};

// The scores of one head, for one panel of queries and some consecutive keys.
struct ScoreBlock {
  std::size_t head;
  Range queries;
  Range keys;
};

// The scratch of a mask that needs no memory for its answers.
struct NoScratch {};

}  // namespace ladon::inline LADON_ABI::detail
