// SPDX-License-Identifier: Apache-2.0
// The options of a call: the lengths, and the data of the mask, the score and the position encoding. The optional
// outputs of a call: the attention weights, or the scores before the softmax.
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>
#include <type_traits>

#include <ladon/checks.hpp>
#include <ladon/detail/config/compiler.hpp>
#include <ladon/detail/config/errors.hpp>
#include <ladon/position.hpp>
#include <ladon/shape.hpp>
#include <ladon/views.hpp>

namespace LADON_NAMESPACE {

// By default, all tokens of the shape are active. Precondition: no length exceeds the length in the shape (checks.hpp).
template <Shape S, class Mask, class Score, class Position = position::Unrotated>
struct RunOptions {
  static_assert(Position::width <= S.head_width, "ladon: rotary embedding turns more features than a head has");
  using MaskType = Mask;
  struct Nothing {};
  std::size_t tokens = all;   // how many queries and how many keys are active
  std::size_t queries = all;  // how many queries are active; overrides `tokens`
  std::size_t keys = all;     // how many keys are active; overrides `tokens`
  typename Mask::template Data<S> mask{};
  std::conditional_t<Score::sinks, VectorView<const float, S.heads>, Nothing>
      sinks{};  // the logits of the sinks (score.hpp): [heads], in natural units (Stage)
  typename Position::Data position{};
  LADON_CALLER_MEMBER

  constexpr Lengths lengths() const noexcept {
    const auto pick = [&](std::size_t length, std::size_t capacity) {
      return length != all ? length : tokens != all ? tokens : capacity;
    };
    const Lengths chosen{pick(queries, S.queries), pick(keys, S.keys)};
    [[maybe_unused]] const auto name = [](std::size_t length, const char* option) {
      return length != all ? option : "options.tokens";
    };
    LADON_EXPECTS(chosen.queries <= S.queries, "ladon: more queries than the shape has room for", caller,
                  {{name(queries, "options.queries"), chosen.queries}, {"shape.queries", S.queries}});
    LADON_EXPECTS(chosen.keys <= S.keys, "ladon: more keys than the shape has room for", caller,
                  {{name(keys, "options.keys"), chosen.keys}, {"shape.keys", S.keys}});
    return chosen;
  }
  // The default position of query 0 in calls that do not extend a cache: the last query has the last key's position.
  static constexpr std::ptrdiff_t bottom_right() noexcept {
    return static_cast<std::ptrdiff_t>(S.keys) - static_cast<std::ptrdiff_t>(S.queries);
  }
  // Returns the bound mask (mask/policy.hpp). Query i has the position `offset` + i, unless `mask` has another offset.
  constexpr auto bind_to(Lengths lengths, std::ptrdiff_t offset = bottom_right()) const noexcept {
    return Mask::template bind_to<S>({lengths, offset}, mask);
  }
};

// Receives the attention weights: [heads][queries][keys], row-major. The weight is 0 if the mask hides the key from the
// query, or if the key is inactive. Rows of inactive queries stay unchanged. If the score of a visible key is NaN, all
// weights of the query are NaN or 0.
template <Shape S>
using AttentionMap = TensorView<float, S.heads, S.queries, S.keys>;

// The stages from scores to attention weights. Captured scores are in natural units: the weight of a key with the score
// s is proportional to e^s. The stages have the numbers of qk_matmul_output_mode of the ONNX operator Attention since
// pull request 7913.
enum class Stage {
  scaled,   // scale * q . k for every active key, visible or hidden
  capped,   // after the softcap, before the mask
  masked,   // after the mask: -inf if the mask hides the key from the query
  weights,  // after the softmax: the same numbers as in an AttentionMap
};

// Receives the result of stage G: [heads][queries][keys], row-major. For inactive keys, the result is -inf at the stage
// `masked`, and 0 at every other stage. Rows of inactive queries stay unchanged.
template <Stage G>
struct Capture {
  float* data;
};

}  // namespace LADON_NAMESPACE

// LADON_REJECT_MISTAKES(message, run, "x, y", X, const Workspace&) declares two overloads of `run`
// (detail/config/errors.hpp). The first overload gives `message` for wrong options, such as a misspelt name: its
// ellipsis accepts any options. Valid calls prefer the real `run`: the overloads add const to the memory, or convert it
// to AnyMemory (detail/panel/call_checks.hpp). The second overload rejects all other calls.
#define LADON_MISTAKEN_OPTIONS                                                                                         \
  "ladon: an option is unknown or misplaced. The options are {.tokens, .queries, .keys, .mask, .sinks, .position}, "   \
  "in this order; .mask and .position take the members of Data of the mask and of the position encoding, and a table " \
  "is given by its address, as in {.position = {.table = &table}}. The model must have the mask: see its .mask"
#define LADON_REJECT_OPTIONS(message, function, ...) LADON_REJECT(message) function(__VA_ARGS__, ...) LADON_REJECTED
#define LADON_REJECT_MISTAKES(message, function, arguments, ...) \
  LADON_REJECT_OPTIONS(message, function, __VA_ARGS__);          \
  LADON_REJECT_CALL(function, arguments)
#include <ladon/detail/config/quiet_end.hpp>
