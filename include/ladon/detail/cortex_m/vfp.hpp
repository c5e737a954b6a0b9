// SPDX-License-Identifier: Apache-2.0
// The inner loop of the micro-kernel (detail/product/tile.hpp) for a Cortex-M with an FPU (M4F, M7, M33), in assembly,
// for tiles of 4 rows and 4 tokens. A step is the work for one value of the inner index k:
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0, 1, 2 ... in this order
// The order is that of tile.hpp, so both loops give equal bits. Registers of the loop:
//     s0 - s15   the sums, row by row
//     s16 - s23  the panel's rows for two steps
//     s24 - s31  the weights for these two steps
//
// 32 multiply-adds take 2 to 5 loads of several registers; g++ 12 takes 16 loads of single registers.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/vec/choose.hpp>

#if LADON_CORTEX_M_FPU && !LADON_HAS_HELIUM && defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC
#define LADON_TILE_ASSEMBLY 1
#define LADON_TILE_VFP 1
#if !defined(LADON_SMALL)
#define LADON_TILE_PANELS 1
#endif
#endif

#if defined(LADON_TILE_VFP)

namespace LADON_NAMESPACE::detail::assembly {

#define LADON_VFP_ROW_OF(sum0, sum1, sum2, sum3, w, panel0, panel1, panel2, panel3) \
  "vfma.f32 " #sum0 ", " #w ", " #panel0                                            \
  "\n\t"                                                                            \
  "vfma.f32 " #sum1 ", " #w ", " #panel1                                            \
  "\n\t"                                                                            \
  "vfma.f32 " #sum2 ", " #w ", " #panel2                                            \
  "\n\t"                                                                            \
  "vfma.f32 " #sum3 ", " #w ", " #panel3 "\n\t"
#define LADON_VFP_ROW(...) LADON_VFP_ROW_OF(__VA_ARGS__)
#define LADON_VFP_ROW_0(w, panel) LADON_VFP_ROW(s0, s1, s2, s3, w, panel)
#define LADON_VFP_ROW_1(w, panel) LADON_VFP_ROW(s4, s5, s6, s7, w, panel)
#define LADON_VFP_ROW_2(w, panel) LADON_VFP_ROW(s8, s9, s10, s11, w, panel)
#define LADON_VFP_ROW_3(w, panel) LADON_VFP_ROW(s12, s13, s14, s15, w, panel)
// The panel's rows for two steps: THIS are the registers of the first step, NEXT those of the second.
#define LADON_VFP_THIS s16, s17, s18, s19
#define LADON_VFP_NEXT s20, s21, s22, s23
#define LADON_VFP_PANEL "vldmia %[panel]!, {s16-s23}\n\t"

// Two steps for contiguous rows. An argument loads the weights of one row. At least seven multiply-adds stand between
// two uses of a sum, to hide the latency.
#define LADON_VFP_PAIRS(load0, load1, load2, load3)                                                     \
  LADON_VFP_PANEL load0 load1 LADON_VFP_ROW_0(s24, LADON_VFP_THIS) LADON_VFP_ROW_1(s26, LADON_VFP_THIS) \
      load2 LADON_VFP_ROW_0(s25, LADON_VFP_NEXT) LADON_VFP_ROW_1(s27, LADON_VFP_NEXT)                   \
          load3 LADON_VFP_ROW_2(s28, LADON_VFP_THIS) LADON_VFP_ROW_3(s30, LADON_VFP_THIS)               \
              LADON_VFP_ROW_2(s29, LADON_VFP_NEXT) LADON_VFP_ROW_3(s31, LADON_VFP_NEXT)

// Two steps for contiguous columns.
#define LADON_VFP_COLUMNS(load)                                                                                      \
  LADON_VFP_PANEL load LADON_VFP_ROW_0(s24, LADON_VFP_THIS) LADON_VFP_ROW_1(s25, LADON_VFP_THIS)                     \
      LADON_VFP_ROW_2(s26, LADON_VFP_THIS) LADON_VFP_ROW_3(s27, LADON_VFP_THIS) LADON_VFP_ROW_0(s28, LADON_VFP_NEXT) \
          LADON_VFP_ROW_1(s29, LADON_VFP_NEXT) LADON_VFP_ROW_2(s30, LADON_VFP_NEXT)                                  \
              LADON_VFP_ROW_3(s31, LADON_VFP_NEXT)

// `a`, `a1`, `a2` and `a3` point to the rows. Contiguous columns are `step` bytes apart.
#define LADON_VFP_ROWS                                                                                           \
  LADON_VFP_PAIRS("vldmia %[a]!, {s24-s25}\n\t", "vldmia %[a1]!, {s26-s27}\n\t", "vldmia %[a2]!, {s28-s29}\n\t", \
                  "vldmia %[a3]!, {s30-s31}\n\t")
#define LADON_VFP_STRIDED \
  LADON_VFP_COLUMNS("vldmia %[a], {s24-s27}\n\tadd %[a], %[step]\n\tvldmia %[a], {s28-s31}\n\tadd %[a], %[step]\n\t")

template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t RowStride, std::size_t InnerStride,
          std::size_t Width>
inline constexpr bool has_loop = std::is_same_v<Pack, vec::ArrayPack<1>> && Rows == 4 && Packs == 4 && Width == 4 &&
                                 (RowStride == 1 || InnerStride == 1);

#if defined(LADON_SMALL)

// All tiles share two functions, which read the sums from memory and write them back.
inline constexpr std::size_t steps = 2;

#define LADON_VFP_LOOP(two_steps, ...)                                                                                 \
  asm volatile(                                                                                                        \
      "vldmia %[sum], {s0-s15}\n"                                                                                      \
      "1:\n\t" two_steps                                                                                               \
      "subs %[pairs], #1\n\t"                                                                                          \
      "bne 1b\n\t"                                                                                                     \
      "vstmia %[sum], {s0-s15}"                                                                                        \
      : [panel] "+r"(panel), [pairs] "+r"(pairs), __VA_ARGS__                                                          \
      : [sum] "r"(sum)                                                                                                 \
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16",   \
        "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31", "cc", \
        "memory")

// sum[r][t] += a(r, k) * panel[4 * k + t] for 2 * pairs values of k, with a(r, k) = a[r * row_stride + k].
// Precondition: pairs > 0.
LADON_NOINLINE inline void along_rows(vec::ArrayPack<1> (&sum)[4][4], std::size_t pairs, const float* a,
                                      std::size_t row_stride, const float* panel) noexcept {
  const float *a1 = a + row_stride, *a2 = a1 + row_stride, *a3 = a2 + row_stride;
  LADON_VFP_LOOP(LADON_VFP_ROWS, [a] "+r"(a), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3));
}
// a(r, k) = a[r + k * inner_stride]
LADON_NOINLINE inline void along_columns(vec::ArrayPack<1> (&sum)[4][4], std::size_t pairs, const float* a,
                                         std::size_t inner_stride, const float* panel) noexcept {
  std::size_t step = inner_stride * sizeof(float);
  LADON_VFP_LOOP(LADON_VFP_STRIDED, [a] "+r"(a), [step] "+r"(step));
}

template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE void accumulate(vec::ArrayPack<1> (&sum)[4][4], std::size_t pairs, const float* a,
                             const float* panel) noexcept {
  if constexpr (RowStride == 1) {
    along_columns(sum, pairs, a, InnerStride, panel);
  } else {
    along_rows(sum, pairs, a, RowStride, panel);
  }
}

#else

inline constexpr std::size_t steps = 4;

// The sums are loaded from `start`: as inputs, they would be another 16 operands, and GCC allows only 30.
#define LADON_VFP_LOOP(four_steps, ...)                                                                                \
  asm("vldmia %[start], {s0-s15}\n"                                                                                    \
      "1:\n\t" four_steps                                                                                              \
      "subs %[fours], #1\n\t"                                                                                          \
      "bne 1b"                                                                                                         \
      : "=t"(s0), "=t"(s1), "=t"(s2), "=t"(s3), "=t"(s4), "=t"(s5), "=t"(s6), "=t"(s7), "=t"(s8), "=t"(s9), "=t"(s10), \
        "=t"(s11), "=t"(s12), "=t"(s13), "=t"(s14), "=t"(s15), [panel] "+r"(panel), [fours] "+r"(fours), __VA_ARGS__   \
      : [start] "r"(start), [step] "rI"(step)                                                                          \
      : "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30",       \
        "s31", "cc", "memory")

// Adds the products for 4 * fours values of k to `sum`. The weight a(r, k) is a[r * RowStride + k % 4 * InnerStride + k
// / 4 * FourStride]. Precondition: fours > 0.
template <std::size_t RowStride, std::size_t InnerStride, std::size_t FourStride = 4 * InnerStride>
LADON_INLINE void accumulate(vec::ArrayPack<1> (&sum)[4][4], std::size_t fours, const float* a,
                             const float* panel) noexcept {
  float start[16];
  LADON_UNROLL
  for (std::size_t i = 0; i < 16; ++i) start[i] = sum[i / 4][i % 4].lane[0];
  register float s0 asm("s0"), s1 asm("s1"), s2 asm("s2"), s3 asm("s3"), s4 asm("s4"), s5 asm("s5"), s6 asm("s6"),
      s7 asm("s7"), s8 asm("s8"), s9 asm("s9"), s10 asm("s10"), s11 asm("s11"), s12 asm("s12"), s13 asm("s13"),
      s14 asm("s14"), s15 asm("s15");
  constexpr std::size_t step = sizeof(float) * (RowStride == 1 ? InnerStride : FourStride);
  if constexpr (RowStride == 1 && InnerStride == 4 && FourStride == 16) {
    LADON_VFP_LOOP(
        LADON_VFP_COLUMNS("vldmia %[a]!, {s24-s31}\n\t") LADON_VFP_COLUMNS("vldmia %[a]!, {s24-s31}\n\t"), [a] "+r"(a));
  } else if constexpr (RowStride == 1 && FourStride == 4 * InnerStride) {
    LADON_VFP_LOOP(LADON_VFP_STRIDED LADON_VFP_STRIDED, [a] "+r"(a));
  } else if constexpr (InnerStride == 1 && FourStride == 4) {
    const float *a1 = a + RowStride, *a2 = a + 2 * RowStride, *a3 = a + 3 * RowStride;
    LADON_VFP_LOOP(LADON_VFP_ROWS LADON_VFP_ROWS, [a] "+r"(a), [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3));
  } else {
    static_assert(RowStride == 4 && InnerStride == 1);
    LADON_VFP_LOOP(LADON_VFP_PAIRS("vldr d12, [%[a]]\n\t", "vldr d13, [%[a], #16]\n\t", "vldr d14, [%[a], #32]\n\t",
                                   "vldr d15, [%[a], #48]\n\t")
                       LADON_VFP_PAIRS("vldr d12, [%[a], #8]\n\t", "vldr d13, [%[a], #24]\n\t",
                                       "vldr d14, [%[a], #40]\n\t", "vldr d15, [%[a], #56]\n\tadd %[a], %[step]\n\t"),
                   [a] "+r"(a));
  }
  const float end[16] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15};
  LADON_UNROLL
  for (std::size_t i = 0; i < 16; ++i) sum[i / 4][i % 4].lane[0] = end[i];
}

#endif

#undef LADON_VFP_LOOP
#undef LADON_VFP_STRIDED
#undef LADON_VFP_ROWS
#undef LADON_VFP_COLUMNS
#undef LADON_VFP_PAIRS
#undef LADON_VFP_PANEL
#undef LADON_VFP_NEXT
#undef LADON_VFP_THIS
#undef LADON_VFP_ROW_3
#undef LADON_VFP_ROW_2
#undef LADON_VFP_ROW_1
#undef LADON_VFP_ROW_0
#undef LADON_VFP_ROW
#undef LADON_VFP_ROW_OF

}  // namespace LADON_NAMESPACE::detail::assembly

#endif
