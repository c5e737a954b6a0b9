// Tests attention with integers (detail/cortex_m/m0_attention.hpp) against the oracle. Attention with int8 weights on
// a Cortex-M0+ computes with integers. The target BlockFloats of this file does so on any machine.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Padding;
using Int8 = ladon::layout::Int8<ladon::layout::InProj>;

struct BlockFloats : ladon::detail::vec::ArrayVectors<1> {
  static constexpr bool uses_block_floats = true;
};

}  // namespace

TEST_CASE("block floats: conversion to the largest and the smallest normal floats") {
  using ladon::detail::cortex_m::m0::to_float;
  CHECK(to_float(0x80000000u, 0, 254) == 0x1p127f);
  CHECK(to_float(0xffffff00u, 0x80000000u, 254) == -std::numeric_limits<float>::max());
  CHECK(to_float(0xffffffffu, 0, 254) == std::numeric_limits<float>::infinity());  // rounded up to 2^128
  CHECK(to_float(0x80000000u, 0x80000000u, 255) == -std::numeric_limits<float>::infinity());
  CHECK(to_float(0x80000000u, 0, 1) == std::numeric_limits<float>::min());
  CHECK(to_float(0x80000000u, 0, 0) == 0.0f);
}

TEST_CASE("block floats: several panels and an incomplete panel") {
  check_attention(attention_subject<S{.queries = 19, .model = 12, .heads = 3}, Unmasked, Int8, BlockFloats>());
}

TEST_CASE("block floats: keys from a context, causal and padding") {
  check_attention(attention_subject<S{.queries = 5, .keys = 37, .model = 17, .heads = 2, .head_width = 20},
                                    CausalAndPadding, Int8, BlockFloats>());
}

TEST_CASE("block floats: wide heads") {
  check_attention(attention_subject<S{.queries = 9, .model = 8, .heads = 1, .head_width = 64, .value_width = 3}, Causal,
                                    Int8, BlockFloats>());
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("block floats: several blocks of keys") {
  check_attention(
      attention_subject<S{.queries = 5, .keys = 600, .model = 6, .heads = 2}, Padding, Int8, BlockFloats>());
}
#endif

// A hidden key must have no influence, even if its features are huge, infinite or NaN. Keys with infinite or NaN
// features are computed with floats.
TEST_CASE("block floats: a hidden token that is huge, infinite or NaN") {
  const Subject subject = attention_subject<S{.queries = 6, .model = 12, .heads = 2}, Padding, Int8, BlockFloats>();
  AttentionProblem problem = random_problem(subject, false, 3);
  const Variation hide_token_1{.may_see = {1, 0, 1, 1, 1, 1}};
  for (const float bad : {1e30f, -1e37f, static_cast<float>(INFINITY), static_cast<float>(NAN)}) {
    CAPTURE(bad);
    problem.x[12 + 7] = bad;
    check_run(subject, task_of(subject, problem, hide_token_1), hide_token_1,
              expected_attention(subject, problem, hide_token_1));
  }
}

}  // namespace ladon_test
