// Tests bfloat16 weights: the conversion of float32 to bfloat16, and attention, layers and caches against the oracle.
// The oracle computes with the rounded weights, and rounds the inputs of products if the target does. So the allowed
// error only covers float32 errors, and not the rounding to bfloat16.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "cached_check.hpp"
#include "decoder_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "plain_unit.hpp"
#include "random.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::Model, ladon::NormKind, ladon::NormOrder;
using ladon::layout::InProj, ladon::layout::SeparateQKV, ladon::layout::WithoutBias,
    ladon::layout::WithoutProjectionBias;
using ladon::mask::Causal, ladon::mask::Unmasked;
template <class Layout>
using BFloat16 = ladon::layout::BFloat16<Layout>;

// Like the native target of this build, but without instructions that multiply bfloat16 numbers. So matrix products
// convert the weights to floats.
struct Widening : ladon::detail::vec::NativeVectors {
  static constexpr bool multiplies_bfloat16 = false, attends_in_pairs = false;
};
// A target of plain arrays that multiplies bfloat16 numbers without converting them to floats first, in products and in
// attention. Any machine can run this target.
template <std::size_t Lanes>
struct Arrays : ladon::detail::vec::ArrayVectors<Lanes> {
  static constexpr bool multiplies_bfloat16 = true, attends_in_pairs = !LADON_DETERMINISTIC;
};
// The same with a matrix unit.
struct ArraysWithUnit : Arrays<16> {
  using Unit = PlainUnit;
};

std::uint16_t rounded(float x) { return ladon::to_bfloat16(x).bits; }

template <S Shape, Model Config, class Mask, class Layout>
void check_layer() {
  check_encoder(layer_without_maps<Shape, Config, Mask, Layout>(),
                {.layer = Config,
                 .projections = Layout::projections,
                 .output = Layout::output,
                 .activation_bits = activation_bits<typename Layout::Precision>});
}

// Checks that bfloat16 weights and float32 weights of equal values give bit-identical outputs, if products convert the
// weights to floats. On AVX-512, 7 to 12 tokens are quads with float32 weights, and rows with bfloat16 weights, whose
// sums have other orders: `variants` limits the calls.
template <S Shape, class Mask, class Layout>
void check_same_bits(std::size_t variants = ladon::all) {
  const Subject subject = self_subject<Shape, Mask, BFloat16<Layout>, Widening>();
  const Subject converted = self_subject<Shape, Mask, Layout, Widening>();
  const AttentionProblem problem = random_problem(subject, false, 5);
  AttentionProblem values = problem;
  for (oracle::Linear* linear :
       {&values.weights.query, &values.weights.key, &values.weights.value, &values.weights.output}) {
    linear->bfloat16 = false;
  }
  for (const Variation& variation : variations(subject)) {
    if (variants-- == 0) break;
    INFO(to_string(subject, variation));
    CHECK(same_bits(run_guarded(subject, task_of(subject, problem, variation)).y,
                    run_guarded(converted, task_of(converted, values, variation)).y));
  }
}

}  // namespace

TEST_CASE("bfloat16: numbers for each distance") {
  using Relative = decltype(Causal{} & ladon::mask::Relative{});
  check_attention(attention_subject<S{.queries = 19, .model = 12, .heads = 3}, Relative, BFloat16<InProj>>());
}

