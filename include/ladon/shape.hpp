// SPDX-License-Identifier: Apache-2.0
// The sizes of an attention, as a template argument, and the lengths of a single call.
#pragma once

#include <cstddef>

#include <ladon/detail/build/compiler.hpp>

namespace LADON_NAMESPACE {

// The default of every length in the options. With this default, all queries or keys of the shape are active.
inline constexpr std::size_t all = static_cast<std::size_t>(-1);

// The precision of the keys and values in a cache (key_value_cache.hpp):
//     float32    floats
//     bfloat16   a new key or value is rounded to the nearest bfloat16 (bfloat16.hpp)
//     int8       the key of a token in a head becomes integers from -127 to 127 with one scale; the value becomes
//                integers with another scale
//
// The precision of the cache does not change the precision of projections and sums, which are float32.
enum class CachePrecision { float32, bfloat16, int8 };

struct Model;

// The sizes of multi-head attention, with the names of "Attention Is All You Need" (arXiv 1706.03762). Every width is a
// number of floats. If a size is 0, it has the default in its comment.
struct Shape {
  std::size_t queries = 0;      // the largest number of queries of a call
  std::size_t keys = 0;         // the largest number of keys of a call, or the capacity of a cache; default: `queries`
  std::size_t model = 0;        // width of a token in `x` and `y`
  std::size_t heads = 1;        // query heads
  std::size_t kv_heads = 0;     // heads of keys and values, for grouped queries (arXiv 2305.13245); default: `heads`
  std::size_t head_width = 0;   // width of a query and of a key, d_k; default: `model` / `heads`
  std::size_t value_width = 0;  // width of a value, d_v; default: head_width
  std::size_t key_model = 0;    // width of a token before the key projection (PyTorch's kdim); default: `model`
  std::size_t value_model = 0;  // width of a token before the value projection (PyTorch's vdim); default: `model`
  CachePrecision cache_precision = CachePrecision::float32;  // only for types with a cache

  // Returns a model (model.hpp) that has these sizes, and defaults for everything else.
  constexpr operator Model() const noexcept;
  // Returns the shape with every 0 replaced by its default.
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
  // Returns the same shape, but with one query, one key and a float32 cache. The types of weights have this shape as
  // their template argument. Shapes that differ only in `queries`, `keys` and `cache_precision` can therefore share
  // weights.
  constexpr Shape with_one_token() const noexcept {
    Shape same = *this;
    same.queries = same.keys = 1;
    same.cache_precision = CachePrecision::float32;
    return same;
  }
  // query_rows(), key_rows() and value_rows() return the number of rows of the query, key and value projections, for
  // all heads together. Precondition: the shape is complete.
  constexpr std::size_t query_rows() const noexcept { return heads * head_width; }
  constexpr std::size_t key_rows() const noexcept { return kv_heads * head_width; }
  constexpr std::size_t value_rows() const noexcept { return kv_heads * value_width; }
  // Returns the width of the concatenated outputs of all heads for one token, in floats.
  constexpr std::size_t concat_width() const noexcept { return heads * value_width; }
  // Returns how many query heads share one head of keys and values. Query head h uses head h / heads_per_group() of the
  // keys and values.
  constexpr std::size_t heads_per_group() const noexcept { return heads / kv_heads; }
};

// Returns true if S is a valid shape. If S is invalid, compilation fails. The error message names the broken rule, and
// the compiler prints the sizes.
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

// How many queries and keys of a call are active: the first `queries` queries and the first `keys` keys. The call
// neither reads the rows of inactive tokens nor writes rows of `y` for inactive queries. Lengths do not change the
// layout of an array: the distance from head to head depends on the shape only.
struct Lengths {
  std::size_t queries;
  std::size_t keys;
  // Returns how many rows of `x` self-attention reads: the greater of `queries` and `keys`, because both come from `x`.
  constexpr std::size_t longer() const noexcept { return queries > keys ? queries : keys; }
};

// Returns the shape of the attention to the memory in a decoder layer: S with `Memory` keys.
template <Shape S, std::size_t Memory>
constexpr Shape memory_shape() noexcept {
  Shape shape = S;
  shape.keys = Memory;
  return shape;
}

}  // namespace LADON_NAMESPACE
