// SPDX-License-Identifier: Apache-2.0
// The loop of a product whose panels hold tuples: 32-bit lanes with several consecutive features of a token
// (detail/vec/dot.hpp). A step adds the products of one tuple to all sums of a tile:
//     sum[r][v] += products of the weights of row r and the features of pack v
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/dot.hpp>

namespace LADON_NAMESPACE::detail {

// The weights of a tile in place. tuple<Last>(r, k) returns tuple k of row r. If Last is true, the tuple is incomplete,
// and the missing weights are 0.
template <class Weight, std::size_t TupleSize, std::size_t Inner, std::size_t RowStride>
struct TuplesInPlace {
  static constexpr std::size_t whole = Inner / TupleSize;
  static constexpr bool has_last = Inner % TupleSize != 0;
  static constexpr std::size_t inner = Inner, row_stride = RowStride;
  const Weight* data;

  LADON_INLINE constexpr explicit TuplesInPlace(const Weight* first_row) noexcept : data(first_row) {}
  template <bool Last>
  LADON_INLINE constexpr std::int32_t tuple(std::size_t r, std::size_t k) const noexcept {
    const Weight* const weight = data + r * RowStride + TupleSize * k;
    return Last ? vec::tuple_of<TupleSize>(weight, Inner % TupleSize) : vec::load_tuple<TupleSize>(weight);
  }
  // Returns tuple(r, k) in the lower half and tuple(r, k + 1) in the upper half.
  LADON_INLINE std::int64_t two_tuples(std::size_t r, std::size_t k) const noexcept {
    return vec::load_two_tuples<TupleSize>(address(r, k));
  }
  LADON_INLINE constexpr const Weight* address(std::size_t r, std::size_t k) const noexcept {
    return data + r * RowStride + TupleSize * k;
  }
};

template <bool Last, class Dot, std::size_t Lanes, class Tuples, class Element, std::size_t Rows, std::size_t Packs>
LADON_INLINE constexpr void tuple_step(const Tuples& tuples, std::size_t k, const Element* panel,
                                       typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const std::int32_t tuple = tuples.template tuple<Last>(r, k);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) Dot::add(sum[r][v], panel + Dot::tuple_size * v * Lanes, tuple);
  }
}

// Whether an instruction multiplies features by one lane of a register of weights, which then holds several steps.
template <class Dot>
inline constexpr bool multiplies_by_lane = requires { Dot::steps; };

// Adds the steps k .. k + Dot::steps - 1. One load reads the weights of a row for all these steps.
template <class Dot, std::size_t Lanes, std::size_t Width, class Tuples, class Element, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void tuple_steps_by_lane(const Tuples& tuples, std::size_t k, const Element* panel,
                                      typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  typename Dot::Features x[Dot::steps][Packs];
  LADON_UNROLL
  for (std::size_t i = 0; i < Dot::steps * Packs; ++i) {
    x[i / Packs][i % Packs] = Dot::load_features(panel + Dot::tuple_size * (i / Packs * Width + i % Packs * Lanes));
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const typename Dot::Weights weights = Dot::load_weights(tuples.address(r, k));
    [&]<std::size_t... Step>(std::index_sequence<Step...>) LADON_INLINE_LAMBDA {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) (Dot::template add_by_lane<Step>(sum[r][v], x[Step][v], weights), ...);
    }(std::make_index_sequence<Dot::steps>());
  }
}

// Whether one instruction multiplies the weights of two rows by the features of two tokens (SMMLA, BFMMLA).
template <class Dot>
inline constexpr bool multiplies_matrices = requires(typename Dot::Sums& sum) { Dot::exchange_halves(sum, sum); };

