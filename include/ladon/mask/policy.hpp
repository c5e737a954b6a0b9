// SPDX-License-Identifier: Apache-2.0
// The contract between a mask and the kernels, for users who write their own masks. tests/test_masks_user.cpp is a
// complete example.
//
// A mask is a type with two parts:
//     template <Shape S> struct Data
//       The type of options.mask. A default-constructed Data must be valid.
//
//     template <Shape S> static constexpr auto bind(const Placement&, const Data<S>&)
//       Returns a bound mask, which contains the data of the mask for one run. Must neither throw nor allocate.
//
// `Placement` has the numbers of active queries and keys of the run (`lengths.queries`, `lengths.keys`), and `offset`:
// query i has the position i + `offset` among the keys.
//
// A bound mask needs the following members. The kernels use no other members. All functions are constexpr and noexcept.
//     hides_keys           constant; must be true unless every query sees every active key
//     adds_to_scores       constant; must be true unless add() returns every score unchanged
//     ends_within_panels   constant; if true, a kernel may also call key_ranges() for the first half of a panel's
//                          queries, and then skip the keys that this half does not see; false is always valid
//     Scratch<K, W>        type of the memory that lanes() may use for K keys and W queries; the memory is not
//                          initialised; NoScratch means that lanes() needs no memory
//     key_ranges(queries)  returns KeyRanges for a non-empty range of queries; `visible` must contain every active key
//                          that at least one of the queries may see, and no inactive key; `unmasked` must contain only
//                          keys that all of the queries see
//
//     may_see_any(queries, keys)
//       Returns false only if none of the queries may see any of the keys. Returning true is always valid.
//
//     lanes<Pack, W>(block, scratch)
//     Returns an object with the functions may_see and add (below) for one block of scores. `block` is a ScoreBlock
//     with at most W queries. The kernels call both functions for K keys from block.keys.begin on, even if the
//     block has fewer keys.
//
// may_see and add return packs, with one query in each lane. Lane i of pack number `v` belongs to query number
// block.queries.begin + v * Pack::lanes + i. Lanes beyond the last query are ignored. `key` is an index of a key, from
// block.keys.begin to block.keys.begin + K - 1.
//     may_see(v, key)      returns a Pack::Mask: true in the lanes of queries that may see the key
//     add(v, key, score)   returns a Pack: the score plus the number that the mask adds
//
// The kernels compute the softmax with powers of two, so the kernels multiply scores by log2(e). add() must therefore
// multiply its number by score::log2_e. A key is hidden only if may_see() returns false. If add() returns -inf but
// may_see() returns true, the key is not hidden.
//
// If a mask depends only on positions, its bound mask can be derived from BoundByPosition
// (detail/mask/by_position.hpp). In every mask, true or 1 means "may see". PyTorch's padding masks have the opposite
// meaning. The expression `a & b` combines two masks (both.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <ladon/detail/mask/by_position.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

using detail::BoundByPosition;
using detail::KeyRanges;
using detail::NoScratch;
using detail::Placement;
using detail::ScoreBlock;

// The shape for which the concept Policy checks a mask. The shape has the largest valid number of keys, because a
// window mask with a large width does not compile for fewer keys.
inline constexpr Shape checked_shape{.queries = 1,
                                     .keys = (1u << 24) - 1,
                                     .model = 1,
                                     .kv_heads = 1,
                                     .head_width = 1,
                                     .value_width = 1,
                                     .key_model = 1,
                                     .value_model = 1};

// The requirements on the object that lanes() returns, for packs of type Pack. A pack is a vector of floats
// (detail/vec/array.hpp).
template <class Lanes, class Pack>
concept LaneAnswers = requires(const Lanes& lanes, std::size_t v, std::size_t key, const Pack& score) {
  { lanes.may_see(v, key) } -> std::same_as<typename Pack::Mask>;
  { lanes.add(v, key, score) } -> std::same_as<Pack>;
};

template <class BoundMask, class Pack, std::size_t K, std::size_t W>
using LanesOf = decltype(std::declval<const BoundMask&>().template lanes<Pack, W>(
    std::declval<const ScoreBlock&>(), std::declval<typename BoundMask::template Scratch<K, W>&>()));

// A bound mask that has a valid function lanes() for K keys and W queries, in packs of type Pack.
template <class BoundMask, class Pack, std::size_t K, std::size_t W>
concept HasLanes =
    requires(const BoundMask& bound, const ScoreBlock& block, typename BoundMask::template Scratch<K, W>& scratch) {
      bound.template lanes<Pack, W>(block, scratch);
    } && LaneAnswers<LanesOf<BoundMask, Pack, K, W>, Pack>;

// A bound mask with all members that the kernels use. The check calls lanes() with packs of two lanes, which no kernel
// uses. With the packs of a kernel, the check would instantiate lanes() earlier than the kernel does, and g++ would
// generate different machine code for the kernel.
template <class BoundMask>
concept BoundPolicy = requires(const BoundMask& bound, Range queries, Range keys) {
  typename std::bool_constant<BoundMask::hides_keys>;
  typename std::bool_constant<BoundMask::adds_to_scores>;
  typename std::bool_constant<BoundMask::ends_within_panels>;
  typename BoundMask::template Scratch<4, 2>;
  { bound.key_ranges(queries) } -> std::same_as<KeyRanges>;
  { bound.may_see_any(queries, keys) } -> std::same_as<bool>;
} && HasLanes<BoundMask, detail::vec::ArrayPack<2>, 4, 2>;

template <class Mask>
using BoundOf = decltype(Mask::template bind<checked_shape>(
    std::declval<const Placement&>(), std::declval<const typename Mask::template Data<checked_shape>&>()));

// A type that an attention or a layer accepts as its mask.
template <class Mask>
concept Policy = requires(const Placement& placement, const typename Mask::template Data<checked_shape>& data) {
  requires std::default_initializable<typename Mask::template Data<checked_shape>>;
  Mask::template bind<checked_shape>(placement, data);
} && BoundPolicy<BoundOf<Mask>>;

}  // namespace LADON_NAMESPACE::mask
