// SPDX-License-Identifier: Apache-2.0
// The product of a single token, W * in + bias. Each element of W [rows][inner] is used only once, so W is read in the
// order of its memory:
//     contiguous in W   sums in the lanes of a register
//     rows              each lane sums different elements of one row; the lanes are added at the end
//     columns           each lane sums a different row
//
// epilogue(0, row, 0, pack) stores the results of the rows from `row` on, one in each lane. A stream is a contiguous
// part of W. If W exceeds the L1 cache, a core reads several streams at a time faster than a single one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/product/tile_dots.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/int4_dot.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

constexpr bool reads_streams(std::size_t elements, std::size_t element_bytes = sizeof(float)) noexcept {
  return target::Current::streams > 1 && elements * element_bytes > target::Current::single_stream_bytes;
}

// The dot product of a row of weights and the features of a token. Lanes hold features:
//     load(in, count)           loads a step of `features` features, or its first `count`
//     add(sum, x, row, count)   adds the products
//
// Each lane takes one float feature, or a tuple. int8_dot_products adds the last, incomplete step of integers.
template <class Pack, class Feature>
struct RowDot {
  static constexpr bool integers = std::is_integral_v<Feature>, floats = std::is_same_v<Feature, float>;
  using Dot = std::conditional_t<floats, vec::FloatDot<Pack>, vec::TupleDot<Feature, Pack>>;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t features = Dot::features * Pack::lanes;
  template <class Element>
  static LADON_INLINE constexpr auto load(const Element* from, std::size_t count) noexcept {
    if constexpr (integers) {
      return from;
    } else if constexpr (!floats) {
      return count == features ? Dot::load_row(from) : Dot::load_row(from, count);
    } else {
      return count == features ? vec::load_as_float<Pack>(from) : vec::load_partial_as_float<Pack>(from, count);
    }
  }
  static LADON_INLINE constexpr void add(Sums& sum, const auto& x, const auto* row, std::size_t count) noexcept {
    if constexpr (integers) {
      Dot::add_products(sum, x, row);
    } else {
      Dot::add(sum, x, load(row, count));
    }
  }
};

// Computes the dot products of `in` and Rows rows, `distance` elements apart. Each iteration reads Steps steps of a row
// before the next row, because memory is then read faster (bench/tuning-log.md). For floats, each step has its own
// sums, to hide the latency of a multiply-add. Calls store(row, sum); the caller adds the lanes of the sum.
template <class Dot, std::size_t Rows, std::size_t Steps, std::size_t Inner>
LADON_INLINE constexpr void dot_products(const auto* first, std::size_t distance, const auto* in, auto store) noexcept {
  static_assert(Steps == 1 || Steps == 2);
  constexpr bool integers = std::is_integral_v<std::remove_cvref_t<decltype(*in)>>;
  constexpr std::size_t step = Dot::features, rest = Inner % step, sums = integers ? 1 : Steps;
  typename Dot::Sums sum[Rows][sums];
  LADON_UNROLLED_FOR(i, Rows * sums) sum[i / sums][i % sums] = vec::zero_sums<typename Dot::Sums>();
  const auto add = [&]<std::size_t Count>(std::size_t k, std::size_t features) LADON_INLINE_LAMBDA {
    decltype(Dot::load(in, step)) x[Count];
    LADON_UNROLLED_FOR(s, Count) x[s] = Dot::load(in + k + s * step, features);
    LADON_UNROLLED_FOR(i, Rows * Count) {
      const std::size_t r = i / Count, s = i % Count;
      Dot::add(sum[r][s % sums], x[s], first + r * distance + k + s * step, features);
    }
  };
  constexpr std::size_t whole = Inner / (Steps * step) * (Steps * step);
  LADON_UNROLL_STEPS
  for (std::size_t k = 0; k < whole; k += Steps * step) add.template operator()<Steps>(k, step);
  if constexpr (whole + rest < Inner) add.template operator()<1>(whole, step);
  if constexpr (rest > 0 && !integers) add.template operator()<1>(Inner - rest, rest);
  LADON_UNROLLED_FOR(r, Rows) {
    if constexpr (sums == 1) {
      store(r, sum[r][0]);
    } else {
      store(r, sum[r][0] + sum[r][1]);
    }
  }
}

