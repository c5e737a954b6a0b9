// Tests int8 weights: attention, layers and caches against the oracle, in every variation of lengths and masks. The
// oracle computes with the quantised weights. So the allowed error only covers the errors of the kernels, and not the
// error of the quantisation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "cached_check.hpp"
#include "decoder_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Activation, ladon::Bias, ladon::Model, ladon::NormKind, ladon::NormOrder;
using ladon::layout::InProj, ladon::layout::SeparateQKV, ladon::layout::WithoutBias,
    ladon::layout::WithoutProjectionBias;
using ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Window;
template <class Layout, int Bits = 8>
using Int8 = ladon::layout::Int8<Layout, Bits>;
template <class Layout, int Bits = 8>
using RotatedInt8 = ladon::layout::RotatedInt8<Layout, Bits>;

// A target of plain arrays. Its attention multiplies pairs of bfloat16 numbers if the attention of the native target
// does.
template <std::size_t Lanes>
struct ArraysLikeNative : ladon::detail::vec::ArrayVectors<Lanes> {
  static constexpr bool attends_in_pairs = ladon::detail::vec::NativeVectors::attends_in_pairs;
};

template <S Shape, Model Config, class Mask, class Layout = Int8<InProj>>
void check_layer() {
  check_encoder(layer_without_maps<Shape, Config, Mask, Layout>(),
                {.layer = Config,
                 .projections = Layout::projections,
                 .output = Layout::output,
                 .activation_bits = activation_bits<typename Layout::Precision>});
}

// Several cases use these shapes, so they share most instantiations.
constexpr S several{.queries = 18, .model = 12, .heads = 3}, one{.queries = 1, .model = 37, .heads = 1};

}  // namespace

TEST_CASE("int8: attention, odd widths, grouped heads, values of another width") {
  check_attention(
      attention_subject<S{.queries = 19, .model = 13, .heads = 4, .kv_heads = 2, .head_width = 5, .value_width = 7},
                        Causal, Int8<SeparateQKV>>());
}

TEST_CASE("int8: numbers for each distance") {
  check_attention(attention_without_maps<several, decltype(Causal{} & ladon::mask::Relative{}), Int8<InProj>>());
}

TEST_CASE("int8: keys from a context, 7 bits") {
  check_attention(attention_without_maps<S{.queries = 5, .keys = 33, .model = 17, .heads = 2, .head_width = 20},
                                         CausalAndPadding, Int8<InProj, 7>>());
}

TEST_CASE("int8: a single token") {
  check_attention(attention_without_maps<S{.queries = 1, .keys = 9, .model = 37, .heads = 3, .head_width = 7}, Unmasked,
                                         Int8<InProj>>());
}

TEST_CASE("int8: encoder layer, post-LN") { check_layer<several, Model{.feed_forward = 21}, Causal>(); }

// On Cortex-M, several panels (groups of tokens) share one pass over the weights of the feed-forward network. The
// hidden features of the panels are stored in the memory of the keys, which is free after attention. With 23 tokens,
// the last pass has fewer panels than the others. Only the output projection of attention has a bias.
TEST_CASE("int8: encoder layer, panels that share a pass over the weights") {
  check_layer<S{.queries = 23, .model = 16, .heads = 1}, Model{.feed_forward = 30, .activation = Activation::gelu_tanh},
              Unmasked, Int8<WithoutProjectionBias<InProj>>>();
}

TEST_CASE("rotated int8: attention, encoder layer with a gate") {
  check_attention(attention_without_maps<
                  S{.queries = 19, .model = 24, .heads = 4, .kv_heads = 2, .head_width = 6, .value_width = 10}, Causal,
                  RotatedInt8<SeparateQKV>>());
  check_layer<S{.queries = 18, .model = 16, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 24, .activation = Activation::silu, .norm = NormOrder::pre, .gated = true}, Causal,
              RotatedInt8<WithoutBias<SeparateQKV>>>();
}

