// SPDX-License-Identifier: Apache-2.0
// Int8 products with one lane and features of 16 bits: Cortex-M3, M4, M7 and M33, RISC-V, and scalar WebAssembly.
//
// A panel holds quantised features q (detail/panel/int8_panels.hpp) in pairs [pairs][width][2]: features in order, and
// 0 if a feature is missing. SMLAD of the DSP extension multiplies two pairs of 16-bit integers and adds both products
// to a sum. SXTB16 extends weights 0 and 2 of four weights to 16 bits, or, with a rotation by 8, weights 1 and 3. With
// DSP, the features of a panel therefore have this order:
//     quads   [features / 4][2][width][2]   pair j of quad i holds features 4 i + j and 4 i + j + 2
//     rest    [pairs][width][2]
//
// Without DSP, the loop reads each weight and each feature as an integer. TupleDot (detail/vec/dot.hpp) would join two
// weights, and separate them again for each token.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/array.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace LADON_NAMESPACE::detail::cortex_m::one_lane {

// For each of four tokens: 1 / scale, and `limit`, which has 32767 - (the token's largest q) in both halves of a word.
// Adding `limit` with saturation, and subtracting it again, limits q.
struct Quantisation {
  float reciprocal[4];
  float rounding = vec::round_to_low_bits;
  std::uint32_t limit[4];
};

#if LADON_CORTEX_M_FPU
// The FPU loads the integer from memory, which saves a general register.
LADON_INLINE float to_float(const std::int32_t& integer) noexcept {
  float result;
  asm("vldr %0, %1\n\tvcvt.f32.s32 %0, %0" : "=t"(result) : "Uv"(integer));
  return result;
}
#else
LADON_INLINE float to_float(std::int32_t integer) noexcept { return static_cast<float>(integer); }
#endif

// Converts all sums to floats before the epilogue stores, because for the compiler, a store might change the scales.
template <class P, std::size_t R, class In>
LADON_INLINE void finish(const auto& w, std::size_t first_row, In in, std::size_t panel,
                         const std::int32_t (*sums)[P::width], auto epilogue) noexcept {
  using Pack = vec::ArrayPack<1>;
  const float* const token_scale = in.template scale<P::width>(panel);
  const auto bias = w.bias.from(first_row);
  Pack result[R][P::packs];
  LADON_UNROLLED_FOR(r, R) {
    LADON_UNROLLED_FOR(t, P::packs) {
      const Pack scale = Pack::broadcast(token_scale[t]) * Pack::broadcast(w.scale[first_row + r]);
      result[r][t] = fma(Pack::broadcast(to_float(sums[r][t])), scale, Pack::broadcast(bias[r]));
    }
  }
  LADON_UNROLLED_FOR(r, R) {
    LADON_UNROLLED_FOR(t, P::packs) epilogue(panel, first_row + r, t, result[r][t]);
  }
}

#if LADON_DSP
// Returns weights First and First + 2 of four.
template <int First>
LADON_INLINE std::uint32_t every_other_weight(std::uint32_t four) noexcept {
  std::uint32_t pair;
  asm("sxtb16 %0, %1, ror %2" : "=r"(pair) : "r"(four), "n"(8 * First));
  return pair;
}
// sum + a[0] * b[0] + a[1] * b[1]
LADON_INLINE std::int32_t add_pair(std::uint32_t a, std::uint32_t b, std::int32_t sum) noexcept {
  asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}
template <class P, std::size_t R, std::size_t RowStride>
LADON_INLINE void add_quad(const std::int8_t* rows, const std::int16_t* x, std::int32_t (&sums)[R][P::width]) noexcept {
  LADON_UNROLLED_FOR(r, R) {
    const std::uint32_t four = load_as<std::uint32_t>(rows + r * RowStride);
    const std::uint32_t even = every_other_weight<0>(four), odd = every_other_weight<1>(four);
    LADON_UNROLLED_FOR(t, P::packs) {
      sums[r][t] = add_pair(load_as<std::uint32_t>(x + 2 * t), even, sums[r][t]);
      sums[r][t] = add_pair(load_as<std::uint32_t>(x + 2 * (P::width + t)), odd, sums[r][t]);
    }
  }
}

// For each of two tokens, packs two features (the low 16 bits of FPU registers) into a general register.
// Adding `limit` with saturation, and subtracting it, limits each integer to the largest q.
#define LADON_DSP_PACK_2(to0, to1, low, high, limit0, limit1)                     \
  "vmov " #to0 ", " #to1 ", " low "\n\tvmov r3, r8, " high                        \
  "\n\t"                                                                          \
  "pkhbt " #to0 ", " #to0 ", r3, lsl #16\n\tpkhbt " #to1 ", " #to1                \
  ", r8, lsl #16\n\t"                                                             \
  "qadd16 " #to0 ", " #to0 ", " #limit0 "\n\tqadd16 " #to1 ", " #to1 ", " #limit1 \
  "\n\t"                                                                          \
  "ssub16 " #to0 ", " #to0 ", " #limit0 "\n\tssub16 " #to1 ", " #to1 ", " #limit1 "\n\t"

