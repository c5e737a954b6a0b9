// The options of a call: lengths, and the data of the mask, the score and the position encoding.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/target/compiler.hpp>
#include <ladon/position.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// The options of a call to an attention of shape S. Every member has a default, so {} is a call with all tokens.
// Precondition: no length exceeds the length in the shape (checks.hpp).
template <Shape S, class Mask, class Score, position::Policy Position = position::None>
struct RunOptions {
  using MaskType = Mask;
  struct None {};
  std::size_t tokens = all;   // active queries and active keys, in self-attention
  std::size_t queries = all;  // active queries: rows of x and y; overrides tokens
  std::size_t keys = all;     // active keys; overrides tokens
  typename Mask::template Data<S> mask{};
  std::conditional_t<Score::sinks, VectorView<const float, S.heads>, None>
      sinks{};  // [heads], in the units of the scores
  typename Position::Data position{};

  // Returns the active lengths.
  constexpr Lengths lengths() const noexcept {
    const auto pick = [&](std::size_t length, std::size_t capacity) {
      return length != all ? length : tokens != all ? tokens : capacity;
    };
    const Lengths chosen{pick(queries, S.queries), pick(keys, S.keys)};
    LADON_EXPECTS(chosen.queries <= S.queries, "ladon: more queries than the shape has room for");
    LADON_EXPECTS(chosen.keys <= S.keys, "ladon: more keys than the shape has room for");
    return chosen;
  }
  // Returns the default position of query 0: the last query of the shape has the position of the last key of the shape.
  static constexpr std::ptrdiff_t bottom_right() noexcept {
    return static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
  }
  // Returns the mask of this call. Query i has the position offset + i, unless the mask's data contain another offset.
  constexpr auto bind(Lengths lengths, std::ptrdiff_t offset = bottom_right()) const noexcept {
    return Mask::template bind<S>({lengths, offset}, mask);
  }
};

}  // namespace ladon::inline LADON_ABI
