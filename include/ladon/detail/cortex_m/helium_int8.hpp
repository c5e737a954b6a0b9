// SPDX-License-Identifier: Apache-2.0
// Int8 products with Helium: VMLADAVA.S8 adds 16 products of 8-bit integers to a general register.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/cortex_m/helium_quantise.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/epilogue.hpp>

#if LADON_HAS_HELIUM

namespace LADON_NAMESPACE::detail::cortex_m::helium {

// The arguments of sums_of_2x4. From tile to tile, only the rows change.
struct SumsArguments {
  const std::int8_t *row0, *row1;
  std::size_t gap;  // the bytes between the features of neighbouring packs
  const void* end;  // the end of the sums
  std::int32_t zeros[8];

  LADON_INLINE SumsArguments(std::size_t inner, std::size_t pack_stride, const void* sums_end) noexcept
      : gap(pack_stride - 4 * ((inner + 15) / 16 * 16)), end(sums_end) {
    // g++ 12 would call memset for an initialiser.
    for (std::size_t i = 0; i < 8; i += 4) store_integers(vdupq_n_s32(0), zeros + i);
  }
};

// Computes the sums of two rows and all packs of four tokens:
//     sums[pack][r][t] = sum over i < Inner of x[pack][i / 16][t][i % 16] * row[r][i]
//
// Registers of the loop:
//     r0, r2, r4, r6      the sums of row 0
//     r8, r10, r12, lr    the sums of row 1; VMLADAVA adds to registers with an even number only
//     q0, q1              16 weights of each row
//     q2, q3              16 features of a token
//
// 16 features of four tokens take 14 instructions. Short rows keep their weights in registers and take 12 instructions,
// plus 2.5 to load and store the sums. A low-overhead loop would occupy lr, which leaves registers for three tokens: 12
// instructions for 6 sums, 2 a sum instead of 1.75.
template <std::size_t Inner>
LADON_NOINLINE void sums_of_2x4(const std::uint8_t* x, const SumsArguments& arguments,
                                std::int32_t (*sums)[2][4]) noexcept {
#define LADON_HELIUM_16(load) \
  load("q0", "r3") "vldrb.u8 q2, [r1], #16\n\tvmladava.s8 r0, q0, q2\n\t" load("q1", "r5")         \
  "vmladava.s8 r8, q1, q2\n\tvldrb.u8 q3, [r1], #16\n\tvmladava.s8 r2, q0, q3\n\t"                 \
  "vldrb.u8 q2, [r1], #16\n\tvmladava.s8 r10, q1, q3\n\tvmladava.s8 r4, q0, q2\n\t"                \
  "vldrb.u8 q3, [r1], #16\n\tvmladava.s8 r12, q1, q2\n\tvmladava.s8 r6, q0, q3\n\tvmladava.s8 lr, q1, q3\n\t"
#define LADON_HELIUM_ALL(q, row) "vldrb.u8 " q ", [" row "], #16\n\t"
#define LADON_HELIUM_SOME(q, row) "vpst\n\tvldrbt.u8 " q ", [" row "]\n\t"
// LADON_HELIUM_TOKEN multiplies the features of one token by 32 weights of each row, or by 16 if no more are left.
// `first` is the first instruction: vmladav starts a sum at 0, and vmladava adds to a sum.
#define LADON_HELIUM_TOKEN(first, sum0, sum1, offset)      \
  "vldrb.u8 q4, [r1, #" offset "]\n\t" first " " sum0      \
  ", q0, q4\n\t"                                           \
  ".if 32 * \\pass + 16 < %c[features]\n\t"                \
  "vldrb.u8 q5, [r1, #64 + " offset "]\n\t" first " " sum1 \
  ", q1, q4\n\t"                                           \
  "vmladava.s8 " sum0 ", q2, q5\n\tvmladava.s8 " sum1      \
  ", q3, q5\n\t"                                           \
  ".else\n\t" first " " sum1 ", q1, q4\n\t.endif\n\t"
#define LADON_HELIUM_32(first)                 \
  LADON_HELIUM_TOKEN(first, "r0", "r8", "0")   \
  LADON_HELIUM_TOKEN(first, "r2", "r10", "16") \
  LADON_HELIUM_TOKEN(first, "r4", "r12", "32") LADON_HELIUM_TOKEN(first, "r6", "lr", "48")
  constexpr std::size_t blocks = Inner / 16, rest = Inner % 16;
  register const void* r0 asm("r0") = &arguments;
  register const std::uint8_t* r1 asm("r1") = x;
  register std::int32_t(*r2)[2][4] asm("r2") = sums;
  if constexpr (rest == 0 && blocks <= 4) {
    // During a pass over all packs, q0 - q3 hold 32 weights of each row. A second pass adds the products of weights 32
    // to 63.
    asm volatile(
        "push {r4-r11, lr}\n\t"
        "ldrd r3, r5, [r0]\n\t"
        "ldrd r11, r7, [r0, #8]\n\t"  // r11 = arguments.gap, r7 = arguments.end
        "add r11, #4 * %c[features]\n\t"
        "push {r1, r2}\n\t"
        ".irp pass, 0, 1\n\t"
        ".if 32 * \\pass < %c[features]\n\t"
        "vldrb.u8 q0, [r3, #32 * \\pass]\n\tvldrb.u8 q1, [r5, #32 * \\pass]\n\t"
        ".if 32 * \\pass + 16 < %c[features]\n\t"
        "vldrb.u8 q2, [r3, #32 * \\pass + 16]\n\tvldrb.u8 q3, [r5, #32 * \\pass + 16]\n\t"
        ".endif\n\t"
        ".if \\pass == 0\n\t"
        "mov r9, r2\n\t"
        ".else\n\t"
        "pop {r1, r9}\n\tadd r1, #128\n\t"
        ".endif\n"
        "1:\n\t"
        ".if \\pass == 0\n\t"
        LADON_HELIUM_32("vmladav.s8")
        ".else\n\t"
        "ldm r9, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
        LADON_HELIUM_32("vmladava.s8")
        ".endif\n\t"
        "stmia r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
        "add r1, r11\n\t"
        "cmp r9, r7\n\t"
        "bne 1b\n\t"
        ".endif\n\t"
        ".endr\n\t"
        ".if %c[features] <= 32\n\t"
        "add sp, #8\n\t"
        ".endif\n\t"
        "pop {r4-r11, lr}"
        : "+r"(r0), "+r"(r1), "+r"(r2)
        : [features] "i"(Inner)
        : "r3", "r12", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
    return;
  }
  asm volatile(
      "push {r4-r11, lr}\n\t"
      "push {r0}\n\t"
      "mov r9, r2\n"
      "1:\n\t"
      "ldr r11, [sp]\n\t"
      "ldrd r3, r5, [r11]\n\t"
      "add r11, #16\n\t"
      "ldm r11, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
      ".if %c[fours] > 0\n\t"
      ".if %c[fours] > 1\n\t"
      "mov r7, #%c[fours]\n"
      "2:\n\t"
      ".endif\n\t"
      LADON_HELIUM_16(LADON_HELIUM_ALL) LADON_HELIUM_16(LADON_HELIUM_ALL)
      LADON_HELIUM_16(LADON_HELIUM_ALL) LADON_HELIUM_16(LADON_HELIUM_ALL)
      ".if %c[fours] > 1\n\t"
      "subs r7, #1\n\t"
      "bne 2b\n\t"
      ".endif\n\t"
      ".endif\n\t"
      ".rept %c[ones]\n\t"
      LADON_HELIUM_16(LADON_HELIUM_ALL)
      ".endr\n\t"
      ".if %c[rest] > 0\n\t"
      "mov r7, #%c[rest]\n\t"
      "vctp.8 r7\n\t"
      LADON_HELIUM_16(LADON_HELIUM_SOME)
      ".endif\n\t"
      "stmia r9!, {r0, r2, r4, r6, r8, r10, r12, lr}\n\t"
      "ldrd r3, r5, [r11, #-8]\n\t"  // r3 = arguments.gap, r5 = arguments.end
      "add r1, r3\n\t"
      "cmp r9, r5\n\t"
      "bne 1b\n\t"
      "add sp, #4\n\t"
      "pop {r4-r11, lr}"
      : "+r"(r0), "+r"(r1), "+r"(r2)
      : [fours] "i"(blocks / 4), [ones] "i"(blocks % 4), [rest] "i"(rest)
      : "r3", "r12", "q0", "q1", "q2", "q3", "cc", "memory");
}

template <std::size_t Rows, std::size_t Inner, std::size_t RowStride>
LADON_INLINE void sums_of_single(const std::int8_t* rows, const std::uint8_t* features, std::int32_t* sums) noexcept {
  const auto* x = reinterpret_cast<const std::int8_t*>(features);
  std::int32_t sum[Rows] = {};
  for (std::size_t i = 0; i < Inner; i += 16) {
    const mve_pred16_t left = vctp8q(Inner - i);
    const int8x16_t values = vldrbq_z_s8(x + i, left);
    LADON_UNROLLED_FOR(r, Rows) sum[r] = vmladavaq_s8(sum[r], vldrbq_z_s8(rows + r * RowStride + i, left), values);
  }
  LADON_UNROLLED_FOR(r, Rows) sums[r] = sum[r];
}

// How many packs a tile computes before it converts their sums: 512 bytes of the stack for 2 rows.
inline constexpr std::size_t most_packs = 16;

template <class Scale, class Bias>
LADON_INLINE Pack result(int32x4_t sums, const Scale& scale, const Bias& bias) noexcept {
  return fma(Pack{vcvtq_f32_s32(sums)}, scale, bias);
}

// The numbers of Rows rows (IntegerRows). `row_sum` is negated.
template <std::size_t Rows>
struct RowNumbers {
  std::int32_t row_sum[Rows];
  float scale[Rows], bias[Rows];
};

// Converts the sums of two rows and stores `panels` > 0 panels of two packs. `parameters` holds the scales and zero
// points of the tokens. A panel takes 30 instructions (46 in C++, g++ 12). Registers of the loop:
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
}

// Computes R rows (1 or 2) of the product. `sums` has room for their sums.
template <class P, std::size_t R, class Weights, class In, class Epilogue>
LADON_INLINE void tile(const Weights& w, std::size_t first_row, In in, Range panels, SumsArguments& arguments,
                       std::int32_t (*sums)[2][4], Epilogue epilogue) noexcept {
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  RowNumbers<R> row;
  const SplitEpilogue split(epilogue);
  const auto biases = w.bias.from(first_row);
  LADON_UNROLLED_FOR(r, R) {
    row.row_sum[r] = -w.row_sum[first_row + r];
    row.scale[r] = w.scale[first_row + r] * split.factor;
    row.bias[r] = biases[r] * split.factor;
  }
  // A tile of one row computes this row twice. All panels of a call have P::packs packs.
  arguments.row0 = rows;
  arguments.row1 = rows + (R - 1) * decltype(w.weight)::row_stride;
  sums_of_2x4<P::inner>(in.data + panels.begin * in.stride, arguments, sums);
  const std::int32_t* sum = sums[0][0];
  if constexpr (R == 2 && P::packs == 2 && P::width == 8 && only_stores<decltype(split.epilogue)>) {
    store_results(sum, in.template scale<P::width>(panels.begin), row, panels.end - panels.begin,
                  split.epilogue.out + panels.begin * split.epilogue.panel_stride + first_row * P::width,
                  split.epilogue.panel_stride * sizeof(float));
    return;
  }
  for (std::size_t p = panels.begin; p < panels.end; ++p) {
    LADON_UNROLL
    for (std::size_t v = 0; v < P::packs; ++v, sum += 8) {
      const int32x4_t zero = load_integers(in.template zero<P::width>(p) + 4 * v);
      const Pack token_scale = Pack::load(in.template scale<P::width>(p) + 4 * v);
      LADON_UNROLLED_FOR(r, R) {
        const int32x4_t integers = vmlaq_n_s32(load_integers(sum + 4 * r), zero, row.row_sum[r]);
        split.epilogue(p, first_row + r, v,
                       result(integers, token_scale * Pack::broadcast(row.scale[r]), Pack::broadcast(row.bias[r])));
      }
    }
  }
}

struct Engine {
  static constexpr bool prepares_weights = true, has_matrix_vector = true;

