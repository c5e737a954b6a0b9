// What may differ from call to call: lengths, and the data of mask, score and position encoding.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/target/compiler.hpp>
#include <ladon/position.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// What a caller may say at run time. Precondition: no length exceeds the shape's (checked: expects.hpp).
template <Shape S, class Mask, class Score, position::Policy Position = position::None>
struct RunOptions {
  using MaskType = Mask;
  struct None {};
  std::size_t tokens = all;   // both lengths, in self-attention
  std::size_t queries = all;  // rows of x that ask; overrides tokens
  std::size_t keys = all;     // tokens that may be seen; overrides tokens
  typename Mask::template Data<S> mask{};
  std::conditional_t<Score::sinks, Vector<const float, S.heads>, None> sinks{};  // [heads], in the scores' units
  typename Position::Data position{};

  constexpr Lengths lengths() const noexcept {
    const auto pick = [&](std::size_t own, std::size_t capacity) {
      return own != all ? own : tokens != all ? tokens : capacity;
    };
    const Lengths chosen{pick(queries, S.queries), pick(keys, S.keys)};
    LADON_EXPECTS(chosen.queries <= S.queries, "ladon: more queries than the shape has room for");
    LADON_EXPECTS(chosen.keys <= S.keys, "ladon: more keys than the shape has room for");
    return chosen;
  }
  // Bottom right: the shape's last query stands at its last key.
  static constexpr std::ptrdiff_t bottom_right() noexcept {
    return static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
  }
  constexpr auto bind(Lengths lengths, std::ptrdiff_t offset = bottom_right()) const noexcept {
    return Mask::template bind<S>({lengths, offset}, mask);
  }
};

}  // namespace ladon::inline LADON_ABI
