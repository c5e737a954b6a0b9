// SPDX-License-Identifier: Apache-2.0
// A cache stores the keys and values of tokens. project_keys stores a fixed context, which later calls of `attend`
// read. `extend` appends the tokens of a growing text.
//
// The caller owns the cache. The type of a cache does not depend on weights or the number of queries, so models for a
// prompt and for single tokens can share a cache.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <array>
#include <cstddef>

#include <ladon/detail/panel/cache_panels.hpp>
#include <ladon/detail/panel/panels.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE {

// Which tokens a cache keeps. mask::Window<Left>, or Model::window_keys in a layer with a window, selects `latest`:
//     every    all tokens, until the cache is full (the default)
//     latest   the latest tokens, in a ring: a new token replaces the oldest token
enum class Keep { every, latest };

// A cache for `Room` tokens (0: S.keys), stored in panels (detail/panel/panels.hpp) and aligned to 64 bytes. The panels
// have the layout for S.keys tokens.
//     keys            K^T [kv_heads][panels][head_width][width]
//     values          V^T [kv_heads][panels][value_width][width]
//     length          how many tokens were stored, including tokens that a ring has replaced
//     not_finite_end  from token number not_finite_end on, all values are finite
template <Shape S, Keep K, class Vectors, std::size_t Room = 0>
struct KeyValueCache {
  static constexpr detail::PanelLayout panel_layout = detail::panel_layout<Vectors>(S.keys);
  static constexpr bool ring = K == Keep::latest;
  static constexpr Shape shape = [] {
    Shape own = S;
    if (Room != 0) own.keys = Room;
    return own;
  }();
  static constexpr std::size_t capacity = shape.keys, head_width = S.head_width, value_width = S.value_width;
  static constexpr CachePrecision precision = S.cache_precision;
  detail::CachePanels<capacity, head_width, panel_layout, precision> keys[S.kv_heads];
  detail::CachePanels<capacity, value_width, panel_layout, precision> values[S.kv_heads];
  std::size_t length = 0;
  std::size_t not_finite_end = 0;

  // Returns false if a stored value may be infinite or NaN. A ring has replaced this value after `capacity` more
  // tokens.
  constexpr bool values_finite() const noexcept { return not_finite_end == 0 || length >= not_finite_end + capacity; }

  constexpr void clear() noexcept {
    length = 0;
    not_finite_end = 0;
  }
};

// The cache of an attention. A ring if `Mask` is mask::Window<Left> alone, with a limited Left.
template <Shape S, class Mask, class Vectors>
using CacheOf =
    KeyValueCache<S.for_cache(), mask::keys_before_query<Mask> != all ? Keep::latest : Keep::every, Vectors>;

// The caches of a stack. In `Rings` layers, the cache is a ring (Model::window_keys). Each array is in layer order.
template <class Cache, class Ring, std::size_t Layers, std::size_t Rings>
struct CachesOfKinds {
  std::array<Ring, Rings> rings;
  std::array<Cache, Layers - Rings> others;

  // Calls f(cache) for each layer's cache.
  template <class F>
  constexpr void each(F f) noexcept {
    for (Ring& cache : rings) f(cache);
    for (Cache& cache : others) f(cache);
  }
  constexpr void clear() noexcept {
    each([](auto& cache) { cache.clear(); });
  }
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
