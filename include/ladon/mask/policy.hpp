// The contract between a mask and the kernels, for users who write a mask of their own. `a & b` combines two masks
// (both.hpp). tests/test_masks_user.cpp is a complete example.
//
// A mask is a type with two parts:
//
//     template <Shape S> struct Data             options.mask of one call; a default-constructed Data must be valid
//     template <Shape S> static constexpr        returns a bound mask: the mask with its data for one run; bind must
//       auto bind(const Placement&, const Data<S>&)  not throw or allocate
//
// Placement has the run's active lengths, `lengths.queries` and `lengths.keys`, and the run's `offset`: query i stands
// at key i + offset. The kernels know nothing of a bound mask but these parts, all of them constexpr and noexcept:
//
//     hides_keys           constant; false only if every query sees every active key
//     adds_to_scores       constant; false only if add() returns every score unchanged
//     ends_within_panels   constant; true asks key_ranges() once more for half of a panel's queries
//     Scratch<K, W>        type of the uninitialised memory for the answers of W queries and K keys; often NoScratch
//     key_ranges(queries)  KeyRanges: `visible` holds every key that some query of a non-empty range may see, and ends
//                          at the last active key or before; every query sees every key of `unmasked`
//     may_see_any(queries, keys)    false only if none of the queries may see any of the keys; true is always valid
//     lanes<Pack, W>(block, scratch)  answers for a ScoreBlock of at most W queries and K keys, see below
//
// The answers of lanes() are for packs of queries. Lane i of pack v is query block.queries.begin + v * Pack::lanes + i.
// Lanes beyond the last query are ignored. `key` lies in the K keys from block.keys.begin on.
//
//     may_see(v, key)      Pack::Mask; true where the query may see the key
//     add(v, key, score)   Pack; the score with the mask's addend. Scores are exponents of two: an addend is multiplied
//                          by score::log2_e. A score of -inf hides a key only if may_see() is false, too.
//
// A mask that decides by position alone derives its bound mask from BoundByPosition (detail/mask/by_position.hpp).
// "May see" is true, or 1, in every mask. PyTorch's padding masks have the opposite meaning.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <ladon/detail/mask/by_position.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/detail/simd/pack_array.hpp>
#include <ladon/shape.hpp>
#include <ladon/threads.hpp>

namespace ladon::inline LADON_ABI::mask {

using detail::BoundByPosition;
using detail::KeyRanges;
using detail::NoScratch;
using detail::Placement;
using detail::ScoreBlock;

// The shape for which a mask is checked. The shape has room for a window of any width.
inline constexpr Shape checked_shape{.queries = 1,
                                     .keys = (1u << 24) - 1,
                                     .model = 1,
                                     .kv_heads = 1,
                                     .head_width = 1,
                                     .value_width = 1,
                                     .key_model = 1,
                                     .value_model = 1};

// The answers of lanes() in packs of type Pack.
template <class Lanes, class Pack>
concept LaneAnswers = requires(const Lanes& lanes, std::size_t v, std::size_t key, const Pack& score) {
  { lanes.may_see(v, key) } -> std::same_as<typename Pack::Mask>;
  { lanes.add(v, key, score) } -> std::same_as<Pack>;
};

template <class Bound, class Pack, std::size_t K, std::size_t W>
using LanesOf = decltype(std::declval<const Bound&>().template lanes<Pack, W>(
    std::declval<const ScoreBlock&>(), std::declval<typename Bound::template Scratch<K, W>&>()));

// A bound mask that gives answers for K keys and W queries, in packs of type Pack.
template <class Bound, class Pack, std::size_t K, std::size_t W>
concept HasLanes =
    requires(const Bound& bound, const ScoreBlock& block, typename Bound::template Scratch<K, W>& scratch) {
      bound.template lanes<Pack, W>(block, scratch);
    } && LaneAnswers<LanesOf<Bound, Pack, K, W>, Pack>;

// A bound mask with every part that the kernels use. The check uses a pack type that no kernel uses. With a kernel's
// pack type the check would instantiate functions early, and g++ would change the kernels' object code.
template <class Bound>
concept BoundPolicy = requires(const Bound& bound, Range queries, Range keys) {
  typename std::bool_constant<Bound::hides_keys>;
  typename std::bool_constant<Bound::adds_to_scores>;
  typename std::bool_constant<Bound::ends_within_panels>;
  typename Bound::template Scratch<4, 2>;
  { bound.key_ranges(queries) } -> std::same_as<KeyRanges>;
  { bound.may_see_any(queries, keys) } -> std::same_as<bool>;
} && HasLanes<Bound, detail::simd::ArrayPack<2>, 4, 2>;

template <class Mask>
using BoundOf = decltype(Mask::template bind<checked_shape>(
    std::declval<const Placement&>(), std::declval<const typename Mask::template Data<checked_shape>&>()));

// A type that can be the mask of an attention or a layer.
template <class Mask>
concept Policy = requires(const Placement& placement, const typename Mask::template Data<checked_shape>& data) {
  requires std::default_initializable<typename Mask::template Data<checked_shape>>;
  Mask::template bind<checked_shape>(placement, data);
} && BoundPolicy<BoundOf<Mask>>;

}  // namespace ladon::inline LADON_ABI::mask