// Quantises the first 4 * `quads` features of four tokens. Precondition: quads > 0. Registers of the loop:
//     s0 - s15   four consecutive features of each token
//     r4 - r7    a pair of quantised features of each token
//     r9 - r12   the limits
LADON_NOINLINE inline void quantise_quads(const float* panel, std::size_t quads, const Quantisation& how,
                                          std::int16_t* pairs) noexcept {
  register const float* from asm("r0") = panel;
  register std::int16_t* to asm("r1") = pairs;
  register const float* end asm("r2") = panel + 16 * quads;
  register const Quantisation* quantisation asm("r3") = &how;
  asm volatile(
      "push {r4-r11, lr}\n\t"
      "vldmia r3!, {s16-s20}\n\t"
      "ldmia r3, {r9-r12}\n"
      "1:\n\t"
      "vldmia r0!, {s0-s15}\n\t"
      ".irp i, 0, 4, 8, 12\n\tvmul.f32 s\\i, s\\i, s16\n\t.endr\n\t"
      ".irp i, 1, 5, 9, 13\n\tvmul.f32 s\\i, s\\i, s17\n\t.endr\n\t"
      ".irp i, 2, 6, 10, 14\n\tvmul.f32 s\\i, s\\i, s18\n\t.endr\n\t"
      ".irp i, 3, 7, 11, 15\n\tvmul.f32 s\\i, s\\i, s19\n\t.endr\n\t"
      ".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\tvadd.f32 s\\i, s\\i, s20\n\t.endr\n\t"
      LADON_DSP_PACK_2(r4, r5, "s0, s1", "s8, s9", r9, r10) LADON_DSP_PACK_2(r6, r7, "s2, s3", "s10, s11", r11, r12)
      "stmia r1!, {r4-r7}\n\t"
      LADON_DSP_PACK_2(r4, r5, "s4, s5", "s12, s13", r9, r10) LADON_DSP_PACK_2(r6, r7, "s6, s7", "s14, s15", r11, r12)
      "stmia r1!, {r4-r7}\n\t"
      "cmp r0, r2\n\t"
      "bne 1b\n\t"
      "pop {r4-r11, lr}"
      : "+r"(from), "+r"(to), "+r"(end), "+r"(quantisation)
      :
      : "r12", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
        "s16", "s17", "s18", "s19", "s20", "cc", "memory");
}

// Converts the weights of two rows to 16 bits: pairs [pairs][2 rows]. The rows need no alignment.
LADON_NOINLINE inline void convert_2_rows(const std::int8_t* row0, const std::int8_t* row1, std::size_t features,
                                          std::uint32_t (*pairs)[2]) noexcept {
  std::size_t i = 0;
#pragma GCC unroll 2
  for (; i + 4 <= features; i += 4) {
    asm volatile(
        "ldr r4, [%[row0]], #4\n\t"
        "ldr r5, [%[row1]], #4\n\t"
        "sxtb16 r0, r4\n\t"
        "sxtb16 r1, r5\n\t"
        "sxtb16 r4, r4, ror #8\n\t"
        "sxtb16 r5, r5, ror #8\n\t"
        "stmia %[pairs]!, {r0, r1, r4, r5}"
        : [row0] "+r"(row0), [row1] "+r"(row1), [pairs] "+r"(pairs)
        :
        : "r0", "r1", "r4", "r5", "memory");
  }
  for (; i < features; i += 2, row0 += 2, row1 += 2, ++pairs) {
    const std::size_t count = features - i < 2 ? 1 : 2;
    pairs[0][0] = static_cast<std::uint32_t>(vec::tuple_of<2>(row0, count));
    pairs[0][1] = static_cast<std::uint32_t>(vec::tuple_of<2>(row1, count));
  }
}

