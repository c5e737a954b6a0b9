// Makes Subjects that call C kernels. A Subject (support/subject.hpp) describes the code under test. The functions of
// tests/support that check C++ templates take a Subject, so these functions check C kernels, too.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include <doctest/doctest.h>

#include "subject.hpp"

namespace ladon_test {

// Sets the pointers `weight` and `bias` of one projection, in a struct with LAYOUT per_head and biases. The struct has
// the weights of all heads before the biases of all heads. At `next`, the pointers have another order: weight and bias
// of head 0, weight and bias of head 1, and so on. Any other struct has the order of the pointers at `next`, so
// c_weights copies them.
template <std::size_t Heads>
void deal(const float* (&weight)[Heads], const float* (&bias)[Heads], const float* const*& next) {
  for (std::size_t h = 0; h < Heads; ++h) {
    weight[h] = *next++;
    bias[h] = *next++;
  }
}
template <class W>
W c_weights(const float* const* next) {
  W weights;
  if constexpr (requires { weights.query_proj_bias[0][0]; }) {
    deal(weights.query_proj_weight, weights.query_proj_bias, next);
    deal(weights.key_proj_weight, weights.key_proj_bias, next);
    deal(weights.value_proj_weight, weights.value_proj_bias, next);
    weights.out_proj_weight = *next++;
    weights.out_proj_bias = *next++;
  } else {
    std::memcpy(&weights, next, sizeof(weights));
  }
  return weights;
}

inline std::size_t c_length(std::size_t length) { return length == ladon::all ? 0 : length == 0 ? LADON_NONE : length; }

template <class O>
O c_options(const Call& call, const ladon::Shape& shape) {
  O options{};
  if constexpr (requires { options.tokens; }) options.tokens = c_length(call.tokens);
  const auto of = [&](std::size_t own) { return c_length(own == ladon::all ? call.tokens : own); };
  if constexpr (requires { options.queries; }) options.queries = of(call.queries);
  if constexpr (requires { options.keys; }) options.keys = of(call.keys);
  if constexpr (requires { options.offset; }) {
    const auto usual = static_cast<std::ptrdiff_t>(shape.keys) - static_cast<std::ptrdiff_t>(shape.queries);
    options.offset = call.offset == bottom_right ? usual : call.offset;
  }
  if constexpr (requires { options.padding; }) options.padding = call.may_see;
  if constexpr (requires { options.bits; }) options.bits = call.bits;
  if constexpr (requires { options.boolean; }) options.boolean = call.pairs;
  if constexpr (requires { options.boolean_keys; }) options.boolean_keys = c_length(call.mask_keys);
  if constexpr (requires { options.additive; }) options.additive = call.values;
  if constexpr (requires { options.additive_keys; }) options.additive_keys = c_length(call.mask_keys);
  if constexpr (requires { options.slopes; }) options.slopes = call.slopes;
  if constexpr (requires { options.sinks; }) options.sinks = call.sinks;
  if constexpr (requires { options.attention[0][0]; }) {
    for (std::size_t i = 0; i < std::size(options.attention); ++i) {
      options.attention[i] = call.maps == nullptr ? nullptr : call.maps[i];
    }
  } else if constexpr (requires { options.attention; }) {
    options.attention = call.maps == nullptr ? nullptr : call.maps[0];
  }
  return options;
}

// Returns a Subject whose members `mask`, `layout` and `score` are not set. The test must set these members, because
// the C types do not contain this information.
template <ladon::Shape S, std::size_t WorkspaceBytes, class W, class O,
          ladon_status (*Run)(const float*, const W*, float*, void*, const O*)>
Subject c_subject(std::size_t layers = 1) {
  const auto run = [](const Call& call) {
    const W weights = c_weights<W>(call.weights);
    const O options = c_options<O>(call, S.complete());
    CHECK(Run(call.x, &weights, call.y, call.workspace, &options) == LADON_OK);
  };
  return {S.complete(), WeightLayout::in_proj, layers, WorkspaceBytes, 0, run};
}
template <ladon::Shape S, std::size_t WorkspaceBytes, class W, class O,
          ladon_status (*Run)(const float*, const float*, const W*, float*, void*, const O*)>
Subject c_cross_subject() {
  const auto run = [](const Call& call) {
    const W weights = c_weights<W>(call.weights);
    const O options = c_options<O>(call, S.complete());
    CHECK(Run(call.x, call.context, &weights, call.y, call.workspace, &options) == LADON_OK);
  };
  return {S.complete(), WeightLayout::in_proj, 1, 0, WorkspaceBytes, run};
}

}  // namespace ladon_test
