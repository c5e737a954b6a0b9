// SPDX-License-Identifier: Apache-2.0
// The dots of a tile (detail/product/tile.hpp), made of the dots of one pack (detail/vec/dot.hpp), have more members:
//     load<Width, First>(panel, x)   loads the features of a step, for the packs from number First on
//     rows                           2 if one instruction multiplies the weights of two rows, otherwise 1
//     tuple_size                     the panel has whole tuples of this many features
//     Rest                           the dot for the last features; without Rest, they are copied and padded with zeros
//     unfold(sum, start)             folded dots: `start` plus the sum of each token
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ladon/detail/panel/panels.hpp>
#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/vec/choose.hpp>
#include <ladon/detail/vec/dot.hpp>
#include <ladon/detail/vec/few_tokens.hpp>

namespace LADON_NAMESPACE::detail {

// Uses a dot of one pack for each pack of a tile.
template <class Dot, std::size_t Lanes>
struct EachPack : Dot {
  static constexpr std::size_t rows = 1, lanes = Lanes;
  static constexpr std::size_t tuple_size = Dot::features;
  template <std::size_t Width, std::size_t First, class Element, std::size_t Packs>
  static LADON_INLINE constexpr void load(const Element* panel, typename Dot::Features (&x)[Packs]) noexcept {
    LADON_UNROLL
    for (std::size_t v = First; v < Packs; ++v) x[v] = Dot::load(panel + tuple_size * v * Lanes);
  }
  template <class Matrix>
  static LADON_INLINE constexpr auto weights(Matrix w) noexcept {
    return Dot::weights(w.data);
  }
};

struct OneRowDot {
  static constexpr std::size_t rows = 1;
};

template <class Dot, std::size_t Packs>
inline constexpr std::size_t steps_together = [] {
  if constexpr (Dot::features == 1) return target::Current::steps_per_iteration(Dot::lanes, Packs);
  return std::size_t{1};
}();

// One load reads several tuples of weights. Each instruction multiplies by one of them (SDOT, SMLAL, BFDOT).
template <class Dot, std::size_t Lanes>
struct ByLane : OneRowDot {
  using Rest = EachPack<Dot, Lanes>;
  using Sums = typename Dot::Sums;
  static constexpr std::size_t steps = Dot::steps, features = Dot::tuple_size * steps;
  struct Features {
    typename Dot::Features step[steps];
  };
  template <std::size_t Width, std::size_t First, class Element, std::size_t Packs>
  static LADON_INLINE void load(const Element* panel, Features (&x)[Packs]) noexcept {
    LADON_UNROLLED_FOR(i, steps * Packs) {
      x[i % Packs].step[i / Packs] = Dot::load(panel + Dot::tuple_size * (i / Packs * Width + i % Packs * Lanes));
    }
  }
  template <class Matrix>
  static LADON_INLINE auto weights(Matrix w) noexcept {
    return Dot::load_weights(w.data);
  }
  static LADON_INLINE void add(Sums& sum, const Features& x, typename Dot::Weights weights) noexcept {
    [&]<std::size_t... Step>(std::index_sequence<Step...>) LADON_INLINE_LAMBDA {
      (Dot::template add_by_lane<Step>(sum, x.step[Step], weights), ...);
    }(std::make_index_sequence<steps>());
  }
};

// A step has four tuples. One instruction multiplies the weights of two rows by two tuples of two tokens (SMMLA,
// BFMMLA). The sums must be in the order of exchange_halves (detail/vec/dot.hpp).
template <class Dot, std::size_t Lanes>
struct ByMatrix {
  using Rest = EachPack<Dot, Lanes>;
  using Sums = typename Dot::Sums;
  static_assert(Dot::steps == 4);
  static constexpr std::size_t rows = 2, features = Dot::tuple_size * 4;
  struct Features {
    typename Dot::Features tokens[2][2];  // [tuples 0 and 1, or 2 and 3][tokens 0 and 1, or 2 and 3]
  };
  struct Weights {
    typename Dot::Weights tuples[2];
  };
  template <std::size_t Width, std::size_t First, class Element, std::size_t Packs>
  static LADON_INLINE void load(const Element* panel, Features (&x)[Packs]) noexcept {
    LADON_UNROLLED_FOR(i, 2 * Packs) {
      const Element* const from = panel + Dot::tuple_size * (i / Packs * 2 * Width + i % Packs * Lanes);
      auto& tokens = x[i % Packs].tokens[i / Packs];
      tokens[0] = Dot::load(from), tokens[1] = Dot::load(from + Dot::tuple_size * Width);
      Dot::interleave_words(tokens[0], tokens[1]);
    }
  }
  template <class Matrix>
  static LADON_INLINE Weights weights(Matrix w) noexcept {
    Weights result{{Dot::load_weights(w.data), Dot::load_weights(w.rows_from(1).data)}};
    Dot::interleave_halves(result.tuples[0], result.tuples[1]);
    return result;
  }
  // Adds the first two tuples if `half` is 0, otherwise the other two.
  static LADON_INLINE void add(Sums& first, Sums& second, const Features& x, const Weights& weights,
                               std::size_t half) noexcept {
    Dot::add_matrix(first, x.tokens[half][0], weights.tuples[half]);
    Dot::add_matrix(second, x.tokens[half][1], weights.tuples[half]);
  }
  static LADON_INLINE void exchange_halves(Sums& first, Sums& second) noexcept { Dot::exchange_halves(first, second); }
};

// Folded dots: a panel of half or a quarter of a register would leave lanes idle, so a register holds two or four steps
// of each token.
//
// Lane i * Steps + j of a sum belongs to token i, and adds the steps j, j + Steps, j + 2 Steps and so on. The partial
// sums are added at the end. Integer sums are exact, so folding does not change the result.
template <class Feature, class Wide, std::size_t Steps>
struct Folded : OneRowDot {
  static constexpr bool integers = std::is_integral_v<Feature>;
  using Dot = std::conditional_t<std::is_same_v<Feature, float>, vec::FloatDot<Wide>, vec::TupleDot<Feature, Wide>>;
  using Fold = vec::Fold<Wide, Steps>;
  using Sums = typename Dot::Sums;
  using Features = typename Dot::Features;
  static constexpr std::size_t tuple_size = Dot::features, features = Steps * tuple_size;
  template <std::size_t Width, std::size_t First, std::size_t Packs>
  static LADON_INLINE void load(const Feature* panel, Features (&x)[Packs]) noexcept {
    static_assert(Packs == 1);
    x[0] = of_bits(Fold::load(panel));
  }
  template <class Matrix>
  static LADON_INLINE Features weights(Matrix w) noexcept {
    return of_bits(Fold::repeat(w.data));
  }
  static LADON_INLINE void add(Sums& sum, const Features& x, const Features& weights) noexcept {
    Dot::add(sum, x, weights);
  }
  template <class PlainSums>
  static LADON_INLINE PlainSums unfold(const Sums& sum, const PlainSums& start) noexcept {
    if constexpr (integers) {
      return sum.add_steps(start);
    } else {
      return start + Fold::add_steps(sum);
    }
  }