// For two rows and four tokens, computes sums. If First is false, adds to `sums`:
//     sums[r][t] = sum over p < pairs of (x[p][t][0] * weights[p][r][0] + x[p][t][1] * weights[p][r][1])
// Registers of the loop:
//     r4 - r11   the sums
//     r12, lr    a pair of weights of each row
//     r0, r3     a pair of features of two tokens
//     stack      the ends of both loops (eight pairs at a time, then the rest)
template <bool First>
LADON_NOINLINE void sums_of_2x4(const std::int16_t* x, const std::uint32_t (*weights)[2], std::size_t pairs,
                                std::int32_t (&sums)[2][4]) noexcept {
#define LADON_DSP_PAIR                                                                                 \
  "ldrd r12, lr, [r2], #8\n\tldrd r0, r3, [r1], #8\n\t"                                                \
  "smlad r4, r0, r12, r4\n\tsmlad r5, r3, r12, r5\n\tsmlad r8, r0, lr, r8\n\tsmlad r9, r3, lr, r9\n\t" \
  "ldrd r0, r3, [r1], #8\n\t"                                                                          \
  "smlad r6, r0, r12, r6\n\tsmlad r7, r3, r12, r7\n\tsmlad r10, r0, lr, r10\n\tsmlad r11, r3, lr, r11\n\t"
#define LADON_DSP_4_PAIRS LADON_DSP_PAIR LADON_DSP_PAIR LADON_DSP_PAIR LADON_DSP_PAIR
  register std::int32_t* to asm("r0") = sums[0];
  register const std::int16_t* features asm("r1") = x;
  register const std::uint32_t(*pair)[2] asm("r2") = weights;
  register const std::uint32_t(*end_of_eights)[2] asm("r3") = weights + pairs / 8 * 8;
  register const std::uint32_t(*end)[2] asm("r12") = weights + pairs;
  asm volatile(
      "push {r0, r4-r11, lr}\n\t"
      "push {r3, r12}\n\t"
      ".if %c[first]\n\t"
      "mov r4, #0\n\tmov r5, #0\n\tmov r6, #0\n\tmov r7, #0\n\t"
      "mov r8, #0\n\tmov r9, #0\n\tmov r10, #0\n\tmov r11, #0\n\t"
      ".else\n\t"
      "ldm r0, {r4-r11}\n\t"
      ".endif\n\t"
      "cmp r2, r3\n\t"
      "beq 2f\n"
      "1:\n\t" LADON_DSP_4_PAIRS LADON_DSP_4_PAIRS
      "ldr r0, [sp]\n\t"
      "cmp r2, r0\n\t"
      "bne 1b\n"
      "2:\n\t"
      "ldr r0, [sp, #4]\n\t"
      "cmp r2, r0\n\t"
      "beq 4f\n"
      "3:\n\t" LADON_DSP_PAIR
      "ldr r0, [sp, #4]\n\t"
      "cmp r2, r0\n\t"
      "bne 3b\n"
      "4:\n\t"
      "ldr r0, [sp, #8]\n\t"
      "stm r0, {r4-r11}\n\t"
      "add sp, #12\n\t"
      "pop {r4-r11, lr}"
      : "+r"(to), "+r"(features), "+r"(pair), "+r"(end_of_eights), "+r"(end)
      : [first] "n"(First)
      : "cc", "memory");
}

// The converted weights take 2 KB of the stack. Rows of more features are converted again for each panel: 0.25 more
// instructions per multiply-add.
inline constexpr std::size_t most_converted_features = 512;

template <class P, std::size_t R>
LADON_INLINE void tile_of_4_tokens(const auto& w, std::size_t first_row, auto in, std::size_t panels,
                                   auto epilogue) noexcept {
  constexpr std::size_t stride = decltype(w.weight)::row_stride;
  constexpr std::size_t block = P::inner < most_converted_features ? P::inner : most_converted_features;
  std::uint32_t weights[(block + 1) / 2][2];
  const std::int8_t* const rows = w.weight.rows_from(first_row).data;
  // A tile of one row computes this row twice.
  const std::int8_t* const second = rows + (R - 1) * stride;
  if constexpr (block == P::inner) convert_2_rows(rows, second, P::inner, weights);
  for (std::size_t p = 0; p < panels; ++p) {
    const std::int16_t* const x = in.data + p * in.stride;
    std::int32_t sums[2][4];
    for (std::size_t i = 0; i < P::inner; i += block) {
      const std::size_t features = P::inner - i < block ? P::inner - i : block;
      if constexpr (block < P::inner) convert_2_rows(rows + i, second + i, features, weights);
      i == 0 ? sums_of_2x4<true>(x, weights, (features + 1) / 2, sums)
             : sums_of_2x4<false>(x + 4 * i, weights, (features + 1) / 2, sums);
    }
    finish<P, R>(w, first_row, in, p, sums, epilogue);
  }
}

#endif

template <class P, std::size_t Features, std::size_t R, std::size_t RowStride>
LADON_INLINE void add_features(const std::int8_t* rows, const auto* x, std::int32_t (&sums)[R][P::width]) noexcept {
  LADON_UNROLLED_FOR(j, Features) {
    LADON_UNROLLED_FOR(r, R) {
      const std::int32_t weight{rows[r * RowStride + j]};
      LADON_UNROLLED_FOR(t, P::packs) sums[r][t] = vec::wrapping_sum(sums[r][t], x[2 * t + j] * weight);
    }
  }
}

