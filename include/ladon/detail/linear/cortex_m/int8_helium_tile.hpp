// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels with Helium (detail/simd/int8_helium.hpp). `w`, `in`, `panels` and
// `epilogue` are the arguments of matmul_int8 (detail/linear/matmul_int8.hpp). detail/memory/panels.hpp defines panels,
// packs and tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/linear/epilogue.hpp>
#include <ladon/detail/memory/int8_panels.hpp>
#include <ladon/detail/memory/weight_rows.hpp>
#include <ladon/detail/simd/int8_helium.hpp>

#if LADON_HAS_HELIUM

namespace ladon::inline LADON_ABI::detail::helium {

namespace instructions = simd::helium;
using Pack = simd::HeliumPack;

// How many packs of tokens a tile computes before the epilogue. The sums of these packs, for 2 rows, take 512 bytes of
// the stack.
inline constexpr std::size_t most_packs = 16;

// Converts four integer sums to results. The four lanes belong to four tokens, or to four rows of a single token.
template <class Scale, class Bias>
LADON_INLINE Pack result(int32x4_t sums, const Scale& scale, const Bias& bias) noexcept {
  return fma(Pack{vcvtq_f32_s32(sums)}, scale, bias);
}

// Computes a tile of Rows rows (1 or 2) for all panels.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t first_row, Int8PanelsView<std::uint8_t> in,
                       std::size_t panels, Epilogue epilogue) noexcept {
  constexpr std::size_t packs_of_panel = Width / 4, most = most_packs / Packs;
  static_assert(Packs == packs_of_panel || Packs < packs_of_panel);
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  const std::size_t pack_stride = in.stride / packs_of_panel;
  std::int32_t row_sum[Rows];
  float scale[Rows], bias[Rows];
  const auto biases = w.bias.from(first_row);
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    row_sum[r] = -w.row_sum[first_row + r];
    scale[r] = w.scale[first_row + r];
    bias[r] = biases[r];
  }
  for (std::size_t first = 0; first < panels; first += most) {
    const std::size_t end = panels - first < most ? panels : first + most;
    alignas(8) std::int32_t sums[most_packs][2][4];
    // If the tile has only one row, the loop computes this row twice. All panels of a call have Packs packs. A last
    // panel with fewer packs is computed by a separate call.
    instructions::sums_of_2x4<Inner>(in.data + first * in.stride, rows, rows + (Rows - 1) * RowStride,
                                     (end - first) * Packs, pack_stride, sums);
    const std::int32_t* sum = sums[0][0];
    for (std::size_t p = first; p < end; ++p) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v, sum += 8) {
        const int32x4_t zero = instructions::load_integers(in.template zero<Width>(p) + 4 * v);
        const Pack token_scale = Pack::load(in.template scale<Width>(p) + 4 * v);
        LADON_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
          const int32x4_t integers = vmlaq_n_s32(instructions::load_integers(sum + 4 * r), zero, row_sum[r]);
          epilogue(p, first_row + r, v,
                   result(integers, token_scale * Pack::broadcast(scale[r]), Pack::broadcast(bias[r])));
        }
      }
    }
  }
}

// Computes the product for a single token. The four lanes of a result belong to four consecutive rows.
template <std::size_t Rows, std::size_t Inner, std::size_t RowStride, class Biases, class Epilogue>
LADON_NOINLINE void matrix_vector(Int8Rows<RowStride, Biases> w, Int8PanelsView<std::uint8_t> in,
                                  Epilogue epilogue) noexcept {
  using One = simd::ArrayPack<1>;
  constexpr std::size_t whole = Rows / 4 * 4;
  const float token_scale = in.template scale<1>(0)[0];
  const auto zero = ladon::bit_cast<std::int32_t>(in.template zero<1>(0)[0]);
  for (std::size_t row = 0; row < whole; row += 4) {
    std::int32_t sums[4];
    instructions::sums_of_single<4, Inner, RowStride>(w.weight.rows_from(row).data, in.data, sums);
    const int32x4_t integers =
        vmlaq_n_s32(instructions::load_integers(sums), instructions::load_integers(w.row_sum + row), -zero);
    const Pack scale = Pack::load(w.scale + row) * Pack::broadcast(token_scale);
    const Pack bias = w.bias.template load<Pack>(row);
    epilogue(0, row, 0, result(integers, scale, bias));
  }
  for (std::size_t row = whole; row < Rows; ++row) {
    std::int32_t sum[1];
    instructions::sums_of_single<1, Inner, RowStride>(w.weight.rows_from(row).data, in.data, sum);
    const auto integer = static_cast<float>(sum[0] - zero * w.row_sum[row]);
    const One scale = One::broadcast(token_scale) * One::load(w.scale + row);
    epilogue(0, row, 0, fma(One::broadcast(integer), scale, w.bias.template load<One>(row)));
  }
}

}  // namespace ladon::inline LADON_ABI::detail::helium

#endif