 private:
  static LADON_INLINE Features of_bits(const Wide& bits) noexcept {
    if constexpr (!integers) {
      return bits;
    } else {
      return ladon::bit_cast<Features>(bits.batch);
    }
  }
};

// How many steps of a product share a register: 1 if the product is not folded. Folding changes the order of the
// additions of floats, so deterministic builds fold only integers.
template <class Simd, PanelLayout T, std::size_t Inner, class Matrix, class In = PanelsView>
inline constexpr std::size_t folded_steps = []() -> std::size_t {
  using Feature = typename In::Element;
  if constexpr (T.packs == 1 && T.lanes > 1 && T.lanes < Simd::lanes) {
    constexpr bool integers = std::is_integral_v<Feature>;
    constexpr std::size_t steps = integers ? 2 : Simd::lanes / T.lanes;
    using Wide = typename Simd::template Pack<steps * T.lanes>;
    if constexpr (!vec::Fold<Wide, steps>::exists) {
      return 1;
    } else if constexpr (integers) {
      if (requires { requires vec::TupleDot<Feature, Wide>::folds; }) return steps;
    } else if constexpr (!LADON_DETERMINISTIC && Matrix::rows_contiguous) {
      if (Inner * sizeof(Feature) / sizeof(float) >= target::Current::shortest_folded_sum) return steps;
    }
  }
  return 1;
}();
template <class Dot, std::size_t Lanes, std::size_t R>
constexpr auto tuple_dot() noexcept {
  if constexpr (R % 2 == 0 && requires(typename Dot::Sums& sum) { Dot::exchange_halves(sum, sum); }) {
    return ByMatrix<Dot, Lanes>{};
  } else if constexpr (requires { Dot::steps; }) {
    return ByLane<Dot, Lanes>{};
  } else {
    return EachPack<Dot, Lanes>{};
  }
}
// P is a ProductForm (detail/product/product_form.hpp).
template <class P, std::size_t R, class Matrix, class In>
constexpr auto dot_of_tile() noexcept {
  using Feature = typename In::Element;
  using Pack = typename P::Pack;
  constexpr std::size_t lanes = P::layout.lanes,
                        steps = folded_steps<typename P::Simd, P::layout, P::inner, Matrix, In>;
  if constexpr (steps > 1) {
    return Folded<Feature, typename P::Simd::template Pack<steps * lanes>, steps>{};
  } else if constexpr (std::is_same_v<Feature, float>) {
    return EachPack<vec::FloatDot<Pack>, lanes>{};
  } else {
    return tuple_dot<vec::TupleDot<Feature, Pack>, lanes, R>();
  }
}
template <class Dot>
inline constexpr bool is_folded = requires { typename Dot::Fold; };

}  // namespace LADON_NAMESPACE::detail
