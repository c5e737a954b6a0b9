// Project of a single token: finish(W * in + bias). Nothing is used twice here, so the lanes lie where W is contiguous:
// along the inner index where a row is, and sums cross the lanes; along the rows where W is (in, out).
//
//     in    [inner]
//     finish(0, row, 0, pack) stores the rows from `row` on, as many as the pack has lanes
#pragma once

#include <cstddef>

#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/linear/streams.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/simd/vectors.hpp>
#include <ladon/detail/target/tiling.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI::detail {

// Packs of sums for N * Packs rows, the first of them at w. Pack-wide steps, then what is left of the inner index.
template <class Pack, std::size_t Packs, std::size_t Inner, std::size_t RowStride, class Take>
LADON_INLINE constexpr void dot_rows(const float* w, const float* in, Take take) noexcept {
  constexpr std::size_t lanes = Pack::lanes, rest = Inner % lanes;
  Pack sum[Packs][lanes];
  LADON_UNROLL
  for (std::size_t r = 0; r < Packs * lanes; ++r) sum[r / lanes][r % lanes] = Pack::broadcast(0.0f);
  for (std::size_t k = 0; k < Inner - rest; k += lanes) {
    const Pack x = Pack::load(in + k);
    LADON_UNROLL
    for (std::size_t r = 0; r < Packs * lanes; ++r) {
      Pack& own = sum[r / lanes][r % lanes];
      own = fma(Pack::load(w + r * RowStride + k), x, own);
    }
  }
  if constexpr (rest > 0) {
    const Pack x = Pack::load_partial(in + Inner - rest, rest);
    LADON_UNROLL
    for (std::size_t r = 0; r < Packs * lanes; ++r) {
      Pack& own = sum[r / lanes][r % lanes];
      own = fma(Pack::load_partial(w + r * RowStride + Inner - rest, rest), x, own);
    }
  }
  LADON_UNROLL
  for (std::size_t p = 0; p < Packs; ++p) take(p * lanes, Pack::add_rows(sum[p]));
}

// The same for W (in, out): each number of `in` meets a row of W.
template <class Pack, std::size_t Packs, std::size_t Inner, std::size_t InnerStride, class Take>
LADON_INLINE constexpr void add_columns(const float* w, const float* in, Take take) noexcept {
  Pack sum[Packs];
  LADON_UNROLL
  for (std::size_t p = 0; p < Packs; ++p) sum[p] = Pack::broadcast(0.0f);
  for (std::size_t k = 0; k < Inner; ++k) {
    const Pack x = Pack::broadcast(in[k]);
    LADON_UNROLL
    for (std::size_t p = 0; p < Packs; ++p) {
      sum[p] = fma(Pack::load(w + k * InnerStride + p * Pack::lanes), x, sum[p]);
    }
  }
  LADON_UNROLL
  for (std::size_t p = 0; p < Packs; ++p) take(p * Pack::lanes, sum[p]);
}

// The rows from `row` on are summed up.
template <std::size_t RowStride, std::size_t InnerStride, Bias B, class Pack, class Finish>
LADON_INLINE constexpr void finish_rows(const WeightRows<RowStride, InnerStride, B>& w, std::size_t row,
                                        const Pack& sum, const Finish& finish) noexcept {
  if constexpr (B == Bias::with) {
    finish(0, row, 0, sum + Pack::load(w.bias + row));
  } else {
    finish(0, row, 0, sum);
  }
}

// As many rows from First on as fit into whole steps of Packs packs of N lanes; then narrower steps take over. First is
// a template argument so that no step is compiled that no row needs.
template <class Simd, std::size_t N, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t First,
          std::size_t RowStride, std::size_t InnerStride, Bias B, class Finish>
LADON_INLINE constexpr void mat_vec_rows(const WeightRows<RowStride, InnerStride, B>& w, const float* in,
                                         Finish finish) noexcept {
  using Pack = typename Simd::template Pack<N>;
  constexpr std::size_t end = First + (Rows - First) / (N * Packs) * (N * Packs);
  for (std::size_t row = First; row < end; row += N * Packs) {
    const auto take = [&](std::size_t r, const Pack& sum) { finish_rows(w, row + r, sum, finish); };
    if constexpr (N == 1 && InnerStride == 1) {
      using Wide = typename Simd::template Pack<Simd::lanes>;
      Wide sum = Wide::broadcast(0.0f);
      std::size_t k = 0;
      for (; k + Wide::lanes <= Inner; k += Wide::lanes) {
        sum = fma(Wide::load(w.weight + row * RowStride + k), Wide::load(in + k), sum);
      }
      float total = reduce_add(sum);
      for (; k < Inner; ++k) total += w.weight[row * RowStride + k] * in[k];
      take(0, Pack::broadcast(total));
    } else if constexpr (InnerStride == 1) {
      dot_rows<Pack, Packs, Inner, RowStride>(w.weight + row * RowStride, in, take);
    } else {
      static_assert(RowStride == 1);
      add_columns<Pack, Packs, Inner, InnerStride>(w.weight + row, in, take);
    }
  }
  if constexpr (end < Rows && Packs > 1) {
    mat_vec_rows<Simd, N, Packs / 2, Rows, Inner, end>(w, in, finish);
  } else if constexpr (end < Rows) {
    constexpr std::size_t narrower = N > 4 ? N / 2 : 1;
    mat_vec_rows<Simd, narrower, 1, Rows, Inner, end>(w, in, finish);
  }
}

