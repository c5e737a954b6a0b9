// The product of int8 weights and quantised panels. As in detail/linear/matmul.hpp, the product calls
//
//     epilogue(panel, row, pack, result)
//
//     integer   sum over i of q[i] * weight[row][i]    exact
//     scale     scale of the token * scale of the row
//     result    integer * scale + bias[row]            one fma
//
//     weight    int8 [rows][inner], without any alignment
//     q         quantised panels (detail/memory/int8_panels.hpp)
//
// If the product of the two scales exceeds float32, the result is infinite or NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <ladon/detail/linear/epilogue.hpp>
#include <ladon/detail/linear/micro_kernel.hpp>
#include <ladon/detail/memory/int8_panels.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/simd/pair_sums.hpp>
#include <ladon/detail/simd/vectors.hpp>

namespace ladon::inline LADON_ABI::detail {

// The weights of a tile, read in place. pair(r, k) returns the weights of the features 2k and 2k + 1.
template <std::size_t Rows, std::size_t Inner, std::size_t RowStride>
struct PairsInPlace {
  const std::int8_t* data;

  LADON_INLINE constexpr explicit PairsInPlace(const std::int8_t* first_row) noexcept : data(first_row) {}
  LADON_INLINE constexpr std::int32_t pair(std::size_t r, std::size_t k) const noexcept {
    const std::int8_t* const at = data + r * RowStride + 2 * k;
    return simd::pair_of(at[0], 2 * k + 1 < Inner ? at[1] : 0);
  }
};

// The weights of a tile, converted to 16 bits on the stack once for all panels. One load then broadcasts a pair. The
// stack takes 2 * Rows * Inner bytes: at most 6 rows of most_widened_features features, or 16 rows for AVX-512.
inline constexpr std::size_t most_widened_features = 4096;
template <std::size_t Rows, std::size_t Inner, std::size_t RowStride>
struct PairsIn16Bits {
  static constexpr std::size_t padded = (Inner + 1) / 2 * 2;
  alignas(64) std::int16_t weight[Rows][padded];

  explicit PairsIn16Bits(const std::int8_t* first_row) noexcept {
    for (std::size_t r = 0; r < Rows; ++r) {
      for (std::size_t i = 0; i < Inner; ++i) weight[r][i] = std::int16_t{first_row[r * RowStride + i]};
      if constexpr (padded > Inner) weight[r][Inner] = 0;
    }
  }
  LADON_INLINE std::int32_t pair(std::size_t r, std::size_t k) const noexcept {
    std::int32_t result;
    std::memcpy(&result, &weight[r][2 * k], sizeof result);
    return result;
  }
};

// How many rows a tile has.
template <Tiling T, std::size_t Packs>
inline constexpr std::size_t int8_tile_rows = [] {
  constexpr std::size_t rows = T.rows_for(Packs), most = target::Current::int8_tile_sums / Packs;
  return rows < most ? rows : most;
}();

// Computes one tile of rows for all panels.
template <class Pairs, class Simd, Tiling T, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights,
          class Epilogue>
LADON_INLINE constexpr void int8_tile(const Pairs& pairs, const Weights& w, std::size_t first_row, Int8PanelsView in,
                                      std::size_t panels, Epilogue epilogue) noexcept {
  using Pack = typename Simd::template Pack<T.lanes>;
  using Sums = simd::PairSums<Pack>;
  constexpr std::size_t width = T.width();
  for (std::size_t p = 0; p < panels; ++p) {
    Sums sum[Rows][Packs];
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows * Packs; ++i) sum[i / Packs][i % Packs] = Sums::zero();
    for (std::size_t k = 0; k < (Inner + 1) / 2; ++k) {
      const std::int16_t* const panel = in.data + p * in.stride + 2 * k * width;
      LADON_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::int32_t pair = pairs.pair(r, k);
        LADON_UNROLL
        for (std::size_t v = 0; v < Packs; ++v) sum[r][v].add(panel + 2 * v * T.lanes, pair);
      }
    }
    const auto bias = w.bias.from(first_row);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack scale = Pack::load(in.scale + p * width + v * T.lanes) * Pack::broadcast(w.scale[first_row + r]);
        epilogue(p, first_row + r, v, fma(sum[r][v].to_float(), scale, Pack::broadcast(bias[r])));
      }
    }
  }
}

