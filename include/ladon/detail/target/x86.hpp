// SPDX-License-Identifier: Apache-2.0
// Constants for x86. defaults.hpp explains the figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/detail/target/defaults.hpp>

// Functions begin at a cache line. Otherwise, the code before a kernel decides how the processor fetches its loops
// (AVX2 on Zen 3: up to 4% more time).
#define LADON_ALIGNMENT_OF_CODE 64

// If kernels were inlined, AVX2's 16 registers would be shared with the caller: 90 -> 75% of peak (g++, (1024,512,8)).
#if defined(__AVX512F__)
#define LADON_KERNEL  // inlined: 58 -> 64% of peak at (16,32,4)
#endif

namespace LADON_NAMESPACE::detail::target {

struct X86 : Defaults {
  static constexpr bool projections_share_code = false;
#if LADON_VNNI
  using Int8Element = std::uint8_t;  // the unsigned operand of vpdpbusd
#else
  static constexpr bool widens_int8 = true;  // if features have 16 bits
  // Features of 7 bits are bytes if the widest registers have vpmaddubsw, which would saturate with 8 bits.
#if defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)) || (LADON_SSE4_1 && !defined(__AVX__))
  static constexpr bool multiplies_7_bits = true;
#endif
#endif
#if !defined(__AVX512F__) && !LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 8;  // on AVX2, 12 sums take 1.0 to 1.07 times as long (Zen 3)
#endif
#if defined(__SSE__) && (defined(__GNUC__) || defined(__clang__))
  static constexpr std::size_t prefetched_row_floats = 256;  // MiniLM takes 0.75 to 0.82 of the time (Cascade Lake)
#endif
  // Rows compete for the 8 to 12 lines of an L1 set. This limit: 64 -> 69% of peak with 3072 columns (Cascade Lake).
  static constexpr std::size_t most_aliasing_rows = 8;
#if defined(__x86_64__)
  static constexpr std::size_t streams = 4;
  static constexpr bool prefetches_page_starts = true;
  static constexpr std::size_t expanded_bytes = 80 * 1024;  // MiniLM, 8 tokens: 15% less time than with 16 KB (Zen 4)
  static constexpr std::size_t single_query_heads = 2;
#endif
};

// 32 registers of 16 floats. Figures without a processor are from a Zen 5, and percentages are % of peak unless they
// say otherwise.
struct Avx512 : X86 {
  static constexpr std::size_t registers = 32;
  // 2 x 12: 94% at (128,384,12). 3 x 8: 84%.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens > lanes ? PanelLayout{lanes, 2, 12, 16, true} : PanelLayout{lanes, 1, 16};
  }
  // (16,32,4): 56.2 -> 57.7%.
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t packs) noexcept {
    return packs == 1 && lanes > 1 ? 2 : 1;
  }
  static constexpr std::size_t inlined_product_weights = 4096;  // (16,32,4): 7% less time
  static constexpr std::size_t single_query_heads = 4;          // twice as fast as with 1 (Zen 4)
  static constexpr std::size_t single_query_sums = 16;
  static constexpr std::size_t softmax_chains = 8;  // 27% less time than with 1 (Cascade Lake)
  static constexpr std::size_t short_text_tokens = 8;
#if LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 24;  // sums, panel and weights take 27 registers
#endif
#if LADON_HAS_SHUFFLE && defined(__AVX512BW__)
  // Without VNNI, each integer product occupies a register, so with 4 tokens, g++ 12 spills. With 16-bit features,
  // tokens of a second pack never become rows: the product of the first pack converts the int8 weights anyway, and both
  // packs then use the converted weights.
  template <class Element, bool Integers = std::is_integral_v<Element>,
            bool Words = std::is_same_v<Element, std::int16_t>>
  static constexpr TokenRowRules token_rows{.exist = !LADON_DETERMINISTIC || Integers,
                                            .tile_tokens = Integers && !LADON_VNNI ? 3u : 6u,
                                            .overhead_registers = std::is_same_v<Element, float> ? 5
                                                                  : Words                        ? 1
                                                                                                 : 2,
                                            .most_beyond_pack = Words ? 0 : unlimited};
  // With quads, MiniLM takes 0.74 (int8) and 0.80 (float32) of the time with 12 tokens, and 0.86 (int8) with 24 tokens,
  // on Emerald Rapids. bfloat16 was measured only there, where vdpbf16ps is slow: an empty place costs as much as a
  // token, so the last bfloat16 quad lacks at most one token.
  template <class Element>
  static constexpr bool are_quads(std::size_t tokens) noexcept {
    constexpr bool is_int8 = std::is_integral_v<Element>, is_float = std::is_same_v<Element, float>;
    if (std::is_same_v<Element, std::int16_t> || tokens < 7 || tokens > 24) return false;
    if (tokens > 12 && tokens <= (is_int8 ? 16u : 20u)) return false;
    return is_int8 || is_float || tokens % 4 == 0 || tokens % 4 == 3;
  }