// Rows 0, Run, 2 Run, ... of W at once, then those behind each. Sums of a row are kept until there is a pack of them to
// be added up.
template <class Pack, std::size_t Run, std::size_t Inner, std::size_t RowStride, class Take>
LADON_INLINE constexpr void dot_runs(const float* w, const float* in, Take take) noexcept {
  constexpr std::size_t lanes = Pack::lanes, rest = Inner % (2 * lanes);
  for (std::size_t row = 0; row < Run; row += lanes) {
    Pack rows[runs][lanes];
    for (std::size_t r = 0; r < lanes; ++r) {
      const float* const from = w + (row + r) * RowStride;
      Pack sum[runs][2];
      LADON_UNROLL
      for (std::size_t i = 0; i < 2 * runs; ++i) sum[i / 2][i % 2] = Pack::broadcast(0.0f);
      for (std::size_t k = 0; k < Inner - rest; k += 2 * lanes) {
        LADON_UNROLL
        for (std::size_t i = 0; i < 2 * runs; ++i) {
          const std::size_t at = k + i % 2 * lanes;
          Pack& own = sum[i / 2][i % 2];
          own = fma(Pack::load(from + i / 2 * Run * RowStride + at), Pack::load(in + at), own);
        }
      }
      for (std::size_t k = Inner - rest; k < Inner; k += lanes) {
        const std::size_t left = Inner - k < lanes ? Inner - k : lanes;
        const Pack x = Pack::load_partial(in + k, left);
        LADON_UNROLL
        for (std::size_t i = 0; i < runs; ++i) {
          sum[i][0] = fma(Pack::load_partial(from + i * Run * RowStride + k, left), x, sum[i][0]);
        }
      }
      LADON_UNROLL
      for (std::size_t i = 0; i < runs; ++i) rows[i][r] = sum[i][0] + sum[i][1];
    }
    LADON_UNROLL
    for (std::size_t i = 0; i < runs; ++i) take(i * Run + row, Pack::add_rows(rows[i]));
  }
}

// Columns columns of W (in, out), several of its rows at once. Sums are in memory: in registers there is room for so
// few columns that a row would be read in pieces, and memory gives little where it is read by pieces.
template <class Pack, std::size_t Columns, std::size_t Inner, std::size_t InnerStride, class Take>
LADON_INLINE constexpr void add_runs(const float* w, const float* in, Take take) noexcept {
  constexpr std::size_t lanes = Pack::lanes, run = Inner / runs;
  alignas(64) float sums[Columns];
  for (std::size_t c = 0; c < Columns; c += lanes) Pack::broadcast(0.0f).store(sums + c);
  for (std::size_t k = 0; k < run; ++k) {
    Pack x[runs];
    LADON_UNROLL
    for (std::size_t i = 0; i < runs; ++i) x[i] = Pack::broadcast(in[i * run + k]);
    for (std::size_t c = 0; c < Columns; c += lanes) {
      Pack sum = Pack::load(sums + c);
      LADON_UNROLL
      for (std::size_t i = 0; i < runs; ++i) sum = fma(Pack::load(w + (i * run + k) * InnerStride + c), x[i], sum);
      sum.store(sums + c);
    }
  }
  for (std::size_t k = runs * run; k < Inner; ++k) {
    const Pack x = Pack::broadcast(in[k]);
    for (std::size_t c = 0; c < Columns; c += lanes) {
      fma(Pack::load(w + k * InnerStride + c), x, Pack::load(sums + c)).store(sums + c);
    }
  }
  for (std::size_t c = 0; c < Columns; c += lanes) take(c, Pack::load(sums + c));
}

// How many rows of W, from the first on, are read in runs.
template <std::size_t Lanes, std::size_t Rows, std::size_t Inner>
constexpr std::size_t rows_in_runs(bool rows_contiguous) noexcept {
  if (!in_runs(Rows * Inner) || (rows_contiguous ? Inner < 8 * Lanes : Rows < 4 * Lanes)) return 0;
  const std::size_t step = rows_contiguous ? runs * Lanes : Lanes;
  return Rows / step * step;
}

// project (project.hpp) where there is one token. Where rows are dot products, at least eight sums of them are under
// way for as long as there are rows, to hide the latency of an fma.
template <class Simd, std::size_t Rows, std::size_t Inner, std::size_t RowStride, std::size_t InnerStride, Bias B,
          class Finish>
LADON_KERNEL constexpr void mat_vec(WeightRows<RowStride, InnerStride, B> w, const float* in, Finish finish) noexcept {
  constexpr std::size_t lanes = Simd::lanes, most_columns = 1024;  // 4 KB of sums
  constexpr std::size_t packs = InnerStride == 1 ? (lanes < 8 ? 2 : 1) : 8;
  constexpr std::size_t first = rows_in_runs<lanes, Rows, Inner>(InnerStride == 1);
  using Pack = typename Simd::template Pack<lanes>;
  if constexpr (first > 0 && InnerStride == 1) {
    dot_runs<Pack, first / runs, Inner, RowStride>(
        w.weight, in, [&](std::size_t row, const Pack& sum) { finish_rows(w, row, sum, finish); });
  } else if constexpr (first > 0) {
    for_row_tiles<first / lanes, most_columns / lanes>([&]<std::size_t Packs>(std::size_t pack) {
      const std::size_t from = pack * lanes;
      add_runs<Pack, Packs * lanes, Inner, InnerStride>(
          w.weight + from, in, [&](std::size_t row, const Pack& sum) { finish_rows(w, from + row, sum, finish); });
    });
  }
  if constexpr (first < Rows) mat_vec_rows<Simd, lanes, packs, Rows, Inner, first>(w, in, finish);
}

}  // namespace ladon::inline LADON_ABI::detail
