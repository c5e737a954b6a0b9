// SPDX-License-Identifier: Apache-2.0
// The operations of folded tiles (detail/product/folded_tile.hpp, detail/product/product_int8.hpp). A step is the
// work for one value of the inner index of a product. A folded pack is a register that holds lanes / Steps tokens, with
// the features of `Steps` consecutive steps for each token. Lane i * Steps + j holds step j of token i.
//
// The result of add_steps needs a narrower register. Fold therefore exists only for AVX, AVX2 and AVX-512, which have
// registers of several widths. Fold also requires __builtin_shufflevector, because shuffles would otherwise go through
// memory.
//
// detail/panel/panels.hpp defines panels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Pack, std::size_t Steps>
struct Fold {
  static constexpr bool exists = false;
};

#if LADON_HAS_XSIMD && defined(__AVX__) && LADON_HAS_SHUFFLE
template <std::size_t N, std::size_t Steps>
#if defined(__AVX512F__)
  requires((N == 16 && (Steps == 2 || Steps == 4)) || (N == 8 && Steps == 2))
#else
  requires(N == 8 && Steps == 2)
#endif
struct Fold<XsimdPack<N>, Steps> {
  static constexpr bool exists = true;
  using Pack = XsimdPack<N>;
  static constexpr std::size_t tokens = N / Steps;

  // Returns the weights of one row for Steps consecutive steps, repeated over all lanes: lane i holds the word
  // i % Steps of `from`. A word has 32 bits, and is a float or a pair of bfloat16 numbers.
  //
  // Two words are repeated as an integer of 64 bits, by the instruction vpbroadcastq. On Zen 4, vbroadcastsd, which
  // repeats a double, is slower: a tile of one pack and 16 rows reaches 99% of peak multiply-add throughput with
  // vpbroadcastq, and 75% with vbroadcastsd (weights in the L1 cache).
  static LADON_INLINE Pack repeat(const void* from) noexcept {
    if constexpr (Steps == 2) {
      std::int64_t two;
      std::memcpy(&two, from, sizeof(two));
#if defined(__AVX512F__)
      if constexpr (N == 16) return Pack(_mm512_castsi512_ps(_mm512_set1_epi64(two)));
#endif
      if constexpr (N == 8) return Pack(_mm256_castsi256_ps(_mm256_set1_epi64x(two)));
    }
#if defined(__AVX512F__)
    if constexpr (Steps == 4) return Pack(_mm512_broadcast_f32x4(_mm_loadu_ps(static_cast<const float*>(from))));
#endif
  }

  // Returns the weights of one row for Steps consecutive steps, as `repeat` does. Stride is the distance of two
  // consecutive weights. A Stride other than 1 requires floats and two steps.
  template <std::size_t Stride, class Element>
  static LADON_INLINE Pack alternate(const Element* from) noexcept {
    if constexpr (Stride == 1) return repeat(from);
#if defined(__AVX512F__)
    if constexpr (Stride != 1) {
      static_assert(N == 16 && Steps == 2);
      return Pack(_mm512_mask_broadcastss_ps(_mm512_set1_ps(*from), 0xaaaa, _mm_load_ss(from + Stride)));
    }
#endif
  }

  // Converts Steps rows of a panel into a folded pack. `rows` holds the rows as in memory: lane j * tokens + i is token
  // i of row j.
  static LADON_INLINE Pack interleave(const Pack& rows) noexcept { return transposed<Steps>(rows); }

  // Loads Steps rows of a panel, and converts the rows into a folded pack. A row has `tokens` elements, so the rows
  // fill one register. The elements of a row are floats, or tuples of 32 bits (tuple_dot.hpp).
  static LADON_INLINE void load(const void* from, Pack (&folded)[1]) noexcept {
    folded[0] = interleave(Pack::load(static_cast<const float*>(from)));
  }
  // Loads two rows of a panel that is one and a half registers wide, and converts them into three folded packs.
  static LADON_INLINE void load(const void* from, Pack (&folded)[3]) noexcept {
    static_assert(Steps == 2);
    const float* const rows = static_cast<const float*>(from);
    // The two rows fill three registers: `a` is the first part of row 0, `b` is the rest of row 0 and the beginning of
    // row 1, and `c` is the rest of row 1.
    const Pack a = Pack::load(rows), b = Pack::load(rows + N), c = Pack::load(rows + 2 * N);
    folded[0] = interleave_halves<0, 1>(a, b);
    folded[1] = interleave_halves<1, 0>(a, c);
    folded[2] = interleave_halves<0, 1>(b, c);
  }

  // Loads two rows of a panel of N tokens. `first` receives the first N / 2 tokens, and `rest` the next N / 4 tokens.
  // The function does not use the last N / 4 tokens.
  static LADON_INLINE void load_three_quarters(const void* from, Pack& first, XsimdPack<tokens>& rest) noexcept
    requires(N == 16 && Steps == 2)
  {
    using Half = XsimdPack<tokens>;
    const float* const rows = static_cast<const float*>(from);
    first = interleave_halves<0, 0>(Pack::load(rows), Pack::load(rows + N));
    rest = Fold<Half, 2>::template interleave_halves<0, 0>(Half::load(rows + tokens), Half::load(rows + N + tokens));
  }

  // Adds the steps of each token: lane i of the result is the sum of token i. The folded pack is first transposed back
  // into one row per step. Then the upper half of the rows is added to the lower half, until one row is left. The order
  // of addition is 0 + 1 for two steps, and (0 + 2) + (1 + 3) for four steps.
  static LADON_INLINE XsimdPack<tokens> add_steps(const Pack& a) noexcept {
    const Pack rows = transposed<tokens>(a);
    if constexpr (Steps == 2) {
      return add_halves(rows);
    } else {
      return add_halves(add_halves(rows));
    }
  }

 private:
  template <class, std::size_t>
  friend struct Fold;

  // Transposes a matrix of Rows rows and N / Rows columns. The lanes of `rows` hold the matrix in row-major order. The
  // lanes of the result hold the transposed matrix in row-major order.
  template <std::size_t Rows>
  static LADON_INLINE Pack transposed(const Pack& rows) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return shuffle<(I % Rows * (N / Rows) + I / Rows)...>(rows, rows);
    }(LaneIndices<Pack>{});
  }

  // Interleaves half of the lanes of `a` with half of the lanes of `b`. Lane 2 i of the result is lane i of the half of
  // `a`, and lane 2 i + 1 is lane i of the half of `b`. HalfA chooses the half of `a`, and HalfB the half of `b`: 0 is
  // the lower half, and 1 is the upper half.
  template <std::size_t HalfA, std::size_t HalfB>
  static LADON_INLINE Pack interleave_halves(const Pack& a, const Pack& b) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return shuffle<(I % 2 == 0 ? HalfA * tokens + I / 2 : N + HalfB * tokens + I / 2)...>(a, b);
    }(LaneIndices<Pack>{});
  }

  // Returns the lower half of the lanes plus the upper half of the lanes.
  template <std::size_t M>
  static LADON_INLINE XsimdPack<M / 2> add_halves(const XsimdPack<M>& a) noexcept {
    using Half = XsimdPack<M / 2>;
#if defined(__AVX512F__)
    if constexpr (M == 16) {
      const __m512d both = _mm512_castps_pd(a.batch);
      return Half(_mm256_castpd_ps(_mm512_castpd512_pd256(both))) +
             Half(_mm256_castpd_ps(_mm512_extractf64x4_pd(both, 1)));
    }
#endif
    if constexpr (M == 8) return Half(_mm256_castps256_ps128(a.batch)) + Half(_mm256_extractf128_ps(a.batch, 1));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
