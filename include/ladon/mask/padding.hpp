// SPDX-License-Identifier: Apache-2.0
// A mask that hides keys, such as padding, from every query of every head.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/mask/padding.hpp>
#include <ladon/detail/mask/placement.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// `may_see` [keys] holds one byte for each key of the shape. The byte 0 hides the key from every query. Any other byte
// shows the key. If `may_see` is a null pointer, which is the default, no key is hidden. Bytes of inactive keys are not
// read.
//
// In self-attention, each token is both a key and a query. A token that is hidden as a key is still computed as a
// query. If all padding lies at the end of the keys, RunOptions::keys is faster than this mask.
struct Padding {
  template <Shape S>
  struct Data {
    VectorView<const std::uint8_t, S.keys> may_see;
  };

  template <Shape S>
  static constexpr detail::BoundPadding bind(const detail::Placement& placement, const Data<S>& data) noexcept {
    const std::size_t keys = placement.lengths.keys;
    const std::uint8_t* const bytes = data.may_see.data;
    if (bytes == nullptr) return {bytes, {{0, keys}, {0, keys}}};
    // All visible keys lie in the range [first, end). `hole` is the first hidden key in this range, or `end` if the
    // range has no hidden key. The kernels skip blocks of keys outside [first, end). Every key in [first, hole) is
    // visible, so the kernels do not call may_see for blocks inside [first, hole).
    std::size_t first = 0, end = keys;
    while (first < end && bytes[first] == 0) ++first;
    while (end > first && bytes[end - 1] == 0) --end;
    std::size_t hole = first;
    while (hole < end && bytes[hole] != 0) ++hole;
    return {bytes, {{first, end}, {first, hole}}};
  }
};

}  // namespace LADON_NAMESPACE::mask
