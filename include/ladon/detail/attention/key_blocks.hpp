// The key blocks that one query block attends to, one after the other.
#pragma once

#include <cstddef>

#include <ladon/detail/memory/range.hpp>

namespace ladon::inline LADON_ABI::detail {

// Cuts the visible keys into blocks of at most MaxKeys keys. OnlyOne: the shape has room for one block only. The first
// block begins where a panel of keys begins. Blocks end at the same keys however wide panels are, so the sums have the
// same roundings on every number of lanes. Where no key is visible there is one empty block.
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
  // Goes on to the next block. Returns false where there is none.
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
