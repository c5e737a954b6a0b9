// SPDX-License-Identifier: Apache-2.0
// A quad of tokens is a register with four tuples of each of four tokens. One load of four tuples of weights then
// serves four tokens:
//     lane 4 t + i    tuple i of token t
#pragma once

#include <cstddef>
#include <utility>

#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/few_tokens.hpp>
#include <ladon/detail/vec/row_dot.hpp>

namespace LADON_NAMESPACE::detail::vec {

// A dot of a tile (detail/product/tile_dots.hpp) whose packs hold quads.
template <class Feature, class Pack>
struct QuadDot;

#if LADON_HAS_XSIMD && LADON_HAS_SHUFFLE && defined(__AVX512F__)
template <class Feature, class PackType>
  requires(PackType::lanes == 16)
struct QuadDot<Feature, PackType> : RowDotRegister<Feature, PackType> {
  using Row = RowDotRegister<Feature, PackType>;
  using Pack = PackType;
  using Sums = typename Row::Sums;
  using Features = typename Row::Register;
  using Fold = vec::Fold<Pack, 4>;
  static constexpr std::size_t rows = 1, tuple_size = 4 * Row::features / Pack::lanes, features = tuple_size;

  template <std::size_t Width, std::size_t First, std::size_t Packs>
  static LADON_INLINE void load(const Feature* registers, Features (&x)[Packs]) noexcept {
    LADON_UNROLLED_FOR(v, Packs) x[v] = Row::load(registers + v * Row::features);
  }
  template <class Matrix>
  static LADON_INLINE Features weights(Matrix w) noexcept {
    const Pack all = Fold::repeat(w.data);
    if constexpr (!Row::integers) {
      return keep_in_register(all);
    } else {
      return hidden(ladon::bit_cast<Features>(all.batch));
    }
  }
  // Returns a quad of tokens of a panel, whose rows of tuples are `stride` words apart.
  static LADON_INLINE Pack gather(const float* tuples, std::size_t stride) noexcept {
    const auto quad = [&](std::size_t i) LADON_INLINE_LAMBDA { return _mm_loadu_ps(tuples + i * stride); };
    __m512 all = _mm512_castps128_ps512(quad(0));
    all = _mm512_insertf32x4(all, quad(1), 1);
    all = _mm512_insertf32x4(all, quad(2), 2);
    return Fold::template transposed<4>(Pack(_mm512_insertf32x4(all, quad(3), 3)));
  }
  static LADON_INLINE Pack sums_of_tokens(const Sums (&sum)[4]) noexcept {
    return Fold::template transposed<4>(Row::add_quads(sum));
  }
};
#endif

}  // namespace LADON_NAMESPACE::detail::vec
