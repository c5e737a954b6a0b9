// SPDX-License-Identifier: Apache-2.0
// Shuffles: functions that reorder the lanes of one or two XsimdPacks. xsimd has only some of these shuffles, and
// versions of xsimd differ. This file therefore calls the compiler's builtin, which finds the instructions for any
// shuffle.
#pragma once

#include <cstddef>
#include <utility>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE::detail::vec {

// Returns a pack of lanes of `a` and `b`. If Index[i] < lanes, lane i of the result is lane Index[i] of `a`. Otherwise
// lane i of the result is lane Index[i] - lanes of `b`.
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

// The lane numbers 0 .. lanes - 1 of a pack, as a type. The functions below expand the lane numbers into the indices of
// a shuffle.
template <class Pack>
using LaneIndices = std::make_index_sequence<Pack::lanes>;

// A quad is four neighbouring lanes. Each quad of the result has four lanes from the quads of `a` and `b` in the same
// place. The four values of Pick choose these lanes, and are the same for all quads. The values 0 to 3 are the lanes of
// the quad of `a`, and the values 4 to 7 are the lanes of the quad of `b`.
template <std::size_t... Pick, class Pack>
LADON_INLINE Pack pick_of_fours(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {Pick...};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<(pick[I % 4] < 4 ? I / 4 * 4 + pick[I % 4] : Pack::lanes + I / 4 * 4 + pick[I % 4] - 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// Combines whole quads. With sixteen lanes, the result consists of four quads: numbers First and Second of `a`, then
// numbers First and Second of `b`. With eight lanes, the result consists of two quads: number First of `a`, then number
// First of `b`.
template <std::size_t First, std::size_t Second, class Pack>
LADON_INLINE Pack combine_quads(const Pack& a, const Pack& b) noexcept {
  constexpr std::size_t pick[] = {First, Second}, n = Pack::lanes;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<(I / (n / 2) * n + pick[I % (n / 2) / 4] * 4 + I % 4)...>(a, b);
  }(LaneIndices<Pack>{});
}

// Rotates the lanes: lane i of the result is lane (i + By) % lanes of `a`.
template <std::size_t By, class Pack>
LADON_INLINE Pack rotate_lanes_down(const Pack& a) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return shuffle<((I + By) % Pack::lanes)...>(a, a);
  }(LaneIndices<Pack>{});
}

// Merges rows in pairs: rows 2 i and 2 i + 1 become row i. There are lanes / Width rows before the call, and half as
// many after it. The call is one step of adding all lanes of each row. The lanes of a row form blocks of 2 * Width
// lanes, and the two halves of each block are added. In the merged row, the first half of each block is the sum from
// row 2 i, and the second half is the sum from row 2 i + 1.
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

// Transposes a square of rows in place: lane j of row i becomes lane i of row j. The square consists of blocks of 4 x 4
// lanes. First, each block is transposed. Then blocks on opposite sides of the diagonal are exchanged. The
// transposition of xsimd (from version 11 on) takes twice as many instructions.
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
