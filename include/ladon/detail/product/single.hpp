// SPDX-License-Identifier: Apache-2.0
// The product of a single token, W * in + bias. Each element of W [rows][inner] is used only once, so W is read in the
// order of its memory:
//     contiguous in W   sums in the lanes of a register
//     rows              each lane sums different elements of one row; the lanes are added at the end
//     columns           each lane sums a different row
//
// epilogue(0, row, 0, pack) stores the results of the rows from `row` on, one in each lane. A stream is a contiguous
// part of W. A core reads more bytes per second from several streams at a time, if W is too large for the L1 cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/load_as_float.hpp>

namespace LADON_NAMESPACE::detail {

// Returns whether a matrix of `elements` elements is read in several streams.
constexpr bool reads_streams(std::size_t elements, std::size_t element_bytes = sizeof(float)) noexcept {
  return target::Current::streams > 1 && elements * element_bytes > target::Current::single_stream_bytes;
}

// The operations of a dot product of a row of weights and float features. Each lane takes one feature.
template <class Pack, class Feature>
struct DotStep {
  static constexpr std::size_t features = Pack::lanes;
  static LADON_INLINE constexpr Pack load(const float* in) noexcept { return Pack::load(in); }
  static LADON_INLINE constexpr Pack load_partial(const float* in, std::size_t count) noexcept {
    return Pack::load_partial(in, count);
  }
  template <class Element>
  static LADON_INLINE constexpr void add(Pack& sum, const Pack& x, const Element* row) noexcept {
    sum = fma(vec::load_as_float<Pack>(row), x, sum);
  }
  template <class Element>
  static LADON_INLINE constexpr void add_partial(Pack& sum, const Pack& x, const Element* row,
                                                 std::size_t count) noexcept {
    sum = fma(vec::load_partial_as_float<Pack>(row, count), x, sum);
  }
};
// bfloat16 weights and bfloat16 features: each lane takes two features.
template <class Pack>
struct DotStep<Pack, BFloat16> {
  using Dot = vec::TupleDot<BFloat16, Pack>;
  using Row = typename Dot::Row;
  static constexpr std::size_t features = Dot::tuple_size * Pack::lanes;
  static LADON_INLINE constexpr Row load(const BFloat16* in) noexcept { return Dot::load_row(in); }
  static LADON_INLINE constexpr Row load_partial(const BFloat16* in, std::size_t count) noexcept {
    return Dot::load_row(in, count);
  }
  static LADON_INLINE constexpr void add(Pack& sum, const Row& x, const BFloat16* row) noexcept {
    Dot::add_products(sum, x, Dot::load_row(row));
  }
  static LADON_INLINE constexpr void add_partial(Pack& sum, const Row& x, const BFloat16* row,
                                                 std::size_t count) noexcept {
    Dot::add_products(sum, x, Dot::load_row(row, count));
  }
};

// Computes the dot products of `in` and Rows rows at the same time. Each row begins Distance elements after the
// previous one. The caller adds the lanes. Each row has Sums independent packs, to hide the latency of a multiply-add.
template <class Pack, std::size_t Rows, std::size_t Distance, std::size_t Sums, std::size_t Inner>
LADON_INLINE constexpr void dot_products(const auto* first, const auto* in, Pack (&product)[Rows]) noexcept {
  using Step = DotStep<Pack, std::remove_cvref_t<decltype(*in)>>;
  constexpr std::size_t step = Step::features, rest = Inner % (Sums * step);
  Pack sum[Rows][Sums];
  LADON_UNROLL
  for (std::size_t i = 0; i < Rows * Sums; ++i) sum[i / Sums][i % Sums] = Pack::broadcast(0.0f);
  for (std::size_t k = 0; k < Inner - rest; k += Sums * step) {
    decltype(Step::load(in)) x[Sums];
    LADON_UNROLL
    for (std::size_t s = 0; s < Sums; ++s) x[s] = Step::load(in + k + s * step);
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows * Sums; ++i) {
      const std::size_t r = i / Sums, s = i % Sums;
      Step::add(sum[r][s], x[s], first + r * Distance + k + s * step);
    }
  }
  for (std::size_t k = Inner - rest; k < Inner; k += step) {
    const std::size_t count = Inner - k < step ? Inner - k : step;
    const auto x = Step::load_partial(in + k, count);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) Step::add_partial(sum[r][0], x, first + r * Distance + k, count);
  }
  static_assert(Sums == 1 || Sums == 2);
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) product[r] = Sums == 1 ? sum[r][0] : sum[r][0] + sum[r][Sums - 1];
}

