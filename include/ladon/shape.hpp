// The sizes of one attention, as a template argument, and the lengths that only a run knows.
#pragma once

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/target/compiler.hpp>
#include <ladon/views.hpp>

namespace ladon::inline LADON_ABI {

// "As much as the shape has": the default of every length that a run may shorten.
inline constexpr std::size_t all = static_cast<std::size_t>(-1);

// Sizes of multi-head attention, in the names of "Attention Is All You Need" (arXiv 1706.03762). Zero stands for the
// usual: keys as many as queries, a head as wide as model / heads, values as wide as keys, every head with keys and
// values of its own, and keys and values made from tokens as wide as the model.
struct Shape {
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t model = 0;
  std::size_t heads = 1;
  std::size_t kv_heads = 0;     // grouped heads: head h uses keys and values h / (heads / kv_heads)
  std::size_t head_width = 0;   // of a query and a key, d_k
  std::size_t value_width = 0;  // d_v
  std::size_t key_model = 0;    // of a token that a key is made from (PyTorch's kdim)
  std::size_t value_model = 0;  // of a token that a value is made from (vdim)

  // The same shape with every zero replaced by what it stands for.
  constexpr Shape complete() const noexcept {
    Shape full = *this;
    if (full.keys == 0) full.keys = queries;
    if (full.kv_heads == 0) full.kv_heads = heads;
    if (full.head_width == 0 && heads != 0) full.head_width = model / heads;
    if (full.value_width == 0) full.value_width = full.head_width;
    if (full.key_model == 0) full.key_model = model;
    if (full.value_model == 0) full.value_model = model;
    return full;
  }
  // What weights know of a shape: those of all shapes that differ in tokens only are of one type.
  constexpr Shape widths() const noexcept {
    Shape same = *this;
    same.queries = same.keys = 1;
    return same;
  }
  constexpr std::size_t query_rows() const noexcept { return heads * head_width; }
  constexpr std::size_t key_rows() const noexcept { return kv_heads * head_width; }
  constexpr std::size_t value_rows() const noexcept { return kv_heads * value_width; }
  constexpr std::size_t concat_width() const noexcept { return heads * value_width; }
  constexpr std::size_t heads_per_group() const noexcept { return heads / kv_heads; }
};

// Fails to compile with the rule that S breaks; the compiler prints the numbers beside it.
template <Shape S>
constexpr bool valid() noexcept {
  constexpr Shape full = S.complete();
  static_assert(S.queries > 0, "ladon: a shape needs at least one query");
  static_assert(S.heads > 0, "ladon: a shape needs at least one head");
  static_assert(S.model > 0, "ladon: a shape needs a model width");
  static_assert(S.heads == 0 || S.head_width != 0 || S.model % S.heads == 0,
                "ladon: heads must divide the model width, or head_width must say how wide a head is");
  static_assert(full.kv_heads == 0 || S.heads % full.kv_heads == 0, "ladon: kv_heads must divide heads");
  static_assert(S.heads == 0 || full.head_width > 0, "ladon: a head has no width: there are more heads than features");
  static_assert(full.queries < (1u << 24) && full.keys < (1u << 24),
                "ladon: positions are compared as float, so there may be at most 2^24 of them");
  return true;
}

// Tokens that take part in one run. Rows beyond them are not read, rows of y beyond `queries` not written. Where a row
// or a head begins does not depend on them: that is the shape's.
struct Lengths {
  std::size_t queries;
  std::size_t keys;
  // In self-attention x gives both.
  constexpr std::size_t longer() const noexcept { return queries > keys ? queries : keys; }
};

// What a caller may say at run time. Precondition: no length exceeds the shape's (checked: expects.hpp).
template <Shape S, class Mask, class Score>
struct RunOptions {
  using MaskType = Mask;
  struct None {};
  std::size_t tokens = all;   // both lengths, in self-attention
  std::size_t queries = all;  // rows of x that ask; overrides tokens
  std::size_t keys = all;     // tokens that may be seen; overrides tokens
  typename Mask::template Data<S> mask{};
  std::conditional_t<Score::sinks, Vector<const float, S.heads>, None> sinks{};  // [heads], in the scores' units
  typename Score::Rotary::Data rotary{};

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
