#include "encoder_check.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "attention_check.hpp"

namespace ladon_test {

namespace {

// Returns the number of tokens that each layer before the last layer computes. These layers also compute the tokens
// that are keys but not queries, because the next layer needs these tokens.
std::size_t inner_queries(const Subject& subject, const Variation& variation) {
  return std::max(variation.queries(subject.shape), variation.keys(subject.shape));
}

void spoil_what_is_hidden(const Subject& subject, const Variation& variation, EncoderProblem& problem) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t last = variation.queries(shape);
  const std::size_t queries = subject.layers > 1 ? inner_queries(subject, variation) : last;
  const oracle::MaySee may_see = mask_of(subject, variation);
  for (std::size_t k = 0; k < shape.keys; ++k) {
    if (seen_by_any(may_see, queries, k)) continue;
    if (k >= queries) {
      spoil_row(problem.x, k, shape.model);
    } else if (variation.poison_hidden_queries) {
      std::fill_n(problem.x.begin() + static_cast<std::ptrdiff_t>(k * shape.model), shape.model, NAN);
    }
  }
}

// Returns the largest error bound of all expected results that are neither infinite nor NaN.
double widest_bound(const Expected& expected) {
  double widest = 0;
  for (const auto& real : expected) {
    if (real && std::isfinite(real->value)) widest = std::max(widest, real->bound());
  }
  return widest;
}

// Returns the root of the mean square of f(i) over the finite expected numbers, or 0 if no expected number is finite.
// `i` is the index of an expected number.
template <class F>
double root_mean_square(const Expected& expected, F f) {
  double squares = 0, count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i] || !std::isfinite(expected[i]->value)) continue;
    squares += f(i) * f(i);
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / count);
}

// Checks that the error bound of each expected result is narrow enough to find mistakes. The limit is larger if linear
// maps round their inputs to integers or to bfloat16. In this case, a float32 error may change an input to the
// neighbouring rounded number, and the oracle's bound includes this difference.
void check_bounds(const Expected& expected, const EncoderForm& form) {
  // Scales of outputs and the steep slopes of xIELU enlarge it.
  const bool enlarges = form.layer.layer_scale || form.layer.activation == ladon::Activation::xielu;
  const double of_rounded = enlarges ? 0.5 : 0.4;
  const double widest = rounds_inputs(form.activation_bits) ? of_rounded : form.layers == 1 ? 1e-4 : 1e-2;
  CHECK_MESSAGE(widest_bound(expected) < widest, "the bound is too wide");
}

// Checks the mean error of a layer whose attention rounds its operands to bfloat16. For such a layer, the bound of a
// single result, 8 deviations, is too wide. The next linear maps round their inputs, too. The rounding error of
// attention may change almost every input of the output projection to a neighbouring rounded number, and then also most
// inputs of the feed-forward network. For each of these inputs, the oracle adds the distance between the two
// neighbours, although few inputs really change.
//
// The oracle computes the deviation of a result from the largest error that each rounding can have. Most roundings have
// a smaller error, so the deviation is an upper limit for the standard deviation of the result's error. The mean of
// (error / deviation)^2 must therefore be at most 1. The first check tests this mean. The second check tests that the
// root mean square of the deviations is at most 1/8. The results themselves have a root mean square of about 1 or more.
// Together, the checks find two kinds of mistakes: a mistake that changes each result by more than 1/8, and a mistake
// that changes one of 64 results by more than 1.
void check_mean(std::span<const float> actual, const Expected& expected) {
  const auto deviation = [&](std::size_t i) { return expected[i]->deviation; };
  const auto relative_error = [&](std::size_t i) {
    const double error = static_cast<double>(actual[i]) - expected[i]->value;
    return error == 0 ? 0 : error / deviation(i);
  };
  CHECK(root_mean_square(expected, relative_error) <= 1);
  CHECK_MESSAGE(root_mean_square(expected, deviation) <= 1.0 / 8, "the bound is too wide");
}