// Returns the dot product of one row, for rows that are too few for a pack.
template <class Wide, std::size_t Inner, class Element, class Feature>
LADON_INLINE constexpr float dot_product(const Element* row, const Feature* in) noexcept {
  using Step = DotStep<Wide, Feature>;
  Wide sum = Wide::broadcast(0.0f);
  std::size_t k = 0;
  for (; k + Step::features <= Inner; k += Step::features) Step::add(sum, Step::load(in + k), row + k);
  float total = reduce_add(sum);
  for (; k < Inner; ++k) total += to_float(row[k]) * to_float(in[k]);
  return total;
}

// Computes Pack::lanes rows in each of Streams streams, which begin StreamRows rows apart. RowsTogether rows of each
// stream are computed at the same time. Calls store(row, pack) for each stream.
template <class Pack, std::size_t Streams, std::size_t StreamRows, std::size_t RowsTogether, std::size_t Sums,
          std::size_t Inner>
LADON_INLINE constexpr void pack_of_rows(auto w, const auto* in, auto store) noexcept {
  constexpr std::size_t lanes = Pack::lanes, row_stride = decltype(w)::row_stride;
  Pack products[Streams][lanes];
  if constexpr (RowsTogether == lanes) {
    static_assert(StreamRows == lanes, "streams that lie one behind the other are read as consecutive rows");
    Pack product[Streams * lanes];
    dot_products<Pack, Streams * lanes, row_stride, Sums, Inner>(w.data, in, product);
    LADON_UNROLL
    for (std::size_t i = 0; i < Streams * lanes; ++i) products[i / lanes][i % lanes] = product[i];
  } else {
    static_assert(RowsTogether == 1);
    for (std::size_t r = 0; r < lanes; ++r) {
      const auto* const row = w.rows_from(r).data;
      prefetch_page_starts_of_streams<Streams>(row, StreamRows * row_stride, prefetched_page_bytes,
                                               row_stride * sizeof(*row));
      Pack product[Streams];
      dot_products<Pack, Streams, StreamRows * row_stride, Sums, Inner>(row, in, product);
      LADON_UNROLL
      for (std::size_t s = 0; s < Streams; ++s) products[s][r] = product[s];
    }
  }
  LADON_UNROLL
  for (std::size_t s = 0; s < Streams; ++s) store(s * StreamRows, Pack::add_rows(products[s]));
}

// Computes Packs packs of rows, if the columns of W are contiguous. In memory, W is then a matrix M of Inner rows.
// Streams rows of M, Inner / Streams rows apart, are read at the same time. With several streams, the sums are an array
// in the L1 cache: registers hold few sums, so each row of M would be read in short pieces, which is slower.
template <class Pack, std::size_t Streams, std::size_t Packs, std::size_t Inner, class Matrix, class Store>
LADON_INLINE constexpr void packs_of_columns(Matrix w, const float* in, Store store) noexcept {
  constexpr std::size_t lanes = Pack::lanes, run = Inner / Streams;
  Pack sums[Packs];
  // Adds the products of `Rows` rows of M, from row `k` on, `run` rows apart.
  const auto add_rows = [&]<std::size_t Rows>(std::size_t k) {
    Pack x[Rows];
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows; ++i) x[i] = Pack::broadcast(in[i * run + k]);
    const auto add_to = [&](std::size_t c) {
      Pack sum = sums[c];
      LADON_UNROLL
      for (std::size_t i = 0; i < Rows; ++i) {
        sum = fma(Pack::load(w.columns_from(i * run + k).data + c * lanes), x[i], sum);
      }
      sums[c] = sum;
    };
    if constexpr (Streams == 1) {
      LADON_UNROLL
      for (std::size_t c = 0; c < Packs; ++c) add_to(c);
    } else {
      for (std::size_t c = 0; c < Packs; ++c) add_to(c);
    }
  };
  for (std::size_t c = 0; c < Packs; ++c) sums[c] = Pack::broadcast(0.0f);
  for (std::size_t k = 0; k < run; ++k) {
    prefetch_page_starts_of_streams<Streams>(w.columns_from(k).data, run * Matrix::inner_stride, prefetched_page_bytes,
                                             Packs * lanes * sizeof(float));
    add_rows.template operator()<Streams>(k);
  }
  for (std::size_t k = Streams * run; k < Inner; ++k) add_rows.template operator()<1>(k);
  for (std::size_t c = 0; c < Packs; ++c) store(c * lanes, sums[c]);
}

