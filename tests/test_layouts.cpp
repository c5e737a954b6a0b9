// The same weights in every layout: the same numbers to the last bit, for one stride replaces another. (Of nine queries
// and keys or more: test_few_tokens.cpp.)
#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

Outcome run_layout(const Subject& subject, const Variation& variation, bool cross) {
  const AttentionProblem problem = random_problem(subject.shape, cross, 11);
  return run_guarded(subject, task_of(subject, problem, variation));
}

template <ladon::Shape Shape, class Mask>
void check_layouts() {
  const Subject packed = attention_subject<Shape, Mask, ladon::layout::InProj>();
  const Subject others[] = {attention_subject<Shape, Mask, ladon::layout::SeparateQKV>(),
                            attention_subject<Shape, Mask, ladon::layout::PerHead>(),
                            attention_subject<Shape, Mask, ladon::layout::InOut>()};
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

}  // namespace

TEST_CASE("layouts agree to the last bit: no mask, whole panels") {
  check_layouts<S{.queries = 32, .model = 24, .heads = 3}, ladon::mask::None>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("layouts agree to the last bit: causal, tails, grouped heads, values of another width") {
  check_layouts<S{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7},
                ladon::mask::Causal>();
}

TEST_CASE("layouts agree to the last bit: keys from elsewhere, both masks") {
  check_layouts<S{.queries = 11, .keys = 33, .model = 17, .heads = 2, .head_width = 20}, CausalAndPadding>();
}
#endif

}  // namespace ladon_test
