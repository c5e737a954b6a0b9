// SPDX-License-Identifier: Apache-2.0
// A dot adds one step of a product to the sums of one row of weights and one pack of tokens:
//     features           how many features of each token a step has
//     Sums, Features     the sums, and the features of a step: types with one token in each lane
//     load(panel)        loads the features
//     weights(w)         loads the weights
//     add(sum, x, w)     adds the products
//
// A tuple is tuple_size features of 8 or 16 bits in a 32-bit lane. Panels of tuples are [tuples][width][tuple_size].
// The target chooses Int8Element, the type of a quantised feature q in panels (detail/panel/int8_panels.hpp). The type
// determines tuple_size, the stored value (`zero` is the zero point of the token) and the instruction:
//     std::int16_t   2   q          vpmaddwd (dot_x86.hpp), SMLAL (dot_arm64.hpp), i32x4.dot_i16x8_s (dot_wasm.hpp)
//     std::uint8_t   4   q + zero   vpdpbusd, or vpmaddubsw with 7 bits (dot_x86.hpp), relaxed_dot_i8x16_i7x16_add_s
//                                   (dot_wasm.hpp)
//     std::int8_t    4   q + zero   SDOT and SMMLA (dot_arm64.hpp)
//
// Microcontrollers have loops of their own (detail/cortex_m).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/elementary.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Pack>
struct FloatDot {
  static constexpr std::size_t features = 1;
  using Sums = Pack;
  using Features = Pack;
  // With aligned loads, a call with 64 tokens is 1.027 times as fast (SSE2, Zen 5).
  static LADON_INLINE constexpr Features load(const float* panel) noexcept {
    if constexpr (requires { Pack::load_aligned(panel); }) return Pack::load_aligned(panel);
    return Pack::load(panel);
  }
  static LADON_INLINE constexpr auto weights(const float* weight) noexcept { return Pack::broadcast(*weight); }
  template <class Broadcast>
  static LADON_INLINE constexpr void add(Sums& sum, const Features& x, const Broadcast& weight) noexcept {
    sum = fma(weight, x, sum);
  }
};

// 32 bits hold the sum of most_int8_features products.
template <class Pack>
struct IntegerSums {
  std::int32_t lane[Pack::lanes];

