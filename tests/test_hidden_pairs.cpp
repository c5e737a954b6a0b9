// Tests that hidden keys cannot change the output of a query. Under each mask, the tests set a key, its value or its
// bias to NaN or infinity. A query from which this key is hidden must keep every bit of its output and weights. Each
// query that sees a NaN must give NaN.
#include <cmath>
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::AdditivePerHead, ladon::mask::Alibi, ladon::mask::Bits, ladon::mask::Boolean,
    ladon::mask::BooleanPerHead, ladon::mask::Causal, ladon::mask::Padding, ladon::mask::Window;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

std::span<const float> row(const Floats& of, std::size_t index, std::size_t width) {
  return std::span(of).subspan(index * width, width);
}

void check_unseen_unchanged(const Subject& subject, const Variation& variation, std::size_t key, const Outcome& clean,
                            const Outcome& spoiled, bool with_nan) {
  const S& shape = subject.shape;
  const Seen seen = seen_of(subject, variation);
  for (std::size_t i = 0; i < shape.heads * shape.queries; ++i) {
    CAPTURE(i);
    if (seen(i / shape.queries, i % shape.queries, key)) {
      if (with_nan) CHECK(std::isnan(row(spoiled.y, i, shape.value_width)[0]));
    } else {
      CHECK(same_bits(row(spoiled.y, i, shape.value_width), row(clean.y, i, shape.value_width)));
      CHECK(same_bits(row(spoiled.maps[0], i, shape.keys), row(clean.maps[0], i, shape.keys)));
    }
  }
}

// Checks that a key changes no result of the queries that do not see the key. Sets the first feature of the key to NaN
// or infinity in all heads, first in K, then in V. Checks every key, or 6 to 11 evenly spaced keys if the shape has
// more than ten keys.
void check_hidden(const Subject& subject, const Variation& variation) {
  const S& shape = subject.shape;
  const GivenProblem given = random_given(shape, 3);
  const Outcome clean = run_guarded(subject, task_of(subject, given, variation));
  for (std::size_t key = 0; key < shape.keys; key += 1 + shape.keys / 11) {
    CAPTURE(key);
    for (const float what : {nan, infinity, -infinity}) {
      CAPTURE(what);
      for (Floats GivenProblem::* const which : {&GivenProblem::k, &GivenProblem::v}) {
        GivenProblem wrong = given;
        const std::size_t width = which == &GivenProblem::k ? shape.head_width : shape.value_width;
        for (std::size_t g = 0; g < shape.kv_heads; ++g) (wrong.*which)[(g * shape.keys + key) * width] = what;
        const Outcome spoiled = run_guarded(subject, task_of(subject, wrong, variation));
        check_unseen_unchanged(subject, variation, key, clean, spoiled, std::isnan(what));
      }
    }
  }
}

template <ladon::Shape Shape, class Mask>
void check_hidden_pairs() {
  const Subject subject = given_subject<Shape, Mask>();
  Variation variation;
  fill_at_random(subject, variation, 1);
  if (subject.mask.padding) variation.may_see.assign(Shape.keys, 1);
  for (std::size_t k = 0; k < variation.may_see.size(); k += 3) variation.may_see[k] = 0;
  check_hidden(subject, variation);
}

constexpr S small{.queries = lanes + 1, .keys = 21, .model = 6, .heads = 2};
constexpr S one{.queries = 1, .keys = 37, .model = 6, .heads = 2};
constexpr S rows_long{.queries = 4, .keys = 600, .model = 2, .heads = 1};

}  // namespace

TEST_CASE("hidden pairs: window") { check_hidden_pairs<small, Window<4, 1>>(); }
TEST_CASE("hidden pairs: bits") { check_hidden_pairs<small, Bits>(); }
TEST_CASE("hidden pairs: additive") { check_hidden_pairs<small, Additive>(); }

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("hidden pairs: bytes, bytes for each head, numbers for each head, padding") {
  check_hidden_pairs<small, Boolean>();
  check_hidden_pairs<small, BooleanPerHead>();
  check_hidden_pairs<small, AdditivePerHead>();
  check_hidden_pairs<small, Padding>();
}

TEST_CASE("hidden pairs: masks together") {
  check_hidden_pairs<small, decltype((Additive{} & Bits{}) & Padding{})>();
  check_hidden_pairs<small, decltype(Alibi{} & Causal{})>();
}

TEST_CASE("hidden pairs: one query") {
  check_hidden_pairs<one, Bits>();
  check_hidden_pairs<one, Additive>();
  check_hidden_pairs<one, Padding>();
  check_hidden_pairs<one, Window<9>>();
}

TEST_CASE("hidden pairs: several blocks") {
  check_hidden_pairs<rows_long, Boolean>();
  check_hidden_pairs<rows_long, AdditivePerHead>();
  check_hidden_pairs<rows_long, Window<40>>();
}

TEST_CASE("a bias of NaN or infinity at a pair that another mask hides changes nothing") {
  const Subject subjects[] = {given_subject<small, decltype(Additive{} & Causal{})>(),
                              given_subject<small, decltype(Boolean{} & AdditivePerHead{})>(),
                              given_subject<one, decltype(Additive{} & Bits{})>()};
  for (const Subject& subject : subjects) {
    Variation variation;
    fill_at_random(subject, variation, 2);
    const GivenProblem given = random_given(subject.shape, 3);
    const Outcome clean = run_guarded(subject, task_of(subject, given, variation));
    const Floats values = variation.values;
    spoil_hidden_values(subject, variation);
    if (subject.mask.causal) REQUIRE(!same_bits(values, variation.values));
    const Outcome spoiled = run_guarded(subject, task_of(subject, given, variation));
    CHECK(same_bits(clean.y, spoiled.y));
    CHECK(same_bits(clean.maps[0], spoiled.maps[0]));
  }
}

TEST_CASE("a bias of NaN that may be seen is not hidden") {
  for (const Subject& subject : {given_subject<small, Additive>(), given_subject<one, Additive>()}) {
    const S& shape = subject.shape;
    Variation variation;
    variation.values.assign(shape.queries * shape.keys, 0.5f);
    variation.values.back() = nan;
    const Outcome outcome = run_guarded(subject, task_of(subject, random_given(shape, 3), variation));
    for (std::size_t i = 0; i < shape.heads * shape.queries; ++i) {
      const bool last = i % shape.queries + 1 == shape.queries;
      for (const float y : row(outcome.y, i, shape.value_width)) CHECK(std::isnan(y) == last);
    }
  }
}
#endif

}  // namespace ladon_test
