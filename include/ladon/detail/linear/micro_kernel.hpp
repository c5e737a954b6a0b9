// THE micro-kernel: rows x packs sums in registers, the inner index outermost.
//
//     sum[r][v] += a(r, k) * panel[k][v]        k = 0 .. inner - 1, in this order
//
// a(r, k) = a[r * RowStride + k * InnerStride] is broadcast, read where it lies; panel rows are Width floats apart.
// Edges are the caller's: a tile is always full, a narrower one is another instantiation.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/detail/linear/cortex_m/helium_loop.hpp>
#include <ladon/detail/linear/cortex_m/vfp_loop.hpp>
#include <ladon/detail/simd/vectors.hpp>

namespace ladon::inline LADON_ABI::detail {

inline constexpr std::size_t cache_line = 16;  // in floats

// What a tile of one pack asks for at step k, for it is soon through: its rows eight lines further on, or, at their
// end, those of the next tile, whether there is one or not, for nothing is read. (Zen 5, AVX-512, instead of the whole
// next tile: (16,256,8) 83 -> 85% of peak, 12 encoder layers of (16,384,12) in turn 73 -> 82; 8 lines ahead like 6,
// fewer are too late from memory. With two packs: (32,256,8) 94 -> 91. Of sums shorter than that the first steps' are
// left out.)
LADON_INLINE const float* eight_lines_ahead(const float* a, std::size_t k, std::size_t inner,
                                            const float* next) noexcept {
  const std::size_t then = k + 8 * cache_line;
  return then < inner ? a + then : next + (then - inner);
}

template <class Pack, std::size_t Rows, std::size_t Packs>
struct Tile {
  Pack sum[Rows][Packs];

  template <class Start>
  LADON_INLINE constexpr explicit Tile(Start start) noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) sum[r][v] = start(r, v);
    }
  }

  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE constexpr void accumulate(std::size_t inner, const float* LADON_RESTRICT a,
                                         const float* LADON_RESTRICT panel) noexcept {
#if defined(__wasm__)
    // Two pointers that go on, with all else at constant distances, are what WebAssembly can address: from an index it
    // computes an address for every load (relaxed SIMD in Chromium at (128,384,12): 65% of peak, so 79%).
    if (!std::is_constant_evaluated()) {
      for (std::size_t k = 0; k < inner; ++k, a += InnerStride, panel += Width)
        add<RowStride, InnerStride, Width>(0, a, panel);
      return;
    }
#endif
#if defined(LADON_TILE_ASSEMBLY)
    if constexpr (assembly::has_loop<Pack, Rows, Packs, RowStride, InnerStride, Width>) {
      if (!std::is_constant_evaluated()) {
        const std::size_t times = inner / assembly::steps;
        if (times > 0) assembly::accumulate<RowStride, InnerStride>(sum, times, a, panel);
        for (std::size_t k = times * assembly::steps; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
        return;
      }
    }
#endif
    if constexpr (two_steps_a_turn) {
#if defined(__GNUC__)
#pragma GCC unroll 2
#endif
      for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
    } else {
      for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
    }
  }

  // The same, and meanwhile what `next` has of so many rows as `a`, the next tile's, is asked for, a line a step: where
  // a weight lies in rows, 16 of them in turn, the next tile or more, and otherwise the row of its transpose. Of one
  // pack, and weights in rows: eight_lines_ahead.
  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE void accumulate_and_prefetch(std::size_t inner, const float* LADON_RESTRICT a,
                                            const float* LADON_RESTRICT panel, const float* next) noexcept {
    constexpr bool own_rows = Packs == 1 && InnerStride == 1;
    std::size_t k = 0;
    for (; k + cache_line <= inner; k += cache_line) {
      const float* const soon = eight_lines_ahead(a, k, inner, next);
      for (std::size_t i = 0; i < cache_line; ++i) {
        if constexpr (own_rows) {
          if (i < Rows) prefetch_near(soon + i * RowStride);
        } else {
          prefetch(InnerStride == 1 ? next + i * RowStride + k : next + (k + i) * InnerStride);
        }
        add<RowStride, InnerStride, Width>(k + i, a, panel);
      }
    }
    for (; k < inner; ++k) add<RowStride, InnerStride, Width>(k, a, panel);
  }

  // The same, and before each step something else: other(k). It may write to what of the panel is still to come.
  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width, class Other>
  LADON_INLINE constexpr void accumulate_beside(std::size_t inner, const float* a, const float* panel,
                                                Other other) noexcept {
    for (std::size_t k = 0; k < inner; ++k) {
      other(k);
      add<RowStride, InnerStride, Width>(k, a, panel);
    }
  }

  // The same for the last pack only.
  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width>
  LADON_INLINE constexpr void accumulate_last_pack(std::size_t inner, const float* LADON_RESTRICT a,
                                                   const float* LADON_RESTRICT panel) noexcept {
    for (std::size_t k = 0; k < inner; ++k) add<RowStride, InnerStride, Width, Packs - 1>(k, a, panel);
  }

#if defined(LADON_TILE_PANELS)
  // Where a lies in panels of four, PanelStride apart, and the sums run along it: of the first `inner` steps as many as
  // make whole panels.
  template <std::size_t PanelStride, std::size_t Width>
  LADON_INLINE void accumulate_panels(std::size_t inner, const float* a, const float* panel) noexcept {
    if (inner >= 4) assembly::accumulate<4, 1, PanelStride>(sum, inner / 4, a, panel);
  }
#endif

  // finish(row, pack, sum) takes each finished sum.
  template <class Finish>
  LADON_INLINE constexpr void finish(Finish finish) const noexcept {
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) finish(r, v, sum[r][v]);
    }
  }

 private:
  // A core that starts four instructions a cycle has none to spare for the loop itself where a step is 12 multiply-adds
  // and 8 loads (Cascade Lake, AVX2: (64,128,4) 75 -> 84% of peak, (128,384,12) 79 -> 84, (512,256,8) 71 -> 75), nor
  // where a panel has one pack (AVX-512: (16,32,4) 56.2 -> 57.7). With 24 multiply-adds it is the same with both,
  // without fma no registers are left, and four steps have no more than two but the code.
