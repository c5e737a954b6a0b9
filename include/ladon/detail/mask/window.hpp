// SPDX-License-Identifier: Apache-2.0
// A window of keys around the position of each query.
#pragma once

#include <cstddef>

#include <ladon/detail/mask/by_position.hpp>
#include <ladon/shape.hpp>

namespace LADON_NAMESPACE::detail {

// The bound mask (mask/policy.hpp) of a window. Query i sees keys i + `offset` - Left to i + `offset` + Right. If Left
// or Right is `all`, the window has no limit on that side.
template <std::size_t Left, std::size_t Right>
struct BoundWindow : BoundByPosition<BoundWindow<Left, Right>> {
  static constexpr bool hides_keys = Left != all || Right != all;
  static constexpr bool ends_within_panels = Right != all;
  std::ptrdiff_t offset;
  std::size_t keys;

  constexpr BoundWindow(std::ptrdiff_t query_offset, std::size_t active_keys) noexcept
      : offset(query_offset), keys(active_keys) {}
  constexpr KeyRanges key_ranges(Range queries) const noexcept {
    const std::size_t last = queries.end - 1;
    return {{first_key(queries.begin), end_key(last)}, Range{first_key(last), keys} & Range{0, end_key(queries.begin)}};
  }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack& query, std::size_t key) const noexcept {
    const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(key) - offset;
    if constexpr (Left == all && Right == all) {
      return Pack::every_lane(true);
    } else if constexpr (Left == all) {
      return not_after(query, position);
    } else if constexpr (Right == all) {
      return not_before(query, position);
    } else {
      return not_after(query, position) & not_before(query, position);
    }
  }

 private:
  // Returns true in the lanes of queries whose window does not end before the key. `position` is the index of the key
  // minus `offset`.
  template <class Pack>
  static LADON_INLINE constexpr typename Pack::Mask not_after(const Pack& query, std::ptrdiff_t position) noexcept {
    return Pack::broadcast(static_cast<float>(position - static_cast<std::ptrdiff_t>(Right))) <= query;
  }
  // Returns true in the lanes of queries whose window does not begin after the key. `position` is the index of the key
  // minus `offset`.
  template <class Pack>
  static LADON_INLINE constexpr typename Pack::Mask not_before(const Pack& query, std::ptrdiff_t position) noexcept {
    return query <= Pack::broadcast(static_cast<float>(position + static_cast<std::ptrdiff_t>(Left)));
  }
  // Returns the first key that a query sees, clamped to 0 .. keys.
  constexpr std::size_t first_key(std::size_t query) const noexcept {
    if constexpr (Left == all) return 0;
    return clamp_key(static_cast<std::ptrdiff_t>(query) + offset - static_cast<std::ptrdiff_t>(Left));
  }
  // Returns the key after the last key that a query sees, clamped to 0 .. keys.
  constexpr std::size_t end_key(std::size_t query) const noexcept {
    if constexpr (Right == all) return keys;
    return clamp_key(static_cast<std::ptrdiff_t>(query) + offset + static_cast<std::ptrdiff_t>(Right) + 1);
  }
  constexpr std::size_t clamp_key(std::ptrdiff_t key) const noexcept {
    if (key <= 0) return 0;
    return static_cast<std::size_t>(key) < keys ? static_cast<std::size_t>(key) : keys;
  }
};

}  // namespace LADON_NAMESPACE::detail