  static LADON_INLINE constexpr IntegerSums zero() noexcept {
    return apply([](std::size_t) { return 0; });
  }
  static LADON_INLINE constexpr IntegerSums load(const std::int32_t* sums) noexcept {
    return apply([&](std::size_t i) { return sums[i]; });
  }
  // Precondition: the results fit into 32 bits.
  static LADON_INLINE constexpr IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    float values[Pack::lanes];
    factors.store(values);
    return apply([&](std::size_t i) { return static_cast<std::int32_t>(values[i]) * -factor; });
  }
  friend LADON_INLINE constexpr IntegerSums operator+(const IntegerSums& a, const IntegerSums& b) noexcept {
    return apply([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  friend LADON_INLINE constexpr std::int32_t reduce_add(const IntegerSums& a) noexcept {
    std::int32_t total = 0;
    for (std::size_t i = 0; i < Pack::lanes; ++i) total += a.lane[i];
    return total;
  }
  LADON_INLINE constexpr Pack to_float() const noexcept {
    float values[Pack::lanes];
    for (std::size_t i = 0; i < Pack::lanes; ++i) values[i] = static_cast<float>(lane[i]);
    return Pack::load(values);
  }

 private:
  template <class F>
  static LADON_INLINE constexpr IntegerSums apply(F value) noexcept {
    IntegerSums result;
    for (std::size_t i = 0; i < Pack::lanes; ++i) result.lane[i] = value(i);
    return result;
  }
};

template <class Sums>
LADON_INLINE constexpr Sums zero_sums() noexcept {
  if constexpr (requires { Sums::zero(); }) {
    return Sums::zero();
  } else {
    return Sums::broadcast(0.0f);
  }
}

// As many bytes of weights as a register holds. add_dot (dot_x86.hpp) reads them as an operand in memory.
template <std::size_t Size>
struct Bytes {
  std::int8_t byte[Size];
};

template <class Element>
inline constexpr std::size_t tuple_features = sizeof(std::int32_t) / sizeof(Element);

template <class Weight>
LADON_INLINE constexpr std::uint32_t weight_bits(Weight weight) noexcept {
  if constexpr (std::is_same_v<Weight, BFloat16>) {
    return weight.bits;
  } else {
    return static_cast<std::uint32_t>(std::int32_t{weight});
  }
}

// Packs `count` weights into 32 bits, the first in the lowest bits. Missing weights are 0.
template <std::size_t TupleSize, class Weight>
LADON_INLINE constexpr std::int32_t tuple_of(const Weight* weight, std::size_t count = TupleSize) noexcept {
  constexpr std::size_t bits = 32 / TupleSize;
  std::uint32_t result = 0;
  LADON_UNROLLED_FOR(j, TupleSize) {
    const std::uint32_t each = j < count ? weight_bits(weight[j]) : 0;
    result |= (each & (~0u >> (32 - bits))) << (bits * j);
  }
  return static_cast<std::int32_t>(result);
}
template <std::size_t TupleSize, class Weight>
LADON_INLINE constexpr std::int32_t load_tuple(const Weight* weight) noexcept {
  if constexpr (TupleSize * sizeof(Weight) == sizeof(std::int32_t) && std::endian::native == std::endian::little) {
    if (!std::is_constant_evaluated()) return load_as<std::int32_t>(weight);
  }
  return tuple_of<TupleSize>(weight);
}

// Multiplies int8 weights in plain arrays. Specialisations for registers compute the same, but may store the tuples of
// a panel in another order. They may also have:
//     folds                                     whether `add` may take two steps of lanes / 2 tokens: lanes 2 i and
//                                               2 i + 1 hold token i
//     add_by_lane<Step>(sum, features, weights) a step with the weights in lane `Step` of a register of `steps` tuples
//     add_matrix(sum, features, weights)        two steps of two tokens and two rows
//     exchange_halves(first, second)            orders the sums of rows a and b for add_matrix, and back:
//                                               a0 a1 a2 a3, b0 b1 b2 b3  <->  a0 a1 b0 b1, a2 a3 b2 b3
template <class Element, class Pack>
struct TupleDot {
  static constexpr std::size_t tuple_size = tuple_features<Element>, features = tuple_size;
  using Sums = IntegerSums<Pack>;
  using Features = const Element*;

  static LADON_INLINE constexpr Features load(const Element* panel) noexcept { return panel; }
  template <class Weight>
  static LADON_INLINE constexpr std::int32_t weights(const Weight* weight) noexcept {
    return load_tuple<tuple_size>(weight);
  }
  static LADON_INLINE constexpr void add(Sums& sum, Features panel, std::int32_t weights) noexcept {
    constexpr std::size_t bits = 32 / tuple_size;
    std::int32_t weight[tuple_size];
    LADON_UNROLLED_FOR(j, tuple_size) weight[j] = static_cast<std::make_signed_t<Element>>(weights >> (bits * j));
    LADON_UNROLLED_FOR(i, Pack::lanes) {
      std::int32_t products = 0;
      LADON_UNROLLED_FOR(j, tuple_size) products += feature_value(panel[tuple_size * i + j]) * weight[j];
      sum.lane[i] += products;
    }
  }
  // Adds x[i] * weight[i] for i < tuple_size * lanes, each product to any lane.
  static LADON_INLINE constexpr void add_products(Sums& sum, const Element* x, const std::int8_t* weight) noexcept {
    LADON_UNROLLED_FOR(i, tuple_size * Pack::lanes) sum.lane[i / tuple_size] += feature_value(x[i]) * weight[i];
  }
  // Rounds `x` to q. Writes q, or q + zero, to `panel` [lanes][tuple_size]. Precondition: q fits into 16 bits, q + zero
  // into Element.
  static LADON_INLINE constexpr void store_tuple(const Pack (&x)[tuple_size], [[maybe_unused]] const Pack& zero,
                                                 Element* panel) noexcept {
    float rounded[tuple_size][Pack::lanes], zero_points[Pack::lanes];
    for (std::size_t j = 0; j < tuple_size; ++j) (x[j] + Pack::broadcast(round_to_low_bits)).store(rounded[j]);
    zero.store(zero_points);
    for (std::size_t i = 0; i < Pack::lanes; ++i) {
      for (std::size_t j = 0; j < tuple_size; ++j) {
        const auto q = static_cast<std::int16_t>(ladon::bit_cast<std::uint32_t>(rounded[j][i]) & 0xffffu);
        panel[tuple_size * i + j] =
            static_cast<Element>(holds_zero_point<Element> ? q + static_cast<std::int32_t>(zero_points[i]) : q);
      }
    }
  }
};

// bfloat16 weights and features. An instruction adds two products to a float32 sum:
//     vdpbf16ps   AVX512_BF16   sum = fma(x0, w0, fma(x1, w1, sum))    each fma is rounded to nearest
//     BFDOT       FEAT_BF16     sum = sum + (x0 * w0 + x1 * w1)        each addition is rounded to odd
//
// Rounding to odd: an inexact sum becomes the neighbour whose last bit is 1, so the error is less than 2^-23 of the
// sum. Both instructions read subnormal numbers as 0, and return 0 instead of a subnormal sum. If the bit EBF of FPCR
// is set (FEAT_EBF16), BFDOT rounds to nearest and keeps subnormal numbers, so last bits differ.
//
// A pair is a float with the bits of two bfloat16 numbers, the first in the low half. Attention can store queries,
// keys, values and attention weights as pairs. BFloat16Pairs has these functions:
//     broadcast(pair)             the pair with these bits in every lane
//     to_pairs(first, second)     rounds two packs of floats to the pairs (first[i], second[i])
//     store(pairs, to)            writes the numbers [lanes][2]
//     store_neighbours(x, to)     rounds lanes 2 i and 2 i + 1 to the pair to[i]
//     add_products(sum, a, b)     adds two products to each lane
LADON_INLINE constexpr float to_pair(float first, float second) noexcept {
  const std::uint32_t low = to_bfloat16(first).bits, high = to_bfloat16(second).bits;
  return ladon::bit_cast<float>(high << 16 | low);
}
// Returns `pair` with 0 as its second number.
LADON_INLINE constexpr float only_first(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffffu);
}
LADON_INLINE constexpr float only_second(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffff0000u);
}
inline constexpr float pair_of_ones = to_pair(1, 1);

