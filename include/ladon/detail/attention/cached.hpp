// SPDX-License-Identifier: Apache-2.0
// Steps of `extend` (heads.hpp), which appends tokens to a cache of keys and values (cache.hpp).
#pragma once

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/mask/position.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// Returns the bound mask of a call that appends `tokens` tokens. Query i has the position `past` + i. A ring stores
// token p in slot p % S.keys.
template <Shape S, class Cache, class Options>
constexpr auto bind_behind(const Options& options, std::size_t past, std::size_t tokens) noexcept {
  [[maybe_unused]] constexpr std::size_t reach = mask::keys_before_query<typename Options::MaskType>;
  if constexpr (Cache::ring) {
    static_assert(S.keys >= reach + S.queries,
                  "ladon: the cache is too small: it must hold the window and the tokens of one call");
    LADON_EXPECTS(options.mask.offset == mask::default_offset, "ladon: a ring has no other offset than its own",
                  options.caller, {{"options.mask.offset", options.mask.offset}});
    return mask::BoundRing<reach>(past, tokens, S.keys);
  } else {
    return options.bind({tokens, past + tokens}, static_cast<std::ptrdiff_t>(past));
  }
}

// Rounds the first `tokens` tokens of `panel` [features][Width] to the precision of the cache, and stores lane t as
// token `first` + t of the text. Token p goes to slot p % Slots.
template <std::size_t Slots, std::size_t Width, class Storage>
constexpr void scatter(const float* panel, std::size_t tokens, std::size_t first, Storage& to) noexcept {
  for (std::size_t t = 0; t < tokens; ++t) to.store((first + t) % Slots, panel + t, Width);
}

// Returns whether the stored values of the tokens `first` to `first` + `tokens` - 1 are finite.
template <std::size_t Slots, class Storage>
constexpr bool stored_finite(const Storage& from, std::size_t tokens, std::size_t first) noexcept {
  bool finite = true;
  for (std::size_t t = 0; t < tokens; ++t) finite = finite && from.finite((first + t) % Slots);
  return finite;
}

}  // namespace LADON_NAMESPACE::detail
