// SPDX-License-Identifier: Apache-2.0
// The inner loop of the micro-kernel (detail/product/tile.hpp) in assembly. A Cortex-M with an FPU (M4F, M7, M33) has
// tiles of 4 rows and 4 tokens, and Helium has tiles of 2 or 3 rows and 8 tokens. A step is the work for one value of
// the inner index k:
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0, 1, 2 ... in this order
// tile.hpp has the same order, so all loops give equal bits. `has_loop` says whether this file has a loop for a tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/vec/choose.hpp>

#if LADON_HAS_HELIUM
#define LADON_TILE_ASSEMBLY 1
#define LADON_TILE_HELIUM 1
#elif LADON_CORTEX_M_FPU && defined(__ARM_FEATURE_FMA) && !LADON_DETERMINISTIC
#define LADON_TILE_ASSEMBLY 1
#if !defined(LADON_SMALL)
#define LADON_TILE_PANELS 1
#endif
#endif

#if defined(LADON_TILE_HELIUM)

namespace LADON_NAMESPACE::detail::assembly {

// Registers and operands of the loop:
//     q6, q7     one row of the panel
//     s0 - s5    operands for the sums, each in a register of four floats
//     w0 - w5    operands for weights, in general registers
// One instruction loads two weights: if rows are contiguous, of one row for two steps; if columns are contiguous, of
// two rows for one step. Attention of 64 tokens, 128 features and 4 heads takes 0.43 instructions per multiply-add, and
// 0.60 without this loop (g++ 12).

// One step for two or three rows: loads the panel's row, and adds this row times each weight to the sums.
#define LADON_HELIUM_ROW(first, second, w) \
  "vfma.f32 %q[" #first "], q6, %[" #w "]\n\tvfma.f32 %q[" #second "], q7, %[" #w "]\n\t"
#define LADON_HELIUM_STEP_OF_2(w0, w1)                                                              \
  "vldrw.u32 q6, [%[panel]], #16\n\tvldrw.u32 q7, [%[panel]], #16\n\t" LADON_HELIUM_ROW(s0, s1, w0) \
      LADON_HELIUM_ROW(s2, s3, w1)
#define LADON_HELIUM_STEP_OF_3(w0, w1, w2) LADON_HELIUM_STEP_OF_2(w0, w1) LADON_HELIUM_ROW(s4, s5, w2)

// ROWS computes two steps for contiguous rows, and COLUMN one step for contiguous columns. PAIR loads the weights of
// the first two rows and moves the pointer to the next column. A load can move the pointer by at most 1020 bytes.
#define LADON_HELIUM_ROWS_OF_2                                                                          \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" LADON_HELIUM_STEP_OF_2(w0, w1) \
      LADON_HELIUM_STEP_OF_2(w3, w4)
#define LADON_HELIUM_ROWS_OF_3                                           \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" \
  "ldrd %[w2], %[w5], [%[a2]], #8\n\t" LADON_HELIUM_STEP_OF_3(w0, w1, w2) LADON_HELIUM_STEP_OF_3(w3, w4, w5)
#define LADON_HELIUM_PAIR                                                        \
  ".if %c[bytes] <= 1020\n\tldrd %[w0], %[w1], [%[a0]], #%c[bytes]\n\t.else\n\t" \
  "ldrd %[w0], %[w1], [%[a0]]\n\tadd %[a0], %[step]\n\t.endif\n\t"
#define LADON_HELIUM_COLUMN_OF_2 LADON_HELIUM_PAIR LADON_HELIUM_STEP_OF_2(w0, w1)
#define LADON_HELIUM_COLUMN_OF_3 "ldr %[w2], [%[a0], #8]\n\t" LADON_HELIUM_PAIR LADON_HELIUM_STEP_OF_3(w0, w1, w2)
#define LADON_HELIUM_TWICE(steps) steps steps

inline constexpr std::size_t steps = 4;

// The floats that the loop reads. A clobber of all memory would make g++ 12 store the sums before and after the loop.
typedef float AnyFloat __attribute__((may_alias));
#define LADON_HELIUM_FLOATS(pointer) "m"(*reinterpret_cast<const AnyFloat(*)[]>(pointer))

#define LADON_HELIUM_LOOP(four_steps, step_operands, ...)                                      \
  asm("dls lr, %[fours]\n1:\n\t" four_steps "le lr, 1b"                                        \
      : [panel] "+r"(panel), [a0] "+r"(a0), [w0] "=&r"(w0), [w1] "=&r"(w1), __VA_ARGS__        \
      : [fours] "r"(fours), step_operands, LADON_HELIUM_FLOATS(panel), LADON_HELIUM_FLOATS(a0) \
      : "q6", "q7", "lr")
#define LADON_HELIUM_STEP [bytes] "n"(bytes), [step] "r"(step)
#define LADON_HELIUM_SUMS_OF_2 \
  [s0] "+w"(s[0][0].vector), [s1] "+w"(s[0][1].vector), [s2] "+w"(s[1][0].vector), [s3] "+w"(s[1][1].vector)
#define LADON_HELIUM_SUMS_OF_3 LADON_HELIUM_SUMS_OF_2, [s4] "+w"(s[2][0].vector), [s5] "+w"(s[2][1].vector)

template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t RowStride, std::size_t InnerStride,
          std::size_t Width>
inline constexpr bool has_loop = std::is_same_v<Pack, vec::HeliumPack> && (Rows == 2 || Rows == 3) && Packs == 2 &&
                                 Width == 8 && (RowStride == 1 || InnerStride == 1);

// Adds the products of 4 * `fours` steps to the sums `s`. Precondition: fours > 0. Rows of the panel have 8 floats.
//     a(r, k) = a0[r * RowStride + k * InnerStride]
template <std::size_t RowStride, std::size_t InnerStride, std::size_t Rows>
LADON_INLINE void accumulate(vec::HeliumPack (&s)[Rows][2], std::size_t fours, const float* a0,
                             const float* panel) noexcept {
  constexpr std::size_t bytes = InnerStride * sizeof(float);
  std::uint32_t w0, w1;
  if constexpr (InnerStride == 1) {
    const float* a1 = a0 + RowStride;
    std::uint32_t w3, w4;
    if constexpr (Rows == 3) {
      const float* a2 = a1 + RowStride;
      std::uint32_t w2, w5;
      LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_ROWS_OF_3), [step] "n"(bytes), LADON_HELIUM_SUMS_OF_3,
                        [a1] "+r"(a1), [a2] "+r"(a2), [w2] "=&r"(w2), [w3] "=&r"(w3), [w4] "=&r"(w4), [w5] "=&r"(w5));
    } else {
      LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_ROWS_OF_2), [step] "n"(bytes),
                        LADON_HELIUM_SUMS_OF_2, [a1] "+r"(a1), [w3] "=&r"(w3), [w4] "=&r"(w4));
    }
  } else {
    // Up to 1020 bytes, the loop takes `bytes` as an immediate. `step` is then unused, so it shares a register with
    // `fours`.
    const std::size_t step = bytes <= 1020 ? fours : bytes;
    if constexpr (Rows == 3) {
      std::uint32_t w2;
      LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_3)), LADON_HELIUM_STEP,
                        LADON_HELIUM_SUMS_OF_3, [w2] "=&r"(w2));
    } else {
      LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_2)), LADON_HELIUM_STEP,
                        LADON_HELIUM_SUMS_OF_2);
    }
  }
}

}  // namespace LADON_NAMESPACE::detail::assembly

