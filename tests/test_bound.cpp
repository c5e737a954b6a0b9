// Tests the error bound of the oracle. Correct results must be within the bound, and results with a mistake must not.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

// The kernel under test (a Subject of subject.hpp), its weights and inputs, and its result.
struct Ran {
  Subject subject;
  AttentionProblem problem;
  Variation variation;
  Outcome outcome;

  double distance_of_y(const AttentionProblem& other, const Variation& asked, const oracle::Heads& heads) const {
    return worst_distance(outcome.y, expected_attention(subject, other, asked, heads).y);
  }
  double distance_of_map(const AttentionProblem& other, const Variation& asked, const oracle::Heads& heads) const {
    return worst_distance(outcome.maps[0], expected_attention(subject, other, asked, heads).map);
  }
};

Ran run_right(const Subject& subject, const Variation& variation) {
  Ran ran{subject, random_problem(subject.shape, false, 5), variation, {}};
  ran.outcome = run_guarded(subject, task_of(subject, ran.problem, variation));
  const auto heads = heads_of(subject.shape);
  REQUIRE(ran.distance_of_y(ran.problem, variation, heads) <= 1);
  REQUIRE(ran.distance_of_map(ran.problem, variation, heads) <= 1);
  return ran;
}

std::vector<Ran> runs() {
#if defined(LADON_TEST_SET_QUICK)
  return {run_right(self_subject<S{.queries = 17, .model = 16, .heads = 2}, ladon::mask::Causal>(), {})};
#else
  Variation holes;
  holes.may_see.assign(33, 1);
  holes.may_see[5] = holes.may_see[20] = 0;
  return {run_right(self_subject<S{.queries = 8, .model = 8, .heads = 2}, ladon::mask::Unmasked>(), {}),
          run_right(self_subject<S{.queries = 17, .model = 16, .heads = 2}, ladon::mask::Causal>(), {}),
          run_right(self_subject<S{.queries = 33, .model = 64, .heads = 4}, CausalAndPadding>(), holes)};
#endif
}

}  // namespace

TEST_CASE("a dropped bias breaks the bound") {
  for (const Ran& ran : runs()) {
    using oracle::Linear, oracle::AttentionWeights;
    // The bias of the keys is not tested. This bias adds one number to all scores of a query, and the softmax cancels
    // this number.
    for (Linear AttentionWeights::* const projection :
         {&AttentionWeights::query, &AttentionWeights::value, &AttentionWeights::output}) {
      AttentionProblem wrong = ran.problem;
      std::ranges::fill((wrong.weights.*projection).bias, 0.0f);
      CHECK(ran.distance_of_y(wrong, ran.variation, heads_of(ran.subject.shape)) > 1);
      wrong = ran.problem;
      (wrong.weights.*projection).bias.back() = 0;
      CHECK(ran.distance_of_y(wrong, ran.variation, heads_of(ran.subject.shape)) > 1);
    }
  }
}

TEST_CASE("a mask that is off by one breaks the bound") {
  for (const Ran& ran : runs()) {
    const auto heads = heads_of(ran.subject.shape);
    const auto caught = [&](const Variation& wrong) {
      CHECK(ran.distance_of_y(ran.problem, wrong, heads) > 1);
      CHECK(ran.distance_of_map(ran.problem, wrong, heads) > 1);
    };
    Variation wrong = ran.variation;
    wrong.lengths.keys = ran.subject.shape.keys - 1;
    caught(wrong);
    if (ran.subject.mask.causal) {
      for (const std::ptrdiff_t offset : {-1, 1}) {
        wrong = ran.variation;
        wrong.lengths.offset = offset;
        caught(wrong);
      }
    }
    if (ran.subject.mask.padding) {
      wrong = ran.variation;
      std::rotate(wrong.may_see.begin(), wrong.may_see.end() - 1, wrong.may_see.end());
      caught(wrong);
    }
  }
}

TEST_CASE("a scale that is off by 1e-4 breaks the bound") {
  for (const Ran& ran : runs()) {
    for (const double off : {1e-4, -1e-4}) {
      oracle::Heads wrong = heads_of(ran.subject.shape);
      wrong.score.scale *= 1 + off;
      CHECK(ran.distance_of_y(ran.problem, ran.variation, wrong) > 1);
      CHECK(ran.distance_of_map(ran.problem, ran.variation, wrong) > 1);
    }
  }
}

TEST_CASE("the bound is at most 1e-4") {
  for (const Ran& ran : runs()) {
    const auto expected = expected_attention(ran.subject, ran.problem, ran.variation, heads_of(ran.subject.shape));
    double widest_y = 0, widest_p = 0;
    for (const auto& y : expected.y) widest_y = std::max(widest_y, y->bound());
    for (const auto& p : expected.map) {
      if (p->value > 1e-30) widest_p = std::max(widest_p, p->bound() / p->value);
    }
    CHECK(widest_y < 1e-4);
    CHECK(widest_p < 1e-4);
  }
}

}  // namespace ladon_test
