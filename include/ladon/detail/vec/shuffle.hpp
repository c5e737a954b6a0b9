// SPDX-License-Identifier: Apache-2.0
// Functions that reorder the lanes of XsimdPacks, by the compiler's builtin. xsimd has only some of these shuffles.
#pragma once

#include <cstddef>
#include <utility>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Lane i is lane Index[i] of `a` followed by `b`.
template <std::size_t... Index, class Pack>
LADON_INLINE Pack shuffle(const Pack& a, const Pack& b) noexcept {
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

template <class Pack>
using LaneIndices = std::make_index_sequence<Pack::lanes>;

// Each quad (four neighbouring lanes) has four lanes of the same quads of `a` (Pick 0 to 3) and `b` (4 to 7).
template <std::size_t... Pick, class Pack>
LADON_INLINE Pack pick_of_fours(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {Pick...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<(pick[I % 4] < 4 ? I / 4 * 4 + pick[I % 4] : Pack::lanes + I / 4 * 4 + pick[I % 4] - 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// 16 lanes: quads First and Second of `a`, then of `b`. 8 lanes: quad First of `a`, then of `b`.
template <std::size_t First, std::size_t Second, class Pack>
LADON_INLINE Pack combine_quads(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {First, Second}, n = Pack::lanes;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<(I / (n / 2) * n + pick[I % (n / 2) / 4] * 4 + I % 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// Lane i is lane (i + By) % lanes of `a`.
template <std::size_t By, class Pack>
LADON_INLINE Pack rotate_lanes_down(const Pack& a) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<((I + By) % Pack::lanes)...>(a, a);
  }(LaneIndices<Pack>{});
}

// Merges rows 2 i and 2 i + 1 into row i, of lanes / Width rows. The halves of each block of 2 * Width lanes are added:
// the sum of row 2 i becomes the first half, and the sum of row 2 i + 1 the second.
template <std::size_t Width, class Pack>
LADON_INLINE void add_pairs(Pack (&row)[Pack::lanes]) noexcept {
  constexpr std::size_t n = Pack::lanes;
  LADON_UNROLL
  for (std::size_t i = 0; i < n / Width / 2; ++i) {
    const Pack a = row[2 * i], b = row[2 * i + 1];
    row[i] = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return shuffle<(I % (2 * Width) < Width ? I : n + I - Width)...>(a, b) +
             shuffle<(I % (2 * Width) < Width ? I + Width : n + I)...>(a, b);
    }(LaneIndices<Pack>{});
  }
}

// Lane j of row i becomes lane i of row j. First, blocks of 4 x 4 lanes are transposed, and then exchanged across the
// diagonal. xsimd takes twice as many instructions.
template <class Pack>
LADON_INLINE void transpose_square(Pack (&row)[Pack::lanes]) noexcept {
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
      row[c] = combine_quads<0, 0>(a, b);
      row[c + 4] = combine_quads<1, 1>(a, b);
    }
  } else if constexpr (n == 16) {
    LADON_UNROLL
    for (std::size_t c = 0; c < 4; ++c) {
      const Pack a = combine_quads<0, 2>(row[c], row[c + 4]), b = combine_quads<0, 2>(row[c + 8], row[c + 12]);
      const Pack d = combine_quads<1, 3>(row[c], row[c + 4]), e = combine_quads<1, 3>(row[c + 8], row[c + 12]);
      row[c] = combine_quads<0, 2>(a, b);
      row[c + 8] = combine_quads<1, 3>(a, b);
      row[c + 4] = combine_quads<0, 2>(d, e);
      row[c + 12] = combine_quads<1, 3>(d, e);
    }
  }
}

}  // namespace LADON_NAMESPACE::detail::vec
