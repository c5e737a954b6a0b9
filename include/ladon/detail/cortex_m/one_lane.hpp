// SPDX-License-Identifier: Apache-2.0
// Int8 products with plain integers where a pack has one lane and the target has no instruction for them, such as
// Cortex-M3, RISC-V and scalar WebAssembly. A quantised panel holds q (detail/panel/product_input.hpp) in the order
// of detail/vec/dot.hpp. The loop reads each weight and each feature as an integer: TupleDot would join two weights,
// and separate them again for each token.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::cortex_m::one_lane {

// Adds the products of 1 or 2 features of each token to `sum`.
template <std::size_t Features, std::size_t RowStride, std::size_t R, std::size_t Packs>
LADON_INLINE void add(const std::int8_t* rows, const std::int16_t* x, std::int32_t (&sum)[R][Packs]) noexcept {
  LADON_UNROLL
  for (std::size_t j = 0; j < Features; ++j) {
    LADON_UNROLL
    for (std::size_t r = 0; r < R; ++r) {
      const std::int32_t weight{rows[r * RowStride + j]};
      LADON_UNROLL
      for (std::size_t t = 0; t < Packs; ++t) {
        sum[r][t] = vec::wrapping_sum(sum[r][t], x[2 * t + j] * weight);
      }
    }
  }
}

// Computes R rows of the product for all panels.
template <class P, std::size_t R, class Weights, class In, class Epilogue>
LADON_INLINE void tile(const Weights& w, std::size_t first_row, In in, std::size_t panels, Epilogue epilogue) noexcept {
  using Pack = vec::ArrayPack<1>;
  constexpr std::size_t stride = decltype(w.weight)::row_stride;
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int8_t* rows = w.weight.rows_from(first_row).data;
    const std::int16_t* x = in.data + p * in.stride;
    std::int32_t sum[R][P::packs];
    LADON_UNROLL
    for (std::size_t i = 0; i < R * P::packs; ++i) sum[i / P::packs][i % P::packs] = 0;
    for (std::size_t i = 0; i < P::inner / 2; ++i, rows += 2, x += 2 * P::width) add<2, stride>(rows, x, sum);
    if constexpr (P::inner % 2 != 0) add<1, stride>(rows, x, sum);
    const auto bias = w.bias.from(first_row);
    LADON_UNROLL
    for (std::size_t r = 0; r < R; ++r) {
      LADON_UNROLL
      for (std::size_t t = 0; t < P::packs; ++t) {
        const Pack scale = Pack::broadcast(in.template scale<P::width>(p)[t]) * Pack::broadcast(w.scale[first_row + r]);
        const Pack integer = Pack::broadcast(static_cast<float>(sum[r][t]));
        epilogue(p, first_row + r, t, fma(integer, scale, Pack::broadcast(bias[r])));
      }
    }
  }
}

struct Engine {
  static constexpr bool prepares_weights = false, has_matrix_vector = false;

  template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
  static LADON_NOINLINE void quantise(const float* panel, std::int16_t* to, float* scales, std::size_t) noexcept {
    for (std::size_t t = 0; t < Packs; ++t) {
      const auto token = vec::scale_of_token<Features, FeatureBits>(panel + t, Width);
      const auto most = static_cast<std::int32_t>(token.most.lane[0]);
      const float reciprocal = token.reciprocal.lane[0];
      scales[t] = token.scale.lane[0];
      for (std::size_t i = 0; i < Features; ++i) {
        to[i / 2 * 2 * Width + 2 * t + i % 2] = vec::quantised_feature(panel[i * Width + t], reciprocal, most);
      }
      if constexpr (Features % 2 != 0) to[Features / 2 * 2 * Width + 2 * t + 1] = 0;
    }
  }

  template <class P, class Weights, class In, class Epilogue>
  static LADON_INLINE void product(const Weights& w, const In& in, std::size_t panels,
                                   const Epilogue& epilogue) noexcept {
    constexpr std::size_t rows = P::layout.tile_rows_for(P::packs), most = target::Current::int8_tile_sums / P::packs;
    constexpr std::size_t tile_rows = rows < most ? rows : most;
    for_row_tiles<P::rows, tile_rows>(
        [&]<std::size_t R>(std::size_t first) { tile<P, R>(w, first, in, panels, epilogue); });
  }
};

}  // namespace LADON_NAMESPACE::detail::cortex_m::one_lane
