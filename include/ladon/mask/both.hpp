// SPDX-License-Identifier: Apache-2.0
// The combination of two masks. Nesting combines more: Both<Both<A, B>, C>.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

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
template <class First, class Second>
inline constexpr bool ends_within_panels<BoundBoth<First, Second>> =
    ends_within_panels<First> || ends_within_panels<Second>;

// A query sees a key if both masks show it. Both numbers are added to the score, that of A first. `first` holds the
// data of mask A, and `second` holds the data of mask B.
template <class A, class B>
struct Both {
  template <Shape S>
  struct Data {
    typename A::template Data<S> first{};
    typename B::template Data<S> second{};
  };

  template <Shape S>
  static constexpr auto bind(const Placement& placement, const Data<S>& data) noexcept {
    const auto first = A::template bind<S>(placement, data.first);
    const auto second = B::template bind<S>(placement, data.second);
    return BoundBoth<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(second)>>{first, second};
  }
};

// The type of the combined mask can be written as decltype(Causal{} & Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace LADON_NAMESPACE::mask
