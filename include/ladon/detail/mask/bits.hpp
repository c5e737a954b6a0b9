// SPDX-License-Identifier: Apache-2.0
// A mask with one bit for each pair of query and key.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/mask/pairs.hpp>

namespace LADON_NAMESPACE::detail {

// Reads a mask with one row for each query. A row has `Words` words of 32 bits. All heads use the same rows.
template <std::size_t Words>
struct BitRows {
  const std::uint32_t* bits;  // [queries][Words], or null
  std::size_t keys;           // how many keys are active

  constexpr std::uint32_t word(std::size_t, std::size_t query, std::size_t key) const noexcept {
    if (key >= keys) return 0;
    const std::size_t rest = keys - key;
    const std::uint32_t active = rest < 32 ? (1u << rest) - 1 : ~0u;
    if (bits == nullptr) return active;
    const std::uint32_t* const row = bits + query * Words;
    const std::size_t shift = key % 32;
    std::uint32_t word = row[key / 32] >> shift;
    if (shift != 0 && key / 32 + 1 < Words) word |= row[key / 32 + 1] << (32 - shift);
    return word & active;
  }
  constexpr bool may_see_any(Range queries, Range range) const noexcept {
    if (bits == nullptr) return true;
    for (std::size_t q = queries.begin; q < queries.end; ++q) {
      for (std::size_t key = range.begin; key < range.end; key += 32) {
        if (word(0, q, key) != 0) return true;
      }
    }
    return false;
  }
  // Returns the smallest range of whole words (32 keys each) that contains every key that at least one of the queries
  // may see. The range ends at the last active key.
  constexpr Range visible(Range queries) const noexcept {
    std::size_t first = 0, end = keys;
    while (first < end && !may_see_any(queries, {first, first + 1})) first = (first / 32 + 1) * 32;
    while (first < end && !may_see_any(queries, {(end - 1) / 32 * 32, end})) end = (end - 1) / 32 * 32;
    return first < end ? Range{first, end} : Range{0, 0};
  }
};

}  // namespace LADON_NAMESPACE::detail
