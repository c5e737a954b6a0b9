// SPDX-License-Identifier: Apache-2.0
// The loop of a product with quantised panels (detail/memory/int8_panels.hpp) or bfloat16 panels
// (detail/memory/bfloat16_panels.hpp). In such panels, a 32-bit lane holds a group: several consecutive features of one
// token (detail/simd/group_dot.hpp).
//
// A step is the work for one group of features. A step adds the products of these features to all sums of a tile:
//     sum[r][v] += products of the weights of row r and the features of pack v
//
// detail/memory/panels.hpp defines packs and tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/simd/group_dot.hpp>

namespace ladon::inline LADON_ABI::detail {

// Reads the weights of a tile in place. group<Last>(r, k) returns `Group` weights of row r as one 32-bit integer, from
// feature Group * k on. Last is true for an incomplete group at the end of the row: the missing weights are 0.
template <class Weight, std::size_t Group, std::size_t Inner, std::size_t RowStride>
struct GroupsInPlace {
  static constexpr std::size_t whole = Inner / Group;
  static constexpr bool has_last = Inner % Group != 0;
  static constexpr std::size_t inner = Inner, row_stride = RowStride;
  const Weight* data;

  LADON_INLINE constexpr explicit GroupsInPlace(const Weight* first_row) noexcept : data(first_row) {}
  template <bool Last>
  LADON_INLINE constexpr std::int32_t group(std::size_t r, std::size_t k) const noexcept {
    const Weight* const weight = data + r * RowStride + Group * k;
    return Last ? simd::group_of<Group>(weight, Inner % Group) : simd::load_group<Group>(weight);
  }
  // Returns group(r, k) in the lower half and group(r, k + 1) in the upper half of 64 bits. Precondition: both groups
  // are complete.
  LADON_INLINE std::int64_t two_groups(std::size_t r, std::size_t k) const noexcept {
    return simd::load_two_groups<Group>(address(r, k));
  }
  // Returns the address of the weights that group(r, k) returns.
  LADON_INLINE constexpr const Weight* address(std::size_t r, std::size_t k) const noexcept {
    return data + r * RowStride + Group * k;
  }
};

// Adds step k, one group of features, to the sums of a tile. `panel` points to the features of the step.
template <bool Last, class Dot, std::size_t Lanes, class Groups, class Element, std::size_t Rows, std::size_t Packs>
LADON_INLINE constexpr void group_step(const Groups& groups, std::size_t k, const Element* panel,
                                       typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const std::int32_t group = groups.template group<Last>(r, k);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) Dot::add(sum[r][v], panel + Dot::group * v * Lanes, group);
  }
}

// Whether an instruction can read the weights from a single lane of a register, and multiply features by these weights.
// If so, a register holds the weights of several steps.
template <class Dot>
inline constexpr bool multiplies_by_lane = requires { Dot::steps; };

// Adds the steps k .. k + Dot::steps - 1 to the sums of a tile. One load reads the weights of a row for all these
// steps. The features of the steps stay in registers.
template <class Dot, std::size_t Lanes, std::size_t Width, class Groups, class Element, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void group_steps_by_lane(const Groups& groups, std::size_t k, const Element* panel,
                                      typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  typename Dot::Features x[Dot::steps][Packs];
  LADON_UNROLL
  for (std::size_t i = 0; i < Dot::steps * Packs; ++i) {
    x[i / Packs][i % Packs] = Dot::load_features(panel + Dot::group * (i / Packs * Width + i % Packs * Lanes));
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const typename Dot::Weights weights = Dot::load_weights(groups.address(r, k));
    [&]<std::size_t... Step>(std::index_sequence<Step...>) LADON_INLINE_LAMBDA {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) (Dot::template add_by_lane<Step>(sum[r][v], x[Step][v], weights), ...);
    }(std::make_index_sequence<Dot::steps>());
  }
}

// Whether one instruction multiplies the weights of two rows by the features of two tokens: SMMLA or BFMMLA of Arm.
template <class Dot>
inline constexpr bool multiplies_matrices = requires(typename Dot::Sums& sum) { Dot::exchange_halves(sum, sum); };

