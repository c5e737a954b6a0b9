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
  if (cross) problem.context = random.normals(shape.keys * shape.key_model);
  if (cross && shape.key_model != shape.value_model) {
    problem.value_context = random.normals(shape.keys * shape.value_model);
  }
  return problem;
}

AttentionProblem random_problem(const Subject& subject, bool cross, std::uint64_t seed) {
  AttentionProblem problem = random_problem(subject.shape, cross, seed);
  Random random(seed);
  add_norms(random, problem.weights, subject.shape, subject.norms, subject.norm_epsilon);
  if (subject.activation_bits != 0) quantise(problem.weights, subject.activation_bits);
  return problem;
}

namespace {

// Writes NaN and infinity to those rows of the inputs that must not change the results. In self-attention, a token may
// be hidden as a key, but active as a query. Some variations fill the row of x of such a token with NaN, so that its
// row of y is NaN. With infinities, the row of y could be NaN or infinite, depending on the signs of the weights.
void spoil_what_is_hidden(const Subject& subject, const Variation& variation, AttentionProblem& problem) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t queries = variation.queries(shape);
  const Seen seen = seen_of(subject, variation);
  const bool cross = !problem.context.empty();
  for (std::size_t k = 0; k < shape.keys; ++k) {
    if (seen_by_any(seen, shape, queries, k)) continue;
    if (cross) {
      spoil_row(problem.context, k, shape.key_model);
      if (!problem.value_context.empty()) spoil_row(problem.value_context, k, shape.value_model);
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
  CHECK_MESSAGE(same_bits(y.subspan(task.y_used), std::span(task.x).subspan(task.y_used)), "the rest of y changed");
}

void check_variation(const Subject& subject, const Variation& variation, bool cross, std::uint64_t seed) {
  check_problem(subject, variation, random_problem(subject, cross, seed));
}

}  // namespace

void check_problem(const Subject& subject, Variation variation, AttentionProblem problem) {
  spoil_hidden_values(subject, variation);
  spoil_what_is_hidden(subject, variation, problem);
  const std::string description = to_string(subject, variation) + (problem.context.empty() ? " self" : " cross");
  INFO(description);
  const Task task = task_of(subject, problem, variation);
  const Outcome outcome = check_run(subject, task, variation, expected_attention(subject, problem, variation));
  check_aliased(subject, task, outcome);
}

Task task_of(const Subject& subject, const AttentionProblem& problem, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t queries = variation.queries(shape), keys = variation.keys(shape);
  Task task;
  task.x = problem.x;
  task.context = problem.context;
  task.value_context = problem.value_context;
  append_tensors(task.weights, subject.layout, shape, problem.weights);
  append_variation(task, subject, variation);
  task.x_used = (problem.context.empty() ? std::max(queries, keys) : queries) * shape.model;
  task.context_used = keys * shape.key_model;
  task.value_context_used = keys * shape.value_model;
  task.y_size = shape.queries * shape.model;
  task.y_used = queries * shape.model;
  return task;
}

void append_variation(Task& task, const Subject& subject, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  task.may_see = variation.may_see;
  task.may_see_used = variation.keys(shape);
  if (subject.mask.bits) {
    task.bits = to_bits(shape, variation.pairs);
  } else {
    task.pairs = variation.pairs;
  }
  task.values = variation.values;
  task.slopes = variation.slopes;
  task.sinks = variation.sinks;
  task.lengths = variation.lengths;
}

Outcome check_run(const Subject& subject, const Task& task, const Variation& variation,
                  const ExpectedAttention& expected) {
  const Outcome outcome = run_guarded(subject, task);
  CHECK(worst_distance(outcome.y, expected.y) <= 1);
  if (subject.maps == Maps::without) return outcome;
  CHECK(worst_distance(outcome.maps[0], expected.map) <= 1);
  const bool finite = std::ranges::none_of(outcome.y, [](float y) { return std::isnan(y) && !is_poison(y); });
  if (finite && !subject.score.sinks) check_row_sums(outcome.maps[0], subject, variation);
  if (!subject.captures) return outcome;
  const auto stage = [&](ladon::Stage which) { return run_capturing(subject, task, which, outcome.y); };
  CHECK(worst_distance(stage(ladon::Stage::scaled), expected.scaled) <= 1);
  CHECK(worst_distance(stage(ladon::Stage::capped), expected.capped) <= 1);
  CHECK(worst_distance(stage(ladon::Stage::masked), expected.masked) <= 1);
  CHECK(same_bits(stage(ladon::Stage::weights), outcome.maps[0]));
  return outcome;
}

ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation) {
  return expected_attention(subject, problem, variation, heads_of(subject, variation));
}

ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation, const oracle::Heads& heads) {
  const ladon::Shape& shape = subject.shape;
  const oracle::Matrix x(variation.queries(shape), shape.model, problem.x.data());
  const Floats& from = problem.context.empty() ? problem.x : problem.context;
  const oracle::Matrix context(variation.keys(shape), shape.key_model, from.data());
  const Floats& values_from = problem.value_context.empty() ? from : problem.value_context;
  const oracle::Matrix value_context(variation.keys(shape), shape.value_model, values_from.data());
  const auto attended =
      oracle::multi_head_attention(x, context, value_context, problem.weights, heads, mask_of(subject, variation));
  ExpectedAttention expected{Expected(attended.out.data.begin(), attended.out.data.end()),
                             expected_map(shape, attended.weights)};
  if (subject.captures) {
    expected.scaled = expected_scores(shape, attended.scaled, 0);
    expected.capped = expected_scores(shape, attended.capped, 0);
    expected.masked = expected_scores(shape, attended.masked, -std::numeric_limits<double>::infinity());
  }
  expected.y.resize(shape.queries * shape.model);
  return expected;
}