TEST_CASE("int8: cache, several tokens and one") {
  check_cached(cached_subject<S{.queries = 5, .keys = 12, .model = 6, .heads = 2}, Causal, ladon::score::Scaled,
                              ladon::position::Unrotated, Int8<InProj>, maps_of_wide_set>(),
               {{{5, 1, 1, 3, 1, 1}}, {{1, 1, 5, 1, 2}, false}});
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("int8: keys and values projected in advance, from tokens of two widths") {
  check_cross(projected_subject<S{.queries = 9, .keys = 21, .model = 10, .heads = 2, .key_model = 7, .value_model = 13},
                                Unmasked, Int8<SeparateQKV>>());
}

TEST_CASE("int8: encoder layer of a single token, with biases and with one bias in attention") {
  check_layer<one, Model{.feed_forward = 70}, Unmasked>();
  check_layer<one, Model{.feed_forward = 70, .activation = Activation::gelu_tanh}, Unmasked,
              Int8<WithoutProjectionBias<SeparateQKV>>>();
}

// Some targets convert a row of int8 weights to 16 bits in a buffer on the stack (TuplesIn16Bits in
// detail/product/product.hpp). The buffer must have room for the 517 features of a row of linear2.
TEST_CASE("int8: encoder layer with long rows") {
  check_layer<S{.queries = 5, .model = 4, .heads = 1}, Model{.feed_forward = 517}, Unmasked>();
}

TEST_CASE("int8: attention, whole panels") {
  check_self(self_without_maps<S{.queries = 32, .model = 24, .heads = 3}, Unmasked, Int8<InProj>>());
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("int8: encoder layer, 7 bits") {
  check_layer<S{.queries = 9, .model = 10, .heads = 2}, Model{.feed_forward = 30}, Unmasked, Int8<InProj, 7>>();
}
#endif

// With a single token, the kernel computes the projections of all heads in one product. A row of 136 weights fills
// whole registers.
TEST_CASE("int8: cache of a single token, wide rows") {
  check_cached(cached_subject<S{.queries = 1, .keys = 7, .model = 136, .heads = 2}, Causal, ladon::score::Scaled,
                              ladon::position::Unrotated, Int8<SeparateQKV>, maps_of_wide_set>(),
               {{std::vector<std::size_t>(7, 1)}});
}

// `quantise` writes weights from -127 to 127, but checkpoints of other programs contain -128, too.
TEST_CASE("int8: the weight -128") {
  for (const Subject& subject :
       {self_without_maps<S{.queries = 5, .model = 12, .heads = 2}, ladon::mask::Padding, Int8<InProj>>(),
        attention_without_maps<S{.queries = 1, .keys = 9, .model = 37, .heads = 3, .head_width = 7}, Unmasked,
                               Int8<InProj>>()}) {
    AttentionProblem problem = random_problem(subject, subject.shape.queries == 1, 11);
    for (oracle::Linear* linear :
         {&problem.weights.query, &problem.weights.key, &problem.weights.value, &problem.weights.output}) {
      for (std::size_t i = 0; i < linear->weight.size(); i += 4) linear->weight[i] = -128;
      for (float& scale : linear->scale) scale /= 8;
    }
    check_run(subject, task_of(subject, problem, {}), {}, expected_attention(subject, problem, {}));
  }
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("int8: encoder layer, pre-LN, a gate, RMSNorm, no biases") {
  check_layer<S{.queries = 18, .model = 12, .heads = 4, .kv_heads = 2},
              Model{.feed_forward = 20,
                    .activation = Activation::silu,
                    .norm = NormOrder::pre,
                    .gated = true,
                    .norm_kind = NormKind::rms,
                    .bias = Bias::without},
              Causal, Int8<WithoutBias<SeparateQKV>>>();
}
#endif

TEST_CASE("int8: decoder layer, post-LN") {
  constexpr Model post{.feed_forward = 20};
  check_decoder(decoder_layer_subject<several, 33, post, Causal, Unmasked, Int8<InProj>, maps_of_wide_set>(),
                {.layer = post, .self_causal = true, .activation_bits = 8});
}

TEST_CASE("rotated int8: a single token, a decoder layer") {
  check_attention(attention_without_maps<S{.queries = 1, .keys = 9, .model = 40, .heads = 3, .head_width = 8}, Unmasked,
                                         RotatedInt8<InProj>>());
#if defined(LADON_TEST_WIDE)
  constexpr Model post{.feed_forward = 24};
  check_decoder(decoder_layer_subject<S{.queries = 18, .model = 16, .heads = 2}, 21, post, Causal, Unmasked,
                                      RotatedInt8<InProj>, maps_of_wide_set>(),
                {.layer = post, .self_causal = true, .activation_bits = 8 + rotated});
#endif
}

namespace {

template <S Shape, class Layout>
void check_targets() {
  const Subject native = self_without_maps<Shape, Causal, Layout>();
  const AttentionProblem problem = random_problem(native, false, 23);
  for (const std::size_t tokens : {Shape.queries, std::size_t(9), std::size_t(17), std::size_t(33)}) {
    const Task task = task_of(native, problem, {.lengths = {.tokens = tokens}});
    const Outcome expected = run_guarded(native, task);
    for (const Subject& subject : {self_subject<Shape, Causal, Layout, ArraysLikeNative<1>>(),
                                   self_subject<Shape, Causal, Layout, ArraysLikeNative<4>>()}) {
      CHECK(same_bits(run_guarded(subject, task).y, expected.y));
    }
  }
}

}  // namespace

TEST_CASE("int8: targets agree to the last bit") {
  check_targets<S{.queries = 37, .model = 18, .heads = 3}, Int8<InProj>>();
  check_targets<S{.queries = 37, .model = 131, .heads = 1, .head_width = 10}, Int8<InProj, 7>>();
}

// A target of plain arrays whose quantised features have the type `Element`. With this target, any machine can test
// unsigned bytes, as on x86 with VNNI, and signed bytes, as on 64-bit Arm with dot products.
template <std::size_t Lanes, class Element>
struct Arrays : ladon::detail::vec::ArrayVectors<Lanes> {
  using Int8Element = Element;
};

TEST_CASE("int8: features of 8 bits give the bits of features of 16 bits") {
  const auto check = [](const Subject& with_16_bits, const Subject& with_8_bits) {
    for (std::uint64_t seed = 31; seed < 34; ++seed) {
      const bool cross = with_16_bits.shape.queries != with_16_bits.shape.keys;
      const Task task = task_of(with_16_bits, random_problem(with_16_bits, cross, seed), {});
      CHECK(same_bits(run_guarded(with_8_bits, task).y, run_guarded(with_16_bits, task).y));
    }
  };
  // Products take tuples of four features, and the last tuple may be incomplete. In the first shape, the last tuple of
  // x has one feature, the last tuple of the context has two, and the last tuple of the concatenated heads has three.
  // In the second shape, the tuples of x are complete.
  constexpr S several_tokens{
      .queries = 9, .keys = 5, .model = 21, .heads = 3, .value_width = 5, .key_model = 6, .value_model = 6},
      token{.queries = 1, .keys = 9, .model = 36, .heads = 3, .head_width = 7};
  const auto each = [&]<S Shape, class Layout>() {
    const Subject with_16_bits = attention_subject<Shape, Unmasked, Layout, Arrays<4, std::int16_t>>();
    check(with_16_bits, attention_subject<Shape, Unmasked, Layout, Arrays<4, std::uint8_t>>());
    check(with_16_bits, attention_subject<Shape, Unmasked, Layout, Arrays<4, std::int8_t>>());
  };
  each.template operator()<several_tokens, Int8<SeparateQKV>>();
  each.template operator()<token, Int8<InProj, 7>>();
}

TEST_CASE("int8: attention in phases, the bits of one run") {
  constexpr S shape{.queries = 41, .keys = 23, .model = 12, .heads = 3};
  using Attention = ladon::MultiHeadAttention<shape, Unmasked, Int8<InProj>>;
  const Subject whole = attention_without_maps<shape, Unmasked, Int8<InProj>>();
  const Subject parts = subject_of_attention<AttentionInPhases<Attention, InTurn<3>>, Unmasked, Int8<InProj>>();
  const Task task = task_of(whole, random_problem(whole, true, 5), {});
  CHECK(same_bits(run_guarded(parts, task).y, run_guarded(whole, task).y));
}

#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("int8: a ring buffer of the latest keys") {
  check_cached(cached_subject<S{.queries = 5, .keys = 12, .model = 6, .heads = 2}, Window<7>, ladon::score::Scaled,
                              ladon::position::Unrotated, Int8<InProj>, maps_of_wide_set>(),
               {{{5, 1, 1, 1, 5, 3, 1, 1, 1, 1, 1, 5, 2}}});
}

TEST_CASE("int8: decoder layers, pre-LN or one head") {
  constexpr Model pre{.feed_forward = 15, .activation = Activation::gelu, .norm = NormOrder::pre},
      post{.feed_forward = 20};
  check_decoder(decoder_layer_subject<several, 33, pre, Causal, Unmasked, Int8<SeparateQKV>>(),
                {.layer = pre, .self_causal = true, .activation_bits = 8});
  check_decoder(decoder_layer_subject<S{.queries = 18, .model = 12, .heads = 1}, 21, post, Causal, Unmasked,
                                      Int8<InProj>, maps_of_wide_set>(),
                {.layer = post, .self_causal = true, .activation_bits = 8});
}

TEST_CASE("rotated int8: encoder layers without gates, a cache") {
  check_layer<S{.queries = 17, .model = 16, .heads = 2}, Model{.feed_forward = 40}, Unmasked, RotatedInt8<InProj>>();
  check_layer<S{.queries = 9, .model = 16, .heads = 2}, Model{.feed_forward = 24}, Unmasked, RotatedInt8<InProj, 7>>();
  check_cached(cached_subject<S{.queries = 5, .keys = 12, .model = 8, .heads = 2}, Causal, ladon::score::Scaled,
                              ladon::position::Unrotated, RotatedInt8<InProj>, maps_of_wide_set>(),
               {{{5, 1, 1, 3, 1, 1}}, {{1, 1, 5, 1, 2}, false}});
}

TEST_CASE("rotated int8: targets agree to the last bit") {
  check_targets<S{.queries = 37, .model = 24, .heads = 3}, RotatedInt8<InProj>>();
}

TEST_CASE("int8: encoder layer in phases, the bits of one run") {
  constexpr Model config{.feed_forward = 20, .norm = NormOrder::pre};
  using Layer = ladon::EncoderLayer<config.with(S{.queries = 41, .model = 12, .heads = 3}), Unmasked, Int8<InProj>>;
  const Subject layer = subject_of_layer<Layer, Unmasked, Int8<InProj>>();
  const EncoderProblem problem = random_encoder(layer.shape, {.layer = config, .activation_bits = 8}, 6);
  const Task task = task_of(layer, problem, {});
  const Subject in_phases = subject_of_layer<InPhases<Layer, InTurn<3>>, Unmasked, Int8<InProj>>();
  CHECK(same_bits(run_guarded(in_phases, task).y, run_guarded(layer, task).y));
}
#endif

// The padding mask hides the key of token 1 from all queries, and each token has its own scale. So the numbers of token
// 1 may change only row 1 of the output.
TEST_CASE("int8: a token that is NaN, infinite, constant or zero") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Subject subject =
      self_without_maps<S{.queries = 5, .model = 12, .heads = 2}, ladon::mask::Padding, Int8<InProj>>();
  AttentionProblem problem = random_problem(subject, false, 3);
  const Variation hide_token_1{.may_see = {1, 0, 1, 1, 1}};
  const auto row = [&](const Floats& y, std::size_t token) { return std::span(y).subspan(12 * token, 12); };
  const auto fill = [&](std::size_t token, float value) {
    std::ranges::fill_n(problem.x.begin() + static_cast<std::ptrdiff_t>(12 * token), 12, value);
  };
  const Outcome before = run_guarded(subject, task_of(subject, problem, hide_token_1));
  for (const float bad : {NAN, ladon::bit_cast<float>(0x7fc08000u), infinity, -infinity}) {
    problem.x[12 + 7] = bad;
    const Outcome outcome = run_guarded(subject, task_of(subject, problem, hide_token_1));
    for (const std::size_t token : {0u, 2u, 3u, 4u}) CHECK(same_bits(row(outcome.y, token), row(before.y, token)));
    CHECK(std::ranges::all_of(row(outcome.y, 1), [](float y) { return std::isnan(y); }));
  }
  for (const float value : {3.0f, -2.5f, 0.0f, -0.0f, 1e-42f, 1e30f}) {
    CAPTURE(value);
    fill(1, value);
    check_run(subject, task_of(subject, problem, hide_token_1), hide_token_1,
              expected_attention(subject, problem, hide_token_1));
  }
}

// A feature x is quantised as round(x / unit) + zero, where `zero` is the rounded zero point. Tokens 1 and 2 test zero
// points halfway between two integers. For token 1, the exact zero point is 127.5, but float32 gives 127.49999 and
// rounds it to 127. For token 2, the zero point 101.5 is rounded to 102. The highest feature of token 2 has x / unit =
// 153.5, which is rounded to 154, and must then be limited to 255 - 102 = 153.
TEST_CASE("int8: tokens whose extremes lie halfway between two integers") {
  const Subject subject =
      self_without_maps<S{.queries = 5, .model = 12, .heads = 2}, ladon::mask::Padding, Int8<InProj>>();
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    AttentionProblem problem = random_problem(subject, false, seed);
    for (std::size_t i = 12; i < 36; ++i) problem.x[i] *= 1e-8f;
    problem.x[12 + 3] = 1;
    problem.x[12 + 7] = -1;
    problem.x[24 + 3] = 153.5f / 64;
    problem.x[24 + 7] = -101.5f / 64;
    check_run(subject, task_of(subject, problem, {}), {}, expected_attention(subject, problem, {}));
  }
}

}  // namespace ladon_test
