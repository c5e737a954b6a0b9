// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits, which products expand to int8 weights. A row consists of groups of 32 weights. Each group uses one
// of 16 tables:
//     weight i of a group is int4_tables[number of the group's table][4-bit code i]
//
// Products are then int8 products, with the same bits on every target. A row has, in this order:
//     codes           16 bytes for each group: byte j holds code j in its lower half, and code j + 16 above it
//     table numbers   half a byte for each group, the lower half first
//
// The last group of a row may have fewer weights. Its other codes are ignored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <ladon/detail/config/compiler.hpp>

#if LADON_SSE4_1
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

namespace LADON_NAMESPACE {
namespace detail {

inline constexpr std::size_t int4_group = 32, int4_codes = 16;

constexpr std::size_t int4_groups(std::size_t weights) noexcept { return (weights + int4_group - 1) / int4_group; }

}  // namespace detail

// Returns the bytes of a row of 4-bit weights.
constexpr std::size_t int4_row_bytes(std::size_t weights) noexcept {
  const std::size_t groups = detail::int4_groups(weights);
  return groups * (detail::int4_group / 2) + (groups + 1) / 2;
}

namespace detail {

// Table 2 n holds `levels`, multiplied by 0.85^n and rounded. Table 2 n + 1 has the opposite signs. `levels` are those
// of a Lloyd-Max quantiser for groups of 32 normally distributed numbers, where each group chooses its scale and its
// sign. The rotated weights of MiniLM have a relative error of 7.7%. With 16 equal steps and a float16 scale for each
// group, as in Q4_0 of llama.cpp, the error is 8.6%.
using Int4Tables = std::array<std::array<std::int8_t, int4_codes>, 16>;
alignas(16) inline constexpr Int4Tables int4_tables = [] {
  constexpr int levels[int4_codes] = {-127, -100, -79, -63, -48, -35, -22, -9, 2, 14, 26, 37, 51, 66, 83, 107};
  constexpr int factors[8] = {1024, 870, 740, 629, 535, 454, 386, 328};  // 1024 * 0.85^n
  Int4Tables tables{};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    for (std::size_t code = 0; code < int4_codes; ++code) {
      const int product = levels[code] * factors[t / 2], half = product < 0 ? -512 : 512;
      tables[t][code] = static_cast<std::int8_t>((product + half) / 1024 * (t % 2 == 0 ? 1 : -1));
    }
  }
  return tables;
}();

constexpr std::size_t int4_table(const std::uint8_t* row, std::size_t groups, std::size_t group) noexcept {
  return static_cast<std::size_t>(row[groups * (int4_group / 2) + group / 2] >> (group % 2 * 4)) & 15;
}

namespace vec {

constexpr void expand_int4_group(const std::uint8_t* codes, const std::int8_t* table, std::int8_t* to) noexcept {
  for (std::size_t j = 0; j < int4_group / 2; ++j) {
    to[j] = table[codes[j] & 15];
    to[j + int4_group / 2] = table[codes[j] >> 4];
  }
}

#if defined(__AVX2__)
// Both halves of the register read the same bytes: the lower half uses the lower four bits of each byte, the upper half
// the upper four bits.
LADON_INLINE __m256i look_up_int4_group(const std::uint8_t* codes, const std::int8_t* table) noexcept {
  const auto load = [](const void* from) LADON_INLINE_LAMBDA {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  };
  const __m256i shifted = _mm256_srlv_epi32(load(codes), _mm256_set_epi32(4, 4, 4, 4, 0, 0, 0, 0));
  return _mm256_shuffle_epi8(load(table), _mm256_and_si256(shifted, _mm256_set1_epi8(15)));
}

// The two tables that a byte of table numbers selects, side by side.
using Int4TablePairs = std::array<std::array<std::int8_t, 2 * int4_codes>, 256>;
alignas(32) inline constexpr Int4TablePairs int4_table_pairs = [] {
  Int4TablePairs pairs{};
  for (std::size_t both = 0; both < pairs.size(); ++both) {
    for (std::size_t i = 0; i < 2 * int4_codes; ++i)
      pairs[both][i] = int4_tables[i < int4_codes ? both & 15 : both >> 4][i % int4_codes];
  }
  return pairs;
}();
#endif

#if LADON_AVX512
LADON_INLINE void expand_int4_pair(const std::uint8_t* codes, std::uint8_t tables, std::int8_t* to) noexcept {
  const auto load = [](const void* from) LADON_INLINE_LAMBDA {
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  };
  const __m512i shifts = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi32(4), 1);
  const __m512i low = _mm512_and_si512(_mm512_srlv_epi32(load(codes), shifts), _mm512_set1_epi8(15));
  const __m512i halves = _mm512_shuffle_epi8(load(int4_table_pairs[tables].data()), low);
  _mm512_storeu_si512(to, _mm512_shuffle_i64x2(halves, halves, _MM_SHUFFLE(3, 1, 2, 0)));
}
#endif

// Like expand_int4_group, with instructions that look up 16 bytes at a time.
LADON_INLINE void look_up_int4_group(const std::uint8_t* codes, const std::int8_t* table, std::int8_t* to) noexcept {
#if defined(__AVX2__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), look_up_int4_group(codes, table));
#elif LADON_SSE4_1
  const auto load = [](const void* from)
                        LADON_INLINE_LAMBDA { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m128i both = load(codes), values = load(table), low = _mm_set1_epi8(15);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(values, _mm_and_si128(both, low)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16),
                   _mm_shuffle_epi8(values, _mm_and_si128(_mm_srli_epi16(both, 4), low)));
#elif defined(__aarch64__)
  const uint8x16_t both = vld1q_u8(codes);
  const int8x16_t values = vld1q_s8(table);
  vst1q_s8(to, vqtbl1q_s8(values, vandq_u8(both, vdupq_n_u8(15))));
  vst1q_s8(to + 16, vqtbl1q_s8(values, vshrq_n_u8(both, 4)));
#elif defined(__wasm_simd128__)
  const v128_t both = wasm_v128_load(codes), values = wasm_v128_load(table);
  wasm_v128_store(to, wasm_i8x16_swizzle(values, wasm_v128_and(both, wasm_u8x16_const_splat(15))));
  wasm_v128_store(to + 16, wasm_i8x16_swizzle(values, wasm_u8x16_shr(both, 4)));
#elif defined(__ARM_FEATURE_MVE)
  const uint8x16_t both = vldrbq_u8(codes);
  vstrbq_s8(to, vldrbq_gather_offset_s8(table, vandq_u8(both, vdupq_n_u8(15))));
  vstrbq_s8(to + 16, vldrbq_gather_offset_s8(table, vshrq_n_u8(both, 4)));
#elif LADON_DSP
  // Accesses words of four bytes: with single bytes, g++ 12 would load all codes first, and spill them.
  for (std::size_t j = 0; j < int4_group / 2; j += 4) {
    std::uint32_t both, low = 0, high = 0;
    std::memcpy(&both, codes + j, 4);
    LADON_UNROLLED_FOR(i, 4) {
      low |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(table[both >> (8 * i) & 15])) << (8 * i);
      high |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(table[both >> (8 * i + 4) & 15])) << (8 * i);
    }
    std::memcpy(to + j, &low, 4);
    std::memcpy(to + j + int4_group / 2, &high, 4);
  }