// Like group_steps_by_lane, but with an instruction for two rows and two tokens. This instruction needs another order
// of the sums: the caller calls exchange_halves before the first and after the last call of this function for a tile.
template <class Dot, std::size_t Lanes, std::size_t Width, class Groups, class Element, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void group_steps_by_matrix(const Groups& groups, std::size_t k, const Element* panel,
                                        typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  static_assert(Dot::steps == 4);
  typename Dot::Features x[2][2 * Packs];
  LADON_UNROLL
  for (std::size_t i = 0; i < 2 * Packs; ++i) {
    const Element* const from = panel + Dot::group * (i / Packs * 2 * Width + i % Packs * Lanes);
    Dot::load_matrices(from, from + Dot::group * Width, x[i / Packs][i % Packs * 2], x[i / Packs][i % Packs * 2 + 1]);
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; r += 2) {
    typename Dot::Weights weights[2];
    Dot::load_rows(groups.address(r, k), groups.address(r + 1, k), weights[0], weights[1]);
    LADON_UNROLL
    for (std::size_t i = 0; i < 4 * Packs; ++i) {
      const std::size_t pair = i / (2 * Packs), v = i % (2 * Packs);
      Dot::add_matrix(sum[r + v % 2][v / 2], x[pair][v], weights[pair]);
    }
  }
}

// For each even r, exchanges the upper half of the sums of row r and the lower half of the sums of row r + 1.
template <class Dot, std::size_t Rows, std::size_t Packs>
LADON_INLINE void exchange_halves(typename Dot::Sums (&sum)[Rows][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t i = 0; i < Rows / 2 * Packs; ++i) {
    Dot::exchange_halves(sum[i / Packs * 2][i % Packs], sum[i / Packs * 2 + 1][i % Packs]);
  }
}

// Adds step k and all later steps to the sums of a tile. `panel` is [groups][Width][Dot::group].
template <class Dot, std::size_t Lanes, std::size_t Width, class Groups, class Element, class Sums, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE constexpr void accumulate_groups(const Groups& groups, const Element* panel, Sums (&sum)[Rows][Packs],
                                              std::size_t k = 0) noexcept {
  if constexpr (multiplies_matrices<Dot> && Rows % 2 == 0) {
    exchange_halves<Dot>(sum);
    for (; k + Dot::steps <= Groups::whole; k += Dot::steps) {
      group_steps_by_matrix<Dot, Lanes, Width>(groups, k, panel + Dot::group * k * Width, sum);
    }
    exchange_halves<Dot>(sum);
  } else if constexpr (multiplies_by_lane<Dot>) {
    for (; k + Dot::steps <= Groups::whole; k += Dot::steps) {
      group_steps_by_lane<Dot, Lanes, Width>(groups, k, panel + Dot::group * k * Width, sum);
    }
  }
  for (; k < Groups::whole; ++k) group_step<false, Dot, Lanes>(groups, k, panel + Dot::group * k * Width, sum);
  if constexpr (Groups::has_last) {
    group_step<true, Dot, Lanes>(groups, Groups::whole, panel + Dot::group * Groups::whole * Width, sum);
  }
}

// Like accumulate_groups from step 0, but also prefetches at most one cache line of weights per step. A tile of one
// pack prefetches its own rows (OwnRowsAhead). All other tiles prefetch the rows of the next tile, `next`.
// MicroKernel::accumulate_and_prefetch does the same for float panels.
template <class Dot, std::size_t Lanes, std::size_t Width, class Groups, class Element, class Sums, std::size_t Rows,
          std::size_t Packs>
LADON_INLINE void accumulate_groups_and_prefetch(const Groups& groups, const Element* panel, Sums (&sum)[Rows][Packs],
                                                 const Groups& next) noexcept {
  std::size_t k = 0;
  for (; k + cache_line <= Groups::whole; k += cache_line) {
    const OwnRowsAhead ahead(groups.data, Dot::group * k, Groups::inner, next.data);
    for (std::size_t i = 0; i < cache_line; ++i) {
      if constexpr (Packs == 1) {
        if (i < Rows) ahead.prefetch(i * Groups::row_stride);
      } else {
        prefetch_to_second_cache(next.address(i, k));
      }
      group_step<false, Dot, Lanes>(groups, k + i, panel + Dot::group * (k + i) * Width, sum);
    }
  }
  accumulate_groups<Dot, Lanes, Width>(groups, panel, sum, k);
}

}  // namespace ladon::inline LADON_ABI::detail
