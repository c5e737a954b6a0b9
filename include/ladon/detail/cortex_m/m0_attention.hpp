// SPDX-License-Identifier: Apache-2.0
// Attention with integers, for int8 weights on Cortex-M0+. A multiply-add takes more than 200 instructions with floats,
// and 2.4 with integers. The features of a token get one common exponent. Each mantissa m is split, so that products
// fit into 32 bits:
//     m = 2^12 high + low            -2^11 <= low < 2^11
//     m m' = 2^24 high high' + 2^12 (high low' + low high')      low low' is below the error of a float
//
//     scores         Each key and each query has one exponent.
//     exponentials   2^x is a table of 32 entries times a polynomial of degree 3, in fixed point.
//     weighted sum   The weight of a key is multiplied by 2^e, where e is the exponent of the key's value. Then the
//                    weights of a query get one exponent.
//
// Tokens with an infinite, NaN or very large feature (most_exponent) are computed with floats. Except in a cache,
// to_words replaces keys and values by words, once for all query blocks. The first two words of a token hold its
// exponent:
//     word = 2^18 high + 2^6 (low mod 2^12) + 4 bits of the exponent
// A panel (detail/panel/panels.hpp) holds four tokens: [features][4].
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/m0_arithmetic.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/elementary.hpp>

namespace LADON_NAMESPACE::detail::block_floats {

namespace m0 = cortex_m::m0;
using Pack = vec::ArrayPack<1>;

// The widest head that uses integers: the integers of a query block take 2 KB of the stack.
inline constexpr std::size_t most_width = 64;

LADON_INLINE constexpr std::uint32_t bits_of(float x) noexcept { return ladon::bit_cast<std::uint32_t>(x); }

// Comparing floats would call a function of libgcc.
LADON_INLINE constexpr float larger(float a, float b) noexcept {
  const auto ordered = [](float x) LADON_INLINE_LAMBDA {
    const auto bits = static_cast<std::int32_t>(bits_of(x));
    return bits ^ (bits >> 31 & 0x7fffffff);
  };
  return ordered(a) > ordered(b) ? a : b;
}

// Limits of the exponent that the features of a token share, as stored in a float (0 to 255). least_exponent is so
// large that subnormal numbers are shifted to 0.
inline constexpr std::int32_t least_exponent = 24, most_exponent = 240;

// Returns the largest stored exponent of the features, but at least least_exponent. The features are four floats apart.
template <std::size_t Features>
LADON_NOINLINE std::int32_t token_exponent(const float* features) noexcept {
  std::uint32_t largest = static_cast<std::uint32_t>(least_exponent) << 24;
  for (std::size_t i = 0; i < Features; ++i) {
    const std::uint32_t magnitude = bits_of(features[4 * i]) << 1;
    if (magnitude > largest) largest = magnitude;
  }
  return static_cast<std::int32_t>(largest >> 24);
}
// Writes the exponents of a panel of floats or words. Returns how many tokens, from the first on, fit into integers.
template <std::size_t Features>
LADON_NOINLINE std::size_t token_exponents(const float* panel, bool words, std::int32_t* exponents) noexcept {
  std::size_t fit = 0;
#pragma GCC unroll 1
  for (std::size_t t = 0; t < 4; ++t, ++panel) {
    exponents[t] = words ? static_cast<std::int32_t>((bits_of(panel[0]) & 15) | (bits_of(panel[4]) & 15) << 4)
                         : token_exponent<Features>(panel);
    if (fit == t && exponents[t] <= most_exponent) ++fit;
  }
  return fit;
}

// `exponent` is the common exponent of the token's features.
struct Split {
  std::int32_t high, low;

