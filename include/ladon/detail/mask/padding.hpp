// SPDX-License-Identifier: Apache-2.0
// A mask with one byte for each key. All queries use the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/mask/by_position.hpp>

namespace LADON_NAMESPACE::detail {

// `ranges.visible` begins with the key of the first nonzero byte and ends with the key of the last nonzero byte.
// `ranges.unmasked` also begins with the key of the first nonzero byte, and ends before the key of the next zero byte.
// Both ranges contain only active keys. If `bytes` is null, both ranges contain all active keys.
struct BoundPadding : BoundByPosition<BoundPadding> {
  static constexpr bool hides_keys = true;
  const std::uint8_t* bytes;  // [keys], or null
  KeyRanges ranges;

  constexpr BoundPadding(const std::uint8_t* key_bytes, const KeyRanges& byte_ranges) noexcept
      : bytes(key_bytes), ranges(byte_ranges) {}
  constexpr KeyRanges key_ranges(Range) const noexcept { return ranges; }
  template <class Pack>
  LADON_INLINE constexpr typename Pack::Mask may_see(const Pack&, std::size_t key) const noexcept {
    return Pack::every_lane(bytes == nullptr || bytes[key] != 0);
  }
};

}  // namespace LADON_NAMESPACE::detail