#elif defined(LADON_TILE_ASSEMBLY)

namespace LADON_NAMESPACE::detail::assembly {

// Registers of the loop:
//     s0 - s15   the sums, row by row
//     s16 - s23  the panel's rows for two steps
//     s24 - s31  the weights for these two steps
// 32 multiply-adds take 2 to 5 loads of several registers; g++ 12 takes 16 loads of single registers.
#define LADON_VFP_ROW(sum0, sum1, sum2, sum3, w, panel0, panel1, panel2, panel3)    \
  "vfma.f32 " #sum0 ", " #w ", " #panel0 "\n\tvfma.f32 " #sum1 ", " #w ", " #panel1 \
  "\n\t"                                                                            \
  "vfma.f32 " #sum2 ", " #w ", " #panel2 "\n\tvfma.f32 " #sum3 ", " #w ", " #panel3 "\n\t"
// Add a weight times the panel's row of the first or second step to the sums of a row.
#define LADON_VFP_FIRST(w, sum0, sum1, sum2, sum3) LADON_VFP_ROW(sum0, sum1, sum2, sum3, w, s16, s17, s18, s19)
#define LADON_VFP_SECOND(w, sum0, sum1, sum2, sum3) LADON_VFP_ROW(sum0, sum1, sum2, sum3, w, s20, s21, s22, s23)
#define LADON_VFP_PANEL "vldmia %[panel]!, {s16-s23}\n\t"

// Two steps for contiguous rows. Each argument loads the weights of one row. At least seven multiply-adds stand between
// two uses of a sum, to hide the latency.
#define LADON_VFP_PAIRS(load0, load1, load2, load3)                                                     \
  LADON_VFP_PANEL load0 load1 LADON_VFP_FIRST(s24, s0, s1, s2, s3) LADON_VFP_FIRST(s26, s4, s5, s6, s7) \
      load2 LADON_VFP_SECOND(s25, s0, s1, s2, s3) LADON_VFP_SECOND(s27, s4, s5, s6, s7)                 \
          load3 LADON_VFP_FIRST(s28, s8, s9, s10, s11) LADON_VFP_FIRST(s30, s12, s13, s14, s15)         \
              LADON_VFP_SECOND(s29, s8, s9, s10, s11) LADON_VFP_SECOND(s31, s12, s13, s14, s15)

// Two steps for contiguous columns.
#define LADON_VFP_COLUMNS(load)                                                                  \
  LADON_VFP_PANEL load LADON_VFP_FIRST(s24, s0, s1, s2, s3) LADON_VFP_FIRST(s25, s4, s5, s6, s7) \
      LADON_VFP_FIRST(s26, s8, s9, s10, s11) LADON_VFP_FIRST(s27, s12, s13, s14, s15)            \
          LADON_VFP_SECOND(s28, s0, s1, s2, s3) LADON_VFP_SECOND(s29, s4, s5, s6, s7)            \
              LADON_VFP_SECOND(s30, s8, s9, s10, s11) LADON_VFP_SECOND(s31, s12, s13, s14, s15)

// `a`, `a1`, `a2` and `a3` point to the rows. Columns begin `step` bytes apart.
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
// Like along_rows, with a(r, k) = a[r + k * inner_stride].
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

// Adds the products of 4 * `fours` steps to `sum`. Precondition: fours > 0.
//     a(r, k) = a[r * RowStride + k % 4 * InnerStride + k / 4 * FourStride]
template <std::size_t RowStride, std::size_t InnerStride, std::size_t FourStride = 4 * InnerStride>
LADON_INLINE void accumulate(vec::ArrayPack<1> (&sum)[4][4], std::size_t fours, const float* a,
                             const float* panel) noexcept {
  float start[16];
  LADON_UNROLLED_FOR(i, 16) start[i] = sum[i / 4][i % 4].lane[0];
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
  LADON_UNROLLED_FOR(i, 16) sum[i / 4][i % 4].lane[0] = end[i];
}

#endif

}  // namespace LADON_NAMESPACE::detail::assembly

#endif
