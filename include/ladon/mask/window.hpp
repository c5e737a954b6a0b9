// Masks by position: query i stands at i + offset among the keys, and sees those around it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/mask/policy.hpp>

namespace ladon::inline LADON_ABI::mask {

// The offset unless another is given: keys - queries of the shape, whatever the lengths of a run, so that the shape's
// last query sees its last key (bottom right); where a run goes on from a cache, the number of tokens before it.
inline constexpr std::ptrdiff_t usual_offset = PTRDIFF_MIN;

// Positions are below 2^24: an offset beyond shows all or nothing, and sums with it must not overflow.
constexpr std::ptrdiff_t offset_of(const Placement& run, std::ptrdiff_t given) noexcept {
  constexpr std::ptrdiff_t far = std::ptrdiff_t(1) << 24;
  const std::ptrdiff_t offset = given == usual_offset ? run.offset : given;
  return offset < -far ? -far : offset > far ? far : offset;
}

// Keys from position - Left to position + Right; `all` for a side without an end.
template <std::size_t Left, std::size_t Right>
struct WindowBound : PositionBound<WindowBound<Left, Right>> {
  static constexpr bool hides_keys = Left != all || Right != all;
  static constexpr bool ends_within_panels = Right != all;
  std::ptrdiff_t offset;
  std::size_t keys;

  constexpr WindowBound(std::ptrdiff_t where, std::size_t active) noexcept : offset(where), keys(active) {}
  constexpr VisibleKeys panel(Range queries) const noexcept {
    const std::size_t last = queries.end - 1;
    return {{from(queries.begin), to(last)}, Range{from(last), keys} & Range{0, to(queries.begin)}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(key) - offset;
    if constexpr (Left == all && Right == all) {
      return Pack::every_lane(true);
    } else if constexpr (Left == all) {
      return not_after(query, at);
    } else if constexpr (Right == all) {
      return not_before(query, at);
    } else {
      return not_after(query, at) & not_before(query, at);
    }
  }

 private:
  template <class Pack>
  static LADON_INLINE constexpr typename Pack::Mask not_after(const Pack& query, std::ptrdiff_t at) noexcept {
    return Pack::broadcast(static_cast<float>(at - static_cast<std::ptrdiff_t>(Right))) <= query;
  }
  template <class Pack>
  static LADON_INLINE constexpr typename Pack::Mask not_before(const Pack& query, std::ptrdiff_t at) noexcept {
    return query <= Pack::broadcast(static_cast<float>(at + static_cast<std::ptrdiff_t>(Left)));
  }
  // The first key that a query sees, and the one after the last.
  constexpr std::size_t from(std::size_t query) const noexcept {
    if constexpr (Left == all) return 0;
    return within(static_cast<std::ptrdiff_t>(query) + offset - static_cast<std::ptrdiff_t>(Left));
  }
  constexpr std::size_t to(std::size_t query) const noexcept {
    if constexpr (Right == all) return keys;
    return within(static_cast<std::ptrdiff_t>(query) + offset + static_cast<std::ptrdiff_t>(Right) + 1);
  }
  constexpr std::size_t within(std::ptrdiff_t key) const noexcept {
    if (key <= 0) return 0;
    return static_cast<std::size_t>(key) < keys ? static_cast<std::size_t>(key) : keys;
  }
};

// Query i sees keys i + offset - Left to i + offset + Right. The offset may be negative.
template <std::size_t Left, std::size_t Right = 0>
struct Window {
  template <Shape S>
  struct Data {
    std::ptrdiff_t offset = usual_offset;
  };
  template <Shape S>
  static constexpr auto bind(const Placement& run, const Data<S>& data) noexcept {
    static_assert(Left == all || Left < S.keys + S.queries,
                  "ladon: this window is wider to the left than keys and queries together; say ladon::all");
    static_assert(Right == all || Right < S.keys + S.queries,
                  "ladon: this window is wider to the right than keys and queries together; say ladon::all");
    return WindowBound<Left, Right>(offset_of(run, data.offset), run.lengths.keys);
  }
};

// The same where the offset is known to the compiler.
template <std::size_t Left, std::size_t Right, std::ptrdiff_t Offset>
struct WindowAt {
  template <Shape S>
  struct Data {};
  template <Shape S>
  static constexpr auto bind(const Placement& run, const Data<S>&) noexcept {
    return Window<Left, Right>::template bind<S>(run, {.offset = Offset});
  }
};

// Query i sees keys <= i + offset. PyTorch's is_causal with unequal lengths is offset 0 (top left).
struct Causal : Window<all, 0> {};
template <std::ptrdiff_t Offset>
struct CausalAt : WindowAt<all, 0, Offset> {};

// A window into a cache that keeps only the latest tokens: token p lies in slot p % slots, and query i is token
// past + i. Positions are counted from the first query, so that they may grow without end.
template <std::size_t Left>
struct RingBound : PositionBound<RingBound<Left>> {
  static constexpr bool hides_keys = true;
  static constexpr bool ends_within_panels = true;
  std::size_t past, newest, slots;

  constexpr RingBound(std::size_t before, std::size_t tokens, std::size_t capacity) noexcept
      : past(before), newest(before + tokens - 1), slots(capacity) {}
  constexpr VisibleKeys panel(Range queries) const noexcept {
    if (newest < slots) {
      return WindowBound<Left, 0>(static_cast<std::ptrdiff_t>(past), newest + 1).panel(queries);
    }
    const bool shows_all = queries.end - queries.begin == 1 && Left + 1 >= slots;
    return {{0, slots}, {0, shows_all ? slots : 0}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t slot) const noexcept {
    const std::size_t wrap = newest % slots;
    const std::ptrdiff_t behind = static_cast<std::ptrdiff_t>(slot <= wrap ? wrap - slot : wrap + slots - slot);
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(newest - past) - behind;
    if (position + static_cast<std::ptrdiff_t>(past) < 0) return Pack::every_lane(false);
    return (Pack::broadcast(static_cast<float>(position)) <= query) &
           (query <= Pack::broadcast(static_cast<float>(position + static_cast<std::ptrdiff_t>(Left))));
  }
};

// Whether a mask can do with a ring of the latest keys, and how many before a query it sees.
template <class Mask>
inline constexpr bool fits_ring = false;
template <std::size_t Left>
inline constexpr bool fits_ring<Window<Left, 0>> = Left != all;
template <class Mask>
inline constexpr std::size_t reach = all;
template <std::size_t Left>
inline constexpr std::size_t reach<Window<Left, 0>> = Left;

}  // namespace ladon::inline LADON_ABI::mask
