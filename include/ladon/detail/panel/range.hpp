// SPDX-License-Identifier: Apache-2.0
// Ranges of indices, and the division of rows into tiles.
#pragma once

#include <cstddef>

#include <ladon/detail/config/compiler.hpp>

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

namespace detail {

// Divides Rows rows into tiles of at most MaxRows rows, as evenly as possible, and calls tile.operator()<R>(first_row).
// Example: with MaxRows = 12, 64 rows become four tiles of 11 and two of 10. A last tile of 4 rows would use few
// registers.
template <std::size_t Rows, std::size_t MaxRows, class F>
LADON_INLINE constexpr void for_row_tiles(F tile) noexcept {
  constexpr std::size_t tiles = (Rows + MaxRows - 1) / MaxRows;
  constexpr std::size_t low = Rows / tiles;
  constexpr std::size_t higher_tiles = Rows % tiles;
  std::size_t row = 0;
  if constexpr (higher_tiles > 0) {
    for (; row < higher_tiles * (low + 1); row += low + 1) tile.template operator()<low + 1>(row);
  }
  for (; row < Rows; row += low) tile.template operator()<low>(row);
}

}  // namespace detail
}  // namespace LADON_NAMESPACE