template <class P, std::size_t R, std::size_t RowStride>
LADON_INLINE void add_products(const std::int8_t* rows, const auto* x, std::int32_t (&sums)[R][P::width]) noexcept {
  constexpr std::size_t in_quads = LADON_DSP ? P::inner / 4 * 4 : 0;
#if LADON_DSP
  for (std::size_t i = 0; i + 4 <= P::inner; i += 4, x += 4 * P::width) add_quad<P, R, RowStride>(rows + i, x, sums);
#endif
  rows += in_quads;
  for (std::size_t i = in_quads / 2; i < P::inner / 2; ++i, rows += 2, x += 2 * P::width) {
    add_features<P, 2, R, RowStride>(rows, x, sums);
  }
  if constexpr (P::inner % 2 != 0) add_features<P, 1, R, RowStride>(rows, x, sums);
}

// Computes R rows of the product for the first P::packs tokens of each panel.
template <class P, std::size_t R>
LADON_INLINE void tile(const auto& w, std::size_t first_row, auto in, std::size_t panels, auto epilogue) noexcept {
  for (std::size_t p = 0; p < panels; ++p) {
    std::int32_t sums[R][P::width];
    LADON_UNROLLED_FOR(s, R * P::packs) sums[s / P::packs][s % P::packs] = 0;
    add_products<P, R, decltype(w.weight)::row_stride>(w.weight.rows_from(first_row).data, in.data + p * in.stride,
                                                       sums);
    finish<P, R>(w, first_row, in, p, sums, epilogue);
  }
}

struct Engine {
  static constexpr bool prepares_weights = LADON_DSP, has_matrix_vector = false;

  template <std::size_t Features, std::size_t Width, std::size_t Packs, int FeatureBits>
  static LADON_NOINLINE void quantise(const float* panel, std::int16_t* to, float* scales, std::size_t) noexcept {
    // The features before `in_quads` are in quads. For four tokens, quantise_quads stores them.
    constexpr std::size_t in_quads = LADON_DSP ? Features / 4 * 4 : 0;
    constexpr bool four_tokens = LADON_DSP && LADON_CORTEX_M_FPU && Width == 4 && in_quads > 0;
    [[maybe_unused]] Quantisation quantisation{};
    for (std::size_t t = 0; t < Packs; ++t) {
      const auto token = vec::scale_of_token<Features, FeatureBits>(panel + t, Width);
      const auto most = static_cast<std::int32_t>(token.most.lane[0]);
      const float reciprocal = token.reciprocal.lane[0];
      scales[t] = token.scale.lane[0];
      std::int16_t* const pairs = to + 2 * t;
      for (std::size_t i = four_tokens ? in_quads : 0; i < Features; ++i) {
        const std::size_t pair = i < in_quads ? i / 4 * 2 + i % 2 : i / 2, half = i < in_quads ? i % 4 / 2 : i % 2;
        pairs[pair * 2 * Width + half] = vec::quantised_feature(panel[i * Width + t], reciprocal, most);
      }
      if constexpr (Features % 2 != 0) pairs[Features / 2 * 2 * Width + 1] = 0;
      if constexpr (four_tokens) {
        quantisation.reciprocal[t] = reciprocal;
        quantisation.limit[t] = static_cast<std::uint32_t>(32767 - most) * 0x10001u;
      }
    }
#if LADON_DSP
    if constexpr (four_tokens) quantise_quads(panel, Features / 4, quantisation, to);
#endif
  }

  // With DSP, a tile of 3 or 4 tokens converts its weights to 16 bits. Then 16 multiply-adds take 11 instructions.
  template <class P, class Weights, class In, class Epilogue>
  static LADON_INLINE void product(const Weights& w, In in, std::size_t panels, Epilogue epilogue) noexcept {
#if LADON_DSP
    constexpr std::size_t tile_rows = P::packs == 1 ? 4 : 2;
#else
    constexpr std::size_t rows = P::layout.tile_rows_for(P::packs), most = target::Current::int8_tile_sums / P::packs;
    constexpr std::size_t tile_rows = rows < most ? rows : most;
#endif
    for_row_tiles<P::rows, tile_rows>([&]<std::size_t R>(std::size_t first) LADON_INLINE_LAMBDA {
#if LADON_DSP
      if constexpr (P::width == 4 && P::packs > 2) return tile_of_4_tokens<P, R>(w, first, in, panels, epilogue);
#endif
      tile<P, R>(w, first, in, panels, epilogue);
    });
  }
};

}  // namespace LADON_NAMESPACE::detail::cortex_m::one_lane
