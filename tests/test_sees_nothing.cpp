// For a query that sees no key, the attention output and the weights are exactly 0. With projections, y is the bias of
// the output projection. The tests check every kind of mask.
#include <algorithm>
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::AdditivePerHead, ladon::mask::Bits, ladon::mask::Boolean,
    ladon::mask::BooleanPerHead, ladon::mask::Causal, ladon::mask::CausalAt, ladon::mask::Unmasked,
    ladon::mask::Padding, ladon::mask::Window, ladon::mask::WindowAt;

struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};

bool is_zero(float x) { return x == 0; }

void check_weights_zero(const Subject& subject, const Outcome& outcome, std::size_t blind) {
  const S& shape = subject.shape;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const std::span<const float> rows(outcome.maps[0]);
    const auto first = rows.subspan(h * shape.queries * shape.keys, blind * shape.keys);
    CHECK(std::ranges::all_of(first, is_zero));
    if (blind < shape.queries)
      CHECK(!std::ranges::all_of(rows.subspan((h * shape.queries + blind) * shape.keys, shape.keys), is_zero));
  }
}

// Checks that the first `blind` queries see no key, and that the next query sees a key.
void check_given_nothing(const Subject& subject, Variation variation, std::size_t blind) {
  const S& shape = subject.shape;
  if (subject.score.sinks) variation.sinks.assign(shape.heads, 0.5f);
  const Outcome outcome = run_guarded(subject, task_of(subject, random_given(shape, 1), variation));
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const std::span<const float> rows(outcome.y);
    CHECK(std::ranges::all_of(rows.subspan(h * shape.queries * shape.value_width, blind * shape.value_width), is_zero));
  }
  check_weights_zero(subject, outcome, blind);
}

void check_projected_nothing(const Subject& subject, const Variation& variation, std::size_t blind) {
  const S& shape = subject.shape;
  const AttentionProblem problem = random_problem(shape, true, 1);
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, variation));
  for (std::size_t q = 0; q < blind; ++q) {
    CHECK(same_bits(std::span(outcome.y).subspan(q * shape.model, shape.model), problem.weights.output.bias));
  }
  check_weights_zero(subject, outcome, blind);
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr S one{.queries = 1, .keys = lanes + 1, .model = 6, .heads = 2};
constexpr S many{.queries = lanes + 3, .keys = 33, .model = 6, .heads = 2};
constexpr S rows_long{.queries = 5, .keys = 530, .model = 4, .heads = 2};

// Returns mask data that hides every key from the first `blind` queries of a shape, and no key from the other queries.
Variation pairs_hidden(const S& shape, std::size_t blind, bool per_head = false) {
  Variation variation;
  const std::size_t heads = per_head ? shape.heads : 1;
  for (std::size_t i = 0; i < heads * shape.queries * shape.keys; ++i) {
    variation.pairs.push_back(i / shape.keys % shape.queries < blind ? 0 : 1);
  }
  return variation;
}
Variation values_hidden(const S& shape, std::size_t blind, bool per_head = false) {
  Variation variation;
  for (const std::uint8_t byte : pairs_hidden(shape, blind, per_head).pairs) {
    variation.values.push_back(byte != 0 ? 0.25f : -infinity);
  }
  return variation;
}
Variation padded(const S& shape) {
  Variation variation;
  variation.may_see.assign(shape.keys, 0);
  return variation;
}

template <ladon::Shape Shape, class Mask>
void check_nothing(const Variation& variation, std::size_t blind) {
  check_given_nothing(given_subject<Shape, Mask>(), variation, blind);
}
template <ladon::Shape Shape, class Mask>
void check_nothing_with_sinks(const Variation& variation, std::size_t blind) {
  check_given_nothing(given_subject<Shape, Mask, WithSinks>(), variation, blind);
}
template <ladon::Shape Shape, class Mask>
void check_nothing_projected(const Variation& variation, std::size_t blind) {
  check_projected_nothing(attention_subject<Shape, Mask>(), variation, blind);
}

}  // namespace

TEST_CASE("sees nothing: causal with a negative offset") {
  check_nothing<many, Causal>({.lengths = {.offset = -2}}, 2);
  check_nothing<many, Causal>({.lengths = {.offset = -1000}}, many.queries);
  check_nothing_projected<many, Causal>({.lengths = {.offset = -static_cast<std::ptrdiff_t>(lanes)}}, lanes);
}

TEST_CASE("sees nothing: no keys") {
  check_nothing<one, Unmasked>({.lengths = {.keys = 0}}, 1);
  check_nothing<many, Unmasked>({.lengths = {.keys = 0}}, many.queries);
  check_nothing_projected<many, Unmasked>({.lengths = {.keys = 0}}, many.queries);
}

