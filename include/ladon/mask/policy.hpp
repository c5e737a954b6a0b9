// What a mask is. A mask is a type; what only a run knows is its Data; bound to the lengths of a run it answers, and
// the kernels know no more of it than these answers:
//
//     hides_keys             false only where every query sees every active key
//     adds                   whether it adds to scores what it does not hide
//     panel(queries)         the keys that some of these queries may see, and those that all of them may
//     ends_within_panels     whether to ask panel() for half a panel's queries, too, which may see fewer keys
//     any(queries, keys)     false where it is cheap to tell that none of the queries may see any of the keys
//     lanes(slice, scratch)  the answers for one panel of queries and one of keys: may_see(v, key), add(v, key, score)
//
// "May see" is true (1) in every mask of ours; PyTorch's padding masks are the other way round.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ladon/detail/memory/range.hpp>
#include <ladon/detail/simd/vectors.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// Keys for a panel of queries. Outside `seen` nothing counts (and no block of keys is computed), inside `clear` nothing
// need be compared.
struct VisibleKeys {
  Range seen;
  Range clear;
  friend constexpr VisibleKeys operator&(const VisibleKeys& a, const VisibleKeys& b) noexcept {
    return {a.seen & b.seen, a.clear & b.clear};
  }
};

// The panel of keys that meets a panel of queries, for one head.
struct Slice {
  std::size_t head;
  Range queries;
  Range keys;
};

namespace mask {

// What most masks need to tell of a slice: nothing that is not computed on the spot.
struct NoScratch {};

// For masks that know from the positions alone: Bound::may_see(query, key), the queries of a pack in their lanes.
template <class Bound, class Pack>
struct ByPosition {
  const Bound& mask;
  std::size_t first;  // query
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    const Pack lane = Pack::lane_index();
    return mask.may_see(lane + Pack::broadcast(static_cast<float>(first + v * Pack::lanes)), key);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

template <class Derived>
struct PositionBound {
  static constexpr bool adds = false;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  constexpr bool any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr ByPosition<Derived, Pack> lanes(const Slice& slice, NoScratch&) const noexcept {
    return {static_cast<const Derived&>(*this), slice.queries.begin};
  }
};

// Every active key is seen.
struct None {
  template <Shape S>
  struct Data {};
  struct Bound : PositionBound<Bound> {
    static constexpr bool hides_keys = false;
    std::size_t keys;
    constexpr explicit Bound(std::size_t active) noexcept : keys(active) {}
    constexpr VisibleKeys panel(Range) const noexcept { return {{0, keys}, {0, keys}}; }
    template <class Pack>
    LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t) const noexcept {
      return Pack::every_lane(true);
    }
  };
  template <Shape S>
  static constexpr Bound bind(const Placement& run, const Data<S>&) noexcept {
    return Bound(run.lengths.keys);
  }
};

// A shape with room for any window.
inline constexpr Shape roomy{.queries = 1,
                             .keys = (1u << 24) - 1,
                             .model = 1,
                             .kv_heads = 1,
                             .head_width = 1,
                             .value_width = 1,
                             .key_model = 1,
                             .value_model = 1};

template <class T>
concept Policy = requires(const Placement& run, const typename T::template Data<roomy>& data) {
  { T::template bind<roomy>(run, data).panel(Range{}) } -> std::same_as<VisibleKeys>;
  { T::template bind<roomy>(run, data).any(Range{}, Range{}) } -> std::same_as<bool>;
  { decltype(T::template bind<roomy>(run, data))::hides_keys } -> std::convertible_to<bool>;
  { decltype(T::template bind<roomy>(run, data))::adds } -> std::convertible_to<bool>;
  { decltype(T::template bind<roomy>(run, data))::ends_within_panels } -> std::convertible_to<bool>;
};

// A key is seen where both masks show it; both add.
template <class A, class B>
struct Both {
  template <Shape S>
  struct Data {
    typename A::template Data<S> first{};
    typename B::template Data<S> second{};
  };

  template <class First, class Second>
  struct Lanes {
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
  struct Bound {
    static constexpr bool hides_keys = First::hides_keys || Second::hides_keys;
    static constexpr bool adds = First::adds || Second::adds;
    static constexpr bool ends_within_panels = First::ends_within_panels || Second::ends_within_panels;
    template <std::size_t KeyWidth, std::size_t Width>
    struct Scratch {
      [[no_unique_address]] typename First::template Scratch<KeyWidth, Width> first;
      [[no_unique_address]] typename Second::template Scratch<KeyWidth, Width> second;
    };
    First first;
    Second second;
    constexpr VisibleKeys panel(Range queries) const noexcept { return first.panel(queries) & second.panel(queries); }
    constexpr bool any(Range queries, Range keys) const noexcept {
      return first.any(queries, keys) && second.any(queries, keys);
    }
    template <class Pack, std::size_t Width>
    LADON_INLINE constexpr auto lanes(const Slice& slice, auto& scratch) const noexcept {
      const auto a = first.template lanes<Pack, Width>(slice, scratch.first);
      const auto b = second.template lanes<Pack, Width>(slice, scratch.second);
      return Lanes<decltype(a), decltype(b)>{a, b};
    }
  };

  template <Shape S>
  static constexpr auto bind(const Placement& run, const Data<S>& data) noexcept {
    const auto first = A::template bind<S>(run, data.first);
    const auto second = B::template bind<S>(run, data.second);
    return Bound<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(second)>>{first, second};
  }
};

// Both<A, B> for an expression: decltype(Causal{} & Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace mask
}  // namespace ladon::inline LADON_ABI
