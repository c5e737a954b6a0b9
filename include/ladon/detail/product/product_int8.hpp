// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels (detail/panel/quantise.hpp). If q[i] are the features of a token:
//     integer = sum over i of q[i] * weight[row][i]    exact
//     result = integer * (scale of the token * scale of the row) + bias[row]
//
// If the product of the two scales exceeds the range of float32, the result is infinite or NaN. The weights are
// [rows][inner], without any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <ladon/detail/cortex_m/engine.hpp>
#include <ladon/detail/panel/quantise.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/product/steps.hpp>
#include <ladon/detail/product/tile.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/fold.hpp>
#include <ladon/detail/vec/int8_kernels.hpp>

namespace LADON_NAMESPACE::detail {

// The weights of a tile in 16 bits on the stack, converted once for all panels: 2 * Rows * Inner bytes. Longer rows are
// not converted, to limit the stack.
inline constexpr std::size_t most_widened_features = 2 * target::Current::widened_features;
template <std::size_t Rows, std::size_t Inner, std::size_t RowStride>
struct TuplesIn16Bits {
  static constexpr std::size_t whole = (Inner + 1) / 2;
  static constexpr bool has_last = false;
  alignas(64) std::int16_t weight[Rows][2 * whole];

  explicit TuplesIn16Bits(const std::int8_t* first_row) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t i = 0; i < Inner; ++i) weight[r][i] = std::int16_t{first_row[r * RowStride + i]};
      if constexpr (2 * whole > Inner) weight[r][Inner] = 0;
    }
  }
  template <bool>
  LADON_INLINE std::int32_t tuple(std::size_t r, std::size_t k) const noexcept {
    std::int32_t result;
    std::memcpy(&result, &weight[r][2 * k], sizeof result);
    return result;
  }
  LADON_INLINE std::int64_t two_tuples(std::size_t r, std::size_t k) const noexcept {
    std::int64_t result;
    std::memcpy(&result, &weight[r][2 * k], sizeof result);
    return result;
  }
};

template <PanelLayout T, std::size_t Packs>
inline constexpr std::size_t int8_tile_rows = [] {
  constexpr std::size_t rows = T.tile_rows_for(Packs), most = target::Current::int8_tile_sums / Packs;
  return rows < most ? rows : most;
}();

// Sets the start values of a tile's sums: 0 if the panels hold q. If they hold q + zero, -zero * row_sum cancels the
// products zero * weight. Subtracted at the end, zero * row_sum would occupy registers during the loop.
template <class Pack, std::size_t Width, class Element, class Weights, class Sums, std::size_t Rows, std::size_t Packs>
LADON_INLINE constexpr void start_sums(Int8PanelsView<Element> in, std::size_t panel, const Weights& w,
                                       std::size_t first_row, Sums (&sum)[Rows][Packs]) noexcept {
  if constexpr (vec::holds_zero_point<Element>) {
    const std::int32_t* const row_sum = opaque(w.row_sum + first_row);
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows * Packs; ++i) {
      const Pack zero = Pack::load(in.template zero<Width>(panel) + i % Packs * Pack::lanes);
      sum[i / Packs][i % Packs] = Sums::negative_products(zero, row_sum[i / Packs]);
    }
  } else {
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows * Packs; ++i) sum[i / Packs][i % Packs] = Sums::zero();
  }
}

// Whether a tile prefetches its rows of weights. TuplesIn16Bits has read the weights before.
template <class Tuples>
inline constexpr bool prefetches_tuples = [] {
  if constexpr (requires { Tuples::row_stride; }) return Tuples::row_stride >= target::Current::prefetched_row_floats;
  return false;
}();

// Calls step(k) for k = 0, Steps, 2 Steps and so on, up to the last whole cache line of a row, and returns the next k.
// Meanwhile, it prefetches each row prefetch_distance_floats ahead into the L1 cache. The prefetches are spread over
// the steps, because a burst would stop the processor until the first lines have arrived.
template <std::size_t Rows, std::size_t Steps, class Tuples, class Step>
LADON_INLINE constexpr std::size_t steps_with_prefetch([[maybe_unused]] const Tuples& tuples,
                                                       [[maybe_unused]] Step step) noexcept {
  std::size_t k = 0;
  if constexpr (prefetches_tuples<Tuples>) {
    if (std::is_constant_evaluated()) return 0;
    constexpr std::size_t iterations = cache_line_words / Steps, each = (Rows + iterations - 1) / iterations;
    for (; k + cache_line_words <= Tuples::whole; k += cache_line_words) {
      const auto first = static_cast<std::size_t>(tuples.address(0, k) - tuples.data);
      constexpr std::size_t distance = target::Current::prefetch_distance_floats;
      const auto* ahead = ahead_in_row<distance>(tuples.data, first, Tuples::inner, tuples.address(Rows, 0));
      for (std::size_t i = 0; i < iterations; ++i, ahead += each * Tuples::row_stride) {
        if (i * each < Rows) {
          LADON_UNROLL
          for (std::size_t r = 0; r < each; ++r) prefetch_to_nearest_cache(ahead + r * Tuples::row_stride);
        }
        step(k + i * Steps);
      }
    }
  }
  return k;
}

