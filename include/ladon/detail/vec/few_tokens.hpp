// SPDX-License-Identifier: Apache-2.0
// Folded tiles (detail/product/tile_dots.hpp). In a folded pack, each token has Steps neighbouring lanes, one for each
// of Steps successive steps of the product: step j of token i is in lane i * Steps + j. Fold needs registers of several
// widths (AVX), and shuffles in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ladon/detail/vec/choose.hpp>

namespace LADON_NAMESPACE::detail::vec {

template <class Pack, std::size_t Steps>
struct Fold {
  static constexpr bool exists = false;
};

#if LADON_HAS_XSIMD && defined(__AVX__) && LADON_HAS_SHUFFLE
template <std::size_t N, std::size_t Steps>
  requires((N == 16 && (Steps == 2 || Steps == 4)) || (N == 8 && Steps == 2))
struct Fold<XsimdPack<N>, Steps> {
  static constexpr bool exists = true;
  using Pack = XsimdPack<N>;
  static constexpr std::size_t tokens = N / Steps;

  // Lane i becomes word i % Steps of `from`: a float, or a pair of bfloat16 numbers. Two words are broadcast as a
  // 64-bit integer: a tile of 1 pack x 16 rows reaches 99% of peak with vpbroadcastq, but 75% with vbroadcastsd (Zen
  // 4).
  static LADON_INLINE Pack repeat(const void* from) noexcept {
    if constexpr (Steps == 4) {
      return Pack(_mm512_broadcast_f32x4(_mm_loadu_ps(static_cast<const float*>(from))));
    } else {
      const xsimd::make_sized_batch_t<std::int64_t, N / 2> all(load_as<std::int64_t>(from));
      return Pack(ladon::bit_cast<typename Pack::Batch>(all));
    }
  }

  // Loads Steps rows of `tokens` elements: floats, or tuples of 32 bits.
  static LADON_INLINE Pack load(const void* from) noexcept {
    return transposed<Steps>(Pack::load(static_cast<const float*>(from)));
  }

  // Lane i becomes the sum of token i. The steps of a token are added as 0 + 1, or (0 + 2) + (1 + 3).
  static LADON_INLINE XsimdPack<tokens> add_steps(const Pack& a) noexcept {
    const Pack rows = transposed<tokens>(a);
    if constexpr (Steps == 2) {
      return add_halves(rows);
    } else {
      return add_halves(add_halves(rows));
    }
  }

  // Transposes a row-major matrix of Rows rows and N / Rows columns.
  template <std::size_t Rows>
  static LADON_INLINE Pack transposed(const Pack& rows) noexcept {
    return [&]<std::size_t... J>(std::index_sequence<J...>) {
      return shuffle<(J % Rows * (N / Rows) + J / Rows)...>(rows, rows);
    }(LaneIndices<Pack>{});
  }

 private:
  template <std::size_t M>
  static LADON_INLINE XsimdPack<M / 2> add_halves(const XsimdPack<M>& a) noexcept {
    using Half = XsimdPack<M / 2>;
    if constexpr (M == 16) {
      const auto both = _mm512_castps_pd(a.batch);
      return Half(_mm512_castps512_ps256(a.batch)) + Half(_mm256_castpd_ps(_mm512_extractf64x4_pd(both, 1)));
    }
    if constexpr (M == 8) return Half(_mm256_castps256_ps128(a.batch)) + Half(_mm256_extractf128_ps(a.batch, 1));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
