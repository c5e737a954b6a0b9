// SPDX-License-Identifier: Apache-2.0
// The combination of two masks, bound to the data of a call.
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/mask/key_ranges.hpp>

namespace LADON_NAMESPACE::detail {

// Combines the results of two masks for one block of scores. A query sees a key if both masks show the key. `add` first
// adds the number of the first mask and then the number of the second mask.
template <class First, class Second>
struct LanesOfBoth {
  First first;
  Second second;
  LADON_INLINE constexpr auto may_see(std::size_t v, std::size_t key) const noexcept {
    return first.may_see(v, key) & second.may_see(v, key);
  }
  template <class Pack>
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    return second.add(v, key, first.add(v, key, score));
  }
};

template <class First, class Second>
struct BoundBoth {
  static constexpr bool hides_keys = First::hides_keys || Second::hides_keys;
  static constexpr bool adds_to_scores = First::adds_to_scores || Second::adds_to_scores;
  static constexpr bool ends_within_panels = First::ends_within_panels || Second::ends_within_panels;
  template <std::size_t KeyWidth, std::size_t Width>
  struct Scratch {
    [[no_unique_address]] typename First::template Scratch<KeyWidth, Width> first;
    [[no_unique_address]] typename Second::template Scratch<KeyWidth, Width> second;
  };
  First first;
  Second second;

  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    return first.key_ranges(queries) & second.key_ranges(queries);
  }
  constexpr bool may_see_any(Range queries, Range keys) const noexcept {
    return first.may_see_any(queries, keys) && second.may_see_any(queries, keys);
  }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr auto lanes(const ScoreBlock& block, auto& scratch) const noexcept {
    const auto a = first.template lanes<Pack, Width>(block, scratch.first);
    const auto b = second.template lanes<Pack, Width>(block, scratch.second);
    return LanesOfBoth<decltype(a), decltype(b)>{a, b};
  }
};

}  // namespace LADON_NAMESPACE::detail
