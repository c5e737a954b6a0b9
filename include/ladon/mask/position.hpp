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

// Query i sees the keys from i + `first` to i + `last`. Without HasFirst or HasLast, this side has no limit.
template <bool HasFirst, bool HasLast>
struct BoundWindow : BoundByPosition<BoundWindow<HasFirst, HasLast>> {
  static constexpr bool hides_keys = HasFirst || HasLast;
  std::size_t keys;  // how many keys are active
  std::ptrdiff_t first, last;

  constexpr explicit BoundWindow(std::size_t active_keys, std::ptrdiff_t first_key = 0,
                                 std::ptrdiff_t last_key = 0) noexcept
      : keys(active_keys), first(first_key), last(last_key) {}
  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    const auto seen = [&](std::size_t query) {
      const auto i = static_cast<std::ptrdiff_t>(query);
      return Range{HasFirst ? clamp_key(i + first, keys) : 0, HasLast ? clamp_key(i + last + 1, keys) : keys};
    };
    const Range by_first = seen(queries.begin), by_last = seen(queries.end - 1);
    return {{by_first.begin, by_last.end}, Range{by_last.begin, keys} & Range{0, by_first.end}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
    [[maybe_unused]] const auto position = [&](std::ptrdiff_t earlier) LADON_INLINE_LAMBDA {
      return Pack::broadcast(static_cast<float>(static_cast<std::ptrdiff_t>(key) - earlier));
    };
    auto sees = Pack::every_lane(true);
    if constexpr (HasLast) sees = position(last) <= query;
    if constexpr (HasFirst) sees = sees & (query <= position(first));
    return sees;
  }
};
template <bool HasFirst, bool HasLast>
inline constexpr bool ends_within_panels<BoundWindow<HasFirst, HasLast>> = HasLast;

// No mask: every query sees every active key.
using BoundUnmasked = BoundWindow<false, false>;
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
    constexpr std::ptrdiff_t left{Left == all ? 0 : Left}, right{Right == all ? 0 : Right};
    const std::ptrdiff_t offset = resolve_offset(placement, data.offset);
    return BoundWindow<(Left != all), (Right != all)>(placement.lengths.keys, offset - left, offset + right);
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
      const auto last = static_cast<std::ptrdiff_t>(past);
      return BoundWindow<true, true>(newest + 1, last - std::ptrdiff_t{Left}, last).key_ranges(queries);
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