// How many lanes a register of a folded int8 product has.
template <class Simd, PanelLayout T>
inline constexpr std::size_t folded_lanes = 2 * T.lanes <= Simd::lanes ? 2 * T.lanes : Simd::lanes;

// Whether an int8 product is folded: a register has two tuples of every token. Integer sums are exact, so the result
// stays the same.
template <class Simd, PanelLayout T, class Element>
inline constexpr bool folds_int8 = [] {
  using Wide = typename Simd::template Pack<folded_lanes<Simd, T>>;
  constexpr bool has_half_packs = (T.packs == 1 || T.packs == 3) && 2 * T.lanes <= Simd::lanes;
  return has_half_packs && vec::Fold<Wide, 2>::exists && vec::adds_folded<vec::TupleDot<Element, Wide>>;
}();

// Whether a product of 9 to 12 tokens in 16 lanes skips the last quarter of the lanes. Registers hold two tuples of
// each token: one register for 8 tokens, and half a register for 4. Six encoder layers of MiniLM with 11 tokens take
// 0.84 times as long as with 16 lanes (Zen 4).
template <class Simd, PanelLayout T, class Element>
inline constexpr bool takes_three_quarters = [] {
  using Wide = typename Simd::template Pack<T.lanes>;
  if constexpr (T.packs == 1 && T.lanes == 16 && T.used_lanes <= 12 && vec::Fold<Wide, 2>::exists) {
    return requires { &vec::TupleDot<Element, Wide>::add_three_quarters; };
  }
  return false;
}();

// Adds the products of a tile to the first three quarters of the lanes.
template <class Simd, std::size_t Rows, class Tuples, class Element, class Sums>
LADON_INLINE void add_three_quarters(const Tuples& tuples, const Element* panel, Sums (&sum)[Rows][1]) noexcept {
  using Wide = typename Simd::template Pack<16>;
  using Half = typename Simd::template Pack<8>;
  using Dot = vec::TupleDot<Element, Wide>;
  constexpr std::size_t row = Dot::tuple_size * Wide::lanes;
  typename Dot::Sums first[Rows];
  vec::IntegerSums<Half> rest[Rows];
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    first[r] = Dot::Sums::zero();
    rest[r] = vec::IntegerSums<Half>::zero();
  }
  const auto two_steps = [&](std::size_t k) LADON_INLINE_LAMBDA {
    Wide x;
    Half y;
    vec::Fold<Wide, 2>::load_three_quarters(panel + k * row, x, y);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      Dot::add_three_quarters(first[r], rest[r], x, y, tuples.two_tuples(r, k));
    }
  };
  std::size_t k = steps_with_prefetch<Rows, 2>(tuples, two_steps);
  for (; k + 2 <= Tuples::whole; k += 2) two_steps(k);
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sum[r][0] = sum[r][0].plus_three_quarters(first[r], rest[r]);
  accumulate_tuples<Dot, Wide::lanes, Wide::lanes>(tuples, panel, sum, k);
}