// Computes the rows from number First on, Packs packs of Lanes rows at a time, and the rest with narrower packs. First
// is a template argument, so only the needed sizes are compiled.
template <class Simd, std::size_t Lanes, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t First>
LADON_INLINE constexpr void consecutive_rows(auto w, const auto* in, auto store) noexcept {
  using Matrix = decltype(w);
  using Pack = typename Simd::template Pack<Lanes>;
  constexpr std::size_t end = First + (Rows - First) / (Lanes * Packs) * (Lanes * Packs);
  for (std::size_t row = First; row < end; row += Lanes * Packs) {
    const auto store_from_row = [&](std::size_t r, const Pack& sum) { store(row + r, sum); };
    if constexpr (Lanes == 1 && Matrix::rows_contiguous) {
      using Wide = typename Simd::template Pack<Simd::lanes>;
      store_from_row(0, Pack::broadcast(dot_product<Wide, Inner>(w.rows_from(row).data, in)));
    } else if constexpr (Matrix::rows_contiguous) {
      pack_of_rows<Pack, Packs, Lanes, Lanes, 1, Inner>(w.rows_from(row), in, store_from_row);
    } else {
      static_assert(Matrix::row_stride == 1);
      packs_of_columns<Pack, 1, Packs, Inner>(w.rows_from(row), in, store_from_row);
    }
  }
  if constexpr (end < Rows && Packs > 1) {
    consecutive_rows<Simd, Lanes, Packs / 2, Rows, Inner, end>(w, in, store);
  } else if constexpr (end < Rows) {
    constexpr std::size_t narrower = Lanes > 4 ? Lanes / 2 : 1;
    consecutive_rows<Simd, narrower, 1, Rows, Inner, end>(w, in, store);
  }
}

// Returns how many of the first rows of W are read in several streams.
template <std::size_t Lanes, std::size_t Rows, std::size_t Inner, class Matrix>
constexpr std::size_t streamed_row_count() noexcept {
  using target::Current;
  constexpr bool long_enough = Matrix::rows_contiguous ? Inner >= Current::fewest_streamed_inner_packs * Lanes
                                                       : Rows >= Current::fewest_streamed_row_packs * Lanes;
  if (!reads_streams(Rows * Inner) || !long_enough) return 0;
  constexpr std::size_t step = Matrix::rows_contiguous ? Current::streams * Lanes : Lanes;
  return Rows / step * step;
}

