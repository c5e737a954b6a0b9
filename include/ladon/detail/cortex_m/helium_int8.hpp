// SPDX-License-Identifier: Apache-2.0
// The product of int8 weights and quantised panels with Helium (detail/cortex_m/helium_quantise.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/cortex_m/helium_quantise.hpp>
#include <ladon/detail/panel/quantise.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>
#include <ladon/detail/product/tile.hpp>

#if LADON_HAS_HELIUM

namespace LADON_NAMESPACE::detail::helium {

namespace instructions = vec::helium;
using Pack = vec::HeliumPack;

// The largest number of packs that a tile computes before it converts its sums: 512 bytes of the stack for 2 rows.
inline constexpr std::size_t most_packs = 16;

// Converts four integer sums, of four tokens or of four rows, to floats.
template <class Scale, class Bias>
LADON_INLINE Pack result(int32x4_t sums, const Scale& scale, const Bias& bias) noexcept {
  return fma(Pack{vcvtq_f32_s32(sums)}, scale, bias);
}

// For each row of a tile: -row_sum, scale and bias (Int8Rows).
template <std::size_t Rows>
struct RowNumbers {
  std::int32_t row_sum[Rows];
  float scale[Rows], bias[Rows];
};

// Converts the integer sums of two rows to floats, and stores the floats of `panels` panels of two packs. `parameters`
// holds the scales and zero points of the tokens. Precondition: panels > 0. The code of g++ 12 takes 46 instructions
// for a panel, and the assembly 30. Registers of the loop:
//     q0, q1   the sums of the two rows
//     q4, q5   zero points and scales of the tokens; later the scales of the results
LADON_INLINE void store_results(const std::int32_t* sums, const float* parameters, const RowNumbers<2>& rows,
                                std::size_t panels, float* out, std::size_t panel_bytes) noexcept {
#define LADON_HELIUM_RESULTS(offset, step)                                                                 \
  "vldrw.u32 q0, [%[sums]], #16\n\tvldrw.u32 q4, [%[parameters], #32]\n\tvldrw.u32 q1, [%[sums]], #16\n\t" \
  "vldrw.u32 q5, [%[parameters]], #" step                                                                  \
  "\n\t"                                                                                                   \
  "vmla.s32 q0, q4, %[sum0]\n\tvmla.s32 q1, q4, %[sum1]\n\t"                                               \
  "vcvt.f32.s32 q0, q0\n\tvmul.f32 q4, q5, %[scale0]\n\tvcvt.f32.s32 q1, q1\n\t"                           \
  "vmul.f32 q5, q5, %[scale1]\n\tvfmas.f32 q0, q4, %[bias0]\n\tvfmas.f32 q1, q5, %[bias1]\n\t"             \
  "vstrw.32 q0, [%[out], #" offset "]\n\tvstrw.32 q1, [%[out], #32 + " offset "]\n\t"
  asm volatile(
      "dls lr, %[panels]\n1:\n\t" LADON_HELIUM_RESULTS("0", "16")
          LADON_HELIUM_RESULTS("16", "48") "add %[out], %[stride]\n\tle lr, 1b"
      : [sums] "+r"(sums), [parameters] "+r"(parameters), [out] "+r"(out)
      : [panels] "r"(panels), [stride] "r"(panel_bytes), [sum0] "r"(rows.row_sum[0]), [sum1] "r"(rows.row_sum[1]),
        [scale0] "r"(rows.scale[0]), [scale1] "r"(rows.scale[1]), [bias0] "r"(rows.bias[0]), [bias1] "r"(rows.bias[1])
      : "q0", "q1", "q4", "q5", "lr", "memory");
#undef LADON_HELIUM_RESULTS
}

template <class Epilogue>
inline constexpr bool only_stores = false;
template <std::size_t Width>
inline constexpr bool only_stores<Epilogue<Width, Unchanged, Combine::replace>> = true;

// Computes Rows rows (1 or 2) of the product for the panels first <= p < end. `sums` has room for their sums.
template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, std::size_t RowStride,
          class Biases, class Epilogue>
LADON_INLINE void tile(const Int8Rows<RowStride, Biases>& w, std::size_t first_row, Int8PanelsView<std::uint8_t> in,
                       std::size_t first, std::size_t end, instructions::SumsArguments& arguments,
                       std::int32_t (*sums)[2][4], Epilogue epilogue) noexcept {
  constexpr std::size_t packs_of_panel = Width / 4;
  static_assert(Packs == packs_of_panel || Packs < packs_of_panel);
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  RowNumbers<Rows> row;
  const SplitEpilogue split(epilogue);
  const auto biases = w.bias.from(first_row);
  LADON_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    row.row_sum[r] = -w.row_sum[first_row + r];
    row.scale[r] = w.scale[first_row + r] * split.factor;
    row.bias[r] = biases[r] * split.factor;
  }
  // A tile of one row computes this row twice. All panels of a call have Packs packs.
  arguments.row0 = rows;
  arguments.row1 = rows + (Rows - 1) * RowStride;
  instructions::sums_of_2x4<Inner>(in.data + first * in.stride, arguments, sums);
  const std::int32_t* sum = sums[0][0];
  if constexpr (Rows == 2 && Packs == 2 && Width == 8 && only_stores<decltype(split.epilogue)>) {
    store_results(sum, in.template scale<Width>(first), row, end - first,
                  split.epilogue.out + first * split.epilogue.panel_stride + first_row * Width,
                  split.epilogue.panel_stride * sizeof(float));
    return;
  }
  for (std::size_t p = first; p < end; ++p) {
    LADON_UNROLL
    for (std::size_t v = 0; v < Packs; ++v, sum += 8) {
      const int32x4_t zero = instructions::load_integers(in.template zero<Width>(p) + 4 * v);
      const Pack token_scale = Pack::load(in.template scale<Width>(p) + 4 * v);
      LADON_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const int32x4_t integers = vmlaq_n_s32(instructions::load_integers(sum + 4 * r), zero, row.row_sum[r]);
        split.epilogue(p, first_row + r, v,
                       result(integers, token_scale * Pack::broadcast(row.scale[r]), Pack::broadcast(row.bias[r])));
      }
    }
  }
}

template <std::size_t Width, std::size_t Packs, std::size_t Rows, std::size_t Inner, class Weights, class Epilogue>
LADON_INLINE void product(const Weights& w, Int8PanelsView<std::uint8_t> in, std::size_t panels,
                          Epilogue epilogue) noexcept {
  constexpr std::size_t most = most_packs / Packs;
  for (std::size_t first = 0; first < panels; first += most) {
    const std::size_t end = panels - first < most ? panels : first + most;
    alignas(8) std::int32_t sums[most_packs][2][4];
    instructions::SumsArguments arguments(Inner, in.stride / (Width / 4), sums + (end - first) * Packs);
    for_row_tiles<Rows, 2>([&]<std::size_t R>(std::size_t row) LADON_INLINE_LAMBDA {
      tile<Width, Packs, R, Inner>(w, row, in, first, end, arguments, sums, epilogue);
    });
  }
}

// A product for a single token. The four lanes of a result belong to four consecutive rows.
template <std::size_t Rows, std::size_t Inner, std::size_t RowStride, class Biases, class Epilogue>
LADON_NOINLINE void matrix_vector(Int8Rows<RowStride, Biases> w, Int8PanelsView<std::uint8_t> in,
                                  Epilogue epilogue) noexcept {
  using One = vec::ArrayPack<1>;
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

}  // namespace LADON_NAMESPACE::detail::helium

#endif
