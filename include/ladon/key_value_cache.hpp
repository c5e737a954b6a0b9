// Keys and values of tokens that went before, kept for the queries to come: of a context that many queries attend to
// (project_keys), or of a text that grows (extend). The caller's; it knows nothing of weights or queries, so shapes
// that differ in queries only share it: one for the prompt, one for a token at a time.
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/mask/ring.hpp>
#include <ladon/detail/memory/panels.hpp>
#include <ladon/mask/offset.hpp>

namespace ladon::inline LADON_ABI {

// Where a ring is full, the oldest token makes room for the newest (mask::Window<Left>).
enum class Keep { every, latest };

// K^T [kv heads][panels][head width][width] and V^T likewise, ready to be used. `length` counts every token so far.
template <std::size_t Keys, std::size_t KvHeads, std::size_t HeadWidth, std::size_t ValueWidth, Keep K, class Target>
struct KeyValueCache {
  static constexpr detail::Tiling tiling = detail::tiling<Target>(Keys);
  static constexpr Keep keep = K;
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
                              detail::can_use_ring<Mask> ? Keep::latest : Keep::every, Target>;

namespace detail {

// What a mask says once `tokens` more were appended to a cache: query i stands at past + i.
template <Shape S, class Mask, class Options, class Cache>
constexpr auto bind_behind(const Options& options, const Cache& cache, std::size_t tokens) noexcept {
  const std::size_t past = cache.length - tokens;
  if constexpr (Cache::keep == Keep::latest) {
    static_assert(S.keys >= keys_before_query<Mask> + S.queries,
                  "ladon: the cache is too small: it must hold the window and the tokens of one call");
    LADON_EXPECTS(options.mask.offset == mask::default_offset, "ladon: a ring has no other offset than its own");
    return BoundRing<keys_before_query<Mask>>(past, tokens, S.keys);
  } else {
    return options.bind({tokens, cache.length}, static_cast<std::ptrdiff_t>(past));
  }
}

// The first `tokens` lanes of a panel [Rows][Width] become tokens first, first + 1, ... of panels [Rows][T.width()];
// in a ring of Slots they go on at its begin.
template <Tiling T, std::size_t Slots, std::size_t Rows, std::size_t Width>
constexpr void scatter(const float* panel, std::size_t tokens, std::size_t first, float* to) noexcept {
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::size_t slot = (first + t) % Slots;
    float* const column = to + slot / T.width() * T.width() * Rows + slot % T.width();
    for (std::size_t row = 0; row < Rows; ++row) column[row * T.width()] = panel[row * Width + t];
  }
}

}  // namespace detail
}  // namespace ladon::inline LADON_ABI
