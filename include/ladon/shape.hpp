// The sizes of an attention, as a template argument, and the lengths of a single call.
#pragma once

#include <cstddef>

#include <ladon/detail/target/compiler.hpp>

namespace ladon::inline LADON_ABI {

// The default of every length in the options. `all` stands for the length in the shape.
inline constexpr std::size_t all = static_cast<std::size_t>(-1);

// The sizes of multi-head attention, with the names of "Attention Is All You Need" (arXiv 1706.03762). Widths are
// numbers of floats. A size of 0 stands for the default in the comment.
struct Shape {
  std::size_t queries = 0;      // the largest number of queries of a call
  std::size_t keys = 0;         // the largest number of keys, or the capacity of a cache; default: queries
  std::size_t model = 0;        // width of a token of x and y
  std::size_t heads = 1;        // query heads
  std::size_t kv_heads = 0;     // heads of keys and values, for grouped heads (arXiv 2305.13245); default: heads
  std::size_t head_width = 0;   // width of a query and of a key, d_k; default: model / heads
  std::size_t value_width = 0;  // width of a value, d_v; default: head_width
  std::size_t key_model = 0;    // width of a token before the key projection (PyTorch's kdim); default: model
  std::size_t value_model = 0;  // width of a token before the value projection (PyTorch's vdim); default: model

  // Returns the shape with every 0 replaced by its default. Query head h uses the keys and values of head
  // h / (heads / kv_heads).
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
  // Returns the shape with one query and one key. Types of weights use this shape, so shapes that differ only in their
  // numbers of tokens have weights of the same type.
  constexpr Shape with_one_token() const noexcept {
    Shape same = *this;
    same.queries = same.keys = 1;
    return same;
  }
  // Return the numbers of rows of the projections for all heads. The shape is complete.
  constexpr std::size_t query_rows() const noexcept { return heads * head_width; }
  constexpr std::size_t key_rows() const noexcept { return kv_heads * head_width; }
  constexpr std::size_t value_rows() const noexcept { return kv_heads * value_width; }
  // Returns the width of the concatenated heads.
  constexpr std::size_t concat_width() const noexcept { return heads * value_width; }
  // Returns the number of query heads that share one head of keys and values.
  constexpr std::size_t heads_per_group() const noexcept { return heads / kv_heads; }
};

// Returns true if S is a valid shape. Otherwise compilation fails: the message names the broken rule, and the compiler
// prints the sizes.
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

// The active tokens of a call. The call does not read rows beyond the lengths, and does not write rows of y beyond
// `queries`. The addresses of rows and heads depend on the shape only, not on the lengths.
struct Lengths {
  std::size_t queries;
  std::size_t keys;
  // Returns the number of rows of x that self-attention reads, because x provides queries and keys.
  constexpr std::size_t longer() const noexcept { return queries > keys ? queries : keys; }
};

// Returns the shape of an attention from the queries of S to a memory of `Memory` tokens.
template <Shape S, std::size_t Memory>
constexpr Shape memory_shape() noexcept {
  Shape shape = S;
  shape.keys = Memory;
  return shape;
}

}  // namespace ladon::inline LADON_ABI
