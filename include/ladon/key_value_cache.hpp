// The keys and values of earlier tokens, for later queries. The tokens belong to a context that many queries attend to
// (project_keys), or to a text that grows (extend).
//
// The caller owns the cache. The type of a cache does not depend on weights or on the number of queries. Shapes that
// differ in queries only can therefore share a cache: one shape for the prompt, another shape for single tokens.
//
// Implementation: detail/attention/cache_steps.hpp writes new tokens into a cache.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/ring.hpp>
#include <ladon/detail/memory/panels.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI {

// The tokens that a cache keeps. `every`: all tokens, until the capacity is reached. `latest`: the newest tokens, as a
// ring in which a new token replaces the oldest token (mask::Window<Left>).
enum class Keep { every, latest };

// A cache of `Keys` tokens, aligned to 64 bytes. `keys` holds K^T [kv_heads][panels][head_width][width], and `values`
// holds V^T [kv_heads][panels][value_width][width]. `length` counts all tokens so far, including the tokens that a ring
// has dropped. The member values_finite is false if a value is or was infinite or NaN.
template <std::size_t Keys, std::size_t KvHeads, std::size_t HeadWidth, std::size_t ValueWidth, Keep K, class Target>
struct KeyValueCache {
  static constexpr detail::Tiling tiling = detail::tiling<Target>(Keys);
  static constexpr bool ring = K == Keep::latest;
  static constexpr std::size_t capacity = Keys;
  Panels<Keys, HeadWidth, tiling> keys[KvHeads];
  Panels<Keys, ValueWidth, tiling> values[KvHeads];
  std::size_t length = 0;
  bool values_finite = true;

  // Empties the cache. The numbers in keys and values stay unchanged.
  constexpr void clear() noexcept {
    length = 0;
    values_finite = true;
  }
};

// The cache of a shape. S.keys is the capacity in tokens. A mask that sees only a window before each query gets a ring.
template <Shape S, class Mask, class Target>
using CacheOf = KeyValueCache<S.keys, S.kv_heads, S.head_width, S.value_width,
                              detail::can_use_ring<Mask> ? Keep::latest : Keep::every, Target>;

}  // namespace ladon::inline LADON_ABI