// A FloatDot with a row of W in each lane. Its load is unaligned: weights, unlike panels, may have any alignment.
template <class Pack>
struct ColumnDot : vec::FloatDot<Pack> {
  static LADON_INLINE constexpr Pack load(const float* weights) noexcept { return Pack::load(weights); }
};

// Computes Rows rows from row `first` on, Packs packs of Lanes rows at a time, and the rest with narrower packs. If the
// columns of W are contiguous, a tile (detail/product/tile.hpp) computes the product with exchanged roles: a column of
// W lies in memory like the tokens of a panel, and the features like a row of weights.
template <class Simd, std::size_t Lanes, std::size_t Packs, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void consecutive_rows(auto w, const auto* in, std::size_t first, auto store) noexcept {
  using Matrix = decltype(w);
  using Feature = std::remove_cvref_t<decltype(*in)>;
  using Pack = typename Simd::template Pack<Lanes>;
  constexpr std::size_t whole = Rows / (Lanes * Packs) * (Lanes * Packs), rest = Rows - whole;
  for (std::size_t row = first; row < first + whole; row += Lanes * Packs) {
    const Matrix rows = w.rows_from(row);
    if constexpr (Lanes == 1 && Matrix::rows_contiguous) {
      using Wide = typename Simd::template Pack<Simd::lanes>;
      dot_products<RowDot<Wide, Feature>, 1, 1, Inner>(
          rows.data, 0, in, [&](std::size_t, const Wide& sum) { store(row, Pack::broadcast(reduce_add(sum))); });
    } else if constexpr (Matrix::rows_contiguous) {
      Pack products[Packs][Lanes];
      dot_products<RowDot<Pack, Feature>, Packs * Lanes, 1, Inner>(
          rows.data, Matrix::row_stride, in,
          [&](std::size_t r, const Pack& sum) LADON_INLINE_LAMBDA { products[r / Lanes][r % Lanes] = sum; });
      LADON_UNROLLED_FOR(v, Packs) store(row + v * Lanes, Pack::add_rows(products[v]));
    } else {
      static_assert(Matrix::row_stride == 1);
      MicroKernel<EachPack<ColumnDot<Pack>, Lanes>, 1, Packs> tile(
          [](std::size_t, std::size_t) LADON_INLINE_LAMBDA { return Pack::broadcast(0.0f); });
      tile.template accumulate<Matrix::inner_stride>(Inner, WeightMatrix<Feature, Inner, 1>{in}, rows.data);
      tile.finish([&](std::size_t, std::size_t v, const Pack& sum)
                      LADON_INLINE_LAMBDA { store(row + v * Lanes, sum); });
    }
  }
  if constexpr (rest > 0) {
    constexpr std::size_t packs = Packs > 1 ? Packs / 2 : 1, lanes = Packs > 1 ? Lanes : Lanes > 4 ? Lanes / 2 : 1;
    consecutive_rows<Simd, lanes, packs, rest, Inner>(w, in, first + whole, store);
  }
}

template <std::size_t Lanes, std::size_t Rows, std::size_t Inner, class Matrix>
constexpr std::size_t streamed_row_count() noexcept {
  using target::Current;
  constexpr bool long_enough = Matrix::rows_contiguous ? Inner >= Current::fewest_streamed_inner_packs * Lanes
                                                       : Rows >= Current::fewest_streamed_row_packs * Lanes;
  if (!reads_streams(Rows * Inner) || !long_enough) return 0;
  constexpr std::size_t step = Matrix::rows_contiguous ? Current::streams * Lanes : Lanes;
  return Rows / step * step;
}

