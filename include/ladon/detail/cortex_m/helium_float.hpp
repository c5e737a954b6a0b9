// SPDX-License-Identifier: Apache-2.0
// The inner loop of the micro-kernel (detail/product/tile.hpp) for Helium, in assembly: two or three rows of weights
// and two packs of tokens. A step is the work for one value of the inner index k:
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0 .. 4 * fours - 1, in this order
// The order is that of tile.hpp, so both loops give equal bits. q6 and q7 hold one row of the panel, six (or four)
// other registers the sums, and w0 - w5 weights, in general registers.
//
// One instruction loads two weights: of one row for two steps, or, if the columns are contiguous, of two rows for one
// step. Attention (64,128,4) takes 0.43 instructions per multiply-add; without this file 0.60 (g++ 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/vec/choose.hpp>

#if LADON_HAS_HELIUM
#define LADON_TILE_ASSEMBLY 1
#define LADON_TILE_HELIUM 1
#endif

#if defined(LADON_TILE_HELIUM)

namespace LADON_NAMESPACE::detail::assembly {

// One step for two or three rows: loads the panel's row, and adds each weight times this row to the sums.
#define LADON_HELIUM_ROW(first, second, w) \
  "vfma.f32 %q[" #first "], q6, %[" #w "]\n\tvfma.f32 %q[" #second "], q7, %[" #w "]\n\t"
#define LADON_HELIUM_STEP_OF_2(w0, w1)                                                              \
  "vldrw.u32 q6, [%[panel]], #16\n\tvldrw.u32 q7, [%[panel]], #16\n\t" LADON_HELIUM_ROW(s0, s1, w0) \
      LADON_HELIUM_ROW(s2, s3, w1)
#define LADON_HELIUM_STEP_OF_3(w0, w1, w2) LADON_HELIUM_STEP_OF_2(w0, w1) LADON_HELIUM_ROW(s4, s5, w2)

// ROWS computes two steps for contiguous rows, COLUMN one step for contiguous columns. PAIR loads the weights of the
// first two rows and moves the pointer `step` bytes to the next column: at most 1020 bytes in the load (SHORT_STEP).
#define LADON_HELIUM_ROWS_OF_2                                                                          \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" LADON_HELIUM_STEP_OF_2(w0, w1) \
      LADON_HELIUM_STEP_OF_2(w3, w4)
#define LADON_HELIUM_ROWS_OF_3                                           \
  "ldrd %[w0], %[w3], [%[a0]], #8\n\tldrd %[w1], %[w4], [%[a1]], #8\n\t" \
  "ldrd %[w2], %[w5], [%[a2]], #8\n\t" LADON_HELIUM_STEP_OF_3(w0, w1, w2) LADON_HELIUM_STEP_OF_3(w3, w4, w5)
#define LADON_HELIUM_COLUMN_OF_2(pair) pair LADON_HELIUM_STEP_OF_2(w0, w1)
#define LADON_HELIUM_COLUMN_OF_3(pair) "ldr %[w2], [%[a0], #8]\n\t" pair LADON_HELIUM_STEP_OF_3(w0, w1, w2)
#define LADON_HELIUM_PAIR_SHORT_STEP "ldrd %[w0], %[w1], [%[a0]], %[step]\n\t"
#define LADON_HELIUM_PAIR_LONG_STEP "ldrd %[w0], %[w1], [%[a0]]\n\tadd %[a0], %[step]\n\t"
#define LADON_HELIUM_TWICE(steps) steps steps

inline constexpr std::size_t steps = 4;

// The floats that the assembly reads. With a clobber of all memory, g++ 12 would store the sums before and after the
// loop.
typedef float AnyFloat __attribute__((may_alias));
#define LADON_HELIUM_FLOATS(pointer) "m"(*reinterpret_cast<const AnyFloat(*)[]>(pointer))

#define LADON_HELIUM_LOOP(four_steps, step_operand, ...)                                                   \
  asm("dls lr, %[fours]\n1:\n\t" four_steps "le lr, 1b"                                                    \
      : [panel] "+r"(panel), [a0] "+r"(a0), [w0] "=&r"(w0), [w1] "=&r"(w1), __VA_ARGS__                    \
      : [fours] "r"(fours), [step] step_operand(step), LADON_HELIUM_FLOATS(panel), LADON_HELIUM_FLOATS(a0) \
      : "q6", "q7", "lr")
#define LADON_HELIUM_SUMS_OF_2 \
  [s0] "+w"(s[0][0].vector), [s1] "+w"(s[0][1].vector), [s2] "+w"(s[1][0].vector), [s3] "+w"(s[1][1].vector)
#define LADON_HELIUM_SUMS_OF_3 LADON_HELIUM_SUMS_OF_2, [s4] "+w"(s[2][0].vector), [s5] "+w"(s[2][1].vector)

template <class Pack, std::size_t Rows, std::size_t Packs, std::size_t RowStride, std::size_t InnerStride,
          std::size_t Width>
inline constexpr bool has_loop = std::is_same_v<Pack, vec::HeliumPack> && (Rows == 2 || Rows == 3) && Packs == 2 &&
                                 Width == 8 && (RowStride == 1 || InnerStride == 1);

// Adds the products of 4 * fours steps to the sums. The weight a(r, k) is a0[r * RowStride + k * InnerStride]. The rows
// of the panel have 8 floats. Precondition: fours > 0.
template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE void accumulate(vec::HeliumPack (&s)[3][2], std::size_t fours, const float* a0,
                             const float* panel) noexcept {
  constexpr std::size_t step = InnerStride * sizeof(float);
  std::uint32_t w0, w1, w2;
  if constexpr (InnerStride == 1) {
    const float *a1 = a0 + RowStride, *a2 = a1 + RowStride;
    std::uint32_t w3, w4, w5;
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_ROWS_OF_3), "n", LADON_HELIUM_SUMS_OF_3, [a1] "+r"(a1),
                      [a2] "+r"(a2), [w2] "=&r"(w2), [w3] "=&r"(w3), [w4] "=&r"(w4), [w5] "=&r"(w5));
  } else if constexpr (step <= 1020) {
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_3(LADON_HELIUM_PAIR_SHORT_STEP))),
                      "n", LADON_HELIUM_SUMS_OF_3, [w2] "=&r"(w2));
  } else {
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_3(LADON_HELIUM_PAIR_LONG_STEP))),
                      "r", LADON_HELIUM_SUMS_OF_3, [w2] "=&r"(w2));
  }
}

