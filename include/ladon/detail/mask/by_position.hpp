// The base of masks that decide by the positions of query and key, and add nothing to scores.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI::detail {

// The answers of a mask by position for one block of scores.
template <class BoundMask, class Pack>
struct LanesByPosition {
  const BoundMask& mask;
  std::size_t first_query;
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    const Pack lane = Pack::lane_index();
    return mask.may_see(lane + Pack::broadcast(static_cast<float>(first_query + v * Pack::lanes)), key);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

// Derived::may_see(query, key) returns which queries see the key. `query` is a pack: each lane holds a query's index as
// a float. Derived also defines hides_keys and key_ranges.
template <class Derived>
struct BoundByPosition {
  static constexpr bool adds_to_scores = false;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
    requires requires(const Derived& derived, const Pack& query, std::size_t key) { derived.may_see(query, key); }
  LADON_INLINE constexpr LanesByPosition<Derived, Pack> lanes(const ScoreBlock& block, NoScratch&) const noexcept {
    return {static_cast<const Derived&>(*this), block.queries.begin};
  }
};

}  // namespace ladon::inline LADON_ABI::detail