  LADON_INLINE Split(std::uint32_t bits, std::int32_t exponent) noexcept
      : Split(bits, m0::shift_right(m0::mantissa_of(bits),
                                    static_cast<std::uint32_t>(exponent + 8 - m0::exponent_of(bits)))) {}
  LADON_INLINE Split(std::uint32_t bits, std::uint32_t magnitude) noexcept {
    const std::int32_t sign = static_cast<std::int32_t>(bits) >> 31;
    const std::int32_t mantissa = (static_cast<std::int32_t>(magnitude) ^ sign) - sign;
    high = (mantissa + 2048) >> 12;
    low = mantissa - high * 4096;
  }
  // Reads a word.
  LADON_INLINE explicit Split(std::uint32_t word) noexcept
      : high(static_cast<std::int32_t>(word) >> 18), low(static_cast<std::int32_t>(word << 14) >> 20) {}
  LADON_INLINE void store(std::int32_t& to_high, std::int32_t& to_low) const noexcept {
    to_high = high;
    to_low = low;
  }
  LADON_INLINE std::uint32_t bits() const noexcept {
    return static_cast<std::uint32_t>(high) << 18 | (static_cast<std::uint32_t>(low) & 0xfff) << 6;
  }
};

// Reads features that are four floats apart. Writes the integers to every `step`-th place of `high` and `low`.
LADON_NOINLINE inline void split_token(const float* features, std::size_t count, std::int32_t exponent,
                                       std::int32_t* high, std::int32_t* low, std::size_t step) noexcept {
#pragma GCC unroll 1
  for (const float* const end = features + 4 * count; features != end; features += 4, high += step, low += step) {
    Split(bits_of(*features), exponent).store(*high, *low);
  }
}

// A token's exponent needs two words.
template <std::size_t Width>
inline constexpr bool has_words = Width >= 2;

// Returns whether integers can represent the first `tokens` tokens of panels [panels][Width][4].
template <std::size_t Width>
LADON_COLD bool fits_words(const float* panels, std::size_t tokens) noexcept {
  for (std::size_t token = 0; token < tokens; ++token) {
    if (token_exponent<Width>(panels + token / 4 * 4 * Width + token % 4) > most_exponent) return false;
  }
  return true;
}
// Replaces the floats of the first `tokens` tokens by words, in place. The unused tokens of the last panel become 0.
template <std::size_t Width>
LADON_NOINLINE void to_words(float* panels, std::size_t tokens) noexcept {
  for (std::size_t token = 0; token < (tokens + 3) / 4 * 4; ++token) {
    float* const features = panels + token / 4 * 4 * Width + token % 4;
    const std::uint32_t used = token < tokens ? ~0u : 0;
    const std::int32_t exponent = used != 0 ? token_exponent<Width>(features) : least_exponent;
    LADON_ROLLED_FOR(i, Width) {
      features[4 * i] = ladon::bit_cast<float>(Split(bits_of(features[4 * i]) & used, exponent).bits());
    }
    const auto bits = static_cast<std::uint32_t>(exponent);
    features[0] = ladon::bit_cast<float>(bits_of(features[0]) | (bits & 15));
    features[4] = ladon::bit_cast<float>(bits_of(features[4]) | bits >> 4);
  }
}

// The dot products of one row (a key, or one feature of several values) with four tokens. `row` holds the low integers
// first, and `x` the high integers first.
template <std::size_t MostTerms>
struct Products {
  // How far a sum is shifted left. Products of high integers are at most 2^24, and shifted sums at most 2^30.
  static constexpr std::int32_t shift = MostTerms <= 16 ? 2 : MostTerms <= 32 ? 1 : 0;
  static_assert(MostTerms <= 64);
  std::int32_t sums[4];

