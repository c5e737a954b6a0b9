// Tests that the error bound of the oracle finds mistakes in the computation of a score.
#include <algorithm>
#include <cmath>
#include <functional>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::Alibi, ladon::mask::Window;

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

using Mask = decltype((Additive{} & Alibi{}) & Window<9, 2>{});
constexpr S shape{.queries = 17, .model = 16, .heads = 2};

struct Ran {
  Subject subject;
  AttentionProblem problem;
  Variation variation;
  Outcome outcome;

  // Returns the distance between `outcome` and the oracle's result, in units of the allowed error. `asked` gives the
  // oracle the lengths and the data of masks. `heads` gives the oracle the sizes and the Score of the heads.
  double distance(const Variation& asked, const oracle::Heads& heads) const {
    const ExpectedAttention expected = expected_attention(subject, problem, asked, heads);
    return std::max(worst_distance(outcome.y, expected.y), worst_distance(outcome.maps[0], expected.map));
  }
  // Returns the distance between `outcome` and the result of an oracle whose score has the mistake `mistake`.
  double distance(const std::function<void(oracle::Score&)>& mistake) const {
    oracle::Heads heads = heads_of(subject, variation);
    mistake(heads.score);
    return distance(variation, heads);
  }
};

Ran run_right() {
  Ran ran{self_subject<shape, Mask, ladon::layout::InProj, ladon::detail::vec::NativeVectors, CappedWithSinks>(),
          random_problem(shape.complete(), false, 5),
          {},
          {}};
  fill_at_random(ran.subject, ran.variation, 1);
  ran.outcome = run_guarded(ran.subject, task_of(ran.subject, ran.problem, ran.variation));
  REQUIRE(ran.distance([](oracle::Score&) {}) <= 1);
  return ran;
}

}  // namespace

TEST_CASE("a small mistake in a score breaks the bound") {
  const Ran ran = run_right();
  CHECK(ran.distance([](oracle::Score& score) { score.softcap *= 1.001; }) > 1);
  CHECK(ran.distance([](oracle::Score& score) { score.softcap = 0; }) > 1);
  CHECK(ran.distance([](oracle::Score& score) { score.sinks.clear(); }) > 1);
  CHECK(ran.distance([](oracle::Score& score) { score.sinks[1] += 1e-3f; }) > 1);
  CHECK(ran.distance([](oracle::Score& score) { std::swap(score.sinks[0], score.sinks[1]); }) > 1);
  CHECK(ran.distance([](oracle::Score& score) { score.scale *= 1.0001; }) > 1);
  for (const std::size_t which : {0u, 1u}) {
    CHECK(ran.distance([&](oracle::Score& score) {
      score.biases[which] = [bias = score.biases[which]](std::size_t h, std::size_t q, std::size_t k) {
        const Real right = bias(h, q, k);
        return Real(right.value * 1.001, right.deviation);
      };
    }) > 1);
  }
}

TEST_CASE("a softcap that is applied after the mask's addends breaks the bound") {
  const Ran ran = run_right();
  CHECK(ran.distance([](oracle::Score& score) {
    for (oracle::Bias& bias : score.biases) {
      bias = [cap = score.softcap, bias](std::size_t h, std::size_t q, std::size_t k) {
        const Real right = bias(h, q, k);
        return std::isinf(right.value) ? right : Real(cap) * tanh(right / Real(cap));
      };
    }
  }) > 1);
}

TEST_CASE("a window that is off by one breaks the bound") {
  Ran ran = run_right();
  const oracle::Heads heads = heads_of(ran.subject, ran.variation);
  for (std::size_t MaskForm::* const side : {&MaskForm::left, &MaskForm::right}) {
    const std::size_t right = ran.subject.mask.*side;
    for (const std::size_t wrong : {right - 1, right + 1}) {
      ran.subject.mask.*side = wrong;
      CHECK(ran.distance(ran.variation, heads) > 1);
    }
    ran.subject.mask.*side = right;
  }
}

}  // namespace ladon_test