#if defined(__AVX512F__)
  static constexpr bool two_steps_a_turn = Packs == 1 && Pack::lanes > 1;
#elif defined(__FMA__)
  static constexpr bool two_steps_a_turn = Pack::lanes > 1;
#else
  static constexpr bool two_steps_a_turn = false;
#endif

  // Step k, of the packs from First on.
  template <std::size_t RowStride, std::size_t InnerStride, std::size_t Width, std::size_t First = 0>
  LADON_INLINE constexpr void add(std::size_t k, const float* a, const float* panel) noexcept {
    if constexpr (has_wide_step && First == 0) {
      add_wide<RowStride>(a + k * InnerStride, panel + k * Width);
      return;
    }
    Pack b[Packs];
    LADON_UNROLL
    for (std::size_t v = First; v < Packs; ++v) b[v] = Pack::load(panel + k * Width + v * Pack::lanes);
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Pack::broadcast(a[r * RowStride + k * InnerStride]);
      LADON_UNROLL
      for (std::size_t v = First; v < Packs; ++v) sum[r][v] = fma(broadcast, b[v], sum[r][v]);
    }
  }

  // A step of a tile so wide that there are no registers for all of the panel's packs: two stay, the others are read
  // again for each row. (Zen loads two packs a cycle and would wait for more; Xeon: all read again 95% of the loop's
  // ceiling, two kept 99.5%.)
  static constexpr bool has_wide_step = Packs > 2 && requires(const float* from) { Pack::load_aligned(from); };

  template <std::size_t RowStride>
  LADON_INLINE void add_wide(const float* a, const float* panel) noexcept {
    const Pack kept[] = {Pack::load_aligned(panel), Pack::load_aligned(panel + Pack::lanes)};
    LADON_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const auto broadcast = Pack::broadcast(a[r * RowStride]);
      const float* const here = read_here(panel);
      LADON_UNROLL
      for (std::size_t v = 0; v < Packs; ++v) {
        const Pack b = v < 2 ? kept[v] : Pack::load_aligned(here + v * Pack::lanes);
        sum[r][v] = fma(broadcast, b, sum[r][v]);
      }
    }
  }
};

// Cuts Rows into tiles of at most MaxRows, as even as can be (64 = 4 x 11 + 2 x 10, not 5 x 12 + 4: a short tile
// leaves registers idle): calls tile.operator()<R>(first_row).
template <std::size_t Rows, std::size_t MaxRows, class F>
LADON_INLINE constexpr void for_row_tiles(F tile) noexcept {
  constexpr std::size_t tiles = (Rows + MaxRows - 1) / MaxRows;
  constexpr std::size_t low = Rows / tiles;
  constexpr std::size_t taller = Rows % tiles;
  std::size_t row = 0;
  if constexpr (taller > 0) {
    for (; row < taller * (low + 1); row += low + 1) tile.template operator()<low + 1>(row);
  }
  for (; row < Rows; row += low) tile.template operator()<low>(row);
}

}  // namespace ladon::inline LADON_ABI::detail