  template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
  static LADON_NOINLINE void quantise(const float* panel, std::uint8_t* to, float* parameters,
                                      std::size_t stride) noexcept {
    if constexpr (Width == 1) {
      quantise_single<Features, FeatureBits>(panel, to, parameters);
    } else {
      for (std::size_t v = 0; v < Packs; ++v) {
        quantise_pack<Features, Width, FeatureBits>(panel + 4 * v, to + v * (stride / (Width / 4)), parameters + 4 * v);
      }
    }
  }

  template <class P, class Weights, class In, class Epilogue>
  static LADON_INLINE void product(const Weights& w, In in, std::size_t panels, Epilogue epilogue) noexcept {
    constexpr std::size_t most = most_packs / P::packs;
    for (std::size_t first = 0; first < panels; first += most) {
      const std::size_t end = panels - first < most ? panels : first + most;
      alignas(8) std::int32_t sums[most_packs][2][4];
      SumsArguments arguments(P::inner, in.stride / (P::width / 4), sums + (end - first) * P::packs);
      for_row_tiles<P::rows, 2>([&]<std::size_t R>(std::size_t row) LADON_INLINE_LAMBDA {
        tile<P, R>(w, row, in, Range{first, end}, arguments, sums, epilogue);
      });
    }
  }

  // The four lanes of a result belong to four consecutive rows.
  template <std::size_t Rows, std::size_t Inner, class Weights, class In, class Epilogue>
  static LADON_NOINLINE void matrix_vector(Weights w, In in, Epilogue epilogue) noexcept {
    using One = vec::ArrayPack<1>;
    constexpr std::size_t stride = decltype(w.weight)::row_stride;
    constexpr std::size_t whole = Rows / 4 * 4;
    const float token_scale = in.template scale<1>(0)[0];
    const auto zero = ladon::bit_cast<std::int32_t>(in.template zero<1>(0)[0]);
    for (std::size_t row = 0; row < whole; row += 4) {
      std::int32_t sums[4];
      sums_of_single<4, Inner, stride>(w.weight.rows_from(row).data, in.data, sums);
      const int32x4_t integers = vmlaq_n_s32(load_integers(sums), load_integers(w.row_sum + row), -zero);
      const Pack scale = Pack::load(w.scale + row) * Pack::broadcast(token_scale);
      const Pack bias = w.bias.template load<Pack>(row);
      epilogue(0, row, 0, result(integers, scale, bias));
    }
    for (std::size_t row = whole; row < Rows; ++row) {
      std::int32_t sum[1];
      sums_of_single<1, Inner, stride>(w.weight.rows_from(row).data, in.data, sum);
      const auto integer = static_cast<float>(sum[0] - zero * w.row_sum[row]);
      const One scale = One::broadcast(token_scale) * One::load(w.scale + row);
      epilogue(0, row, 0, fma(One::broadcast(integer), scale, w.bias.template load<One>(row)));
    }
  }
};

}  // namespace LADON_NAMESPACE::detail::cortex_m::helium

#endif
