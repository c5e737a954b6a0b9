// Project of a single token: finish(W * in + bias). Nothing is used twice here, so the lanes lie where W is contiguous:
// along the inner index where a row is, and sums cross the lanes; along the rows where W is (in, out).
//
//     in    [inner]
//     finish(0, row, 0, pack) stores the rows from `row` on, as many as the pack has lanes
#pragma once

#include <cstddef>

#include <ladon/matrix.hpp>
#include <ladon/simd/pack.hpp>
#include <ladon/tile_sizes.hpp>

namespace ladon::inline LADON_ABI::kernel {

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

// As many rows from First on as fit into whole steps of Packs packs of N lanes; then narrower steps take over. First is
// a template argument so that no step is compiled that no row needs.
template <class Simd, std::size_t N, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t First,
          std::size_t RowStride, std::size_t InnerStride, Bias B, class Finish>
LADON_INLINE constexpr void mat_vec_rows(const WeightRows<RowStride, InnerStride, B>& w, const float* in,
                                         Finish finish) noexcept {
  using Pack = typename Simd::template Pack<N>;
  constexpr std::size_t end = First + (Rows - First) / (N * Packs) * (N * Packs);
  for (std::size_t row = First; row < end; row += N * Packs) {
    const auto take = [&](std::size_t r, const Pack& sum) {
      if constexpr (B == Bias::with) {
        finish(0, row + r, 0, sum + Pack::load(w.bias + row + r));
      } else {
        finish(0, row + r, 0, sum);
      }
    };
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

// project (project.hpp) where there is one token. Where rows are dot products, at least eight sums of them are under
// way for as long as there are rows, to hide the latency of an fma.
template <class Simd, std::size_t Rows, std::size_t Inner, std::size_t RowStride, std::size_t InnerStride, Bias B,
          class Finish>
LADON_KERNEL constexpr void mat_vec(WeightRows<RowStride, InnerStride, B> w, const float* in, Finish finish) noexcept {
  constexpr std::size_t packs = InnerStride == 1 ? (Simd::lanes < 8 ? 2 : 1) : 8;
  mat_vec_rows<Simd, Simd::lanes, packs, Rows, Inner, 0>(w, in, finish);
}

}  // namespace ladon::inline LADON_ABI::kernel
