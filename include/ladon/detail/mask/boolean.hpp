// SPDX-License-Identifier: Apache-2.0
// A mask with one byte for each pair of query and key.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/mask/pairs.hpp>

namespace LADON_NAMESPACE::detail {

// Reads a mask with one row for each query. A row has `columns` bytes. If PerHead is true, each head has separate rows.
template <bool PerHead>
struct ByteRows {
  const std::uint8_t* bytes;  // [heads or 1][queries][columns], or null
  std::size_t queries;        // how many rows a head has, including inactive queries
  std::size_t columns;
  std::size_t keys;  // how many keys are active

  constexpr std::uint32_t word(std::size_t head, std::size_t query, std::size_t key) const noexcept {
    const std::size_t end = keys < columns ? keys : columns;
    const std::size_t count = key >= end ? 0 : end - key < 32 ? end - key : 32;
    if (count == 0) return 0;
    if (bytes == nullptr) return count < 32 ? (1u << count) - 1 : ~0u;
    const std::uint8_t* const from = bytes + ((PerHead ? head * queries : 0) + query) * columns + key;
    std::uint32_t word = 0;
    if (count == 32) {
      for (std::size_t i = 0; i < 32; i += 8) word |= bits_of_eight(from + i) << i;
    } else {
      for (std::size_t i = 0; i < count; ++i) word |= std::uint32_t(from[i] != 0) << i;
    }
    return word;
  }
  // Returns a byte whose bit i is 1 if from[i] is not 0.
  //
  // `packed` contains the eight bytes. In `set`, the top bit of byte i is 1 if byte i of `packed` is not 0, and all
  // other bits are 0. One multiplication then collects the eight top bits in one byte.
  static constexpr std::uint32_t bits_of_eight(const std::uint8_t* from) noexcept {
    std::uint64_t packed = 0;
    for (std::size_t i = 0; i < 8; ++i) packed |= std::uint64_t(from[i]) << 8 * i;
    constexpr std::uint64_t sevens = 0x7f7f7f7f7f7f7f7f;
    const std::uint64_t set = (((packed & sevens) + sevens) | packed) & ~sevens;
    return static_cast<std::uint32_t>((set >> 7) * 0x0102040810204080 >> 56);
  }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }
  constexpr Range visible(Range) const noexcept { return {0, keys < columns ? keys : columns}; }
};

}  // namespace LADON_NAMESPACE::detail
