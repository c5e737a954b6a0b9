// The inner loop of a tile of 3 x 2 or 2 x 2 packs in Helium's eight vector registers, in assembly.
//
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0 .. 4 * fours - 1, in this order: the bits are those of tile.hpp
//
// Six sums, two packs of the panel; weights are multiplied from general registers, loaded in pairs: of two steps where
// they lie along a row, of two rows where they lie along a column. g++ 12 loads them one by one, through the registers
// of the FPU at times: 0.60 instructions a multiply-add of the product at (64,128,4), and 0.43 here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/simd/vectors.hpp>

#if LADON_HAS_HELIUM
#define LADON_TILE_ASSEMBLY 1
#define LADON_TILE_MVE 1
#endif

#if defined(LADON_TILE_MVE)

namespace ladon::inline LADON_ABI::detail::assembly {

// One step, from the general registers that hold its weights.
#define LADON_MVE_ROW(first, second, w) \
  "vfma.f32 %q[" #first "], q6, %[" #w "]\n\tvfma.f32 %q[" #second "], q7, %[" #w "]\n\t"
#define LADON_MVE_STEP_OF_2(w0, w1)                                                              \
  "vldrw.u32 q6, [%[panel]], #16\n\tvldrw.u32 q7, [%[panel]], #16\n\t" LADON_MVE_ROW(s0, s1, w0) \
      LADON_MVE_ROW(s2, s3, w1)
#define LADON_MVE_STEP_OF_3(w0, w1, w2) LADON_MVE_STEP_OF_2(w0, w1) LADON_MVE_ROW(s4, s5, w2)

// Four steps, made of two or of one.
#define LADON_MVE_ROWS_OF_2                                                                          \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" LADON_MVE_STEP_OF_2(w0, w1) \
      LADON_MVE_STEP_OF_2(w3, w4)
#define LADON_MVE_ROWS_OF_3                                              \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" \
  "ldrd %[w2], %[w5], [%[a2]], #8\n\t" LADON_MVE_STEP_OF_3(w0, w1, w2) LADON_MVE_STEP_OF_3(w3, w4, w5)
#define LADON_MVE_COLUMN_OF_2(pair) pair LADON_MVE_STEP_OF_2(w0, w1)
#define LADON_MVE_COLUMN_OF_3(pair) "ldr %[w2], [%[a0], #8]\n\t" pair LADON_MVE_STEP_OF_3(w0, w1, w2)
#define LADON_MVE_NEAR "ldrd %[w0], %[w1], [%[a0]], %[step]\n\t"
#define LADON_MVE_FAR "ldrd %[w0], %[w1], [%[a0]]\n\tadd %[a0], %[step]\n\t"
#define LADON_MVE_TWICE(steps) steps steps

inline constexpr std::size_t steps = 4;

#define LADON_MVE_LOOP(four_steps, step_operand, ...)                                   \
  asm("dls lr, %[fours]\n1:\n\t" four_steps "le lr, 1b"                                 \
      : [panel] "+r"(panel), [a0] "+r"(a0), [w0] "=&r"(w0), [w1] "=&r"(w1), __VA_ARGS__ \
      : [fours] "r"(fours), [step] step_operand(step)                                   \
      : "q6", "q7", "lr", "memory")
#define LADON_MVE_SUMS_OF_2 \
  [s0] "+w"(s[0][0].vector), [s1] "+w"(s[0][1].vector), [s2] "+w"(s[1][0].vector), [s3] "+w"(s[1][1].vector)
#define LADON_MVE_SUMS_OF_3 LADON_MVE_SUMS_OF_2, [s4] "+w"(s[2][0].vector), [s5] "+w"(s[2][1].vector)

// Of which tiles and weights there is a loop.
template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t RowStride, std::size_t InnerStride,
          std::size_t Width>
inline constexpr bool has_loop = std::is_same_v<Pack, simd::MvePack> && (Rows == 2 || Rows == 3) && Packs == 2 &&
                                 Width == 8 && (RowStride == 1 || InnerStride == 1);

template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE void accumulate(simd::MvePack (&s)[3][2], std::size_t fours, const float* a0,
                             const float* panel) noexcept {
  constexpr std::size_t step = InnerStride * sizeof(float);
  std::uint32_t w0, w1, w2;
  if constexpr (InnerStride == 1) {
    const float *a1 = a0 + RowStride, *a2 = a1 + RowStride;
    std::uint32_t w3, w4, w5;
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_ROWS_OF_3), "n", LADON_MVE_SUMS_OF_3, [a1] "+r"(a1), [a2] "+r"(a2),
                   [w2] "=&r"(w2), [w3] "=&r"(w3), [w4] "=&r"(w4), [w5] "=&r"(w5));
  } else if constexpr (step <= 1020) {
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_TWICE(LADON_MVE_COLUMN_OF_3(LADON_MVE_NEAR))), "n",
                   LADON_MVE_SUMS_OF_3, [w2] "=&r"(w2));
  } else {
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_TWICE(LADON_MVE_COLUMN_OF_3(LADON_MVE_FAR))), "r",
                   LADON_MVE_SUMS_OF_3, [w2] "=&r"(w2));
  }
}

template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE void accumulate(simd::MvePack (&s)[2][2], std::size_t fours, const float* a0,
                             const float* panel) noexcept {
  constexpr std::size_t step = InnerStride * sizeof(float);
  std::uint32_t w0, w1;
  if constexpr (InnerStride == 1) {
    const float* a1 = a0 + RowStride;
    std::uint32_t w3, w4;
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_ROWS_OF_2), "n",
                   LADON_MVE_SUMS_OF_2, [a1] "+r"(a1), [w3] "=&r"(w3), [w4] "=&r"(w4));
  } else if constexpr (step <= 1020) {
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_TWICE(LADON_MVE_COLUMN_OF_2(LADON_MVE_NEAR))), "n", LADON_MVE_SUMS_OF_2);
  } else {
    LADON_MVE_LOOP(LADON_MVE_TWICE(LADON_MVE_TWICE(LADON_MVE_COLUMN_OF_2(LADON_MVE_FAR))), "r", LADON_MVE_SUMS_OF_2);
  }
}

#undef LADON_MVE_SUMS_OF_3
#undef LADON_MVE_SUMS_OF_2
#undef LADON_MVE_LOOP
#undef LADON_MVE_TWICE
#undef LADON_MVE_FAR
#undef LADON_MVE_NEAR
#undef LADON_MVE_COLUMN_OF_3
#undef LADON_MVE_COLUMN_OF_2
#undef LADON_MVE_ROWS_OF_3
#undef LADON_MVE_ROWS_OF_2
#undef LADON_MVE_STEP_OF_3
#undef LADON_MVE_STEP_OF_2
#undef LADON_MVE_ROW

}  // namespace ladon::inline LADON_ABI::detail::assembly

#endif
