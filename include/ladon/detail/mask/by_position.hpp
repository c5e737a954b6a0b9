// SPDX-License-Identifier: Apache-2.0
// The base class of masks that depend only on the positions of query and key, and add nothing to scores.
// detail/vec/array.hpp defines packs.
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/mask/key_ranges.hpp>

namespace LADON_NAMESPACE::detail {

// The object that lanes() returns (mask/policy.hpp) for a mask that depends only on positions.
template <class BoundMask, class Pack>
struct LanesByPosition {
  const BoundMask& mask;
  std::size_t first_query;
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept
    requires requires(const Pack& query) { mask.may_see(query, key); }
  {
    const Pack lane = Pack::lane_index();
    return mask.may_see(lane + Pack::broadcast(static_cast<float>(first_query + v * Pack::lanes)), key);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

// Provides all members of a bound mask (mask/policy.hpp) except hides_keys and key_ranges, which Derived defines.
// Derived also defines may_see(query, key). Each lane of the pack `query` holds the index of a query as a float.
// may_see returns a Pack::Mask, which is true in the lanes of queries that see the key.
template <class Derived>
struct BoundByPosition {
  static constexpr bool adds_to_scores = false;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr LanesByPosition<Derived, Pack> lanes(const ScoreBlock& block, NoScratch&) const noexcept {
    return {static_cast<const Derived&>(*this), block.queries.begin};
  }
};

}  // namespace LADON_NAMESPACE::detail
