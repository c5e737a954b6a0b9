// SPDX-License-Identifier: Apache-2.0
// Masks with a bit or a byte for each pair of query and key.
//
// The caller's array has a row for each query. The kernels process one key at a time, and need the bits of a whole
// panel of queries for this key. Squares of bits are therefore transposed. Each key then has one word, with a bit for
// each query of the panel.
//
// detail/panel/panels.hpp defines panels and key blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/mask/key_ranges.hpp>

namespace LADON_NAMESPACE::detail {

// Transposes a square of N x N bits: swaps bit c of row r with bit r of row c. The first step swaps two quarters of the
// square, the upper right and the lower left. The next step does the same within each quarter, and so on (Warren,
// Hacker's Delight, 7-3).
template <std::size_t N>
constexpr void transpose_bits(std::uint32_t (&row)[N]) noexcept {
  static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16 || N == 32);
  // `low` consists of blocks of 2 * `half` bits. The lower half of each block is ones, and the upper half is zeros.
  std::uint32_t low = N == 32 ? 0xffffu : (1u << N / 2) - 1;
  for (std::size_t half = N / 2; half > 0; half /= 2, low ^= low << half) {
    for (std::size_t first = 0; first < N; first += 2 * half) {
      for (std::size_t i = first; i < first + half; ++i) {
        const std::uint32_t swap = ((row[i] >> half) ^ row[i + half]) & low;
        row[i] ^= swap << half;
        row[i + half] ^= swap;
      }
    }
  }
}

// The mask for one panel of queries and one block of keys. Bit q of word[k] is 1 if query q of the panel may see key k
// of the block.
template <std::size_t N>
struct KeyWords {
  std::uint32_t word[N];
};

// The object that lanes() returns (mask/policy.hpp). `word` has one word for each key of a block, with one bit for each
// query of a panel. may_see returns the bits of the queries in one pack.
template <class Pack>
struct LanesOfWords {
  const std::uint32_t* word;
  std::size_t first_key;
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return Pack::lanes_of(word[key - first_key] >> v * Pack::lanes);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

// Returns the smallest power of two that is not less than n.
constexpr std::size_t power_of_two_from(std::size_t n) noexcept {
  std::size_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// A bound mask with a bit or a byte for each pair of query and key. `Rows` is BitRows or ByteRows. Rows::word(head,
// query, key) returns 32 bits for one query: bit i is 1 if the query may see key number `key` + i. Bits of keys beyond
// the last active key are 0.
template <class Rows>
struct BoundPairs {
  static constexpr bool hides_keys = true;
  static constexpr bool adds_to_scores = false;
  // With the value true, the kernels would also call key_ranges() for the first half of a panel's queries
  // (mask/policy.hpp), and skip the keys that this half does not see. This seldom saves work: BitRows::visible returns
  // whole words of 32 keys, and ByteRows::visible returns all active keys, so the range of half a panel is hardly ever
  // shorter.
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = KeyWords<power_of_two_from(KeyWidth > Width ? KeyWidth : Width)>;
  Rows rows;

  constexpr KeyRanges key_ranges(Range queries) const noexcept { return {rows.visible(queries), {0, 0}}; }
  constexpr bool may_see_any(Range queries, Range keys) const noexcept { return rows.may_see_any(queries, keys); }
  template <class Pack, std::size_t Width, std::size_t N>
  LADON_INLINE constexpr LanesOfWords<Pack> lanes(const ScoreBlock& block, KeyWords<N>& scratch) const noexcept {
    static_assert(N <= 32, "ladon: a mask of bits takes panels of at most 32 tokens");
    transpose<Width>(block, scratch.word);
    return {scratch.word, block.keys.begin};
  }

 private:
  // Fills `word` for the keys of a block: word[k] has the bits of key number block.keys.begin + k (KeyWords).
  template <std::size_t Width, std::size_t N>
  LADON_NOINLINE constexpr void transpose(const ScoreBlock& block, std::uint32_t (&word)[N]) const noexcept {
    if constexpr (Width == 1) {
      const std::uint32_t row = rows.word(block.head, block.queries.begin, block.keys.begin);
      for (std::size_t key = 0; key < N; ++key) word[key] = row >> key & 1;
    } else {
      for (std::size_t q = 0; q < N; ++q) {
        const std::size_t query = block.queries.begin + q;
        word[q] = query < block.queries.end ? rows.word(block.head, query, block.keys.begin) : 0;
      }
      transpose_bits(word);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
