// SPDX-License-Identifier: Apache-2.0
// The constants that all x86 processors share.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/detail/target/defaults.hpp>

namespace LADON_NAMESPACE::detail::target {

struct X86 : Defaults {
#if LADON_VNNI
  using Int8Element = std::uint8_t;  // the unsigned operand of vpdpbusd
#else
  static constexpr bool widens_int8 = true;
#endif
#if !defined(__AVX512F__) && !LADON_VNNI
  static constexpr std::size_t int8_tile_sums = 8;  // a product occupies a register: 10 sums take 1.3 times as long
#endif
#if defined(__SSE__) && defined(__GNUC__)
  static constexpr std::size_t prefetched_row_floats = 256;  // 0.75 to 0.82 of the time of MiniLM (Cascade Lake)
#endif
  // A set has 8 to 12 lines. 64 -> 69% of peak in a product of 3072 columns (Cascade Lake).
  static constexpr std::size_t most_aliasing_rows = 8;
#if defined(__x86_64__)
  static constexpr std::size_t streams = 4;
  static constexpr bool prefetches_page_starts = true;
  static constexpr std::size_t single_query_heads = 2;
#endif
};

}  // namespace LADON_NAMESPACE::detail::target