// Computes the sums of a folded tile without start values. Lanes 2 i and 2 i + 1 belong to token i of a pack.
template <class Simd, PanelLayout T, std::size_t Rows, std::size_t Packs, class Tuples, class Element, class Sums>
LADON_INLINE void int8_folded_steps(const Tuples& tuples, const Element* panel, Sums (&folded)[Rows][Packs]) noexcept {
  using Wide = typename Simd::template Pack<folded_lanes<Simd, T>>;
  using Dot = vec::TupleDot<Element, Wide>;
  constexpr std::size_t row = Dot::tuple_size * T.width();
  LADON_UNROLL
  for (std::size_t i = 0; i < Rows * Packs; ++i) folded[i / Packs][i % Packs] = Dot::Sums::zero();
  const auto add = [&](const Element* from, auto weights) LADON_INLINE_LAMBDA {
    Wide x[Packs];
    vec::Fold<Wide, 2>::load(from, x);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::int64_t both = weights(r);
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) Dot::add_folded(folded[r][v], x[v], both);
    }
  };
  const auto two_steps = [&](std::size_t k) LADON_INLINE_LAMBDA {
    add(panel + k * row, [&](std::size_t r) LADON_INLINE_LAMBDA { return tuples.two_tuples(r, k); });
  };
  std::size_t k = steps_with_prefetch<Rows, 2>(tuples, two_steps);
  for (; k + 2 <= Tuples::whole; k += 2) two_steps(k);
  // Full loads would read beyond the panel, so the last tuples are copied and padded with zeros.
  constexpr bool has_whole = Tuples::whole % 2 == 1;
  constexpr std::size_t rest_tuples = (has_whole ? 1 : 0) + (Tuples::has_last ? 1 : 0);
  if constexpr (rest_tuples > 0) {
    alignas(64) Element rest[2 * row] = {};
    std::memcpy(rest, panel + k * row, rest_tuples * row * sizeof(Element));
    add(rest, [&](std::size_t r) LADON_INLINE_LAMBDA {
      std::int32_t last = 0;
      if constexpr (Tuples::has_last) last = tuples.template tuple<true>(r, Tuples::whole);
      return has_whole ? vec::two_tuples(tuples.template tuple<false>(r, k), last) : vec::two_tuples(last, 0);
    });
  }
}

// Converts the sums of a tile to results. Scales and biases of a row are read before its first result is stored:
// otherwise, the compiler would read them again after each store.
template <class Pack, std::size_t Width, class Element, class Weights, class Sums, std::size_t Rows, std::size_t Packs,
          class Epilogue>
LADON_INLINE constexpr void finish_sums(Int8PanelsView<Element> in, std::size_t panel, const Weights& w,
                                        std::size_t first_row, const Sums (&sum)[Rows][Packs],
                                        Epilogue epilogue) noexcept {
  const auto bias = w.bias.from(first_row);
  const float* const scale = opaque(w.scale + first_row);
  const float* const scale_of_tokens = opaque(in.template scale<Width>(panel));
  Pack token_scale[Packs];
  LADON_UNROLL
  for (std::size_t v = 0; v < Packs; ++v) token_scale[v] = Pack::load(scale_of_tokens + v * Pack::lanes);
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    const Pack row_scale = Pack::broadcast(scale[r]), row_bias = Pack::broadcast(bias[r]);
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v) {
      epilogue(panel, first_row + r, v, fma(sum[r][v].to_float(), token_scale[v] * row_scale, row_bias));
    }
  }
}

// Computes one tile for all panels. `next` points to the weights of the next tile, which are contiguous, or is null.
template <class Tuples, class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, class Weights, class Element,
          class Epilogue>
LADON_INLINE constexpr void int8_tile(const Tuples& tuples, const Weights& w, std::size_t first_row,
                                      Int8PanelsView<Element> in, std::size_t panels, Epilogue epilogue,
                                      [[maybe_unused]] const std::int8_t* next) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  using Dot = vec::TupleDot<Element, Pack>;
  using Sums = typename Dot::Sums;
  constexpr std::size_t width = T.width();
  for (std::size_t p = 0; p < panels; ++p) {
    const Element* const panel = in.data + p * in.stride;
    Sums sum[Rows][Packs];
    if constexpr (folds_int8<Simd, T, Element>) {
      vec::IntegerSums<typename Simd::template Pack<folded_lanes<Simd, T>>> folded[Rows][Packs];
      int8_folded_steps<Simd, T>(tuples, panel, folded);
      start_sums<Pack, width>(in, p, w, first_row, sum);
      LADON_UNROLL
      for (std::size_t i = 0; i < Rows * Packs; ++i) {
        Sums& each = sum[i / Packs][i % Packs];
        each = folded[i / Packs][i % Packs].add_steps(each);
      }
    } else if constexpr (takes_three_quarters<Simd, T, Element>) {
      start_sums<Pack, width>(in, p, w, first_row, sum);
      add_three_quarters<Simd>(tuples, panel, sum);
    } else {
      start_sums<Pack, width>(in, p, w, first_row, sum);
      std::size_t k = steps_with_prefetch<Rows, 1>(tuples, [&](std::size_t i) LADON_INLINE_LAMBDA {
        tuple_step<false, Dot, T.lanes>(tuples, i, panel + Dot::tuple_size * i * width, sum);
      });
      if constexpr (target::Current::read_ahead_int8 != target::unlimited) {
        if (!std::is_constant_evaluated() && p + 1 == panels && next != nullptr) {
          for (; k < Tuples::whole; ++k) {
            read_ahead(next + Rows * Dot::tuple_size * k);
            tuple_step<false, Dot, T.lanes>(tuples, k, panel + Dot::tuple_size * k * width, sum);
          }
        }
      }
      accumulate_tuples<Dot, T.lanes, width>(tuples, panel, sum, k);
    }
    finish_sums<Pack, width>(in, p, w, first_row, sum, epilogue);
  }
}