  LADON_NOINLINE Products(const std::int32_t* row, const std::int32_t* x, std::size_t terms) noexcept {
    std::int32_t mixed[4];
    for (std::size_t t = 0; t < 4; ++t) sums[t] = mixed[t] = 0;
    m0::add_4_tokens(row + terms, x, terms, sums);
    m0::add_4_tokens(row, x, 2 * terms, mixed);
    for (std::size_t t = 0; t < 4; ++t) sums[t] = sums[t] * (1 << shift) + (mixed[t] >> (12 - shift));
  }
  // A dot product is sums[t] * 2^(e - 127 - 31), where e is the row's exponent + the token's exponent + bias.
  static constexpr std::int32_t bias = -118 - shift;
};

LADON_INLINE float number_of(float stored, bool word, std::int32_t exponent) noexcept {
  if (!word) return stored;
  const Split split(bits_of(stored));
  const auto unit = ladon::bit_cast<float>(static_cast<std::uint32_t>(exponent - 23) << 23);
  return static_cast<float>(split.high * 4096 + split.low) * unit;
}
// sums[t] = sum over i < terms of number(i) * x[4 i + t], for Count tokens
template <std::size_t Count, class Number>
LADON_COLD void products_of_floats(std::size_t terms, const Number& number, const float* x, float* sums) noexcept {
  LADON_ROLLED_FOR(t, Count) {
    float sum = 0;
    LADON_ROLLED_FOR(i, terms) sum += number(i) * x[4 * i + t];
    sums[t] = sum;
  }
}

// The queries of a query block: as floats, and at run time also as integers.
template <std::size_t Width>
class Queries {
 public:
  // `query` is Q^T [Width][4]. `words`: whether the keys are words.
  LADON_INLINE constexpr Queries(const float* query, bool words) noexcept : floats_(query), words_(words) {
    if (std::is_constant_evaluated()) return;
    usable_ = token_exponents<Width>(query, false, exponents_);
    // Other queries have no integers: `multiply` then uses floats.
    LADON_ROLLED_FOR(t, usable_) {
      split_token(query + t, Width, exponents_[t], integers_ + t, integers_ + 4 * Width + t, 4);
    }
  }
  LADON_INLINE constexpr const float* floats() const noexcept { return floats_; }

  // Computes the products of four keys K^T [Width][4] and the first Count queries.
  template <std::size_t Count>
  LADON_NOINLINE void multiply(const float* keys, Pack (&sum)[4][Count]) const noexcept {
    std::int32_t exponents[4], row[2 * Width];
    const bool finite = token_exponents<Width>(keys, words_, exponents) == 4 && usable_ >= Count;
    LADON_ROLLED_FOR(r, 4) {
      const float* const key = keys + r;
      if (!finite) {
        const auto number = [&](std::size_t i) { return number_of(key[4 * i], words_, exponents[r]); };
        products_of_floats<Count>(Width, number, floats_, &sum[r][0].lane[0]);
        continue;
      }
      if (words_) {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < Width; ++i) Split(bits_of(key[4 * i])).store(row[Width + i], row[i]);
      } else {
        split_token(key, Width, exponents[r], row + Width, row, 1);
      }
      const Products<Width> products(row, integers_, Width);
      m0::to_floats<Count>(products.sums, exponents_, products.bias + exponents[r], nullptr, &sum[r][0].lane[0]);
    }
  }

 private:
  const float* floats_;
  bool words_;
  std::size_t usable_ = 0;  // how many queries, from the first on, have integers
  std::int32_t exponents_[4];
  std::int32_t integers_[8 * Width];
};

// For scores that do not fit into fixed point.
LADON_COLD inline float exponential_of_floats(float score, float largest) noexcept {
  return exp2_of_nonpositive(Pack{score - largest}).lane[0];
}

