// Tests that any number of lanes gives equal bits under every mask and with every kind of score. Also compares the
// scores that are captured at every stage. A few queries have features in the lanes (most_few_queries), so their
// bits depend on the number of lanes.
#include <vector>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using namespace ladon::mask;
using ladon::detail::vec::ArrayVectors;

template <ladon::Shape Shape, class Mask, class Score, Captures captures, class... Targets>
void check_equal() {
  const Subject subjects[] = {given_subject<Shape, Mask, Score, ladon::position::Unrotated, captures, Targets>()...,
                              given_subject<Shape, Mask, Score, ladon::position::Unrotated, captures>()};
  const GivenProblem given = random_given(subjects[0].shape, 23);
  for (const Variation& variation : variations(subjects[0])) {
    if (variation.queries(Shape) <= ladon::detail::target::Defaults::most_few_queries) continue;
    INFO(to_string(subjects[0], variation));
    const Task task = task_of(subjects[0], given, variation);
    const Outcome expected = run_guarded(subjects[0], task);
    if constexpr (captures == Captures::every_stage) {
      for (const ladon::Stage stage : {ladon::Stage::scaled, ladon::Stage::capped, ladon::Stage::masked}) {
        const Floats scores = run_capturing(subjects[0], task, stage, expected.y);
        for (const Subject& subject : subjects)
          CHECK(same_bits(run_capturing(subject, task, stage, expected.y), scores));
      }
    }
    for (const Subject& subject : subjects) {
      const Outcome outcome = run_guarded(subject, task);
      CHECK(same_bits(outcome.y, expected.y));
      CHECK(same_bits(outcome.maps[0], expected.maps[0]));
    }
  }
}

using ladon::score::Scaled;
constexpr Captures weights = Captures::weights;

}  // namespace

TEST_CASE("targets agree to the last bit: bits and a window") {
  check_equal<S{.queries = 21, .keys = 37, .model = 6, .heads = 2}, decltype(Bits{} & Window<20, 3>{}), Scaled, weights,
              ArrayVectors<1>, ArrayVectors<4>>();
}

#if !defined(LADON_TEST_SET_QUICK)
namespace {
struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};
}  // namespace

TEST_CASE("targets agree to the last bit: numbers and slopes, cap and sinks") {
  check_equal<S{.queries = 21, .keys = 37, .model = 6, .heads = 2}, decltype(AdditivePerHead{} & Alibi{}),
              CappedWithSinks, Captures::every_stage, ArrayVectors<4>>();
}

TEST_CASE("targets agree to the last bit: bytes, few tokens, 16 lanes") {
  check_equal<S{.queries = 9, .keys = 15, .model = 4, .heads = 1}, BooleanPerHead, CappedWithSinks, weights,
              ArrayVectors<16>>();
}

TEST_CASE("targets agree to the last bit: numbers over several blocks") {
  check_equal<S{.queries = 5, .keys = 530, .model = 4, .heads = 1}, decltype(Additive{} & Causal{}), Scaled, weights,
              ArrayVectors<8>>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("targets agree to the last bit: bits over several blocks") {
  check_equal<S{.queries = 5, .keys = 530, .model = 4, .heads = 1}, Bits, Scaled, weights, ArrayVectors<4>>();
}

TEST_CASE("targets agree to the last bit: more masks with one lane") {
  check_equal<S{.queries = 21, .keys = 37, .model = 6, .heads = 2}, decltype(AdditivePerHead{} & Alibi{}),
              CappedWithSinks, Captures::every_stage, ArrayVectors<1>>();
  check_equal<S{.queries = 9, .keys = 15, .model = 4, .heads = 1}, BooleanPerHead, CappedWithSinks, weights,
              ArrayVectors<1>>();
  check_equal<S{.queries = 5, .keys = 530, .model = 4, .heads = 1}, decltype(Additive{} & Causal{}), Scaled, weights,
              ArrayVectors<1>>();
}
#endif

}  // namespace ladon_test
