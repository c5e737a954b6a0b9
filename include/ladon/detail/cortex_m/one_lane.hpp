// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels with packs of one lane. The loop reads each weight and each feature
// as an integer. TupleDot would join two weights, and separate them again for each token.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/panel/quantise.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/vec/int8_kernels.hpp>

namespace LADON_NAMESPACE::detail::one_lane {

// Adds the products of 1 or 2 features of each token to `sum`.
template <std::size_t Features, std::size_t RowStride, std::size_t Rows, std::size_t Packs>
LADON_INLINE void add(const std::int8_t* rows, const std::int16_t* x, std::int32_t (&sum)[Rows][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t j = 0; j < Features; ++j) {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::int32_t weight{rows[r * RowStride + j]};
      LADON_UNROLL
      for (std::size_t t = 0; t < Packs; ++t) {
        sum[r][t] = vec::wrapping_sum(sum[r][t], x[2 * t + j] * weight);
      }
    }
  }
}

// Computes Rows rows of the product for the first Packs of Width tokens.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t first_row, Int8PanelsView<std::int16_t> in,
                       std::size_t panels, Epilogue epilogue) noexcept {
  using Pack = vec::ArrayPack<1>;
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int8_t* rows = w.weight.rows_from(first_row).data;
    const std::int16_t* x = in.data + p * in.stride;
    std::int32_t sum[Rows][Packs];
    LADON_UNROLL
    for (std::size_t i = 0; i < Rows * Packs; ++i) sum[i / Packs][i % Packs] = 0;
    for (std::size_t i = 0; i < Inner / 2; ++i, rows += 2, x += 2 * Width) add<2, RowStride>(rows, x, sum);
    if constexpr (Inner % 2 != 0) add<1, RowStride>(rows, x, sum);
    const auto bias = w.bias.from(first_row);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t t = 0; t < Packs; ++t) {
        const Pack scale = Pack::broadcast(in.template scale<Width>(p)[t]) * Pack::broadcast(w.scale[first_row + r]);
        const Pack integer = Pack::broadcast(static_cast<float>(sum[r][t]));
        epilogue(p, first_row + r, t, fma(integer, scale, Pack::broadcast(bias[r])));
      }
    }
  }
}

}  // namespace LADON_NAMESPACE::detail::one_lane