// Computes Packs packs of rows, if the columns of W are contiguous. W then lies in memory as a matrix M of Inner rows.
// Reads `Streams` rows of M at the same time, Inner / Streams rows apart. The sums are an array in the L1 cache.
// Registers would hold only few sums, and each row of M would then be read in short pieces, which is slower.
template <class Pack, std::size_t Streams, std::size_t Packs, std::size_t Inner>
LADON_INLINE constexpr void streams_of_columns(auto w, const float* in, auto store) noexcept {
  constexpr std::size_t lanes = Pack::lanes, run = Inner / Streams;
  Pack sums[Packs];
  // Adds the products of `Rows` rows of M, from row `k` on, `run` rows apart.
  const auto add_rows = [&]<std::size_t Rows>(std::size_t k) {
    Pack x[Rows];
    LADON_UNROLLED_FOR(i, Rows) x[i] = Pack::broadcast(in[i * run + k]);
    for (std::size_t c = 0; c < Packs; ++c) {
      Pack sum = sums[c];
      LADON_UNROLLED_FOR(i, Rows) sum = fma(Pack::load(w.columns_from(i * run + k).data + c * lanes), x[i], sum);
      sums[c] = sum;
    }
  };
  for (std::size_t c = 0; c < Packs; ++c) sums[c] = Pack::broadcast(0.0f);
  for (std::size_t k = 0; k < run; ++k) {
    prefetch_page_starts_of_streams<Streams>(w.columns_from(k).data, run * decltype(w)::inner_stride,
                                             prefetched_page_bytes, Packs * lanes * sizeof(float));
    add_rows.template operator()<Streams>(k);
  }
  for (std::size_t k = Streams * run; k < Inner; ++k) add_rows.template operator()<1>(k);
  for (std::size_t c = 0; c < Packs; ++c) store(c * lanes, sums[c]);
}

template <class Pack, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void streamed_rows(auto w, const auto* in, auto store) noexcept {
  using Matrix = decltype(w);
  constexpr std::size_t lanes = Pack::lanes, streams = target::Current::streams;
  if constexpr (Matrix::rows_contiguous) {
    using Dot = RowDot<Pack, std::remove_cvref_t<decltype(*in)>>;
    constexpr std::size_t run = Rows / streams, stride = Matrix::row_stride;
    for (std::size_t row = 0; row < run; row += lanes) {
      Pack products[streams][lanes];
      for (std::size_t r = 0; r < lanes; ++r) {
        const auto* const from = w.rows_from(row + r).data;
        prefetch_page_starts_of_streams<streams>(from, run * stride, prefetched_page_bytes, stride * sizeof(*from));
        dot_products<Dot, streams, 2, Inner>(
            from, run * stride, in, [&](std::size_t s, const Pack& sum) LADON_INLINE_LAMBDA { products[s][r] = sum; });
      }
      LADON_UNROLLED_FOR(s, streams) store(row + s * run, Pack::add_rows(products[s]));
    }
  } else {
    for_row_tiles<Rows / lanes, target::Current::streamed_columns / lanes>([&]<std::size_t Packs>(std::size_t pack) {
      const std::size_t row = pack * lanes;
      streams_of_columns<Pack, streams, Packs, Inner>(w.rows_from(row), in,
                                                      [&](std::size_t r, const Pack& sum) { store(row + r, sum); });
    });
  }
}

template <class Simd, std::size_t Rows, std::size_t Inner>
LADON_KERNEL constexpr void matrix_vector(auto w, const auto* in, auto epilogue) noexcept {
  using Matrix = decltype(w.weight);
  constexpr std::size_t lanes = Simd::lanes;
  constexpr std::size_t streamed = streamed_row_count<lanes, Rows, Inner, Matrix>();
  constexpr std::size_t packs =
      Matrix::rows_contiguous ? target::Current::dot_product_packs(lanes) : target::Current::column_packs;
  const auto store = [&](std::size_t row, const auto& sum) {
    epilogue(0, row, 0, sum + w.bias.template load<std::remove_cvref_t<decltype(sum)>>(row));
  };
  if constexpr (streamed > 0) streamed_rows<typename Simd::template Pack<lanes>, streamed, Inner>(w.weight, in, store);
  if constexpr (streamed < Rows) {
    consecutive_rows<Simd, lanes, packs, Rows - streamed, Inner>(w.weight, in, streamed, store);
  }
}

// Adds the lanes of each sum, and the products of the features from number Done on. rest_of_row(r) returns their
// weights. Calls store(row, sum). Four sums at a time share most of the additions (x86).
template <std::size_t Done, std::size_t Inner, class Sums, std::size_t Rows>
LADON_INLINE constexpr void store_totals(const Sums (&sum)[Rows], const auto* x, auto rest_of_row,
                                         auto store) noexcept {
  std::int32_t total[Rows];
  if constexpr (Rows == 4 && requires { Sums::store_totals(sum, total); }) {
    Sums::store_totals(sum, total);
  } else {
    LADON_UNROLLED_FOR(r, Rows) total[r] = reduce_add(sum[r]);
  }
  LADON_UNROLLED_FOR(r, Rows) {
    if constexpr (Done < Inner) {
      const auto weight = rest_of_row(r);
      for (std::size_t k = Done; k < Inner; ++k) total[r] += vec::feature_value(x[k]) * weight[k - Done];
    }
    store(r, total[r]);
  }
}