TEST_CASE("bfloat16: a float is rounded to the nearest bfloat16, ties to even") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(rounded(1.0f) == 0x3f80);
  CHECK(rounded(-0.0f) == 0x8000);
  CHECK(rounded(std::bit_cast<float>(0x3f808000u)) == 0x3f80);  // a tie: 0x3f80 is even
  CHECK(rounded(std::bit_cast<float>(0x3f808001u)) == 0x3f81);
  CHECK(rounded(std::bit_cast<float>(0x3f818000u)) == 0x3f82);  // a tie: 0x3f82 is even
  CHECK(rounded(std::bit_cast<float>(0x3f817fffu)) == 0x3f81);
  CHECK(rounded(std::bit_cast<float>(0x00018000u)) == 0x0002);  // a tie of subnormals: 0x0002 is even
  CHECK(rounded(infinity) == 0x7f80);
  CHECK(rounded(-infinity) == 0xff80);
  CHECK(rounded(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(ladon::to_float(ladon::to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(std::isnan(ladon::to_float(ladon::to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const ladon::BFloat16 x{static_cast<std::uint16_t>(bits)};
    CHECK(std::bit_cast<std::uint32_t>(ladon::to_float(x)) == bits << 16);
    if (!std::isnan(ladon::to_float(x)) && rounded(ladon::to_float(x)) != bits) FAIL(bits);
  }
}

TEST_CASE("bfloat16: attention, odd widths, grouped heads, values of another width") {
  check_attention(
      attention_subject<S{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7},
                        Causal, BFloat16<SeparateQKV>>());
}

TEST_CASE("bfloat16: products of bfloat16 numbers in plain loops") {
  check_self(self_subject<S{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7},
                          Causal, BFloat16<SeparateQKV>, Arrays<4>>());
  check_attention(attention_subject<S{.queries = 1, .keys = 9, .model = 37, .heads = 3, .head_width = 7}, Unmasked,
                                    BFloat16<InProj>, Arrays<4>>());
  check_self(self_subject<S{.queries = 7, .model = 11, .heads = 1}, Unmasked, BFloat16<InProj>, Arrays<1>>());
}

TEST_CASE("bfloat16: attention and products in a matrix unit") {
  check_self(self_subject<S{.queries = 70, .model = 64, .heads = 2}, Causal, BFloat16<SeparateQKV>, ArraysWithUnit>());
  check_cross(
      attention_subject<S{.queries = 35, .keys = 67, .model = 32, .heads = 2, .head_width = 64, .value_width = 48},
                        Unmasked, BFloat16<InProj>, ArraysWithUnit>());
}

// The output projection adds only three numbers, the bias and two products. The error of such a short sum depends on
// the order of addition. So this test fails if oracle and library add in different orders.
TEST_CASE("bfloat16: an output projection of two features") {
  check_cross(attention_subject<S{.queries = 33, .keys = 24, .model = 133, .heads = 2, .head_width = 1}, Causal,
                                BFloat16<InProj>, Arrays<4>>());
}

TEST_CASE("bfloat16: a single token") {
  check_attention(attention_without_maps<S{.queries = 1, .keys = 9, .model = 37, .heads = 3, .head_width = 7}, Unmasked,
                                         BFloat16<InProj>>());
}

// The rows of 2051 features are converted to floats in several parts. The kernel converts at most
// target::Current::widened_features features at once, which is less than 2051 on every target.
TEST_CASE("bfloat16: long rows") {
  check_same_bits<S{.queries = 16, .model = 2051, .heads = 1, .head_width = 3}, Unmasked, InProj>(1);
  check_same_bits<S{.queries = 5, .model = 2051, .heads = 1, .head_width = 3}, Unmasked, InProj>();
}

TEST_CASE("bfloat16: the bits of float32 weights with the same values") {
  check_same_bits<S{.queries = 5, .model = 37, .heads = 2, .head_width = 20}, Causal, InProj>();
  check_same_bits<S{.queries = 1, .model = 136, .heads = 2}, Unmasked, SeparateQKV>();
}

TEST_CASE("bfloat16: encoder layer, pre-LN, a gate, RMSNorm, no biases") {
  check_layer<S{.queries = 18, .model = 12, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 20,
                    .activation = Activation::silu,
                    .norm = NormOrder::pre,
                    .gated = true,
                    .norm_kind = NormKind::rms,
                    .bias = Bias::without},
              Causal, BFloat16<WithoutBias<SeparateQKV>>>();
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("bfloat16: keys from a context") {
  check_attention(attention_without_maps<S{.queries = 5, .keys = 33, .model = 17, .heads = 2, .head_width = 20},
                                         CausalAndPadding, BFloat16<InProj>>());
}

TEST_CASE("bfloat16: encoder layer, only the output projection of attention has a bias") {
  constexpr Model config{.feed_forward = 30, .activation = Activation::gelu_tanh};
  check_layer<S{.queries = 19, .model = 16, .heads = 1}, config, Unmasked, BFloat16<WithoutProjectionBias<InProj>>>();
}

TEST_CASE("bfloat16: encoder layer of a single token, with biases and with one bias in attention") {
  constexpr S one{.queries = 1, .model = 37, .heads = 1};
  check_layer<one, Model{.feed_forward = 70}, Unmasked, BFloat16<InProj>>();
  check_layer<one, Model{.feed_forward = 70, .activation = Activation::gelu_tanh}, Unmasked,
              BFloat16<WithoutProjectionBias<SeparateQKV>>>();
}

// test_cached_decoder.cpp tests a growing bfloat16 decoder, which has caches, too.
#if defined(LADON_TEST_WIDE)
TEST_CASE("bfloat16: cache, several tokens and one") {
  check_cached(cached_subject<S{.queries = 5, .keys = 12, .model = 6, .heads = 2}, Causal, ladon::score::Scaled,
                              ladon::position::Unrotated, BFloat16<InProj>, maps_of_wide_set>(),
               {{{5, 1, 1, 3, 1, 1}}, {{1, 1, 5, 1, 2}, false}});
}
#endif

TEST_CASE("bfloat16: decoder layer") {
  constexpr Model post{.feed_forward = 20};
  check_decoder(decoder_layer_subject<S{.queries = 18, .model = 12, .heads = 3}, 21, post, Causal, Unmasked,
                                      BFloat16<InProj>, maps_of_wide_set>(),
                {.layer = post, .self_causal = true, .activation_bits = activation_bits<ladon::precision::BFloat16>});
}

// The weights of the feed-forward network exceed second_cache_bytes. So the kernel divides the hidden features into
// chunks, and computes one chunk after another (feed_forward.hpp).
TEST_CASE("bfloat16: encoder layer, large weights") {
  check_layer<S{.queries = 40, .model = 48, .heads = 2}, Model{.feed_forward = 1501}, Unmasked, BFloat16<InProj>>();
}

// Tests products with a single token. A row of 328 weights fills whole registers. The matrices exceed the L1 cache, so
// the kernel reads several parts of a matrix at the same time.
TEST_CASE("bfloat16: cache of a single token, wide rows") {
  check_cached(cached_subject<S{.queries = 1, .keys = 7, .model = 328, .heads = 2}, Causal, ladon::score::Scaled,
                              ladon::position::Unrotated, BFloat16<SeparateQKV>, maps_of_wide_set>(),
               {{std::vector<std::size_t>(7, 1)}});
}
#endif

// The padding mask hides the key of token 1 from all queries. So the numbers of token 1 may change only row 1 of the
// output.
TEST_CASE("bfloat16: a token that is NaN, infinite, huge, subnormal or zero") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  const Subject subject = self_without_maps<S{.queries = 5, .model = 13, .heads = 2, .head_width = 6},
                                            ladon::mask::Padding, BFloat16<InProj>>();
  AttentionProblem problem = random_problem(subject, false, 3);
  const Variation hide_token_1{.may_see = {1, 0, 1, 1, 1}};
  const auto row = [&](const Floats& y, std::size_t token) { return std::span(y).subspan(13 * token, 13); };
  const Outcome before = run_guarded(subject, task_of(subject, problem, hide_token_1));
  for (const std::size_t feature : {7u, 12u}) {
    const float was = problem.x[13 + feature];
    for (const float bad : {NAN, ladon::bit_cast<float>(0x7f800001u), infinity, -infinity, largest, -largest}) {
      CAPTURE(bad);
      problem.x[13 + feature] = bad;
      const Outcome outcome = run_guarded(subject, task_of(subject, problem, hide_token_1));
      for (const std::size_t token : {0u, 2u, 3u, 4u}) CHECK(same_bits(row(outcome.y, token), row(before.y, token)));
      if (std::isnan(bad)) CHECK(std::ranges::all_of(row(outcome.y, 1), [](float y) { return std::isnan(y); }));
    }
    problem.x[13 + feature] = was;
  }
  for (const float value : {3.0f, -2.5f, 0.0f, -0.0f, 1e-42f, 1e15f}) {
    CAPTURE(value);
    std::ranges::fill_n(problem.x.begin() + 13, 13, value);
    check_run(subject, task_of(subject, problem, hide_token_1), hide_token_1,
              expected_attention(subject, problem, hide_token_1));
  }
}

// The causal mask hides each token from all earlier tokens. So a token that is NaN must not change their outputs. With
// instructions for bfloat16, attention multiplies keys in pairs. So a pair can consist of the NaN and of a visible key.
// With 37 tokens, the last pair has only one key.
TEST_CASE("bfloat16: a token that is NaN changes no row of an earlier token") {
  const auto check = [](const Subject& subject) {
    AttentionProblem problem = random_problem(subject, false, 4);
    const Outcome before = run_guarded(subject, task_of(subject, problem, {}));
    for (std::size_t token = 36; token > 0; token -= 5) {
      CAPTURE(token);
      problem.x[12 * token + 7] = NAN;
      const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
      CHECK(same_bits(std::span(outcome.y).first(12 * token), std::span(before.y).first(12 * token)));
      if (token <= 5) break;
    }
  };
  constexpr S shape{.queries = 37, .model = 12, .heads = 3};
  check(self_without_maps<shape, Causal, BFloat16<InProj>>());
  check(self_subject<shape, Causal, BFloat16<InProj>, Arrays<4>>());
#if defined(LADON_TEST_WIDE)  // attention with int8 weights has the code of attention with bfloat16 weights
  check(self_without_maps<shape, Causal, ladon::layout::Int8<InProj>>());
#endif
}

}  // namespace ladon_test
