// SPDX-License-Identifier: Apache-2.0
// A range of indices: of keys, queries, heads or panels.
#pragma once

#include <cstddef>

#include <ladon/detail/build/abi.hpp>

namespace LADON_NAMESPACE {

// The indices from `begin` to `end` - 1. If `begin` equals `end`, the range is empty.
struct Range {
  std::size_t begin;
  std::size_t end;
  constexpr bool contains(Range inner) const noexcept { return begin <= inner.begin && inner.end <= end; }
  // Returns the intersection of two ranges. The result is empty if the ranges have no common index.
  friend constexpr Range operator&(Range a, Range b) noexcept {
    const std::size_t first = a.begin > b.begin ? a.begin : b.begin;
    const std::size_t last = a.end < b.end ? a.end : b.end;
    return {first, last < first ? first : last};
  }
};

}  // namespace LADON_NAMESPACE