template <std::size_t RowStride, std::size_t InnerStride>
LADON_INLINE void accumulate(vec::HeliumPack (&s)[2][2], std::size_t fours, const float* a0,
                             const float* panel) noexcept {
  constexpr std::size_t step = InnerStride * sizeof(float);
  std::uint32_t w0, w1;
  if constexpr (InnerStride == 1) {
    const float* a1 = a0 + RowStride;
    std::uint32_t w3, w4;
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_ROWS_OF_2), "n",
                      LADON_HELIUM_SUMS_OF_2, [a1] "+r"(a1), [w3] "=&r"(w3), [w4] "=&r"(w4));
  } else if constexpr (step <= 1020) {
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_2(LADON_HELIUM_PAIR_SHORT_STEP))),
                      "n", LADON_HELIUM_SUMS_OF_2);
  } else {
    LADON_HELIUM_LOOP(LADON_HELIUM_TWICE(LADON_HELIUM_TWICE(LADON_HELIUM_COLUMN_OF_2(LADON_HELIUM_PAIR_LONG_STEP))),
                      "r", LADON_HELIUM_SUMS_OF_2);
  }
}

#undef LADON_HELIUM_SUMS_OF_3
#undef LADON_HELIUM_SUMS_OF_2
#undef LADON_HELIUM_LOOP
#undef LADON_HELIUM_FLOATS
#undef LADON_HELIUM_TWICE
#undef LADON_HELIUM_PAIR_LONG_STEP
#undef LADON_HELIUM_PAIR_SHORT_STEP
#undef LADON_HELIUM_COLUMN_OF_3
#undef LADON_HELIUM_COLUMN_OF_2
#undef LADON_HELIUM_ROWS_OF_3
#undef LADON_HELIUM_ROWS_OF_2
#undef LADON_HELIUM_STEP_OF_3
#undef LADON_HELIUM_STEP_OF_2
#undef LADON_HELIUM_ROW

}  // namespace LADON_NAMESPACE::detail::assembly

#endif
