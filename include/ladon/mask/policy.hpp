// SPDX-License-Identifier: Apache-2.0
// The contract between a mask and the kernels (example: tests/test_masks_user.cpp), and two joined masks (Both).
//
// A mask is a type with two parts:
//     template <Shape S> struct Data
//       The type of options.mask. A default-constructed Data must be valid.
//     template <Shape S> static constexpr auto bind_to(const Placement&, const Data<S>&)
//       Returns a bound mask: the mask with the data and the lengths of one run. Must neither throw nor allocate.
//
// The members of a bound mask (functions are constexpr and noexcept):
//     hides_keys                      must be true if the mask can hide an active key
//     adds_to_scores                  must be true if add() may change a score
//     Scratch<K, W>                   uninitialised memory that lanes() may use for K keys and W queries, or NoScratch
//     key_ranges(queries)             returns KeyRanges for a non-empty range of queries
//     may_see_any(queries, keys)      returns false only if none of the queries may see any of the keys
//     lanes<Pack, W>(block, scratch)  returns an object with the functions may_see and add for a ScoreBlock with at
//                                     most W queries; kernels call both for K keys from block.keys.begin on
//
// may_see and add return packs with one query in each lane. Lane i of pack `v` belongs to query number
// block.queries.begin + v * Pack::lanes + i. Lanes beyond the last query are ignored.
//     may_see(v, key)      returns a Pack::Mask: true in the lanes of queries that may see the key
//     add(v, key, score)   returns a Pack: the score plus the number that the mask adds
//
// Scores are exponents of two, so add() must multiply its number by score::log2_e. Only may_see() hides a key; -inf
// from add() does not. True or 1 means "may see", unlike in PyTorch's padding masks.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

// Query i has the position i + `offset` among the keys.
struct Placement {
  Lengths lengths;
  std::ptrdiff_t offset;
};

// Stands for the offset of the call. In `extend`, this is the number of tokens in the cache before the call. In other
// functions, it is shape.keys - shape.queries, even if fewer tokens are active.
inline constexpr std::ptrdiff_t default_offset = PTRDIFF_MIN;

// Returns `requested`, or the offset of the run if `requested` is default_offset. Clamps the result to -2^24 .. 2^24,
// so that sums cannot overflow. For shapes and windows of at most 2^23 tokens, clamping does not change which keys are
// hidden.
constexpr std::ptrdiff_t resolve_offset(const Placement& placement, std::ptrdiff_t requested) noexcept {
  constexpr std::ptrdiff_t largest = 1 << 24;
  const std::ptrdiff_t offset = requested == default_offset ? placement.offset : requested;
  return offset < -largest ? -largest : offset > largest ? largest : offset;
}

// Two ranges of active keys, for some queries. Keys outside `visible` are hidden from all of the queries. All of the
// queries see every key in `unmasked`, so may_see is not called for these keys.
struct KeyRanges {
  Range visible;
  Range unmasked;
  friend constexpr KeyRanges operator&(const KeyRanges& a, const KeyRanges& b) noexcept {
    return {a.visible & b.visible, a.unmasked & b.unmasked};
  }
};

struct ScoreBlock {
  std::size_t head;
  Range queries;
  Range keys;
};

struct NoScratch {};

template <Shape S>
constexpr std::size_t columns_of(const auto& data) noexcept {
  LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys",
                detail::caller_of(data), {{"options.mask.keys", data.keys}, {"shape.keys", S.keys}});
  return data.keys == all ? S.keys : data.keys;
}

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

// Base class of a bound mask that depends only on positions. Derived defines hides_keys, key_ranges and may_see(query,
// key). Each lane of the pack `query` holds the index of a query as a float.
template <class Derived>
struct BoundByPosition {
  static constexpr bool adds_to_scores = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = NoScratch;
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr LanesByPosition<Derived, Pack> lanes(const ScoreBlock& block, NoScratch&) const noexcept {
    return {static_cast<const Derived&>(*this), block.queries.begin};
  }
};

// Whether the queries of a panel often differ in the last key that they see, as with a causal mask. If so, kernels may
// compute the scores of the last keys only for the second half of the panel.
template <class BoundMask>
inline constexpr bool ends_within_panels = false;

// The shape with which the concept Policy checks a mask. With fewer keys, a wide mask::Window would not compile.
inline constexpr Shape checked_shape = Shape{.queries = 1, .keys = (1u << 24) - 1, .model = 1, .heads = 1}.complete();

// The pack with which BoundPolicy checks lanes(). A kernel's pack would instantiate lanes() before the kernel does,
// which changes the code that g++ generates.
using CheckedPack = detail::vec::ArrayPack<2>;

template <class BoundMask>
concept BoundPolicy = requires(const BoundMask& bound, Range queries, Range keys, const ScoreBlock& block,
                               typename BoundMask::template Scratch<4, 2>& scratch, std::size_t v, std::size_t key,
                               const CheckedPack& score) {
  typename std::bool_constant<BoundMask::hides_keys>;
  typename std::bool_constant<BoundMask::adds_to_scores>;
  { bound.key_ranges(queries) } -> std::same_as<KeyRanges>;
  { bound.may_see_any(queries, keys) } -> std::same_as<bool>;
  { bound.template lanes<CheckedPack, 2>(block, scratch).may_see(v, key) } -> std::same_as<CheckedPack::Mask>;
  { bound.template lanes<CheckedPack, 2>(block, scratch).add(v, key, score) } -> std::same_as<CheckedPack>;
};

template <class Mask>
using BoundOf = decltype(Mask::template bind_to<checked_shape>(
    std::declval<const Placement&>(), std::declval<const typename Mask::template Data<checked_shape>&>()));

template <class Mask>
concept Policy = requires(const Placement& placement, const typename Mask::template Data<checked_shape>& data) {
  requires std::default_initializable<typename Mask::template Data<checked_shape>>;
  Mask::template bind_to<checked_shape>(placement, data);
} && BoundPolicy<BoundOf<Mask>>;

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
    LADON_NO_UNIQUE_ADDRESS typename First::template Scratch<KeyWidth, Width> first;
    LADON_NO_UNIQUE_ADDRESS typename Second::template Scratch<KeyWidth, Width> second;
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
BoundBoth(First, Second) -> BoundBoth<First, Second>;
template <class First, class Second>
inline constexpr bool ends_within_panels<BoundBoth<First, Second>> =
    ends_within_panels<First> || ends_within_panels<Second>;

// A query sees a key if both masks show it. The numbers of both masks are added to the score, first A's number. `first`
// and `second` hold the data of A and B.
template <class A, class B>
struct Both {
  template <Shape S>
  struct Data {
    typename A::template Data<S> first{};
    typename B::template Data<S> second{};
  };

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>& data) noexcept {
    return BoundBoth{A::template bind_to<S>(placement, data.first), B::template bind_to<S>(placement, data.second)};
  }
};

// Joins two masks, as in decltype(Causal{} & Padding{}).
template <Policy A, Policy B>
constexpr Both<A, B> operator&(A, B) noexcept {
  return {};
}

}  // namespace LADON_NAMESPACE::mask
#include <ladon/detail/config/quiet_end.hpp>
