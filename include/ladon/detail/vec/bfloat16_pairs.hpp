// SPDX-License-Identifier: Apache-2.0
// Packs whose lanes hold pairs of bfloat16 numbers, the first in the low half. Attention stores queries, keys, values
// and weights as pairs in arrays of floats.
//     to_pairs(first, second)     rounds two packs of floats to the pairs (first[i], second[i])
//     store_neighbours(x, to)     rounds lanes 2 i and 2 i + 1 to the pair to[i]
//     add_products(sum, a, b)     adds two products to each lane, with the rounding of TupleDot<BFloat16, Pack>
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot_bfloat16.hpp>

namespace LADON_NAMESPACE::detail::vec {

LADON_INLINE constexpr float to_pair(float first, float second) noexcept {
  const std::uint32_t low = to_bfloat16(first).bits, high = to_bfloat16(second).bits;
  return ladon::bit_cast<float>(high << 16 | low);
}
// Returns a pair whose other number is 0.
LADON_INLINE constexpr float only_first(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffffu);
}
LADON_INLINE constexpr float only_second(float pair) noexcept {
  return ladon::bit_cast<float>(ladon::bit_cast<std::uint32_t>(pair) & 0xffff0000u);
}
inline constexpr float pair_of_ones = to_pair(1, 1);

template <class Pack>
struct BFloat16Pairs {
  static LADON_INLINE constexpr Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    return Pack::apply([&](std::size_t i) LADON_INLINE_LAMBDA { return to_pair(first.lane[i], second.lane[i]); });
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

#if LADON_HAS_XSIMD && LADON_BFLOAT16_DOT
template <std::size_t Lanes>
struct BFloat16Pairs<XsimdPack<Lanes>> {
  using Pack = XsimdPack<Lanes>;
  using Register = BFloat16Register<Lanes>;

  static LADON_INLINE Pack to_pairs(const Pack& first, const Pack& second) noexcept {
    return typename Pack::Batch(floats(Register::pairs(first.batch, second.batch)));
  }
  static LADON_INLINE void store_neighbours(const Pack& x, float* to) noexcept {
    Register::store_neighbours(x.batch, reinterpret_cast<BFloat16*>(to));
  }
  static LADON_INLINE void add_products(Pack& sum, const Pack& a, const Pack& b) noexcept {
    TupleDot<BFloat16, Pack>::add_products(sum, bits(a), bits(b));
  }

 private:
  using Floats = typename Pack::Batch::register_type;
  static LADON_INLINE Floats floats(typename Register::Type x) noexcept { return reinterpret_cast<Floats>(x); }
  static LADON_INLINE typename Register::Type bits(const Pack& x) noexcept {
    return reinterpret_cast<typename Register::Type>(static_cast<Floats>(x.batch));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