#else
  expand_int4_group(codes, table, to);
#endif
}

}  // namespace vec

LADON_INLINE constexpr void expand_int4_group(const std::uint8_t* row, std::size_t groups, std::size_t group,
                                              std::int8_t* to) noexcept {
  const std::uint8_t* const codes = row + group * (int4_group / 2);
  const std::int8_t* const table = int4_tables[int4_table(row, groups, group)].data();
  if (std::is_constant_evaluated()) {
    vec::expand_int4_group(codes, table, to);
  } else {
    vec::look_up_int4_group(codes, table, to);
  }
}

// Expands a row of `weights` weights. Writes whole groups of 32.
LADON_INLINE constexpr void expand_int4_row(const std::uint8_t* row, std::size_t weights, std::int8_t* to) noexcept {
  constexpr std::size_t group_bytes = int4_group / 2, line_groups = 4, ahead = 4096;
  const std::size_t groups = int4_groups(weights);
  for (std::size_t g = 0; g < groups;) {
    const std::uint8_t* const codes = row + g * group_bytes;
    if (!std::is_constant_evaluated()) {
      if (g % line_groups == 0) prefetch_to_nearest_cache(codes + ahead);
#if LADON_AVX512
      if (g + 2 <= groups) {
        vec::expand_int4_pair(codes, row[groups * group_bytes + g / 2], to + g * int4_group);
        g += 2;
        continue;
      }
#endif
    }
    expand_int4_group(row, groups, g, to + g * int4_group);
    ++g;
  }
}

}  // namespace detail
}  // namespace LADON_NAMESPACE
