// The sequence of key blocks that one query block attends to.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/range.hpp>

namespace ladon::inline LADON_ABI::detail {

// Divides the visible keys into blocks of at most MaxKeys keys. If `OnlyOne` is true, all keys of the shape fit into
// one block. The first block begins at the first key of a panel. Every block except the last ends at a multiple of
// MaxKeys, whatever the width of a panel. The sums are therefore rounded alike for any number of lanes. If no key is
// visible, there is one block, and the block has no visible key.
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

}  // namespace ladon::inline LADON_ABI::detail
