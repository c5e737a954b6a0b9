// Tests that LADON_DETERMINISTIC gives equal bits on every target. This file contains the expected hash of each result.
// Every target must compute this hash, so all targets agree. Each run is also compared with the oracle.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "cached_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"
#include "fingerprint.hpp"

static_assert(LADON_DETERMINISTIC && !ladon::detail::vec::fma_is_fused);

namespace ladon_test {

namespace {

using S = ladon::Shape;
using namespace ladon::mask;

// Returns the hash of the results of attention, for every variation of lengths, offsets and mask data.
std::string bits_of(const Subject& subject, bool cross) {
  Fingerprint all;
  std::uint64_t seed = 0;
  for (const Variation& variation : variations(subject)) {
    const AttentionProblem problem = random_problem(subject, cross, ++seed);
    INFO(to_string(subject, variation));
    all.add(check_run(subject, task_of(subject, problem, variation), variation,
                      expected_attention(subject, problem, variation)));
  }
  return all.text();
}

template <S Shape, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated>
std::string self() {
  return bits_of(self_subject<Shape, Mask, ladon::layout::InProj, ladon::detail::vec::NativeVectors, Score, Position>(),
                 false);
}
template <S Shape, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated>
std::string cross() {
  return bits_of(
      attention_subject<Shape, Mask, ladon::layout::SeparateQKV, ladon::detail::vec::NativeVectors, Score, Position>(),
      true);
}

template <S Shape, ladon::Model Config, class Mask, class Layout = ladon::layout::InProj>
std::string layer() {
  const Subject subject = layer_subject<Shape, Config, Mask, Layout>();
  const EncoderForm form{.layer = Config, .activation_bits = activation_bits<typename Layout::Precision>};
  const EncoderProblem problem = random_encoder(subject.shape, form, 3);
  Fingerprint all;
  for (const Variation& variation : variations(subject)) {
    INFO(to_string(subject, variation));
    const Outcome outcome = run_guarded(subject, task_of(subject, problem, variation));
    CHECK(worst_distance(outcome.y, expected_encoder(subject, problem, variation).y) <= 1);
    all.add(outcome);
  }
  return all.text();
}

using Rotated = RotaryOf<ladon::Pairing::neighbours, 6, 400>;

}  // namespace

TEST_CASE("rows outside the layers: equal bits with every number of lanes, and for one row and several") {
  constexpr std::size_t rows = 3, in = 37, out = 11;
  using Linear = ladon::Linear<out, in>;
  using Arrays = ladon::detail::vec::ArrayVectors<4>;
  Random random(5);
  const Floats x = random.normals(rows * in), weight = random.normals(out * in), bias = random.normals(in);
  const Linear linear{.weight = weight.data(), .bias = bias.data()};
  Floats y(rows * out), other(rows * out), single(rows * out);
  ladon::LinearRowsOf<rows, Linear>::Workspace workspace;
  ladon::LinearRowsOf<rows, Linear>::run(x.data(), linear, y.data(), workspace);
  ladon::LinearRowsOf<rows, Linear, Arrays>::Workspace of_arrays;
  ladon::LinearRowsOf<rows, Linear, Arrays>::run(x.data(), linear, other.data(), of_arrays);
  for (std::size_t r = 0; r < rows; ++r) ladon::linear(linear, x.data() + r * in, single.data() + r * out);
  CHECK(same_bits(y, other));
  CHECK(same_bits(y, single));

  const ladon::Norm<in> norm{.weight = weight.data(), .bias = bias.data()};
  Floats normed(x), of_array(x);
  ladon::normalise(norm, rows, normed.data(), normed.data());
  ladon::normalise<in, ladon::NormKind::layer, ladon::Bias::with, ladon::NormGain::weight, Arrays>(
      norm, rows, of_array.data(), of_array.data());
  CHECK(same_bits(normed, of_array));
}

TEST_CASE("the same bits: attention of awkward sizes") {
  CHECK(self<S{.queries = 37, .model = 18, .heads = 3}, CausalAndPadding>() == "5ee4059766f09eb6");
  CHECK(cross<S{.queries = 13, .keys = 45, .model = 20, .heads = 4, .kv_heads = 2}, Window<9, 2>>() ==
        "6a3aee242a942122");
}

TEST_CASE("the same bits: one query") {
  CHECK(cross<S{.queries = 1, .keys = 43, .model = 21, .heads = 3}, Padding>() == "b6f220491f581d55");
}

TEST_CASE("the same bits: an encoder layer of one token") {
  CHECK(layer<S{.queries = 1, .model = 14, .heads = 2},
              ladon::Model{.feed_forward = 19, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre},
              Unmasked>() == "66bf9a31d40b6231");
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("the same bits: numbers and slopes") {
  CHECK(cross<S{.queries = 7, .keys = 18, .model = 6, .heads = 3}, decltype(Additive{} & Alibi{})>() ==
        "509cb9a9854c0e7f");
}

namespace {

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};

}  // namespace

TEST_CASE("the same bits: softcap, sinks, rotary embedding") {
  CHECK(cross<S{.queries = 9, .keys = 11, .model = 16, .heads = 2}, Causal, CappedWithSinks,
              RotaryOf<ladon::Pairing::halves, 4, 24>>() == "6acbdc97e7306c42");
}

TEST_CASE("the same bits: more keys than a block has") {
  CHECK(cross<S{.queries = 5, .keys = 600, .model = 6, .heads = 2}, Padding>() == "4e121ae55fee850b");
  CHECK(cross<S{.queries = 1, .keys = 600, .model = 6, .heads = 2}, Causal>() == "e3677a2329440d3a");
}

TEST_CASE("the same bits: queries, keys and values as given") {
  const Subject subject =
      given_subject<S{.queries = 3, .keys = 259, .model = 10, .heads = 2, .value_width = 7}, Unmasked>();
  check_given(subject);
  Fingerprint all;
  for (const Variation& variation : variations(subject)) {
    all.add(run_guarded(subject, task_of(subject, random_given(subject.shape, 1), variation)));
  }
  CHECK(all.text() == "efe3402a3c7400d2");
}

TEST_CASE("the same bits: a gate of SiLU, RMSNorm, no biases") {
  CHECK(layer<S{.queries = 13, .model = 14, .heads = 2},
              ladon::Model{.feed_forward = 19,
                           .activation = ladon::Activation::silu,
                           .gated = true,
                           .norm_kind = ladon::NormKind::rms,
                           .bias = ladon::Bias::without},
              Padding>() == "acd13eb1a61cf4cf");
}
#endif

namespace {

// Returns the hash of the outputs for a text that is fed in several calls. The sums of a token do not depend on the
// other tokens of a call. So every division of the text into calls must give this hash.
std::string bits_of(const CachedSubject& subject) {
  const std::vector<std::size_t> ones(21, 1);
  const std::vector<Cut> cuts{{{7, 7, 7}}, {ones}, {ones, false}, {{7, 1, 5, 1, 1, 6}}};
  check_cached(subject, cuts);
  std::vector<std::string> all;
  for (const Cut& cut : cuts) {
    Fingerprint fingerprint;
    fingerprint.add(run_cached(subject, cut));
    all.push_back(fingerprint.text());
    CHECK(all.back() == all.front());
  }
  return all.front();
}

}  // namespace

TEST_CASE("the same bits: int8 weights") {
  using Int8 = ladon::layout::Int8<ladon::layout::InProj>;
  CHECK(bits_of(self_subject<S{.queries = 37, .model = 18, .heads = 3}, CausalAndPadding, Int8>(), false) ==
        "3df71d284f8f8fbe");
  CHECK(layer<S{.queries = 13, .model = 15, .heads = 3},
              ladon::Model{.feed_forward = 19, .activation = ladon::Activation::gelu, .norm = ladon::NormOrder::pre},
              Unmasked, Int8>() == "4cb37784565ba5d2");
  CHECK(bits_of(cached_subject<S{.queries = 7, .keys = 33, .model = 12, .heads = 2}, Causal, ladon::score::Scaled,
                               ladon::position::Unrotated, Int8>()) == "c2d8dc0a8289b1ee");
}

TEST_CASE("the same bits: an int8 cache") {
  using ladon::CachePrecision;
  CHECK(
      bits_of(
          cached_subject<S{.queries = 7, .keys = 33, .model = 12, .heads = 2, .cache_precision = CachePrecision::int8},
                         Causal, ladon::score::Scaled, Rotated>()) == "5784cf7ef0185353");
}

TEST_CASE("the same bits: a text that grows, in pieces or token by token") {
  CHECK(bits_of(cached_subject<S{.queries = 7, .keys = 33, .model = 12, .heads = 2}, Causal, ladon::score::Scaled,
                               Rotated>()) == "cb1b8312ec45ca98");
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("the same bits: bits, a window over several blocks") {
  CHECK(cross<S{.queries = 5, .keys = 37, .model = 6, .heads = 2}, Bits>() == "56c79a49df42de43");
  CHECK(cross<S{.queries = 40, .keys = 530, .model = 5, .heads = 1}, Window<90, 3>>() == "11dc48cdb678a5f9");
}

TEST_CASE("the same bits: a bfloat16 cache, a ring") {
  using ladon::CachePrecision;
  CHECK(bits_of(cached_subject<
                S{.queries = 7, .keys = 33, .model = 12, .heads = 2, .cache_precision = CachePrecision::bfloat16},
                Causal, ladon::score::Scaled, Rotated>()) == "8b04bc04320ebc55");
  CHECK(bits_of(cached_subject<S{.queries = 7, .keys = 14, .model = 6, .heads = 2}, Window<6>>()) ==
        "ccd7c2ba42bb0160");
}
#endif

}  // namespace ladon_test
