// SPDX-License-Identifier: Apache-2.0
// A range of indices: of keys, queries, heads or panels.
#pragma once

#include <cstddef>

#include <ladon/detail/build/abi.hpp>

namespace LADON_NAMESPACE {

// Half-open: begin <= i < end.
struct Range {
  std::size_t begin;
  std::size_t end;
  constexpr bool contains(Range inner) const noexcept { return begin <= inner.begin && inner.end <= end; }
  // Returns the intersection, which may be empty.
  friend constexpr Range operator&(Range a, Range b) noexcept {
    const std::size_t first = a.begin > b.begin ? a.begin : b.begin;
    const std::size_t last = a.end < b.end ? a.end : b.end;
    return {first, last < first ? first : last};
  }
};

}  // namespace LADON_NAMESPACE
