// SPDX-License-Identifier: Apache-2.0
// Masks that add a number to each score. The array `values` has a number for each pair of query and key.
//
// The kernels compute the softmax with powers of two, so the kernels multiply scores and the numbers of a mask by
// log2(e) (score.hpp). Only -inf hides a key, so a finite number must stay finite after the multiplication. Otherwise,
// the lowest finite float, which Hugging Face uses instead of -inf, would become -inf and hide the key. If all numbers
// of a query are the lowest float, the output of the query is the mean of the value vectors.
#pragma once

#include <cstddef>
#include <limits>

#include <ladon/detail/build/compiler.hpp>
#include <ladon/detail/mask/key_ranges.hpp>
#include <ladon/score.hpp>

namespace LADON_NAMESPACE::detail {

// Multiplies numbers in natural units (attention_map.hpp) by log2(e). Finite numbers stay finite. +inf becomes the
// largest float, and -inf stays -inf.
template <class Pack>
LADON_INLINE constexpr Pack to_exponent(const Pack& value) noexcept {
  using Limits = std::numeric_limits<float>;
  const Pack scaled = value * Pack::broadcast(static_cast<float>(score::log2_e));
  const Pack finite = min(Pack::broadcast(Limits::max()), max(Pack::broadcast(Limits::lowest()), scaled));
  const Pack masked = Pack::broadcast(-Limits::infinity());
  return select(value == masked, masked, finite);
}

// Memory for the numbers that an additive mask adds to one block of scores, multiplied by log2(e): [keys][Width], with
// one query in each lane.
template <std::size_t KeyWidth, std::size_t Width>
struct PairScratch {
  alignas(64) float values[KeyWidth * Width];
};

// Adds the mask's numbers to one block of scores. `values` points to the array PairScratch::values.
template <class Pack, std::size_t Width>
struct AdditiveLanes {
  const float* values;
  std::size_t first_key;
  LADON_INLINE constexpr Pack at(std::size_t v, std::size_t key) const noexcept {
    return Pack::load(values + (key - first_key) * Width + v * Pack::lanes);
  }
  // Returns false only in lanes in which the mask's number is -inf. NaN does not hide a key.
  LADON_INLINE constexpr typename Pack::Mask may_see(std::size_t v, std::size_t key) const noexcept {
    return !(at(v, key) == Pack::broadcast(-std::numeric_limits<float>::infinity()));
  }
  // Returns the score plus the mask's number, limited to finite floats, so that two finite numbers never give an
  // infinite sum. A score of -inf (the product q . k has overflowed) stays -inf.
  LADON_INLINE constexpr Pack add(std::size_t v, std::size_t key, const Pack& score) const noexcept {
    using Limits = std::numeric_limits<float>;
    const Pack at_least = max(Pack::broadcast(Limits::lowest()), score + at(v, key));
    const Pack sum = min(Pack::broadcast(Limits::max()), at_least);
    return select(score == Pack::broadcast(-Limits::infinity()), score, sum);
  }
};

template <bool PerHead>
struct BoundAdditive {
  static constexpr bool hides_keys = true;
  static constexpr bool adds_to_scores = true;
  static constexpr bool ends_within_panels = false;
  template <std::size_t KeyWidth, std::size_t Width>
  using Scratch = PairScratch<KeyWidth, Width>;
  const float* values;  // [heads or 1][queries][columns], or null, which adds nothing
  std::size_t queries;  // how many rows a head has, including inactive queries
  std::size_t columns;
  std::size_t keys;  // how many keys are active; at most `columns`

  constexpr KeyRanges key_ranges(Range) const noexcept { return {{0, keys}, {0, 0}}; }
  constexpr bool may_see_any(Range, Range) const noexcept { return true; }

  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_INLINE constexpr AdditiveLanes<Pack, Width> lanes(const ScoreBlock& block,
                                                          PairScratch<KeyWidth, Width>& scratch) const noexcept {
    fill<Pack, Width, KeyWidth>(block, scratch.values);
    return {scratch.values, block.keys.begin};
  }

 private:
  // Writes the elements of `values` for the queries and keys of `block` to `out` [KeyWidth][Width], multiplied by
  // log2(e). `values` has one query in each row, and `out` has one query in each lane, so squares of Pack::lanes x
  // Pack::lanes elements are transposed in registers. Keys beyond the last active key get -inf.
  template <class Pack, std::size_t Width, std::size_t KeyWidth>
  LADON_NOINLINE constexpr void fill(const ScoreBlock& block, float* out) const noexcept {
    const std::size_t rest = block.keys.begin < keys ? keys - block.keys.begin : 0;
    const std::size_t active = rest < KeyWidth ? rest : KeyWidth;
    const float* const rows =
        values == nullptr || active == 0
            ? nullptr
            : values + ((PerHead ? block.head * queries : 0) + block.queries.begin) * columns + block.keys.begin;
    for (std::size_t q = 0; q < Width; q += Pack::lanes) {
      const std::size_t used = block.queries.end - block.queries.begin;
      for (std::size_t key = 0; key < active; key += Pack::lanes) {
        transpose<Pack, Width>(rows == nullptr || q >= used ? nullptr : rows + q * columns + key, used - q,
                               active - key, out + key * Width + q);
      }
    }
    for (std::size_t i = active * Width; i < KeyWidth * Width; ++i) {
      out[i] = -std::numeric_limits<float>::infinity();
    }
  }

  // Transposes one square of Pack::lanes x Pack::lanes elements of `values`, multiplies the elements by log2(e), and
  // writes the square to `out`. `rows` points to the first row of the square. If `rows` is null, all elements count as
  // 0. At the end of `values`, only the first `used` rows and the first `active` columns exist: missing rows become 0,
  // and missing columns are not written.
  template <class Pack, std::size_t Width>
  LADON_INLINE constexpr void transpose(const float* rows, std::size_t used, std::size_t active,
                                        float* out) const noexcept {
    constexpr std::size_t lanes = Pack::lanes;
    const std::size_t count = active < lanes ? active : lanes;
    Pack square[lanes];
    LADON_UNROLL
    for (std::size_t r = 0; r < lanes; ++r) {
      if (rows == nullptr || r >= used) {
        square[r] = Pack::broadcast(0.0f);
      } else {
        square[r] = count == lanes ? Pack::load(rows + r * columns) : Pack::load_partial(rows + r * columns, count);
      }
    }
    Pack::transpose(square);
    LADON_UNROLL
    for (std::size_t c = 0; c < lanes; ++c) {
      if (c < count) to_exponent(square[c]).store(out + c * Width);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail
