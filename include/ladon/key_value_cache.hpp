// Keys and values of tokens that went before, kept for the queries to come: of a context that many queries attend to
// (project_keys), or of a text that grows (extend). The caller's; it knows nothing of weights or queries, so shapes
// that differ in queries only share it: one for the prompt, one for a token at a time.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/panels.hpp>
#include <ladon/mask/window.hpp>
#include <ladon/shape.hpp>

namespace ladon::inline LADON_ABI {

// Where a ring is full, the oldest token makes room for the newest (mask::Window<Left>).
enum class Keep { every, latest };

// K^T [kv heads][panels][head width][width] and V^T likewise, ready to be used. `length` counts every token so far.
template <std::size_t Keys, std::size_t KvHeads, std::size_t HeadWidth, std::size_t ValueWidth, Keep K, class Target>
struct KeyValueCache {
  static constexpr detail::Tiling tiling = detail::tiling<Target>(Keys);
  static constexpr bool ring = K == Keep::latest;
  static constexpr std::size_t capacity = Keys;
  Panels<Keys, HeadWidth, tiling> keys[KvHeads];
  Panels<Keys, ValueWidth, tiling> values[KvHeads];
  std::size_t length = 0;
  bool values_finite = true;

  // Forgets everything; the numbers may stay as they are.
  constexpr void clear() noexcept {
    length = 0;
    values_finite = true;
  }
};

// The cache for a shape of which `keys` is the capacity.
template <Shape S, class Mask, class Target>
using CacheOf = KeyValueCache<S.keys, S.kv_heads, S.head_width, S.value_width,
                              mask::fits_ring<Mask> ? Keep::latest : Keep::every, Target>;

}  // namespace ladon::inline LADON_ABI
