// SPDX-License-Identifier: Apache-2.0
// A cache stores the keys and values of tokens, so that later calls do not project the keys and values again. A cache
// has two uses:
// - project_keys stores a fixed context. Any number of later calls of `attend` read the cache.
// - `extend` appends the tokens of a growing text. Each call attends to all earlier tokens.
//
// The caller owns the cache. The type of a cache depends neither on the weights nor on the number of queries. Shapes
// that differ only in `queries` can therefore share a cache, for example a shape for the prompt and a shape for single
// tokens.
//
// Implementation: detail/attention/cached.hpp writes new tokens into a cache. detail/panel/cache.hpp
// declares the arrays of a cache.
#pragma once

#include <cstddef>

#include <ladon/detail/panel/cache.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// Which tokens a cache keeps. The mask mask::Window<Left> selects `latest`, all other masks select `every`:
//     every    all tokens, until the cache is full
//     latest   the latest tokens, in a ring: a new token replaces the oldest token
enum class Keep { every, latest };

// A cache with room for `Keys` tokens of a model of width `Model`, aligned to 64 bytes. `keys` and `values` have the
// layout of panels (detail/panel/panels.hpp):
//     keys            K^T [kv_heads][panels][head_width][width]
//     values          V^T [kv_heads][panels][value_width][width]
//     length          how many tokens were stored, including tokens that a ring has replaced
//     not_finite_end  the values of all tokens with a number >= not_finite_end are finite
//
// The elements of `keys` and `values` are floats, bfloat16 numbers or 8-bit integers, depending on the precision `P`.
template <std::size_t Keys, std::size_t Model, std::size_t KvHeads, std::size_t HeadWidth, std::size_t ValueWidth,
          Keep K, class Vectors, CachePrecision P = CachePrecision::float32>
struct KeyValueCache {
  static constexpr detail::PanelLayout panel_layout = detail::panel_layout<Vectors>(Keys, Model);
  static constexpr bool ring = K == Keep::latest;
  static constexpr std::size_t capacity = Keys, head_width = HeadWidth, value_width = ValueWidth;
  static constexpr CachePrecision precision = P;
  detail::CachePanels<Keys, HeadWidth, panel_layout, P> keys[KvHeads];
  detail::CachePanels<Keys, ValueWidth, panel_layout, P> values[KvHeads];
  std::size_t length = 0;
  std::size_t not_finite_end = 0;

  // Returns false if a value in the cache may be infinite or NaN, otherwise true. In a ring, such a value is gone after
  // `Keys` further tokens, which replace all earlier tokens.
  constexpr bool values_finite() const noexcept { return not_finite_end == 0 || length >= not_finite_end + Keys; }

  // Empties the cache by setting `length` and `not_finite_end` to 0. The numbers in `keys` and `values` stay unchanged.
  constexpr void clear() noexcept {
    length = 0;
    not_finite_end = 0;
  }
};

// The cache of an attention with the shape S and the mask `Mask`. The cache has room for S.keys tokens. The cache is a
// ring if `Mask` is mask::Window<Left> with a limited Left. If `Mask` combines this mask with another mask, the cache
// is not a ring.
template <Shape S, class Mask, class Vectors>
using CacheOf =
    KeyValueCache<S.keys, S.model, S.kv_heads, S.head_width, S.value_width,
                  mask::keys_before_query<Mask> != all ? Keep::latest : Keep::every, Vectors, S.cache_precision>;

}  // namespace LADON_NAMESPACE