TEST_CASE("sees nothing: one query") {
  check_nothing<one, CausalAt<-1>>({}, 1);
  check_nothing_projected<one, CausalAt<-1>>({}, 1);
  check_nothing<one, Bits>(pairs_hidden(one, 1), 1);
  check_nothing<one, Additive>(values_hidden(one, 1), 1);
  check_nothing<one, Padding>(padded(one), 1);
}

// The lowest float hides no key from a row that has no other number: sums of floats round to it, so weights are equal.
TEST_CASE("a row of the lowest float sees the mean of the values") {
  const auto check = [](const Subject& subject) {
    const S& shape = subject.shape;
    Variation variation;
    variation.values.assign(shape.queries * shape.keys, std::numeric_limits<float>::lowest());
    const auto given = random_given(shape, 1);
    const Outcome outcome = run_guarded(subject, task_of(subject, given, variation));
    for (std::size_t h = 0; h < shape.heads; ++h) {
      double sum = 0;
      for (std::size_t k = 0; k < shape.keys; ++k) sum += given.v[(h * shape.keys + k) * shape.value_width];
      CHECK(outcome.y[h * shape.queries * shape.value_width] ==
            doctest::Approx(sum / static_cast<double>(shape.keys)).epsilon(1e-5));
    }
  };
  check(given_subject<one, Additive>());
  check(given_subject<many, Additive>());
}

TEST_CASE("sees nothing: rows of a mask of pairs") {
  check_nothing<many, Bits>(pairs_hidden(many, 3), 3);
  check_nothing<many, Boolean>(pairs_hidden(many, many.queries), many.queries);
  check_nothing<many, BooleanPerHead>(pairs_hidden(many, 3, true), 3);
}

TEST_CASE("sees nothing: rows of -inf") {
  check_nothing<many, Additive>(values_hidden(many, 3), 3);
  check_nothing<many, AdditivePerHead>(values_hidden(many, many.queries, true), many.queries);
  check_nothing_projected<many, Additive>(values_hidden(many, lanes + 1), lanes + 1);
}

TEST_CASE("sees nothing: two masks that exclude each other") {
  check_nothing<many, decltype(WindowAt<0, ladon::all, 9>{} & CausalAt<8>{})>({}, many.queries);
  check_nothing<one, decltype(Window<0>{} & CausalAt<3>{})>({}, 1);  // CausalAt<3> hides the key that Window<0> shows
  Variation even_and_odd = pairs_hidden(many, 0);
  for (std::size_t k = 0; k < many.keys; ++k) even_and_odd.may_see.push_back(k % 2 == 0);
  for (std::size_t i = 0; i < even_and_odd.pairs.size(); ++i) even_and_odd.pairs[i] = i % many.keys % 2 == 1;
  check_nothing<many, decltype(Padding{} & Bits{})>(even_and_odd, many.queries);
  check_nothing<many, decltype(Boolean{} & Padding{})>(even_and_odd, many.queries);
}

TEST_CASE("sees nothing: in none of several blocks") {
  check_nothing<rows_long, Causal>({.lengths = {.offset = -2}}, 2);
  check_nothing<rows_long, Bits>(pairs_hidden(rows_long, 3), 3);
  check_nothing<rows_long, Additive>(values_hidden(rows_long, 5), 5);
  check_nothing<rows_long, Padding>(padded(rows_long), 5);
}

TEST_CASE("sees nothing but a sink") {
  check_nothing_with_sinks<many, Causal>({.lengths = {.offset = -2}}, 2);
  check_nothing_with_sinks<many, Additive>(values_hidden(many, many.queries), many.queries);
  check_nothing_with_sinks<one, Bits>(pairs_hidden(one, 1), 1);
  check_nothing_with_sinks<one, Unmasked>({.lengths = {.keys = 0}}, 1);
  check_nothing_with_sinks<rows_long, Causal>({.lengths = {.offset = -3}}, 3);
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("sees nothing: with projections") {
  check_nothing_projected<one, Unmasked>({.lengths = {.keys = 0}}, 1);
  check_nothing_projected<one, Additive>(values_hidden(one, 1), 1);
  check_nothing_projected<many, Bits>(pairs_hidden(many, lanes + 1), lanes + 1);
  check_nothing_projected<many, Boolean>(pairs_hidden(many, 1), 1);
  check_nothing_projected<many, decltype(WindowAt<0, ladon::all, 9>{} & CausalAt<8>{})>({}, many.queries);
}
#endif

}  // namespace ladon_test
