// Tests that targets with different numbers of lanes give equal bits. The order of each sum over features or keys does
// not depend on the number of lanes, so plain arrays of any length give equal bits. The native vectors also give these
// bits if arrays and vectors both use fma, or both do without fma. There are two exceptions: Attention of few queries
// (test_targets_masks.cpp), and if few tokens remain for the last vectors, products with sums of at least 16 terms may
// differ (test_few_tokens.cpp, test_beyond_a_register.cpp, test_last_panel.cpp).
#include <vector>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::detail::vec::ArrayVectors;

void check_equal(const std::vector<Subject>& subjects, bool cross) {
  const AttentionProblem problem = random_problem(subjects[0].shape, cross, 23);
  for (const Variation& variation : variations(subjects[0])) {
    INFO(to_string(subjects[0], variation));
    const Outcome expected = run_guarded(subjects[0], task_of(subjects[0], problem, variation));
    for (const Subject& subject : subjects) {
      const Outcome outcome = run_guarded(subject, task_of(subject, problem, variation));
      CHECK(same_bits(outcome.y, expected.y));
      CHECK(same_bits(outcome.maps[0], expected.maps[0]));
    }
  }
}

// Returns a Subject of attention for each of `Targets` and for the native vectors. Code for ArrayVectors<16> takes the
// longest to compile, so shapes for this target have at most 16 queries, which need only one vector.
template <ladon::Shape Shape, class Mask, class... Targets>
std::vector<Subject> on() {
  using ladon::layout::InProj, ladon::detail::vec::NativeVectors;
  if constexpr (Shape.keys == 0) {
    return {self_subject<Shape, Mask, InProj, Targets>()..., self_subject<Shape, Mask, InProj, NativeVectors>()};
  } else {
    return {attention_subject<Shape, Mask, InProj, Targets>()...,
            attention_subject<Shape, Mask, InProj, NativeVectors>()};
  }
}

}  // namespace

TEST_CASE("targets agree to the last bit: attention") {
  check_equal(on<S{.queries = 42, .model = 18, .heads = 3}, CausalAndPadding, ArrayVectors<1>, ArrayVectors<4>>(),
              false);
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("targets agree to the last bit: few tokens, 16 lanes") {
  check_equal(on<S{.queries = 11, .keys = 15, .model = 7, .heads = 2, .head_width = 5}, ladon::mask::Causal,
                 ArrayVectors<16>>(),
              true);
}

// Keys are processed in blocks, and the last block begins with key 512. Query i sees 493 + i keys. So the first 20
// queries see none of the 18 keys in the last block. Each later query sees one key more than the query before it.
TEST_CASE("targets agree to the last bit: a block of keys that only some packs of a panel see") {
  check_equal(on<S{.queries = 38, .keys = 530, .model = 6, .heads = 2}, ladon::mask::Causal, ArrayVectors<8>>(), true);
}

namespace {

template <ladon::Model Config, class... Targets>
void check_layer_on() {
  constexpr S shape{.queries = 13, .model = 14, .heads = 2};
  using Mask = ladon::mask::Padding;
  using Layout = ladon::layout::InProj;
  const Subject subjects[] = {layer_subject<shape, Config, Mask, Layout, Targets>()...,
                              layer_subject<shape, Config, Mask, Layout, ladon::detail::vec::NativeVectors>()};
  const EncoderProblem problem = random_encoder(subjects[0].shape, {.layer = Config}, 3);
  for (const Variation& variation : variations(subjects[0])) {
    INFO(to_string(subjects[0], variation));
    const Outcome expected = run_guarded(subjects[0], task_of(subjects[0], problem, variation));
    for (const Subject& subject : subjects) {
      const Outcome outcome = run_guarded(subject, task_of(subject, problem, variation));
      CHECK(same_bits(outcome.y, expected.y));
      CHECK(same_bits(outcome.maps[0], expected.maps[0]));
    }
  }
}

}  // namespace

TEST_CASE("targets agree to the last bit: an encoder layer") {
  check_layer_on<ladon::Model{.feed_forward = 19, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre},
                 ArrayVectors<1>>();
}

TEST_CASE("targets agree to the last bit: RMSNorm, a gate of SiLU, no biases") {
  check_layer_on<ladon::Model{.feed_forward = 19,
                              .activation = ladon::Activation::silu,
                              .gated = true,
                              .norm_kind = ladon::NormKind::rms,
                              .bias = ladon::Bias::without},
                 ArrayVectors<4>>();
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("targets agree to the last bit: several blocks of keys") {
  check_equal(on<S{.queries = 5, .keys = 600, .model = 6, .heads = 2}, ladon::mask::Padding, ArrayVectors<1>,
                 ArrayVectors<8>>(),
              true);
}

TEST_CASE("targets agree to the last bit: more cases with one lane or four lanes") {
  check_equal(
      on<S{.queries = 11, .keys = 15, .model = 7, .heads = 2, .head_width = 5}, ladon::mask::Causal, ArrayVectors<1>>(),
      true);
  check_equal(on<S{.queries = 38, .keys = 530, .model = 6, .heads = 2}, ladon::mask::Causal, ArrayVectors<1>>(), true);
  check_layer_on<ladon::Model{.feed_forward = 19, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre},
                 ArrayVectors<4>>();
}
#endif

}  // namespace ladon_test
