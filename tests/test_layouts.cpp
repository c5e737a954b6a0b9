// Tests that all layouts of the same weights give equal bits. Layouts differ only in strides, so the kernels add in the
// same order. There is one exception: if a panel (a group of tokens) fills at most half of a vector register, layouts
// (out, in) and layouts (in, out) add in different orders (test_few_tokens.cpp, test_last_panel.cpp). The shapes of
// this file avoid such panels.
#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "cached_check.hpp"
#include "random.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

Outcome run_layout(const Subject& subject, const Variation& variation, bool cross) {
  const AttentionProblem problem = random_problem(subject.shape, cross, 11);
  return run_guarded(subject, task_of(subject, problem, variation));
}

template <ladon::Shape Shape, class Mask, class Layout>
Subject subject_of() {
  if constexpr (Shape.keys == 0) {
    return self_subject<Shape, Mask, Layout>();
  } else {
    return attention_subject<Shape, Mask, Layout>();
  }
}

template <ladon::Shape Shape, class Mask>
void check_layouts() {
  const Subject packed = subject_of<Shape, Mask, ladon::layout::InProj>();
  std::vector<Subject> others{
      subject_of<Shape, Mask, ladon::layout::SeparateQKV>(), subject_of<Shape, Mask, ladon::layout::PerHead>(),
      subject_of<Shape, Mask, ladon::layout::InOut>(), subject_of<Shape, Mask, ladon::layout::InProjInOut>(),
      subject_of<Shape, Mask, InBlocks<Shape.complete().kv_heads>>()};
  if constexpr (Shape.kv_heads == 2) others.push_back(subject_of<Shape, Mask, ValuesFirst>());
  for (const Variation& variation : variations(packed)) {
    INFO(to_string(packed, variation));
    const bool cross = packed.shape.queries != packed.shape.keys;
    const Outcome expected = run_layout(packed, variation, cross);
    for (const Subject& subject : others) {
      CAPTURE(static_cast<int>(subject.layout));
      const Outcome outcome = run_layout(subject, variation, cross);
      CHECK(same_bits(outcome.y, expected.y));
      CHECK(same_bits(outcome.maps[0], expected.maps[0]));
    }
  }
}

template <ladon::Order O, ladon::Bias B>
void check_linear() {
  constexpr std::size_t out = 11, in = 37;
  constexpr bool biased = B == ladon::Bias::with, turned = O == ladon::Order::in_out;
  Random random(6);
  const Floats x = random.normals(in);
  const oracle::Linear w{out, in, random.normals(out * in), biased ? random.normals(out) : Floats{}};
  Floats stored(w.weight.size());
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) stored[turned ? i * out + o : o * in + i] = w.weight[o * in + i];
  }
  ladon::Linear<out, in, O, B> linear;
  linear.weight = stored.data();
  if constexpr (biased) linear.bias = w.bias.data();
  Floats y(out, poison());
  ladon::linear(linear, x.data(), y.data());
  const oracle::Matrix expected = oracle::linear(w, oracle::Matrix(1, in, x.data()));
  CHECK(worst_distance(y, Expected(expected.data.begin(), expected.data.end())) <= 1);
}

}  // namespace

TEST_CASE("a linear map of one token, in both orders, with and without a bias") {
  check_linear<ladon::Order::out_in, ladon::Bias::with>();
  check_linear<ladon::Order::out_in, ladon::Bias::without>();
  check_linear<ladon::Order::in_out, ladon::Bias::with>();
}

TEST_CASE("layouts agree to the last bit: no mask, whole panels") {
  check_layouts<S{.queries = 32, .model = 24, .heads = 3}, ladon::mask::Unmasked>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layouts agree to the last bit: causal, tails, grouped heads, values of another width") {
  check_layouts<S{.queries = 29, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7},
                ladon::mask::Causal>();
}

TEST_CASE("in_proj in blocks: int8 and bfloat16 weights, and a text that grows by single tokens") {
  constexpr S shape{.queries = 18, .model = 48, .heads = 6, .kv_heads = 2};
  check_self(self_subject<shape, ladon::mask::Causal, ladon::layout::Int8<ValuesFirst>>());
#if !LADON_DETERMINISTIC
  check_self(self_subject<shape, ladon::mask::Causal, ladon::layout::BFloat16<InBlocks<2>>>());
#endif
  check_cached(
      cached_subject<shape, ladon::mask::Causal, ladon::score::Scaled, ladon::position::Unrotated, InBlocks<2>>(),
      {{{5, 1, 1, 11}}, {std::vector<std::size_t>(9, 1)}});
  check_cached(cached_subject<shape, ladon::mask::Causal, ladon::score::Scaled, ladon::position::Unrotated,
                              ladon::layout::InProjInOut>(),
               {{{5, 1, 1, 11}}});
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("layouts agree to the last bit: keys from a context, causal and padding") {
  check_layouts<S{.queries = 11, .keys = 45, .model = 17, .heads = 2, .head_width = 20}, CausalAndPadding>();
}
#endif

}  // namespace ladon_test
