#include "attention_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <doctest/doctest.h>

namespace ladon_test {

AttentionProblem random_problem(const ladon::Shape& shape, bool cross, std::uint64_t seed) {
  Random random(seed + shape.queries * 131 + shape.keys * 17 + shape.model);
  AttentionProblem problem{random_attention(random, shape), random.normals(shape.queries * shape.model), {}};
  if (cross) problem.context = random.normals(shape.keys * shape.model);
  return problem;
}

namespace {

// NaN and infinity in every row of the inputs that must not matter. A token that is hidden as a key but asks as a query
// gets NaN only: then its own row of y is NaN, while what becomes of infinities depends on signs.
void spoil_what_is_hidden(const Subject& subject, const Variation& variation, AttentionProblem& problem) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t queries = variation.queries(shape);
  const oracle::MaySee may_see = mask_of(subject, variation);
  const bool cross = !problem.context.empty();
  for (std::size_t k = 0; k < shape.keys; ++k) {
    if (seen_by_any(may_see, queries, k)) continue;
    if (cross) {
      spoil_row(problem.context, k, shape.model);
    } else if (k >= queries) {
      spoil_row(problem.x, k, shape.model);
    } else if (variation.poison_hidden_queries) {
      std::fill_n(problem.x.begin() + static_cast<std::ptrdiff_t>(k * shape.model), shape.model, NAN);
    }
  }
  if (!cross) return;
  for (std::size_t q = queries; q < shape.queries; ++q) spoil_row(problem.x, q, shape.model);
}

void check_aliased(const Subject& subject, Task task, const Outcome& apart) {
  if (!task.context.empty()) return;
  task.aliased = true;
  const Outcome same = run_guarded(subject, task);
  const std::span<const float> y(same.y);
  CHECK_MESSAGE(same_bits(y.first(task.y_used), std::span(apart.y).first(task.y_used)), "y == x changes y");
  CHECK_MESSAGE(same_bits(y.subspan(task.y_used), std::span(task.x).subspan(task.y_used)), "y is written beyond");
}

void check_variation(const Subject& subject, const Variation& variation, bool cross, std::uint64_t seed) {
  AttentionProblem problem = random_problem(subject.shape, cross, seed);
  spoil_what_is_hidden(subject, variation, problem);
  const std::string description = to_string(subject, variation) + (cross ? " cross" : " self");
  INFO(description);
  const Task task = task_of(subject, problem, variation);
  const Outcome outcome = run_guarded(subject, task);
  const auto expected = expected_attention(subject, problem, variation, heads_of(subject.shape));
  CHECK(worst_distance(outcome.y, expected.y) <= 1);
  CHECK(worst_distance(outcome.maps[0], expected.map) <= 1);
  const bool finite = std::ranges::none_of(outcome.y, [](float y) { return std::isnan(y) && !is_poison(y); });
  if (finite) {
    check_row_sums(outcome.maps[0], subject.shape, variation.queries(subject.shape), mask_of(subject, variation));
  }
  check_aliased(subject, task, outcome);
}

}  // namespace

Task task_of(const Subject& subject, const AttentionProblem& problem, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t queries = variation.queries(shape), keys = variation.keys(shape);
  Task task;
  task.x = problem.x;
  task.context = problem.context;
  append_tensors(task.weights, subject.layout, shape, problem.weights);
  task.may_see = variation.may_see;
  task.lengths = variation.given;
  task.x_used = (problem.context.empty() ? std::max(queries, keys) : queries) * shape.model;
  task.context_used = keys * shape.model;
  task.may_see_used = keys;
  task.y_size = shape.queries * shape.model;
  task.y_used = queries * shape.model;
  return task;
}

ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation, const oracle::Heads& heads) {
  const ladon::Shape& shape = subject.shape;
  const oracle::Matrix x(variation.queries(shape), shape.model, problem.x.data());
  const Floats& from = problem.context.empty() ? problem.x : problem.context;
  const oracle::Matrix context(variation.keys(shape), shape.model, from.data());
  const auto attended = oracle::multi_head_attention(x, context, problem.weights, heads, mask_of(subject, variation));
  ExpectedAttention expected{Expected(attended.out.data.begin(), attended.out.data.end()),
                             expected_map(shape, attended.weights)};
  expected.y.resize(shape.queries * shape.model);
  return expected;
}

Expected expected_map(const ladon::Shape& shape, const std::vector<oracle::Matrix>& weights) {
  Expected map(shape.heads * shape.queries * shape.keys);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < weights[h].rows; ++q) {
      // a query that is NaN itself has no probabilities, not even 0
      const auto row = std::span(weights[h].data).subspan(q * weights[h].columns, weights[h].columns);
      const bool lost = std::ranges::any_of(row, [](const Real& p) { return !std::isfinite(p.value); });
      const Real zero(0, lost ? std::numeric_limits<double>::infinity() : 0);
      for (std::size_t k = 0; k < shape.keys; ++k) {
        const bool seen = k < row.size() && row[k].deviation != 0;
        map[(h * shape.queries + q) * shape.keys + k] = seen ? row[k] : zero;
      }
    }
  }
  return map;
}

void check_row_sums(const Floats& map, const ladon::Shape& shape, std::size_t queries, const oracle::MaySee& may_see) {
  double worst = 0;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < queries; ++q) {
      double sum = 0, seen = 0;
      for (std::size_t k = 0; k < shape.keys; ++k) {
        sum += static_cast<double>(map[(h * shape.queries + q) * shape.keys + k]);
        if (may_see(q, k)) seen = 1;
      }
      worst = std::max(worst, std::abs(sum - seen));
    }
  }
  // the sum that divides has keys - 1 roundings, then come the quotient, the product, and the corrections of blocks
  CHECK(worst <= (static_cast<double>(shape.keys) + 4 + 6 * corrections_of(shape.keys)) * unit);
}

void check_attention(const Subject& subject) {
  std::uint64_t seed = 0;
  for (const Variation& variation : variations(subject)) {
    if (subject.shape.queries == subject.shape.keys) check_variation(subject, variation, false, ++seed);
    check_variation(subject, variation, true, ++seed);
  }
}

}  // namespace ladon_test
