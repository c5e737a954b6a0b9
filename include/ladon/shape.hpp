// SPDX-License-Identifier: Apache-2.0
// The sizes of an attention, and the lengths of a call.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/config/compiler.hpp>

namespace LADON_NAMESPACE {

// Over which features a norm of queries and keys is computed (Model::query_key_norm):
//     head        of a head, with one weight [head_width] for all heads (Qwen 3, Gemma 3)
//     each_head   of a head, with a weight for each head: [heads * head_width] (Cohere)
//     all         of all heads, with a weight [heads * head_width] (OLMo 2)
enum class HeadNorm { none, head, each_head, all };  // must precede the constant `all`: g++ reports shadowing otherwise

// The default of every length in the options: all queries or keys of the shape are active. `all` is not the largest
// std::size_t, so that a length that underflows to this number is refused.
inline constexpr std::size_t all = static_cast<std::size_t>(-1) / 2;

// The precision of a cache (key_value_cache.hpp). Projections and sums stay float32.
//     float32    floats
//     bfloat16   a new key or value is rounded to the nearest bfloat16 (bfloat16.hpp)
//     int8       each key and each value of a token in a head becomes integers from -127 to 127 with one scale
enum class CachePrecision { float32, bfloat16, int8 };

struct Model;

// The sizes of multi-head attention, with the names of "Attention Is All You Need" (arXiv 1706.03762). Every width is a
// number of floats. A size of 0 stands for the default in its comment.
struct Shape {
  std::size_t queries = 0;      // largest number in a call
  std::size_t keys = 0;         // largest number in a call or a cache; default: `queries`
  std::size_t model = 0;        // width of a token in `x` and `y`
  std::size_t heads = 0;        // query heads; has no default, because a wrong number gives wrong results
  std::size_t kv_heads = 0;     // heads of keys and values, for grouped queries (arXiv 2305.13245); default: `heads`
  std::size_t head_width = 0;   // width of a query and of a key, d_k; default: `model` / `heads`
  std::size_t value_width = 0;  // width of a value, d_v; default: head_width
  std::size_t key_model = 0;    // width of a token before the key projection (kdim); default: `model`
  std::size_t value_model = 0;  // width of a token before the value projection (vdim); default: `model`
  CachePrecision cache_precision = CachePrecision::float32;  // only for types with a cache

  // A model (model.hpp) with these sizes.
  constexpr operator Model() const noexcept;
  // The shape with every 0 replaced by its default.
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
  // Shapes whose with_one_token() is equal share the types of weights.
  constexpr Shape with_one_token() const noexcept {
    Shape same = *this;
    same.queries = same.keys = 1;
    same.cache_precision = CachePrecision::float32;
    return same;
  }
  // Shapes whose for_cache() is equal share the type of a cache.
  constexpr Shape for_cache() const noexcept {
    Shape same = *this;
    same.queries = 1;
    same.heads = kv_heads;
    same.key_model = same.value_model = model;
    return same;
  }
  // The queries of a group of heads become queries of one head. Precondition: the shape is complete.
  constexpr Shape with_merged_heads() const noexcept {
    Shape merged = *this;
    merged.queries = queries * heads_per_group();
    merged.heads = kv_heads;
    return merged;
  }
  // The rows of the projections of all heads. Precondition: the shape is complete.
  constexpr std::size_t query_rows() const noexcept { return heads * head_width; }
  constexpr std::size_t key_rows() const noexcept { return kv_heads * head_width; }
  constexpr std::size_t value_rows() const noexcept { return kv_heads * value_width; }
  // The width of the concatenated outputs of all heads.
  constexpr std::size_t concat_width() const noexcept { return heads * value_width; }
  // Query head h uses head h / heads_per_group() of the keys and values.
  constexpr std::size_t heads_per_group() const noexcept { return heads / kv_heads; }
};

// Fails to compile if S is invalid, with a message that names the broken rule.
template <Shape S>
constexpr bool valid() noexcept {
  constexpr Shape given = S, full = S.complete();  // short names, because clang++ prints them before the message
  static_assert(given.queries > 0, "ladon: a shape needs at least one query");
  static_assert(given.heads > 0, "ladon: a shape needs at least one head; heads has no default");
  static_assert(given.model > 0, "ladon: a shape needs a model width");
  static_assert(given.heads == 0 || given.model == 0 || full.head_width > 0,
                "ladon: a head has no width: there are more heads than features");
  static_assert(
      given.heads == 0 || given.head_width != 0 || given.model < given.heads || given.model % given.heads == 0,
      "ladon: heads must divide the model width, or head_width must say how wide a head is");
  static_assert(full.kv_heads == 0 || given.heads % full.kv_heads == 0, "ladon: kv_heads must divide heads");
  static_assert(full.queries < (1u << 24) && full.keys < (1u << 24),
                "ladon: positions are compared as float, so there may be at most 2^24 of them");
  return true;
}

// The first `queries` queries and `keys` keys of a call are active. Lengths do not change the layout of an array.
struct Lengths {
  std::size_t queries;
  std::size_t keys;
  // The number of rows of `x` that self-attention reads.
  constexpr std::size_t longer() const noexcept { return queries > keys ? queries : keys; }
};

// The shape of the attention to the memory in a decoder layer.
template <Shape S, std::size_t Memory>
constexpr Shape memory_shape() noexcept {
  Shape shape = S;
  shape.keys = Memory;
  return shape;
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