// Replaces the scores s of one query, `width` floats apart, by 2^(s - largest). Returns the sum of these weights.
LADON_NOINLINE inline float exponentials(float* scores, std::size_t width, std::size_t keys, float largest) noexcept {
  // Small scores, below 64 in magnitude, fit into a 32-bit integer as multiples of 2^-24.
  std::uint32_t bound = (127u + 6) << 24;
  if (bits_of(largest) << 1 >= bound) bound = 0;  // no score is small
  const auto in_fixed_point = [](std::uint32_t bits) LADON_INLINE_LAMBDA {
    const std::int32_t shift = 134 - m0::exponent_of(bits);
    const std::uint32_t magnitude = shift < 32 ? m0::mantissa_of(bits) >> shift : 0;
    return static_cast<std::int32_t>((bits >> 31) != 0 ? 0u - magnitude : magnitude);
  };
  const std::int32_t most = bound != 0 ? in_fixed_point(bits_of(largest)) : 0;
  std::uint32_t total = 0;  // in units of 2^-22
  float rest = 0;           // the weights of scores that are not small
  for (std::size_t k = 0; k < keys; ++k, scores += width) {
    const std::uint32_t bits = bits_of(*scores);
    if (bits << 1 < bound) {
      const std::int32_t x = in_fixed_point(bits) - most, exponent = x >> 24;
      if (exponent < -126) {
        *scores = 0;
        continue;
      }
      const std::uint32_t weight = m0::power(static_cast<std::uint32_t>(x) & 0xffffff);
      if (exponent > -24) total += ((weight >> 8 >> -exponent) + 1) >> 1;
      const std::uint32_t rounded = ((weight >> 7) + 1) >> 1;
      *scores = ladon::bit_cast<float>(rounded + (static_cast<std::uint32_t>(126 + exponent) << 23));
    } else if (bits == 0xff800000u && largest == largest) {
      *scores = 0;
    } else {
      *scores = exponential_of_floats(*scores, largest);
      rest += *scores;
    }
  }
  const std::uint32_t in_units = bits_of(static_cast<float>(total));
  const float sum = total == 0 ? 0 : ladon::bit_cast<float>(in_units - (22u << 23));
  return rest == 0 ? sum : sum + rest;
}

// How many keys the weighted sum adds at a time, with 1.4 KB of the stack.
inline constexpr std::size_t step_keys = 32;

// The weights of at most step_keys keys, for four queries.
struct Weights {
  std::size_t terms;  // the number of keys, rounded up to whole panels
  bool words;
  std::int32_t value_exponents[step_keys], exponents[4];
  std::int32_t integers[8 * step_keys];
  // `values` points to the panel of the first key. Returns false if a value or a weight is too large, infinite or NaN.
  template <std::size_t ValueWidth, std::size_t Count>
  LADON_INLINE bool load(const float* values, const float* p, std::size_t keys, bool as_words) noexcept {
    terms = (keys + 3) / 4 * 4;
    words = as_words;
    bool fits = true;
#pragma GCC unroll 1
    for (std::size_t k = 0; k < keys; k += 4) {
      const std::size_t fit = token_exponents<ValueWidth>(values + k * ValueWidth, words, value_exponents + k);
      fits = fits && (fit == 4 || fit >= keys - k);
    }
    if (!fits) return false;
    LADON_ROLLED_FOR(t, 4) {
      exponents[t] = least_exponent;
      if (t < Count) {
        if (!find_largest(p + t, keys, exponents[t])) return false;
        split_weights(p + t, keys, t);
      }
#pragma GCC unroll 1
      for (std::size_t k = t < Count ? keys : 0; k < terms; ++k)
        integers[4 * k + t] = integers[4 * (terms + k) + t] = 0;
    }
    return true;
  }
  // Computes the weighted sum of one feature for each query. `values` points to this feature in the first key's panel.
  template <std::size_t ValueWidth>
  LADON_INLINE Products<step_keys> multiply(const float* values) const noexcept {
    std::int32_t row[2 * step_keys];
    words ? split_values<ValueWidth, true>(values, row) : split_values<ValueWidth, false>(values, row);
    return Products<step_keys>(row, integers, terms);
  }
  template <std::size_t ValueWidth, bool Words>
  LADON_NOINLINE void split_values(const float* values, std::int32_t* row) const noexcept {
    for (std::size_t k = 0; k < terms; values += 4 * ValueWidth) {
      for (std::size_t i = 0; i < 4; ++i, ++k) {
        const std::uint32_t bits = bits_of(values[i]);
        (Words ? Split(bits) : Split(bits, value_exponents[k])).store(row[terms + k], row[k]);
      }
    }
  }
  // Raises `largest` to the greatest sum of the exponents of a weight and of its key's value. Returns false if a weight
  // is infinite or NaN.
  LADON_INLINE bool find_largest(const float* p, std::size_t keys, std::int32_t& largest) const noexcept {
    std::uint32_t heaviest = 0;
    for (std::size_t k = 0; k < keys; ++k, p += 4) {
      const std::uint32_t weight = bits_of(*p);
      if (weight > heaviest) heaviest = weight;
      const auto exponent = static_cast<std::int32_t>(weight >> 23);
      if (exponent != 0 && exponent + value_exponents[k] > largest) largest = exponent + value_exponents[k];
    }
    return heaviest < 0x7f800000;
  }
  LADON_INLINE void split_weights(const float* p, std::size_t keys, std::size_t t) noexcept {
    std::int32_t *high = integers + t, *low = high + 4 * terms;
    for (std::size_t k = 0; k < keys; ++k, p += 4, high += 4, low += 4) {
      const std::uint32_t bits = bits_of(*p);
      const auto exponent = static_cast<std::int32_t>(bits >> 23);
      const std::int32_t shift = exponents[t] - value_exponents[k] + 8 - exponent;  // >= 0, unless the weight is 0
      Split(0, exponent != 0 && shift < 32 ? m0::mantissa_of(bits) >> shift : 0).store(*high, *low);
    }
  }
};

