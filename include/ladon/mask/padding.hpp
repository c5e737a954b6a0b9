// SPDX-License-Identifier: Apache-2.0
// A mask that hides keys, such as padding, from every query of every head.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/config/compiler.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

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

// `may_see` [keys] holds one byte for each key of the shape. The byte 0 hides the key from every query. A null pointer,
// the default, hides no key. Bytes of inactive keys are not read.
//
// In self-attention, a token that is hidden as a key is still computed as a query. If all padding lies at the end of
// the keys, RunOptions::keys is faster.
struct Padding {
  template <Shape S>
  struct Data {
    VectorView<const std::uint8_t, S.keys> may_see;
  };

  template <Shape S>
  static constexpr BoundPadding bind(const Placement& placement, const Data<S>& data) noexcept {
    const std::size_t keys = placement.lengths.keys;
    const std::uint8_t* const bytes = data.may_see.data;
    if (bytes == nullptr) return {bytes, {{0, keys}, {0, keys}}};
    // All visible keys lie in [first, end). Every key in [first, hole) is visible.
    std::size_t first = 0, end = keys;
    while (first < end && bytes[first] == 0) ++first;
    while (end > first && bytes[end - 1] == 0) --end;
    std::size_t hole = first;
    while (hole < end && bytes[hole] != 0) ++hole;
    return {bytes, {{first, end}, {first, hole}}};
  }
};

}  // namespace LADON_NAMESPACE::mask
