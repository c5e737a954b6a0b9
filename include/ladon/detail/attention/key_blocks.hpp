// SPDX-License-Identifier: Apache-2.0
// Divides the keys of one query block into key blocks. detail/panel/panels.hpp defines panels, key blocks and query
// blocks.
#pragma once

#include <cstddef>

#include <ladon/detail/panel/range.hpp>

namespace LADON_NAMESPACE::detail {

// The sequence of the key blocks that contain the keys of the range `visible`. A block has at most MaxKeys keys. The
// first block begins where the panel of the first visible key begins. Every block except the last ends at a multiple of
// MaxKeys. The ends do not depend on the width of a panel, so sums over keys are rounded in the same way for any number
// of lanes.
//
// If OnlyOne is true, all keys of the shape fit into one block. If no key is visible, the sequence still has one block,
// so that the kernels write an output. This block contains no visible key.
template <std::size_t KeyWidth, std::size_t MaxKeys, bool OnlyOne>
class KeyBlocks {
 public:
  constexpr explicit KeyBlocks(Range visible) noexcept
      : first_(visible.begin / KeyWidth * KeyWidth), end_(visible.end), begin_(first_) {}

  // Returns the keys of the current block.
  constexpr Range keys() const noexcept {
    const std::size_t block_end = (begin_ / MaxKeys + 1) * MaxKeys;
    return {begin_, OnlyOne || end_ <= block_end ? end_ : block_end};
  }
  constexpr bool is_last() const noexcept { return keys().end == end_; }
  // Returns the keys of the blocks before the current block.
  constexpr Range earlier() const noexcept { return {first_, begin_}; }
  // Advances to the next block. Returns false if the current block is the last block.
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
