// Lanes change places, within a pack of a vector register (pack_xsimd.hpp) and between two. xsimd has only some of
// these orders, and each version others; the compiler finds the instructions for any.
#pragma once

#include <cstddef>
#include <utility>

#include <ladon/detail/target/compiler.hpp>

// Whether the compiler does; otherwise lanes go through memory.
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define LADON_HAS_SHUFFLE 1
#else
#define LADON_HAS_SHUFFLE 0
#endif

namespace ladon::inline LADON_ABI::detail::simd {

// Lane i of the result is lane Index[i] of a, or lane Index[i] - lanes of b.
template <std::size_t... Index, class Pack>
LADON_INLINE Pack reorder(const Pack& a, const Pack& b) noexcept {
  using Batch = typename Pack::Batch;
#if LADON_HAS_SHUFFLE
  typedef float Floats __attribute__((vector_size(Pack::lanes * sizeof(float))));
  const auto mixed =
      __builtin_shufflevector(ladon::bit_cast<Floats>(a.batch), ladon::bit_cast<Floats>(b.batch), Index...);
  return Pack(ladon::bit_cast<Batch>(mixed));
#else
  alignas(64) float from[2 * Pack::lanes], to[Pack::lanes];
  a.batch.store_aligned(from);
  b.batch.store_aligned(from + Pack::lanes);
  std::size_t lane = 0;
  ((to[lane++] = from[Index]), ...);
  return Pack(Batch::load_aligned(to));
#endif
}

// The numbers of a pack's lanes, to be expanded into an order.
template <class Pack>
using Lanes = std::make_index_sequence<Pack::lanes>;

// In every four lanes the same pick of a's four (0 .. 3) and b's four (4 .. 7).
template <std::size_t... Pick, class Pack>
LADON_INLINE Pack pick_of_fours(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {Pick...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return reorder<(pick[I % 4] < 4 ? I / 4 * 4 + pick[I % 4] : Pack::lanes + I / 4 * 4 + pick[I % 4] - 4)...>(a, b);
  }(Lanes<Pack>{});
}

// Groups of four lanes: First and, where half of the lanes are two groups, Second of a, then the same of b.
template <std::size_t First, std::size_t Second, class Pack>
LADON_INLINE Pack quarters(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {First, Second}, n = Pack::lanes;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return reorder<(I / (n / 2) * n + pick[I % (n / 2) / 4] * 4 + I % 4)...>(a, b);
  }(Lanes<Pack>{});
}

// Lane i + By, and round the end.
template <std::size_t By, class Pack>
LADON_INLINE Pack moved_down(const Pack& a) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return reorder<((I + By) % Pack::lanes)...>(a, a);
  }(Lanes<Pack>{});
}

// Of each pair of rows the sums in one row: in groups of 2 * Width lanes first the former's, then the latter's.
template <std::size_t Width, class Pack>
LADON_INLINE void add_pairs(Pack (&row)[Pack::lanes]) noexcept {
  constexpr std::size_t n = Pack::lanes;
  LADON_UNROLL
  for (std::size_t i = 0; i < n / Width / 2; ++i) {
    const Pack a = row[2 * i], b = row[2 * i + 1];
    row[i] = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return reorder<(I % (2 * Width) < Width ? I : n + I - Width)...>(a, b) +
             reorder<(I % (2 * Width) < Width ? I + Width : n + I)...>(a, b);
    }(Lanes<Pack>{});
  }
}

// Lane j of row i becomes lane i of row j. xsimd has this since 11 and by full-width zips, which take twice the
// instructions: here 4 x 4 blocks turn inside their 128 bits, then the blocks change places.
template <class Pack>
LADON_INLINE void turn_square(Pack (&row)[Pack::lanes]) noexcept {
  constexpr std::size_t n = Pack::lanes;
  static_assert(n == 4 || n == 8 || n == 16);
  LADON_UNROLL
  for (std::size_t i = 0; i < n; i += 4) {
    const Pack a = pick_of_fours<0, 4, 1, 5>(row[i], row[i + 1]), b = pick_of_fours<0, 4, 1, 5>(row[i + 2], row[i + 3]);
    const Pack c = pick_of_fours<2, 6, 3, 7>(row[i], row[i + 1]), d = pick_of_fours<2, 6, 3, 7>(row[i + 2], row[i + 3]);
    row[i] = pick_of_fours<0, 1, 4, 5>(a, b);
    row[i + 1] = pick_of_fours<2, 3, 6, 7>(a, b);
    row[i + 2] = pick_of_fours<0, 1, 4, 5>(c, d);
    row[i + 3] = pick_of_fours<2, 3, 6, 7>(c, d);
  }
  if constexpr (n == 8) {
    LADON_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      const Pack a = row[c], b = row[c + 4];
      row[c] = quarters<0, 0>(a, b);
      row[c + 4] = quarters<1, 1>(a, b);
    }
  } else if constexpr (n == 16) {
    LADON_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      const Pack a = quarters<0, 2>(row[c], row[c + 4]), b = quarters<0, 2>(row[c + 8], row[c + 12]);
      const Pack d = quarters<1, 3>(row[c], row[c + 4]), e = quarters<1, 3>(row[c + 8], row[c + 12]);
      row[c] = quarters<0, 2>(a, b);
      row[c + 8] = quarters<1, 3>(a, b);
      row[c + 4] = quarters<0, 2>(d, e);
      row[c + 12] = quarters<1, 3>(d, e);
    }
  }
}

}  // namespace ladon::inline LADON_ABI::detail::simd