void check_variation(const Subject& subject, const EncoderForm& form, const Variation& variation, std::uint64_t seed) {
  EncoderProblem problem = random_encoder(subject.shape, form, seed);
  spoil_what_is_hidden(subject, variation, problem);
  const std::string description = to_string(subject, variation);
  INFO(description);
  Task task = task_of(subject, problem, variation);
  const Outcome outcome = run_guarded(subject, task);
  const ExpectedEncoder expected = expected_encoder(subject, problem, variation);
  CHECK(worst_distance(outcome.y, expected.y) <= 1);
  const std::size_t maps = subject.maps == Maps::with ? form.layers : 0;
  for (std::size_t i = 0; i < maps; ++i) CHECK(worst_distance(outcome.maps[i], expected.maps[i]) <= 1);
  if (subject.in_pairs) {
    check_mean(outcome.y, expected.y);
  } else {
    check_bounds(expected.y, form);
  }
  task.aliased = true;
  const Outcome aliased = run_guarded(subject, task);
  const std::span<const float> y(aliased.y);
  CHECK(same_bits(y.first(task.y_used), std::span(outcome.y).first(task.y_used)));
  CHECK(same_bits(y.subspan(task.y_used), std::span(task.x).subspan(task.y_used)));
}

}  // namespace

EncoderProblem random_encoder(const ladon::Shape& shape, const EncoderForm& form, std::uint64_t seed) {
  Random random(seed * 7919 + shape.queries + shape.model);
  EncoderProblem problem{form, {}, random_norm(random, shape.model, form.layer, form.epsilon), {}};
  for (std::size_t i = 0; i < form.layers; ++i) {
    problem.layers.push_back(random_layer(random, shape, form.layer, form.epsilon));
    drop_biases(problem.layers.back().attention, form.projections, form.output);
    if (form.activation_bits != 0) quantise(problem.layers.back(), form.activation_bits);
  }
  problem.x = random.normals(shape.queries * shape.model);
  return problem;
}

Task task_of(const Subject& subject, const EncoderProblem& problem, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  Task task;
  task.x = problem.x;
  for (const auto& layer : problem.layers) append_tensors(task.weights, subject.layout, shape, layer);
  if (problem.form.final_norm) append_tensors(task.weights, problem.final_norm);
  task.may_see = variation.may_see;
  task.lengths = variation.lengths;
  task.lengths.epsilon = problem.form.epsilon;
  task.x_used = inner_queries(subject, variation) * shape.model;
  task.may_see_used = variation.keys(shape);
  task.y_size = shape.queries * shape.model;
  task.y_used = variation.queries(shape) * shape.model;
  return task;
}

ExpectedEncoder expected_encoder(const Subject& subject, const EncoderProblem& problem, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  const EncoderForm& form = problem.form;
  const std::size_t inner = inner_queries(subject, variation), keys = variation.keys(shape);
  oracle::Matrix x(inner, shape.model, problem.x.data());
  ExpectedEncoder expected;
  for (std::size_t i = 0; i < form.layers; ++i) {
    const std::size_t queries = i + 1 < form.layers ? inner : variation.queries(shape);
    auto attended = oracle::encoder_layer(x, problem.layers[i], heads_of(subject, variation), form.layer, queries, keys,
                                          mask_of(subject, variation));
    expected.maps.push_back(expected_map(shape, attended.weights));
    x = std::move(attended.out);
  }
  if (form.final_norm) x = oracle::normalized(form.layer.norm_kind, problem.final_norm, x);
  expected.y = Expected(x.data.begin(), x.data.end());
  expected.y.resize(shape.queries * shape.model);
  return expected;
}

void check_encoder(const Subject& subject, const EncoderForm& form) {
  check_encoder(subject, form, variations(subject));
}

void check_encoder(const Subject& subject, const EncoderForm& form, const std::vector<Variation>& variations) {
  std::uint64_t seed = 0;
  for (const Variation& variation : variations) check_variation(subject, form, variation, ++seed);
}

}  // namespace ladon_test
