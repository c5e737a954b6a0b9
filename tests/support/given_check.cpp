#include <algorithm>
#include <limits>

#include <doctest/doctest.h>

#include "attention_check.hpp"

// Checks attention without projections. The inputs are q [heads][queries][head_width], k [kv_heads][keys][head_width]
// and v [kv_heads][keys][value_width].
namespace ladon_test {

GivenProblem random_given(const ladon::Shape& shape, std::uint64_t seed) {
  Random random(seed + shape.queries * 31 + shape.keys);
  return {random.normals(shape.heads * shape.queries * shape.head_width, 1.3),
          random.normals(shape.kv_heads * shape.keys * shape.head_width, 1.3),
          random.normals(shape.kv_heads * shape.keys * shape.value_width)};
}

Task task_of(const Subject& subject, const GivenProblem& given, const Variation& variation) {
  const ladon::Shape& shape = subject.shape;
  Task task{.x = given.q, .context = given.k, .weights = {given.v}};
  append_variation(task, subject, variation);
  task.x_used = given.q.size();
  task.context_used = given.k.size();
  task.y_size = task.y_used = shape.heads * shape.queries * shape.value_width;
  return task;
}

namespace {

void spoil_what_is_hidden(const Subject& subject, const Variation& variation, GivenProblem& given) {
  const ladon::Shape& shape = subject.shape;
  const std::size_t queries = variation.queries(shape);
  const Seen seen = seen_of(subject, variation);
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t q = queries; q < shape.queries; ++q) spoil_row(given.q, h * shape.queries + q, shape.head_width);
  }
  for (std::size_t k = 0; k < shape.keys; ++k) {
    if (seen_by_any(seen, shape, queries, k)) continue;
    for (std::size_t g = 0; g < shape.kv_heads; ++g) {
      spoil_row(given.k, g * shape.keys + k, shape.head_width);
      spoil_row(given.v, g * shape.keys + k, shape.value_width);
    }
  }
}

ExpectedAttention expected_given(const Subject& subject, const GivenProblem& given, const Variation& variation) {
  const ladon::Shape& s = subject.shape;
  const std::size_t queries = variation.queries(s), keys = variation.keys(s);
  ExpectedAttention expected{Expected(s.heads * s.queries * s.value_width), {}};
  const oracle::Heads heads = heads_of(subject, variation);
  oracle::Attended all;
  for (std::size_t h = 0; h < s.heads; ++h) {
    const std::size_t g = h / s.heads_per_group();
    auto head = oracle::attend({queries, s.head_width, given.q.data() + h * s.queries * s.head_width},
                               {keys, s.head_width, given.k.data() + g * s.keys * s.head_width},
                               {keys, s.value_width, given.v.data() + g * s.keys * s.value_width}, heads.score, h,
                               mask_of(subject, variation));
    const auto out = expected.y.begin() + static_cast<std::ptrdiff_t>(h * s.queries * s.value_width);
    std::ranges::copy(head.out.data, out);
    oracle::append(all, std::move(head));
  }
  expected.map = expected_map(s, all.weights);
  expected.scaled = expected_scores(s, all.scaled, 0);
  expected.capped = expected_scores(s, all.capped, 0);
  expected.masked = expected_scores(s, all.masked, -std::numeric_limits<double>::infinity());
  return expected;
}

}  // namespace

void check_given(const Subject& subject, const Variation& variation, std::uint64_t seed) {
  check_problem(subject, variation, random_given(subject.shape, seed));
}

void check_problem(const Subject& subject, Variation variation, GivenProblem given) {
  spoil_hidden_values(subject, variation);
  spoil_what_is_hidden(subject, variation, given);
  const std::string description = to_string(subject, variation);
  INFO(description);
  check_run(subject, task_of(subject, given, variation), variation, expected_given(subject, given, variation));
}

void check_given(const Subject& subject) {
  std::uint64_t seed = 0;
  for (const Variation& variation : variations(subject)) check_given(subject, variation, ++seed);
}

}  // namespace ladon_test