// The sizes of a product (detail/cortex_m/engine.hpp).
template <PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner>
struct Int8Sizes {
  static constexpr PanelLayout layout = T;
  static constexpr std::size_t width = T.width(), packs = Packs, rows = Rows, inner = Inner;
};

// Computes the product for several tokens.
template <class Simd, PanelLayout T, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Element, class Epilogue>
LADON_NOINLINE constexpr void matmul_int8(Int8Rows<RowStride, Biases> LADON_ARGUMENT w,
                                          Int8PanelsView<Element> LADON_ARGUMENT in, std::size_t panels,
                                          Epilogue LADON_ARGUMENT epilogue) noexcept {
  if constexpr (cortex_m::has_engine<Element, Simd>) {
    if (!std::is_constant_evaluated()) {
      return cortex_m::Engine<Element, Simd>::template product<Int8Sizes<T, Packs, Rows, Inner>>(w, in, panels,
                                                                                                 epilogue);
    }
  }
  constexpr std::size_t tile_rows = takes_three_quarters<Simd, T, Element> ? 12 : int8_tile_rows<T, Packs>;
  for_row_tiles<Rows, tile_rows>([&]<std::size_t R>(std::size_t first) LADON_INT8_TILE_LAMBDA {
    const std::int8_t* const rows = w.weight.rows_from(first).data;
    if constexpr (Simd::widens_int8 && Inner <= most_widened_features) {
      if (!std::is_constant_evaluated()) {
        const TuplesIn16Bits<R, Inner, RowStride> tuples(rows);
        return int8_tile<TuplesIn16Bits<R, Inner, RowStride>, Simd, T, Packs, R>(tuples, w, first, in, panels, epilogue,
                                                                                 nullptr);
      }
    }
    using Tuples = TuplesInPlace<std::int8_t, vec::tuple_features<Element>, Inner, RowStride>;
    const Tuples tuples(rows);
    const bool reads_ahead = RowStride == Inner && Inner >= target::Current::read_ahead_int8 && first + 2 * R <= Rows;
    int8_tile<Tuples, Simd, T, Packs, R>(tuples, w, first, in, panels, epilogue,
                                         reads_ahead ? rows + R * RowStride : nullptr);
  });
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
template <class Simd, std::size_t Rows, std::size_t Inner, std::size_t RowStride, class Biases, class Element,
          class Epilogue>
LADON_NOINLINE constexpr void matrix_vector_int8(Int8Rows<RowStride, Biases> w, Int8PanelsView<Element> in,
                                                 Epilogue epilogue) noexcept {
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
        prefetch_page_starts_of_streams<streams>(row, run * RowStride, prefetched_page_bytes, RowStride);
        std::int32_t sum[streams];
        int8_dot_products<Wide, streams, Inner, run * RowStride>(row, in.data, sum);
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
      int8_dot_products<Wide, together, Inner, RowStride>(w.weight.rows_from(row + r).data, in.data, sums + r);
    }
    finish(row, sums);
  }
  using One = typename Simd::template Pack<1>;
  for (std::size_t row = whole; row < Rows; ++row) {
    std::int32_t sum[1];
    int8_dot_products<Wide, 1, Inner, RowStride>(w.weight.rows_from(row).data, in.data, sum);
    if constexpr (vec::holds_zero_point<Element>) sum[0] -= zero * w.row_sum[row];
    const One scale = One::broadcast(token_scale) * One::load(w.scale + row);
    epilogue(0, row, 0, fma(vec::IntegerSums<One>::load(sum).to_float(), scale, w.bias.template load<One>(row)));
  }
}

}  // namespace LADON_NAMESPACE::detail
