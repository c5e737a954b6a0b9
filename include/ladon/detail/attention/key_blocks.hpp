// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <ladon/detail/panel/range.hpp>

namespace LADON_NAMESPACE::detail {

// The key blocks of at most MaxKeys keys that contain the keys `visible`. The first block begins where the panel of the
// first visible key begins. Blocks end at multiples of MaxKeys, so sums over keys are rounded in the same way for any
// number of lanes. If no key is visible, there is one empty block, so that the kernels write an output. OnlyOne: all
// keys of the shape fit into one block.
template <std::size_t KeyWidth, std::size_t MaxKeys, bool OnlyOne>
class KeyBlocks {
 public:
  constexpr explicit KeyBlocks(Range visible) noexcept
      : first_(visible.begin / KeyWidth * KeyWidth), end_(visible.end), begin_(first_) {}

  constexpr Range keys() const noexcept {
    const std::size_t block_end = (begin_ / MaxKeys + 1) * MaxKeys;
    return {begin_, OnlyOne || end_ <= block_end ? end_ : block_end};
  }
  constexpr bool is_last() const noexcept { return keys().end == end_; }
  // The keys of the blocks before the current one.
  constexpr Range earlier() const noexcept { return {first_, begin_}; }
  // Returns false if the current block is the last one.
  constexpr bool advance() noexcept {
    begin_ = keys().end;
    return !OnlyOne && begin_ < end_;
  }

 private:
  std::size_t first_;
  std::size_t end_;
  std::size_t begin_;
};

}  // namespace LADON_NAMESPACE::detail