template <class Pack>
struct BFloat16Pairs {
  static LADON_INLINE constexpr Pack broadcast(std::int32_t pair) noexcept {
    return Pack::broadcast(ladon::bit_cast<float>(pair));
  }
  static LADON_INLINE constexpr Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return to_pair(first.lane[i], second.lane[i]); });
  }
  static LADON_INLINE constexpr void store(const Pack& pairs, BFloat16* to) noexcept {
    for (std::size_t i = 0; i < 2 * Pack::lanes; ++i) {
      to[i].bits = static_cast<std::uint16_t>(ladon::bit_cast<std::uint32_t>(pairs.lane[i / 2]) >> (i % 2 * 16));
    }
  }
  static LADON_INLINE constexpr void store_neighbours(const Pack& x, float* to) noexcept {
    for (std::size_t i = 0; i + 1 < Pack::lanes; i += 2) to[i / 2] = to_pair(x.lane[i], x.lane[i + 1]);
  }
  static LADON_INLINE constexpr void add_products(Pack& sum, const Pack& a, const Pack& b) noexcept {
    sum = fma(second_of(a), second_of(b), sum);
    sum = fma(first_of(a), first_of(b), sum);
  }

 private:
  static LADON_INLINE constexpr Pack first_of(const Pack& pairs) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA {
      return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pairs.lane[i]) << 16);
    });
  }
  static LADON_INLINE constexpr Pack second_of(const Pack& pairs) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return only_second(pairs.lane[i]); });
  }
};

// A Row is a register of 2 * lanes consecutive features or weights, for the product of a single token.
template <class Pack>
struct TupleDot<BFloat16, Pack> {
  static constexpr std::size_t tuple_size = 2, features = 2;
  using Sums = Pack;
  using Features = Pack;
  using Row = Pack;
  using Pairs = BFloat16Pairs<Pack>;

  static LADON_INLINE constexpr Pack load(const BFloat16* from) noexcept { return load_row(from); }
  static LADON_INLINE constexpr Pack weights(const BFloat16* weight) noexcept {
    return Pairs::broadcast(load_tuple<tuple_size>(weight));
  }
  // Loads `count` elements. The other elements are 0.
  static LADON_INLINE constexpr Row load_row(const BFloat16* from,
                                             std::size_t count = tuple_size * Pack::lanes) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
      if (!std::is_constant_evaluated() && count == tuple_size * Pack::lanes) return load_as<Row>(from);
    }
    float lane[Pack::lanes];
    for (std::size_t i = 0; i < Pack::lanes; ++i) {
      lane[i] = ladon::bit_cast<float>(2 * i < count ? tuple_of<2>(from + 2 * i, count - 2 * i) : 0);
    }
    return Pack::load(lane);
  }
  static LADON_INLINE constexpr void add(Sums& sum, const Pack& x, const Pack& weight) noexcept {
    Pairs::add_products(sum, x, weight);
  }
  // Rounds the features to bfloat16 and writes them to `panel` [lanes][2].
  static LADON_INLINE constexpr void store_tuple(const Pack (&x)[tuple_size], BFloat16* panel) noexcept {
    Pairs::store(Pairs::to_pairs(x[0], x[1]), panel);
  }
};

// A lane holds a pair of features or weights.
template <class Pack>
struct PairDot : FloatDot<Pack> {
  static constexpr bool hides_count = true;
  static LADON_INLINE constexpr void add(Pack& sum, const Pack& x, const Pack& weight) noexcept {
    BFloat16Pairs<Pack>::add_products(sum, x, weight);
  }
};

}  // namespace LADON_NAMESPACE::detail::vec

#if LADON_HAS_XSIMD && (LADON_SSE2 || defined(__wasm_simd128__))
#if defined(__wasm_simd128__)
#include <ladon/detail/vec/dot_wasm.hpp>
#else
#include <ladon/detail/vec/dot_x86.hpp>
#endif