// Like tuple_steps_by_lane, for two rows and two tokens. The sums must be in the order of exchange_halves.
template <class Dot, std::size_t Lanes, std::size_t Width, class Tuples, class Element, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void tuple_steps_by_matrix(const Tuples& tuples, std::size_t k, const Element* panel,
                                        typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  static_assert(Dot::steps == 4);
  typename Dot::Features x[2][2 * Packs];
  LADON_UNROLL
  for (std::size_t i = 0; i < 2 * Packs; ++i) {
    const Element* const from = panel + Dot::tuple_size * (i / Packs * 2 * Width + i % Packs * Lanes);
    Dot::load_matrices(from, from + Dot::tuple_size * Width, x[i / Packs][i % Packs * 2],
                       x[i / Packs][i % Packs * 2 + 1]);
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; r += 2) {
    typename Dot::Weights weights[2];
    Dot::load_rows(tuples.address(r, k), tuples.address(r + 1, k), weights[0], weights[1]);
    LADON_UNROLL
    for (std::size_t i = 0; i < 4 * Packs; ++i) {
      const std::size_t pair = i / (2 * Packs), v = i % (2 * Packs);
      Dot::add_matrix(sum[r + v % 2][v / 2], x[pair][v], weights[pair]);
    }
  }
}

// Exchanges the upper half of the sums of each even row and the lower half of the sums of the next row.
template <class Dot, std::size_t Rows, std::size_t Packs>
LADON_INLINE void exchange_halves(typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t i = 0; i < Rows / 2 * Packs; ++i) {
    Dot::exchange_halves(sum[i / Packs * 2][i % Packs], sum[i / Packs * 2 + 1][i % Packs]);
  }
}

// Adds step k and all later steps. `panel` is [tuples][Width][Dot::tuple_size].
template <class Dot, std::size_t Lanes, std::size_t Width, class Tuples, class Element, class Sums, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE constexpr void accumulate_tuples(const Tuples& tuples, const Element* panel, Sums (&sum)[Rows][Packs],
                                              std::size_t k = 0) noexcept {
  if constexpr (multiplies_matrices<Dot> && Rows % 2 == 0) {
    exchange_halves<Dot>(sum);
    for (; k + Dot::steps <= Tuples::whole; k += Dot::steps) {
      tuple_steps_by_matrix<Dot, Lanes, Width>(tuples, k, panel + Dot::tuple_size * k * Width, sum);
    }
    exchange_halves<Dot>(sum);
  } else if constexpr (multiplies_by_lane<Dot>) {
    for (; k + Dot::steps <= Tuples::whole; k += Dot::steps) {
      tuple_steps_by_lane<Dot, Lanes, Width>(tuples, k, panel + Dot::tuple_size * k * Width, sum);
    }
  }
  for (; k < Tuples::whole; ++k) tuple_step<false, Dot, Lanes>(tuples, k, panel + Dot::tuple_size * k * Width, sum);
  if constexpr (Tuples::has_last) {
    tuple_step<true, Dot, Lanes>(tuples, Tuples::whole, panel + Dot::tuple_size * Tuples::whole * Width, sum);
  }
}

// Like accumulate_tuples from step 0, but prefetches one cache line of weights per step: a tile of one pack its own
// rows, other tiles the rows of the next tile.
template <class Dot, std::size_t Lanes, std::size_t Width, class Tuples, class Element, class Sums, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void accumulate_tuples_and_prefetch(const Tuples& tuples, const Element* panel, Sums (&sum)[Rows][Packs],
                                                 const Tuples& next) noexcept {
  std::size_t k = 0;
  for (; k + cache_line_words <= Tuples::whole; k += cache_line_words) {
    const OwnRowsAhead ahead(tuples.data, Dot::tuple_size * k, Tuples::inner, next.data);
    for (std::size_t i = 0; i < cache_line_words; ++i) {
      if constexpr (Packs == 1) {
        if (i < Rows) ahead.prefetch(i * Tuples::row_stride);
      } else {
        prefetch_to_second_cache(next.address(i, k));
      }
      tuple_step<false, Dot, Lanes>(tuples, k + i, panel + Dot::tuple_size * (k + i) * Width, sum);
    }
  }
  accumulate_tuples<Dot, Lanes, Width>(tuples, panel, sum, k);
}

}  // namespace LADON_NAMESPACE::detail
