// SPDX-License-Identifier: Apache-2.0
// A window over a key/value cache that keeps only the latest tokens.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/window.hpp>

namespace LADON_NAMESPACE::mask {
template <std::size_t Left, std::size_t Right>
struct Window;
}  // namespace LADON_NAMESPACE::mask

namespace LADON_NAMESPACE::detail {

// The bound mask (mask/policy.hpp) of Window<Left> for a cache that is a ring. Token number p of the text is stored in
// slot p % `slots` of the cache. Query i is token number `past` + i. may_see compares positions relative to query 0:
// such numbers stay small, so floats represent them exactly, and the text may grow without limit.
template <std::size_t Left>
struct BoundRing : BoundByPosition<BoundRing<Left>> {
  static constexpr bool hides_keys = true;
  static constexpr bool ends_within_panels = true;
  std::size_t past;    // how many tokens precede query 0
  std::size_t newest;  // number of the last token of the text, counted from 0
  std::size_t slots;

  constexpr BoundRing(std::size_t past_tokens, std::size_t tokens, std::size_t capacity) noexcept
      : past(past_tokens), newest(past_tokens + tokens - 1), slots(capacity) {}
  // Until the ring replaces its first token, slot p holds token p, so the mask is an ordinary window.
  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    if (newest < slots) {
      return BoundWindow<Left, 0>(static_cast<std::ptrdiff_t>(past), newest + 1).key_ranges(queries);
    }
    const bool shows_every_slot = queries.end - queries.begin == 1 && Left + 1 >= slots;
    return {{0, slots}, {0, shows_every_slot ? slots : 0}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t slot) const noexcept {
    const std::size_t newest_slot = newest % slots;
    const std::ptrdiff_t age =
        static_cast<std::ptrdiff_t>(slot <= newest_slot ? newest_slot - slot : newest_slot + slots - slot);
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(newest - past) - age;
    if (position + static_cast<std::ptrdiff_t>(past) < 0) return Pack::every_lane(false);
    return (Pack::broadcast(static_cast<float>(position)) <= query) &
           (query <= Pack::broadcast(static_cast<float>(position + static_cast<std::ptrdiff_t>(Left))));
  }
};

// The largest number of keys that a mask shows before the position of a query: Left for the mask Window<Left>, and
// `all` (no limit) for all other masks.
template <class Mask>
inline constexpr std::size_t keys_before_query = all;
template <std::size_t Left>
inline constexpr std::size_t keys_before_query<mask::Window<Left, 0>> = Left;

// Whether a cache for this mask may replace its oldest tokens. Such a cache is a ring.
template <class Mask>
inline constexpr bool can_use_ring = keys_before_query<Mask> != all;

}  // namespace LADON_NAMESPACE::detail