// Computes the product for several tokens.
template <class Simd, Tiling T, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_NOINLINE constexpr void matmul_int8(Int8Rows<RowStride, Biases> w, Int8PanelsView in, std::size_t panels,
                                          Epilogue epilogue) noexcept {
  for_row_tiles<Rows, int8_tile_rows<T, Packs>>([&]<std::size_t R>(std::size_t first) {
    const std::int8_t* const rows = w.weight.rows_from(first).data;
    if constexpr (Simd::widens_int8 && Inner <= most_widened_features) {
      if (!std::is_constant_evaluated()) {
        const PairsIn16Bits<R, Inner, RowStride> pairs(rows);
        return int8_tile<PairsIn16Bits<R, Inner, RowStride>, Simd, T, Packs, R, Inner>(pairs, w, first, in, panels,
                                                                                       epilogue);
      }
    }
    const PairsInPlace<R, Inner, RowStride> pairs(rows);
    int8_tile<PairsInPlace<R, Inner, RowStride>, Simd, T, Packs, R, Inner>(pairs, w, first, in, panels, epilogue);
  });
}

// Computes the integer sums of Rows rows for a single token. `x` holds the quantised features.
template <class Wide, std::size_t Rows, std::size_t Inner, std::size_t RowStride>
LADON_INLINE constexpr void int8_dot_products(const std::int8_t* rows, const std::int16_t* x,
                                              std::int32_t* sums) noexcept {
  using Sums = simd::PairSums<Wide>;
  constexpr std::size_t step = 2 * Wide::lanes;
  Sums sum[Rows];
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sum[r] = Sums::zero();
  std::size_t i = 0;
  for (; i + step <= Inner; i += step) {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) sum[r].add_products(x + i, rows + r * RowStride + i);
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    sums[r] = reduce_add(sum[r]);
    for (std::size_t k = i; k < Inner; ++k) sums[r] += x[k] * rows[r * RowStride + k];
  }
}

// Computes the product for a single token. The lanes hold features of the token, or rows of the result.
template <class Simd, std::size_t Rows, std::size_t Inner, std::size_t RowStride, class Biases, class Epilogue>
LADON_NOINLINE constexpr void matrix_vector_int8(Int8Rows<RowStride, Biases> w, Int8PanelsView in,
                                                 Epilogue epilogue) noexcept {
  using Wide = typename Simd::template Pack<Simd::lanes>;
  constexpr std::size_t whole = Rows / Wide::lanes * Wide::lanes, together = Wide::lanes % 4 == 0 ? 4 : 1;
  for (std::size_t row = 0; row < whole; row += Wide::lanes) {
    std::int32_t sums[Wide::lanes];
    for (std::size_t r = 0; r < Wide::lanes; r += together) {
      int8_dot_products<Wide, together, Inner, RowStride>(w.weight.rows_from(row + r).data, in.data, sums + r);
    }
    const Wide scale = Wide::broadcast(in.scale[0]) * Wide::load(w.scale + row);
    epilogue(0, row, 0, fma(simd::PairSums<Wide>::load(sums).to_float(), scale, w.bias.template load<Wide>(row)));
  }
  using One = typename Simd::template Pack<1>;
  for (std::size_t row = whole; row < Rows; ++row) {
    std::int32_t sum[1];
    int8_dot_products<Wide, 1, Inner, RowStride>(w.weight.rows_from(row).data, in.data, sum);
    const One scale = One::broadcast(in.scale[0]) * One::load(w.scale + row);
    epilogue(0, row, 0, fma(simd::PairSums<One>::load(sum).to_float(), scale, w.bias.template load<One>(row)));
  }
}

}  // namespace ladon::inline LADON_ABI::detail
