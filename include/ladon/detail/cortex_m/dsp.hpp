// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels with the DSP extension (detail/cortex_m/dsp_quantise.hpp). Panels of
// 4 tokens, of which 3 or 4 are used: a tile of 2 rows converts its weights to 16 bits, on the stack, once for all
// panels; then 16 multiply-adds take 11 instructions. Other panels: the weights are converted in registers, again for
// each panel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/cortex_m/dsp_quantise.hpp>
#include <ladon/detail/panel/quantise.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>

#if LADON_DSP

namespace LADON_NAMESPACE::detail::dsp {

namespace instructions = vec::dsp;

// The largest number of weights of a row that are converted at a time: at most 2 KB of the stack for 2 rows. Longer
// rows are converted again for each panel, which takes 0.25 more instructions per multiply-add.
inline constexpr std::size_t most_converted_features = 512;

// Converts the integer sums of a tile to floats, before the epilogue stores any of them: the compiler must assume that
// a store changes the scales.
template <std::size_t Rows, std::size_t Packs, std::size_t Columns, class Weights, class Epilogue>
LADON_INLINE void finish(const Weights& w, std::size_t first_row, std::size_t panel, const float* token_scale,
                         const std::int32_t (*sums)[Columns], Epilogue epilogue) noexcept {
  using Pack = vec::ArrayPack<1>;
  const auto bias = w.bias.from(first_row);
  Pack result[Rows][Packs];
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    LADON_UNROLL
    for (std::size_t t = 0; t < Packs; ++t) {
      const Pack scale = Pack::broadcast(token_scale[t]) * Pack::broadcast(w.scale[first_row + r]);
      result[r][t] = fma(Pack::broadcast(instructions::to_float(sums[r][t])), scale, Pack::broadcast(bias[r]));
    }
  }
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    LADON_UNROLL
    for (std::size_t t = 0; t < Packs; ++t) epilogue(panel, first_row + r, t, result[r][t]);
  }
}

// Computes Rows rows of the product for the first Packs of 4 tokens.
template <std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride, class Biases, class Epilogue>
LADON_INLINE void tile_of_4_tokens(const Int8Rows<RowStride, Biases>& w, std::size_t first_row,
                                   Int8PanelsView<std::int16_t> in, std::size_t panels, Epilogue epilogue) noexcept {
  constexpr std::size_t block = Inner < most_converted_features ? Inner : most_converted_features;
  std::uint32_t weights[(block + 1) / 2][2];
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  // A tile of one row computes this row twice.
  const std::int8_t* const second = rows + (Rows - 1) * RowStride;
  if constexpr (block == Inner) instructions::convert_2_rows(rows, second, Inner, weights);
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int16_t* const x = in.data + p * in.stride;
    std::int32_t sums[2][4];
    if constexpr (block == Inner) {
      instructions::sums_of_2x4(x, weights, (Inner + 1) / 2, sums);
    } else {
      std::int32_t of_block[2][4];
      LADON_UNROLL
      for (std::size_t s = 0; s < 8; ++s) sums[s / 4][s % 4] = 0;
      for (std::size_t i = 0; i < Inner; i += block) {
        const std::size_t features = Inner - i < block ? Inner - i : block;
        instructions::convert_2_rows(rows + i, second + i, features, weights);
        instructions::sums_of_2x4(x + 4 * i, weights, (features + 1) / 2, of_block);
        LADON_UNROLL
        for (std::size_t s = 0; s < 8; ++s) {
          sums[s / 4][s % 4] = vec::wrapping_sum(sums[s / 4][s % 4], of_block[s / 4][s % 4]);
        }
      }
    }
    finish<Rows, Packs>(w, first_row, p, in.template scale<4>(p), sums, epilogue);
  }
}

// Computes Rows rows of the product for the first Packs of Width tokens.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile_of_few_tokens(const Int8Rows<RowStride, Biases>& w, std::size_t first_row,
                                     Int8PanelsView<std::int16_t> in, std::size_t panels, Epilogue epilogue) noexcept {
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int16_t* x = in.data + p * in.stride;
    std::int32_t sums[Rows][Packs];
    LADON_UNROLL
    for (std::size_t s = 0; s < Rows * Packs; ++s) sums[s / Packs][s % Packs] = 0;
    std::size_t i = 0;
    for (; i + 4 <= Inner; i += 4, x += 4 * Width) {
      LADON_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::uint32_t four = vec::load_word(rows + r * RowStride + i);
        const std::uint32_t even = instructions::even_weights(four), odd = instructions::odd_weights(four);
        LADON_UNROLL
        for (std::size_t t = 0; t < Packs; ++t) {
          sums[r][t] = instructions::add_pair(vec::load_word(x + 2 * t), even, sums[r][t]);
          sums[r][t] = instructions::add_pair(vec::load_word(x + 2 * (Width + t)), odd, sums[r][t]);
        }
      }
    }
    for (; i < Inner; i += 2, x += 2 * Width) {
      for (std::size_t r = 0; r < Rows; ++r) {
        const auto pair = static_cast<std::uint32_t>(
            vec::tuple_of<2>(rows + r * RowStride + i, Inner - i < 2 ? std::size_t{1} : std::size_t{2}));
        for (std::size_t t = 0; t < Packs; ++t) {
          sums[r][t] = instructions::add_pair(vec::load_word(x + 2 * t), pair, sums[r][t]);
        }
      }
    }
    finish<Rows, Packs>(w, first_row, p, in.template scale<Width>(p), sums, epilogue);
  }
}

// Computes `Rows` rows, at most tile_rows, of the product for all panels.
template <std::size_t Packs>
inline constexpr std::size_t tile_rows = Packs == 1 ? 4 : 2;
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t first_row, Int8PanelsView<std::int16_t> in,
                       std::size_t panels, Epilogue epilogue) noexcept {
  if constexpr (Width == 4 && Packs > 2) {
    tile_of_4_tokens<Packs, Rows, Inner>(w, first_row, in, panels, epilogue);
  } else {
    tile_of_few_tokens<Width, Packs, Rows, Inner>(w, first_row, in, panels, epilogue);
  }
}

}  // namespace LADON_NAMESPACE::detail::dsp

#endif
