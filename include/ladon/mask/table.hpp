// SPDX-License-Identifier: Apache-2.0
// Masks that read a table:
//     Bits              a bit for each query and key
//     Boolean           a byte for each query and key
//     BooleanPerHead    a byte for each head, query and key
//     Padding           a byte for each key
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/mask/policy.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE::mask {

// Transposes a square of bits: swaps two quarters, then continues within each quarter (Warren, Hacker's Delight, 7-3).
template <std::size_t N>
constexpr void transpose_bits(std::uint32_t (&row)[N]) noexcept {
  static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16 || N == 32);
  // In `low`, each block of 2 * `half` bits has ones in its lower half.
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

template <class Pack>
struct LanesOfWords {
  const std::uint32_t* word;
  std::size_t first_key;
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return Pack::lanes_of(word[key - first_key] >> v * Pack::lanes);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

// Transposes squares of bits: the caller's table has a row for each query, but kernels process one key at a time. In
// Rows::bits_from(head, query, key), bit i is 1 if key `key` + i is active and the query may see it.
template <class Rows>
struct BoundPairs {
  static constexpr bool hides_keys = true;
  static constexpr bool adds_to_scores = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = std::uint32_t[std::bit_ceil(KeyWidth > Width ? KeyWidth : Width)];
  Rows rows;

  constexpr KeyRanges key_ranges(Range queries) const noexcept { return {rows.visible(queries), {0, 0}}; }
  constexpr bool may_see_any(Range queries, Range keys) const noexcept { return rows.may_see_any(queries, keys); }
  template <class Pack, std::size_t Width, std::size_t N>
  LADON_INLINE constexpr LanesOfWords<Pack> lanes(const ScoreBlock& block, std::uint32_t (&word)[N]) const noexcept {
    static_assert(N <= 32, "ladon: a mask of bits takes panels of at most 32 tokens");
    transpose<Width>(block, word);
    return {word, block.keys.begin};
  }

 private:
  // Bit q of word[k] becomes 1 if query q of the panel may see key k of the block.
  template <std::size_t Width, std::size_t N>
  LADON_NOINLINE constexpr void transpose(const ScoreBlock& block, std::uint32_t (&word)[N]) const noexcept {
    if constexpr (Width == 1) {
      const std::uint32_t row = rows.bits_from(block.head, block.queries.begin, block.keys.begin);
      for (std::size_t key = 0; key < N; ++key) word[key] = row >> key & 1;
    } else {
      for (std::size_t q = 0; q < N; ++q) {
        const std::size_t query = block.queries.begin + q;
        word[q] = query < block.queries.end ? rows.bits_from(block.head, query, block.keys.begin) : 0;
      }
      transpose_bits(word);
    }
  }
};

template <std::size_t Words>
struct BitRows {
  const std::uint32_t* bits;  // [queries][Words], or null
  std::size_t keys;           // how many keys are active

  constexpr std::uint32_t bits_from(std::size_t, std::size_t query, std::size_t key) const noexcept {
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
        if (bits_from(0, q, key) != 0) return true;
      }
    }
    return false;
  }
  // Returns the smallest range of keys, in whole 32-bit words, that contains every key that any of the queries may see.
  constexpr Range visible(Range queries) const noexcept {
    std::size_t first = 0, end = keys;
    while (first < end && !may_see_any(queries, {first, first + 1})) first = (first / 32 + 1) * 32;
    while (first < end && !may_see_any(queries, {(end - 1) / 32 * 32, end})) end = (end - 1) / 32 * 32;
    return first < end ? Range{first, end} : Range{0, 0};
  }
};

// `bits` [queries][ceil(keys / 32)] holds 32-bit words, the same for all heads. Bit k % 32 of word k / 32 in a row is 1
// if the query may see key k. A null pointer, the default, hides no key. The kernels skip blocks of keys that are
// hidden from all queries of a panel (detail/panel/panels.hpp).
struct Bits {
  template <Shape S>
  struct Data {
    MatrixView<const std::uint32_t, S.queries, (S.keys + 31) / 32> bits;
  };

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>& data) noexcept {
    using Rows = BitRows<(S.keys + 31) / 32>;
    return BoundPairs<Rows>{{data.bits.data, placement.lengths.keys}};
  }
};

template <bool PerHead>
struct ByteRows {
  const std::uint8_t* bytes;  // [heads or 1][queries][columns], or null
  std::size_t queries;        // how many rows a head has, including inactive queries
  std::size_t columns;
  std::size_t keys;  // how many keys are active

  constexpr std::uint32_t bits_from(std::size_t head, std::size_t query, std::size_t key) const noexcept {
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
  // Bit i of the result is 1 if from[i] is not 0. `set` has this bit at the top of byte i, and a multiplication
  // collects the eight bits.
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

// The byte 0 hides the key from the query. A null pointer, the default, hides no key. `may_see` has `keys` columns,
// like `values` of Additive (additive.hpp).
template <bool PerHead>
struct BooleanBytes {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, TensorView<const std::uint8_t, S.heads, S.queries, S.keys>,
                       MatrixView<const std::uint8_t, S.queries, S.keys>>
        may_see;
    std::size_t keys = all;
    LADON_CALLER_MEMBER
  };

  template <Shape S>
  static constexpr auto bind_to(const Placement& placement, const Data<S>& data) noexcept {
    using Bound = BoundPairs<ByteRows<PerHead>>;
    return Bound{{data.may_see.data, S.queries, columns_of<S>(data), placement.lengths.keys}};
  }
};
struct Boolean : BooleanBytes<false> {};
struct BooleanPerHead : BooleanBytes<true> {};

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

// The byte 0 hides the key from every query. Null, the default, hides no key. Bytes of inactive keys are not read.
//
// In self-attention, a token that is hidden as a key is still computed as a query. If all padding lies at the end of
// the keys, RunOptions::keys is faster.
struct Padding {
  template <Shape S>
  struct Data {
    VectorView<const std::uint8_t, S.keys> may_see;
  };

  template <Shape S>
  static constexpr BoundPadding bind_to(const Placement& placement, const Data<S>& data) noexcept {
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
#include <ladon/detail/config/quiet_end.hpp>