// Adds the sums of at most step_keys keys of a key block to `out`, for one feature. `begins` and `ends` mark the first
// and the last sums of the block.
template <std::size_t Count, class Rescale>
LADON_COLD void combine(const float* sum, bool begins, const Rescale& rescale, bool ends, float* out) noexcept {
  LADON_ROLLED_FOR(t, Count) {
    float result = sum[t];
    if (!begins) {
      result += out[t];
    } else if (!rescale.first) {
      result += out[t] * rescale.before[t].lane[0];
    }
    out[t] = ends ? result * rescale.after[t].lane[0] : result;
  }
}

// Adds the weighted values of the keys in `range` to `out`. `rescale`: see detail/attention/values.hpp.
template <std::size_t ValueWidth, std::size_t Count, class Rescale>
LADON_NOINLINE void weighted_sum(const float* values, const float* p, Range range, const Rescale& rescale, float* out,
                                 bool words) noexcept {
  const float* const after = &rescale.after[0].lane[0];
  bool fast = rescale.first && range.end - range.begin <= step_keys;
  LADON_ROLLED_FOR(t, Count) {
    const std::uint32_t bits = bits_of(after[t]);
    fast = fast && bits >> 31 == 0 && m0::is_normal(bits);
  }
  std::size_t first = range.begin;
  do {  // without keys, runs once with a sum of 0
    const std::size_t left = range.end - first, keys = left < step_keys ? left : step_keys;
    const float* const weight = p + 4 * (first - range.begin);
    Weights weights;
    const bool finite = weights.template load<ValueWidth, Count>(values + first * ValueWidth, weight, keys, words);
    const float* value = values + first * ValueWidth;
    for (float* to = out; to != out + 4 * ValueWidth; to += 4, value += 4) {
      const auto products = weights.template multiply<ValueWidth>(value);
      float sum[Count];
      if (finite) {
        m0::to_floats<Count>(products.sums, weights.exponents, products.bias, fast ? after : nullptr, fast ? to : sum);
        if (fast) continue;
      } else {
        const auto number = [&](std::size_t k) {
          return number_of(value[k / 4 * 4 * ValueWidth + k % 4], words, weights.value_exponents[k]);
        };
        products_of_floats<Count>(keys, number, weight, sum);
      }
      combine<Count>(sum, first == range.begin, rescale, left <= step_keys, to);
    }
    first += step_keys;
  } while (first < range.end);
}

}  // namespace LADON_NAMESPACE::detail::block_floats