// Calls store(row, sum) with the sums of Rows rows, `distance` weights apart.
template <class Dot, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void int8_dot_products(const std::int8_t* rows, std::size_t distance, const auto* x,
                                              auto store) noexcept {
  typename Dot::Sums sum[Rows];
  dot_products<Dot, Rows, 2, Inner>(rows, distance, x,
                                    [&](std::size_t r, const auto& of_row) LADON_INLINE_LAMBDA { sum[r] = of_row; });
  constexpr std::size_t done = Inner / Dot::features * Dot::features;
  store_totals<done, Inner>(
      sum, x, [&](std::size_t r) LADON_INLINE_LAMBDA { return rows + r * distance + done; }, store);
}

// Overload for rows of 4-bit weights, `distance` bytes apart. Dot is a vec::Int4Dot. `x` has the order that Dot::add
// reads. Prefetches codes, so that the processor reads memory while it looks up weights: first into the L2 cache, then
// into the L1 cache. Prefetches into one cache alone are slower (bench/tuning-log.md).
template <class Dot, std::size_t Rows, std::size_t Inner>
LADON_INLINE constexpr void int8_dot_products(const std::uint8_t* rows, std::size_t distance, const auto* x,
                                              auto store) noexcept {
  constexpr std::size_t groups = int4_groups(Inner), whole = Inner / int4_group;
  constexpr std::size_t code_bytes = int4_group / 2, line_groups = 4, ahead = 1024, far_ahead = 12 * 1024;
  typename Dot::Sums sum[Rows];
  LADON_UNROLLED_FOR(r, Rows) sum[r] = vec::zero_sums<typename Dot::Sums>();
  const auto add = [&](std::size_t g) LADON_INLINE_LAMBDA {
    LADON_UNROLLED_FOR(r, Rows) Dot::add(sum[r], x + g * int4_group, rows + r * distance, groups, g);
  };
  constexpr std::size_t together = whole / Dot::together * Dot::together;
  for (std::size_t g = 0; g < whole / line_groups * line_groups; g += line_groups) {
    LADON_UNROLLED_FOR(r, Rows) {
      const std::uint8_t* const line = rows + r * distance + g * code_bytes;
      prefetch_to_second_cache(line + far_ahead);
      prefetch_to_nearest_cache(line + ahead);
    }
    LADON_UNROLLED_FOR(i, line_groups / Dot::together) add(g + i * Dot::together);
  }
  for (std::size_t g = whole / line_groups * line_groups; g < together; g += Dot::together) add(g);
  if constexpr (together < whole) {
    constexpr std::size_t last = whole - 1;
    LADON_UNROLLED_FOR(r, Rows) Dot::add_last(sum[r], x + last * int4_group, rows + r * distance, groups, last);
  }
  const auto last_group = [&](std::size_t r) LADON_INLINE_LAMBDA {
    std::array<std::int8_t, int4_group> weight;
    expand_int4_group(rows + r * distance, groups, whole, weight.data());
    return weight;
  };
  store_totals<whole * int4_group, Inner>(sum, x, last_group, store);
}

// Int4Dot with 16 lanes needs features of 8 bits, and takes four groups at a time.
template <class Simd, class Element, std::size_t Inner>
inline constexpr std::size_t int4_lanes = Simd::lanes < 8                           ? Simd::lanes
                                          : Simd::lanes < 16 || sizeof(Element) > 1 ? 8
                                          : Inner / int4_group % 4 == 0             ? 16
                                                                                    : 8;
template <class Simd, class Element, std::size_t Inner>
using Int4RowDot = vec::Int4Dot<Element, typename Simd::template Pack<int4_lanes<Simd, Element, Inner>>>;
// Arranged features lie on the stack, so Inner is limited.
template <class Simd, class Element, std::size_t Inner>
inline constexpr bool multiplies_int4_rows = Int4RowDot<Simd, Element, Inner>::exists && Inner <= 8192;

