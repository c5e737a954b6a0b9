// Tests that hidden tokens cannot change the output of a query. A token that only some queries see becomes NaN or
// infinity. The queries that do not see the token must keep every bit of their outputs. The queries that see the NaN
// must give NaN.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "encoder_check.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

// Compares two results: `clean` with correct inputs, and `spoiled` with NaN in the token `key`. For each query that may
// not see `key`, the rows of y and of each head's map must be equal. For each query that sees `key`, y must be NaN.
void check_others_unchanged(const Subject& subject, const Variation& variation, std::size_t key, const Outcome& clean,
                            const Outcome& spoiled) {
  const ladon::Shape& shape = subject.shape;
  const oracle::MaySee may_see = mask_of(subject, variation);
  const auto row = [](const Floats& of, std::size_t index, std::size_t width) {
    return std::span(of).subspan(index * width, width);
  };
  for (std::size_t q = 0; q < shape.queries; ++q) {
    CAPTURE(q);
    if (may_see(q, key)) {
      for (const float y : row(spoiled.y, q, shape.model)) CHECK(std::isnan(y));
      continue;
    }
    CHECK(same_bits(row(spoiled.y, q, shape.model), row(clean.y, q, shape.model)));
    for (std::size_t h = 0; h < shape.heads; ++h) {
      const std::size_t index = h * shape.queries + q;
      CHECK(same_bits(row(spoiled.maps[0], index, shape.keys), row(clean.maps[0], index, shape.keys)));
    }
  }
}

void check_hidden(const Subject& subject, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const AttentionProblem problem = random_problem(shape, true, 3);
  const Outcome clean = run_guarded(subject, task_of(subject, problem, variation));
  for (std::size_t key = 0; key < shape.keys; key += 1 + shape.keys / 23) {
    CAPTURE(key);
    AttentionProblem wrong = problem;
    for (std::size_t i = 0; i < shape.model; ++i) {
      // Fills a token of the context with infinities of both signs. The projections add them, so the key and the value
      // of this token become NaN.
      wrong.context[key * shape.model + i] = (i % 2 == 0 ? 1.0f : -1.0f) * std::numeric_limits<float>::infinity();
    }
    wrong.context[key * shape.model] = std::numeric_limits<float>::quiet_NaN();
    const Outcome spoiled = run_guarded(subject, task_of(subject, wrong, variation));
    check_others_unchanged(subject, variation, key, clean, spoiled);
  }
}

}  // namespace

TEST_CASE("hidden values: causal") {
  check_hidden(attention_subject<S{.queries = 19, .keys = 23, .model = 10, .heads = 2}, ladon::mask::Causal>(), {});
  check_hidden(attention_subject<S{.queries = 19, .keys = 23, .model = 10, .heads = 2}, ladon::mask::Causal>(),
               {.lengths = {.offset = -3}});
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("hidden values: causal and padding") {
  Variation variation;
  variation.may_see.assign(40, 1);
  for (const std::size_t hole : {0u, 7u, 8u, 21u, 39u}) variation.may_see[hole] = 0;
  variation.lengths.offset = 5;
  check_hidden(attention_subject<S{.queries = 33, .keys = 40, .model = 6, .heads = 3}, CausalAndPadding>(), variation);
}

TEST_CASE("hidden values: causal, several blocks") {
  check_hidden(attention_subject<S{.queries = 100, .keys = 530, .model = 2, .heads = 1}, ladon::mask::Causal>(), {});
}
#endif

TEST_CASE("a NaN that may be seen is not hidden") {
  const Subject subject = self_subject<S{.queries = 9, .model = 6, .heads = 2}, ladon::mask::Unmasked>();
  AttentionProblem problem = random_problem(subject.shape, false, 1);
  problem.x[4 * 6 + 1] = std::numeric_limits<float>::quiet_NaN();
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
  for (const float y : outcome.y) CHECK(std::isnan(y));
}

}  // namespace ladon_test