bool sees_nan(const oracle::Matrix& weights, std::size_t query) {
  const auto row = std::span(weights.data).subspan(query * weights.columns, weights.columns);
  return std::ranges::any_of(row, [](const Real& p) { return !std::isfinite(p.value); });
}

Real any_weight() { return {0, std::numeric_limits<double>::infinity()}; }

Expected expected_map(const ladon::Shape& shape, const std::vector<oracle::Matrix>& weights) {
  Expected map(shape.heads * shape.queries * shape.keys);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < weights[h].rows; ++q) {
      const auto row = std::span(weights[h].data).subspan(q * weights[h].columns, weights[h].columns);
      const bool lost = sees_nan(weights[h], q);
      for (std::size_t k = 0; k < shape.keys; ++k) {
        const bool seen = k < row.size() && row[k].deviation != 0;
        map[(h * shape.queries + q) * shape.keys + k] = lost ? any_weight() : seen ? row[k] : Real(0);
      }
    }
  }
  return map;
}

Expected expected_scores(const ladon::Shape& shape, const std::vector<oracle::Matrix>& scores, double beyond) {
  Expected all(shape.heads * shape.queries * shape.keys);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < scores[h].rows; ++q) {
      for (std::size_t k = 0; k < shape.keys; ++k) {
        Real score = k < scores[h].columns ? scores[h](q, k) : beyond;
        // The library computes scores times log2(e). When it captures a score, it multiplies the score by ln 2. This
        // adds two roundings: of the constant ln 2 and of the product.
        if (score.deviation != 0) score = rounded(score.value, score.deviation, 0, 2);
        all[(h * shape.queries + q) * shape.keys + k] = score;
      }
    }
  }
  return all;
}

void check_row_sums(const Floats& map, const Subject& subject, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const Seen may_see = seen_of(subject, variation);
  double worst = 0;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = 0; q < variation.queries(shape); ++q) {
      double sum = 0, seen = 0;
      for (std::size_t k = 0; k < shape.keys; ++k) {
        sum += static_cast<double>(map[(h * shape.queries + q) * shape.keys + k]);
        if (may_see(h, q, k)) seen = 1;
      }
      worst = std::max(worst, std::abs(sum - seen));
    }
  }
  // Each weight of a row is an exponential times 1 / s, where s is the sum of the exponentials of all keys. A sum of n
  // numbers has n - 1 roundings. The bound allows 5 more roundings for the quotient 1 / s and the product. It allows 6
  // more for each further block of keys. Such a block may have a larger maximum, and the earlier results are then
  // corrected.
  CHECK(worst <= (static_cast<double>(shape.keys) + 4 + 6 * corrections_of(shape.keys)) * unit);
}

void check_cross(const Subject& subject) {
  std::uint64_t seed = 100;
  for (const Variation& variation : variations(subject)) check_variation(subject, variation, true, ++seed);
}

void check_self(const Subject& subject) {
  std::uint64_t seed = 200;
  for (const Variation& variation : variations(subject)) check_variation(subject, variation, false, ++seed);
}

void check_attention(const Subject& subject) {
  std::uint64_t seed = 0;
  for (const Variation& variation : variations(subject)) {
    if (subject.shape.queries == subject.shape.keys) check_variation(subject, variation, false, ++seed);
    check_variation(subject, variation, true, ++seed);
  }
}

}  // namespace ladon_test
