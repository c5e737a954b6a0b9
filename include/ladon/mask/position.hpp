// SPDX-License-Identifier: Apache-2.0
// Masks that depend only on the positions of queries and keys: Unmasked, Window and Causal.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::mask {

constexpr std::size_t clamp_key(std::ptrdiff_t key, std::size_t keys) noexcept {
  if (key <= 0) return 0;
  return static_cast<std::size_t>(key) < keys ? static_cast<std::size_t>(key) : keys;
}

template <std::size_t Left, std::size_t Right>
struct BoundWindow : BoundByPosition<BoundWindow<Left, Right>> {
  static constexpr bool hides_keys = Left != all || Right != all;
  std::ptrdiff_t offset;
  std::size_t keys;

  constexpr explicit BoundWindow(std::size_t active_keys, std::ptrdiff_t query_offset = 0) noexcept
      : offset(query_offset), keys(active_keys) {}
  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    const std::size_t last = queries.end - 1;
    return {{first_key(queries.begin), end_key(last)}, Range{first_key(last), keys} & Range{0, end_key(queries.begin)}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
    [[maybe_unused]] const auto position = [&](std::ptrdiff_t later) LADON_INLINE_LAMBDA {
      return Pack::broadcast(static_cast<float>(static_cast<std::ptrdiff_t>(key) - offset + later));
    };
    auto sees = Pack::every_lane(true);
    if constexpr (Right != all) sees = position(-right) <= query;
    if constexpr (Left != all) sees = sees & (query <= position(left));
    return sees;
  }

 private:
  static constexpr std::ptrdiff_t left = static_cast<std::ptrdiff_t>(Left), right = static_cast<std::ptrdiff_t>(Right);
  // The keys that a query sees are first_key <= key < end_key.
  constexpr std::size_t first_key(std::size_t query) const noexcept {
    if constexpr (Left == all) return 0;
    return clamp_key(static_cast<std::ptrdiff_t>(query) + offset - left, keys);
  }
  constexpr std::size_t end_key(std::size_t query) const noexcept {
    if constexpr (Right == all) return keys;
    return clamp_key(static_cast<std::ptrdiff_t>(query) + offset + right + 1, keys);
  }
};
template <std::size_t Left, std::size_t Right>
inline constexpr bool ends_within_panels<BoundWindow<Left, Right>> = Right != all;

// No mask: every query sees every active key.
using BoundUnmasked = BoundWindow<all, all>;
struct Unmasked {
  template <Shape S>
  struct Data {};

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>&) noexcept {
    return BoundUnmasked(placement.lengths.keys);
  }
};

// Query i sees the keys from i + `offset` - Left to i + `offset` + Right. ladon::all means no limit. `offset` may be
// negative. If Window<Left> is the only mask, a key/value cache keeps only the latest tokens (key_value_cache.hpp).
template <std::size_t Left, std::size_t Right = 0>
struct Window {
  template <Shape S>
  struct Data {
    static_assert(Left == all || Left < S.keys + S.queries,
                  "ladon: this window is wider to the left than keys and queries together; say ladon::all");
    static_assert(Right == all || Right < S.keys + S.queries,
                  "ladon: this window is wider to the right than keys and queries together; say ladon::all");
    std::ptrdiff_t offset = default_offset;
  };

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>& data) noexcept {
    return BoundWindow<Left, Right>(placement.lengths.keys, resolve_offset(placement, data.offset));
  }
};

template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct WindowAt {
  template <Shape S>
  struct Data {
    static_assert(
        std::is_default_constructible_v<typename Window<Left, Right>::template Data<S>>);  // checks the window
  };

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>&) noexcept {
    return Window<Left, Right>::template bind_to<S>(placement, {.offset = Offset});
  }
};

// Query i sees keys 0 to i + `offset`. PyTorch's is_causal uses the offset 0. This is also the default here if there
// are as many keys as queries.
struct Causal : Window<all, 0> {};

template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

// The bound form of Window<Left> for a cache that is a ring. Slot p % `capacity` holds token p, and query i is token
// `past` + i. Positions relative to query 0 stay small, so floats are exact in a text of any length.
template <std::size_t Left>
struct BoundRing : BoundByPosition<BoundRing<Left>> {
  static constexpr bool hides_keys = true;
  std::size_t past;    // how many tokens precede query 0
  std::size_t newest;  // number of the last token of the text, counted from 0
  std::size_t capacity;

  constexpr BoundRing(std::size_t past_tokens, std::size_t tokens, std::size_t all_slots) noexcept
      : past(past_tokens), newest(past_tokens + tokens - 1), capacity(all_slots) {}
  // Until the ring replaces its first token, slot p holds token p, so the mask is an ordinary window.
  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    if (newest < capacity) {
      return BoundWindow<Left, 0>(newest + 1, static_cast<std::ptrdiff_t>(past)).key_ranges(queries);
    }
    const bool shows_every_slot = queries.end - queries.begin == 1 && Left + 1 >= capacity;
    return {{0, capacity}, {0, shows_every_slot ? capacity : 0}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t slot) const noexcept {
    const std::size_t newest_slot = newest % capacity;
    const std::ptrdiff_t age =
        static_cast<std::ptrdiff_t>(slot <= newest_slot ? newest_slot - slot : newest_slot + capacity - slot);
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(newest - past) - age;
    if (position + static_cast<std::ptrdiff_t>(past) < 0) return Pack::every_lane(false);
    return (Pack::broadcast(static_cast<float>(position)) <= query) &
           (query <= Pack::broadcast(static_cast<float>(position + static_cast<std::ptrdiff_t>(Left))));
  }
};
template <std::size_t Left>
inline constexpr bool ends_within_panels<BoundRing<Left>> = true;

// The largest number of keys that a mask shows before a query: Left for the mask Window<Left>, otherwise `all`. With
// such a limit, a cache is a ring: new tokens replace the oldest tokens.
template <class Mask>
inline constexpr std::size_t keys_before_query = all;
template <std::size_t Left>
inline constexpr std::size_t keys_before_query<Window<Left, 0>> = Left;

}  // namespace LADON_NAMESPACE::mask
#include <ladon/detail/config/quiet_end.hpp>