// Computes the first `Rows` rows in several streams: streams of consecutive rows, or of consecutive columns.
template <class Pack, std::size_t Rows, std::size_t Inner, class Matrix, class Feature, class Store>
LADON_INLINE constexpr void streamed_rows(Matrix w, const Feature* in, Store store) noexcept {
  constexpr std::size_t lanes = Pack::lanes, streams = target::Current::streams;
  if constexpr (Matrix::rows_contiguous) {
    for (std::size_t row = 0; row < Rows / streams; row += lanes) {
      pack_of_rows<Pack, streams, Rows / streams, 1, 2, Inner>(
          w.rows_from(row), in, [&](std::size_t r, const Pack& sum) { store(row + r, sum); });
    }
  } else {
    for_row_tiles<Rows / lanes, target::Current::streamed_columns / lanes>([&]<std::size_t Packs>(std::size_t pack) {
      const std::size_t row = pack * lanes;
      packs_of_columns<Pack, streams, Packs, Inner>(w.rows_from(row), in,
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
  const auto store = [&](std::size_t row, const auto& sum) { epilogue(0, row, 0, w.bias.add_to(sum, row)); };
  if constexpr (streamed > 0) {
    streamed_rows<typename Simd::template Pack<lanes>, streamed, Inner>(w.weight, in, store);
  }
  if constexpr (streamed < Rows) consecutive_rows<Simd, lanes, packs, Rows, Inner, streamed>(w.weight, in, store);
}

// Computes the integer sums of Rows rows, Distance weights apart, for a single token.
template <class Wide, std::size_t Rows, std::size_t Inner, std::size_t Distance, class Element>
LADON_INLINE constexpr void int8_dot_products(const std::int8_t* rows, const Element* x, std::int32_t* sums) noexcept {
  using Dot = vec::TupleDot<Element, Wide>;
  constexpr std::size_t step = Dot::tuple_size * Wide::lanes;
  typename Dot::Sums sum[Rows];
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sum[r] = Dot::Sums::zero();
  // Two steps of a row before the next row: this order reads memory faster (docs/tuning-log.md).
  constexpr std::size_t steps = 2;
  std::size_t i = 0;
  for (; i + steps * step <= Inner; i += steps * step) {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::int8_t* const row = rows + r * Distance + i;
      LADON_UNROLL
      for (std::size_t s = 0; s < steps; ++s) Dot::add_products(sum[r], x + i + s * step, row + s * step);
    }
  }
  if (i + step <= Inner) {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) Dot::add_products(sum[r], x + i, rows + r * Distance + i);
    i += step;
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    sums[r] = reduce_add(sum[r]);
    for (std::size_t k = i; k < Inner; ++k) sums[r] += vec::feature_value(x[k]) * rows[r * Distance + k];
  }
}

// Returns the zero point of a single token, or 0 if panels hold q.
template <class Element>
LADON_INLINE constexpr std::int32_t zero_of_token(Int8PanelsView<Element> in) noexcept {
  if constexpr (vec::holds_zero_point<Element>) return static_cast<std::int32_t>(in.template zero<1>(0)[0]);
  return 0;
}

// How many streams a single token's product reads at the same time (detail/product/single.hpp).
template <std::size_t Lanes, std::size_t Rows, std::size_t Inner>
inline constexpr std::size_t int8_streams =
    Rows * Inner > target::Current::single_stream_bytes&& Rows >= target::Current::streams* Lanes
        ? target::Current::streams
        : 1;

// Computes the product for a single token. In a dot product, lanes are features. In the result, lanes are rows.
template <class Simd, std::size_t Rows, std::size_t Inner>
LADON_NOINLINE constexpr void matrix_vector_int8(auto w, auto in, auto epilogue) noexcept {
  using Element = typename decltype(in)::Element;
  constexpr std::size_t row_stride = decltype(w.weight)::row_stride;
  using Engine = cortex_m::Engine<Element, Simd>;
  if constexpr (Engine::has_matrix_vector) return Engine::template matrix_vector<Rows, Inner>(w, in, epilogue);
  using Wide = typename Simd::template Pack<Simd::lanes>;
  constexpr std::size_t lanes = Wide::lanes, together = lanes % 4 == 0 ? 4 : 1;
  const float token_scale = in.template scale<1>(0)[0];
  const std::int32_t zero = zero_of_token(in);
  const auto finish = [&](std::size_t row, std::int32_t* sums) {
    if constexpr (vec::holds_zero_point<Element>) {
      for (std::size_t r = 0; r < lanes; ++r) sums[r] -= zero * w.row_sum[row + r];
    }
    const Wide scale = Wide::broadcast(token_scale) * Wide::load(w.scale + row);
    epilogue(0, row, 0, fma(vec::IntegerSums<Wide>::load(sums).to_float(), scale, w.bias.template load<Wide>(row)));
  };
  constexpr std::size_t streams = int8_streams<lanes, Rows, Inner>, run = Rows / (streams * lanes) * lanes;
  if constexpr (streams > 1) {
    // This loop reads only weights: scales and row sums between them would slow the memory down (docs/tuning-log.md).
    constexpr std::size_t most = run < 1024 ? run : 1024;
    std::int32_t sums[streams][most];
    for (std::size_t first = 0; first < run; first += most) {
      const std::size_t count = run - first < most ? run - first : most;
      for (std::size_t r = 0; r < count; ++r) {
        const std::int8_t* const row = w.weight.rows_from(first + r).data;
        prefetch_page_starts_of_streams<streams>(row, run * row_stride, prefetched_page_bytes, row_stride);
        std::int32_t sum[streams];
        int8_dot_products<Wide, streams, Inner, run * row_stride>(row, in.data, sum);
        for (std::size_t s = 0; s < streams; ++s) sums[s][r] = sum[s];
      }
      for (std::size_t s = 0; s < streams; ++s) {
        for (std::size_t r = 0; r < count; r += lanes) finish(s * run + first + r, sums[s] + r);
      }
    }
  }
  constexpr std::size_t begin = streams > 1 ? streams * run : 0, whole = Rows / lanes * lanes;
  for (std::size_t row = begin; row < whole; row += lanes) {
    std::int32_t sums[lanes];
    for (std::size_t r = 0; r < lanes; r += together) {
      int8_dot_products<Wide, together, Inner, row_stride>(w.weight.rows_from(row + r).data, in.data, sums + r);
    }
    finish(row, sums);
  }
  using One = typename Simd::template Pack<1>;
  for (std::size_t row = whole; row < Rows; ++row) {
    std::int32_t sum[1];
    int8_dot_products<Wide, 1, Inner, row_stride>(w.weight.rows_from(row).data, in.data, sum);
    if constexpr (vec::holds_zero_point<Element>) sum[0] -= zero * w.row_sum[row];
    const One scale = One::broadcast(token_scale) * One::load(w.scale + row);
    epilogue(0, row, 0, fma(vec::IntegerSums<One>::load(sum).to_float(), scale, w.bias.template load<One>(row)));
  }
}

}  // namespace LADON_NAMESPACE::detail