#endif
#if LADON_BFLOAT16_DOT
  static constexpr bool multiplies_bfloat16 = true;
#if !LADON_DETERMINISTIC
  static constexpr bool attends_in_pairs = true;  // int8 (128,384,12): 0.84 of the time (Zen 4)
#endif
#endif
#if LADON_FMA && !LADON_DETERMINISTIC
  static constexpr bool exponentials_beside_values = true;  // 2.4 cycles a pack instead of 4.0
#endif
};

// AVX and AVX2, with and without FMA: 16 registers of 8 floats.
struct Avx2 : X86 {
#if LADON_FMA && !LADON_DETERMINISTIC
  // 2 x 6: 91% of peak at (128,384,12) on Zen 5. 2 x 5: 88%, 3 x 4: 89%.
  static constexpr std::size_t tile_sums = 12;
#else
  static constexpr std::size_t tile_sums = 10;  // without FMA, each product occupies a register
#endif
  static constexpr auto panel_layout = one_or_two_packs<tile_sums, true>;
#if LADON_FMA
  // (128,384,12): 79 -> 84% of peak (Cascade Lake).
  static constexpr std::size_t steps_per_iteration(std::size_t lanes, std::size_t) noexcept {
    return lanes > 1 ? 2 : 1;
  }
#endif
  static constexpr std::size_t softmax_chains = 4;  // 16% less time than with 1 (Cascade Lake)
#if LADON_HAS_SHUFFLE && defined(__AVX2__)
  template <class Element, bool Integers = std::is_integral_v<Element>,
            bool Words = std::is_same_v<Element, std::int16_t>>
  static constexpr TokenRowRules token_rows{.exist = !LADON_DETERMINISTIC || Integers,
                                            .tile_tokens = Integers ? 2 : 3,
                                            .overhead_registers = std::is_same_v<Element, float> ? 16
                                                                  : Words                        ? 0
                                                                                                 : 1,
                                            .most_beyond_pack = !Integers ? 4
                                                                : Words   ? 0
                                                                          : unlimited,
                                            .of_whole_panel = Words};
#endif
#if LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 12;  // Alder Lake needs 10 to hide the latency of vpdpbusd
#endif
};

// SSE2 to SSE4.2: 16 registers of 4 floats, no FMA.
struct Sse2 : X86 {
  // Packs of a tile share broadcasts. On Zen, 4 x 3 can reach 89% of peak, and 2 x 5 can reach 80%.
  static constexpr PanelLayout panel_layout(std::size_t tokens, std::size_t lanes) noexcept {
    return tokens > 2 * lanes ? PanelLayout{lanes, 4, 3, 10} : one_or_two_packs<10>(tokens, lanes);
  }
  static constexpr std::size_t softmax_chains = 4;  // 14% less time than with 1 (Cascade Lake)
#if LADON_HAS_SHUFFLE
  template <class Element>
  static constexpr TokenRowRules token_rows{
      .exist = !LADON_DETERMINISTIC && std::is_same_v<Element, float>, .tile_tokens = 2, .overhead_registers = 28};
#endif
};

#if defined(__AVX512F__)
using Current = Avx512;
#elif defined(__AVX__)
using Current = Avx2;
#else
using Current = Sse2;
#endif

}  // namespace LADON_NAMESPACE::detail::target