// Lanes are features in a dot product, and rows in the result.
template <class Simd, std::size_t Rows, std::size_t Inner>
LADON_NOINLINE constexpr void matrix_vector_int8(auto w, auto in, auto epilogue) noexcept {
  using Element = typename decltype(in)::Element;
  constexpr std::size_t row_stride = decltype(w.weight)::row_stride;
  using Engine = cortex_m::Engine<Element, Simd>;
  if constexpr (Engine::has_matrix_vector) return Engine::template matrix_vector<Rows, Inner>(w, in, epilogue);
  using Wide = typename Simd::template Pack<Simd::lanes>;
  constexpr std::size_t lanes = Wide::lanes, together = lanes % 4 == 0 ? 4 : 1;
  constexpr bool four_bits = std::is_same_v<typename decltype(w.weight)::Element, std::uint8_t>;
  using Dot = std::conditional_t<four_bits, Int4RowDot<Simd, Element, Inner>, RowDot<Wide, Element>>;
  constexpr bool arranges = requires { Dot::centres; };
  constexpr bool has_zero = vec::holds_zero_point<Element> || arranges;
  const float token_scale = in.template scale<1>(0)[0];
  [[maybe_unused]] std::int32_t zero = 0;
  if constexpr (vec::holds_zero_point<Element>) zero = static_cast<std::int32_t>(in.template zero<1>(0)[0]);
  const Element* x = in.data;
  [[maybe_unused]] Element arranged[arranges ? Inner : 1];
  if constexpr (arranges) {
    zero -= Dot::template arrange<Inner>(x, arranged);
    x = arranged;
  }
  const auto finish = [&]<class Pack>(std::size_t row, std::int32_t* sums) {
    if constexpr (has_zero) {
      for (std::size_t r = 0; r < Pack::lanes; ++r) sums[r] -= zero * w.row_sum[row + r];
    }
    const Pack scale = Pack::broadcast(token_scale) * Pack::load(w.scale + row);
    epilogue(0, row, 0, fma(vec::IntegerSums<Pack>::load(sums).to_float(), scale, w.bias.template load<Pack>(row)));
  };
  constexpr std::size_t most_streams = target::Current::streams;
  constexpr bool streamed = reads_streams(Rows * row_stride, 1) && Rows >= most_streams * lanes;
  constexpr std::size_t streams = streamed ? most_streams : 1, run = Rows / (streams * lanes) * lanes;
  if constexpr (streams > 1) {
    // This loop reads only weights: reads of scales and row sums in between would slow it down.
    constexpr std::size_t most = run < 1024 ? run : 1024;
    std::int32_t sums[streams][most];
    for (std::size_t first = 0; first < run; first += most) {
      const std::size_t count = run - first < most ? run - first : most;
      for (std::size_t r = 0; r < count; ++r) {
        const auto* const row = w.weight.rows_from(first + r).data;
        if constexpr (!four_bits) {
          prefetch_page_starts_of_streams<streams>(row, run * row_stride, prefetched_page_bytes, row_stride);
        }
        int8_dot_products<Dot, streams, Inner>(
            row, run * row_stride, x, [&](std::size_t s, std::int32_t sum) LADON_INLINE_LAMBDA { sums[s][r] = sum; });
      }
      for (std::size_t s = 0; s < streams; ++s) {
        for (std::size_t r = 0; r < count; r += lanes)
          finish.template operator()<Wide>(s * run + first + r, sums[s] + r);
      }
    }
  }
  constexpr std::size_t begin = streams > 1 ? streams * run : 0, whole = Rows / lanes * lanes;
  const auto store_to = [](std::int32_t* to) LADON_INLINE_LAMBDA {
    return [to](std::size_t i, std::int32_t sum) LADON_INLINE_LAMBDA { to[i] = sum; };
  };
  for (std::size_t row = begin; row < whole; row += lanes) {
    std::int32_t sums[lanes];
    for (std::size_t r = 0; r < lanes; r += together) {
      int8_dot_products<Dot, together, Inner>(w.weight.rows_from(row + r).data, row_stride, x, store_to(sums + r));
    }
    finish.template operator()<Wide>(row, sums);
  }
  for (std::size_t row = whole; row < Rows; ++row) {
    std::int32_t sum[1];
    int8_dot_products<Dot, 1, Inner>(w.weight.rows_from(row).data, 0, x, store_to(sum));
    finish.template operator()<typename Simd::template Pack<1>>(row, sum);
  }
}

}  // namespace LADON_NAMESPACE::detail
