// Masks with an answer for each pair: packed bits, or a byte a pair. Row-major, so the queries of a panel lie in
// different rows; a square of bits is turned on its diagonal, and each key has the answers of its queries in one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/mask/policy.hpp>

namespace ladon::inline LADON_ABI::mask {

// Bit c of row r and bit r of row c change places, in halves, quarters, ... (Warren, Hacker's Delight, 7-3).
template <std::size_t N>
constexpr void transpose_bits(std::uint32_t (&row)[N]) noexcept {
  static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16 || N == 32);
  std::uint32_t low = N == 32 ? 0xffffu : (1u << N / 2) - 1;  // the low half of each block of 2 * half bits
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

// The answers of a panel of queries, a word a key.
template <std::size_t N>
struct KeyWords {
  std::uint32_t word[N];
};
template <class Pack>
struct LanesOfWords {
  const std::uint32_t* word;
  std::size_t first;  // key
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return Pack::lanes_of(word[key - first] >> v * Pack::lanes);
  }
  LADON_INLINE constexpr Pack add(std::size_t, std::size_t, const Pack& score) const noexcept { return score; }
};

constexpr std::size_t power_of_two_from(std::size_t n) noexcept {
  std::size_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// Rows::word(head, query, key) has the answers of one query for the 32 keys from `key`, zeros beyond the mask's last.
template <class Rows>
struct PairBound {
  static constexpr bool hides_keys = true;
  static constexpr bool adds = false;
  static constexpr bool ends_within_panels = false;  // seldom, for seen() is in whole words
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = KeyWords<power_of_two_from(KeyWidth > Width ? KeyWidth : Width)>;
  Rows rows;

  constexpr VisibleKeys panel(Range queries) const noexcept { return {rows.seen(queries), {0, 0}}; }
  constexpr bool any(Range queries, Range keys) const noexcept { return rows.any(queries, keys); }
  template <class Pack, std::size_t Width, std::size_t N>
  LADON_INLINE constexpr LanesOfWords<Pack> lanes(const Slice& slice, KeyWords<N>& scratch) const noexcept {
    static_assert(N <= 32, "ladon: a mask of bits takes panels of at most 32 tokens");
    turn<Width>(slice, scratch.word);
    return {scratch.word, slice.keys.begin};
  }

 private:
  template <std::size_t Width, std::size_t N>
  LADON_NOINLINE constexpr void turn(const Slice& slice, std::uint32_t (&word)[N]) const noexcept {
    if constexpr (Width == 1) {
      const std::uint32_t row = rows.word(slice.head, slice.queries.begin, slice.keys.begin);
      for (std::size_t key = 0; key < N; ++key) word[key] = row >> key & 1;
    } else {
      for (std::size_t q = 0; q < N; ++q) {
        const std::size_t query = slice.queries.begin + q;
        word[q] = query < slice.queries.end ? rows.word(slice.head, query, slice.keys.begin) : 0;
      }
      transpose_bits(word);
    }
  }
};

// Bits [queries][ceil(keys / 32)] in words of 32: bit k % 32 of word k / 32 is set where query may see key k. A null
// pointer hides none. Blocks of keys that no query of a panel may see are not computed.
struct Bits {
  template <Shape S>
  struct Data {
    Matrix<const std::uint32_t, S.queries, (S.keys + 31) / 32> bits;
  };
  template <std::size_t Words>
  struct Rows {
    const std::uint32_t* bits;
    std::size_t keys;

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
    constexpr bool any(Range queries, Range range) const noexcept {
      if (bits == nullptr) return true;
      for (std::size_t q = queries.begin; q < queries.end; ++q) {
        for (std::size_t key = range.begin; key < range.end; key += 32) {
          if (word(0, q, key) != 0) return true;
        }
      }
      return false;
    }
    // In whole words: what lies between is compared anyway.
    constexpr Range seen(Range queries) const noexcept {
      std::size_t first = 0, last = keys;
      while (first < last && !any(queries, {first, first + 1})) first = (first / 32 + 1) * 32;
      while (first < last && !any(queries, {(last - 1) / 32 * 32, last})) last = (last - 1) / 32 * 32;
      return first < last ? Range{first, last} : Range{0, 0};
    }
  };
  template <Shape S>
  static constexpr auto bind(const Placement& run, const Data<S>& data) noexcept {
    return PairBound<Rows<(S.keys + 31) / 32>>{{data.bits.data, run.lengths.keys}};
  }
};

// Bytes, may_see [queries][keys], 0 where a query may not see a key; or [heads][queries][keys]. With .keys = n the mask
// has n columns, and keys beyond them are hidden (as ONNX's Attention has it since 24). A null pointer hides none.
template <bool PerHead>
struct Bytes {
  template <Shape S>
  struct Data {
    std::conditional_t<PerHead, Tensor<const std::uint8_t, S.heads, S.queries, S.keys>,
                       Matrix<const std::uint8_t, S.queries, S.keys>>
        may_see;
    std::size_t keys = all;
  };
  struct Rows {
    const std::uint8_t* shown;
    std::size_t queries;  // rows of a head, in all
    std::size_t columns;  // of a row
    std::size_t keys;     // the run's

    constexpr std::uint32_t word(std::size_t head, std::size_t query, std::size_t key) const noexcept {
      const std::size_t end = keys < columns ? keys : columns;
      const std::size_t count = key >= end ? 0 : end - key < 32 ? end - key : 32;
      if (count == 0) return 0;
      if (shown == nullptr) return count < 32 ? (1u << count) - 1 : ~0u;
      const std::uint8_t* const from = shown + ((PerHead ? head * queries : 0) + query) * columns + key;
      std::uint32_t word = 0;
      if (count == 32) {
        for (std::size_t i = 0; i < 32; i += 8) word |= eight(from + i) << i;
      } else {
        for (std::size_t i = 0; i < count; ++i) word |= std::uint32_t(from[i] != 0) << i;
      }
      return word;
    }
    // Bit i is set where byte i is not 0: its highest bit then says so, and a product gathers the eight of them.
    static constexpr std::uint32_t eight(const std::uint8_t* from) noexcept {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < 8; ++i) bytes |= std::uint64_t(from[i]) << 8 * i;
      constexpr std::uint64_t sevens = 0x7f7f7f7f7f7f7f7f;
      const std::uint64_t set = (((bytes & sevens) + sevens) | bytes) & ~sevens;
      return static_cast<std::uint32_t>((set >> 7) * 0x0102040810204080 >> 56);
    }
    constexpr bool any(Range, Range) const noexcept { return true; }
    constexpr Range seen(Range) const noexcept { return {0, keys < columns ? keys : columns}; }
  };
  template <Shape S>
  static constexpr auto bind(const Placement& run, const Data<S>& data) noexcept {
    LADON_EXPECTS(data.keys == all || data.keys <= S.keys, "ladon: a mask has no more columns than the shape has keys");
    return PairBound<Rows>{{data.may_see.data, S.queries, data.keys == all ? S.keys : data.keys, run.lengths.keys}};
  }
};
struct Boolean : Bytes<false> {};
struct BooleanPerHead : Bytes<true> {};

}  // namespace ladon::inline LADON_ABI::mask