namespace LADON_NAMESPACE::detail::vec {

template <std::size_t Lanes>
  requires(has_integers<Lanes>)
struct IntegerSums<XsimdPack<Lanes>> {
  using Pack = XsimdPack<Lanes>;
  using Integers = IntegerRegister<Lanes>;
  typename Integers::Type sum;

  static LADON_INLINE IntegerSums zero() noexcept { return {typename Integers::Type{}}; }
  static LADON_INLINE IntegerSums load(const std::int32_t* sums) noexcept { return {Integers::load(sums)}; }
  static LADON_INLINE IntegerSums negative_products(const Pack& factors, std::int32_t factor) noexcept {
    return {Integers::multiply(Integers::integers(factors.batch), Integers::broadcast(-factor))};
  }
  static LADON_INLINE IntegerSums of_bits(const Pack& bits) noexcept { return {Integers::bits(bits.batch)}; }
  friend LADON_INLINE IntegerSums operator+(const IntegerSums& a, const IntegerSums& b) noexcept {
    return {Integers::add(a.sum, b.sum)};
  }
  friend LADON_INLINE std::int32_t reduce_add(const IntegerSums& a) noexcept { return Integers::reduce_add(a.sum); }
#if !defined(__wasm_simd128__)
  static LADON_INLINE void store_totals(const IntegerSums (&sums)[4], std::int32_t* totals) noexcept {
    IntegerRegister<4>::store(Integers::reduce_add(sums[0].sum, sums[1].sum, sums[2].sum, sums[3].sum), totals);
  }
#endif
  LADON_INLINE Pack to_float() const noexcept { return Integers::floats(sum); }

  // Returns `start` plus, for each token i, the sum of lanes 2 i and 2 i + 1.
  LADON_INLINE IntegerSums<XsimdPack<Lanes / 2>> add_steps(
      const IntegerSums<XsimdPack<Lanes / 2>>& start) const noexcept {
    return {IntegerRegister<Lanes / 2>::add(start.sum, Integers::add_neighbours(sum))};
  }
};

template <class Element, std::size_t Lanes>
  requires(has_integers<Lanes> &&
           (std::is_same_v<Element, std::int16_t> || (multiplies_bytes && std::is_same_v<Element, std::uint8_t>)))
struct TupleDot<Element, XsimdPack<Lanes>> {
  static constexpr std::size_t tuple_size = tuple_features<Element>, features = tuple_size;
  static constexpr bool pairs = tuple_size == 2;
  using Pack = XsimdPack<Lanes>;
  using Sums = IntegerSums<Pack>;
  using Integers = IntegerRegister<Lanes>;
  using Features = typename Integers::Type;

  static LADON_INLINE Features load(const void* panel) noexcept { return Integers::load(panel); }
  template <class Weight>
  static LADON_INLINE Features weights(const Weight* weight) noexcept {
    return Integers::broadcast(load_tuple<tuple_size>(weight));
  }
  static LADON_INLINE void add(Sums& sum, Features x, Features weights) noexcept {
    if constexpr (pairs) {
      sum.sum = Integers::add_products_of_pairs(sum.sum, x, weights);
    } else {
      sum.sum = add_dot(sum.sum, x, weights);
    }
  }
#if defined(__AVX512BW__)
  static constexpr bool folds = Lanes == 16 || (Lanes == 8 && !pairs);
#endif
  static LADON_INLINE void add_products(Sums& sum, const Element* x, const std::int8_t* weight) noexcept {
    if constexpr (pairs) {
      add(sum, load(x), Integers::words(weight));
    } else {
      sum.sum = add_dot(sum.sum, load(x), *reinterpret_cast<const Bytes<sizeof(Features)>*>(weight));
    }
  }
  static LADON_INLINE void store_tuple(const Pack (&x)[tuple_size], [[maybe_unused]] const Pack& zero,
                                       Element* panel) noexcept {
    const auto words = [&](std::size_t low, std::size_t high) LADON_INLINE_LAMBDA {
      const Pack offset = Pack::broadcast(round_to_low_bits);
      return Integers::merge_words(Integers::bits((x[low] + offset).batch), Integers::bits((x[high] + offset).batch));
    };
    if constexpr (pairs) {
      Integers::store(words(0, 1), panel);
    } else {
      const auto zeros = Integers::repeat_byte(Integers::integers(zero.batch));
      Integers::store(Integers::add_bytes(Integers::merge_bytes(words(0, 2), words(1, 3)), zeros), panel);
    }
  }
};

}  // namespace LADON_NAMESPACE::detail::vec
#elif LADON_HAS_XSIMD && defined(__aarch64__)
#include <ladon/detail/vec/dot_arm64.hpp>
#endif
