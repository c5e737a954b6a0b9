// Tests LayerNorm and RMSNorm without the rest of a layer. The test sets the output projection of attention and linear2
// to zero, so a pre-LN layer returns its input. A stack of one such layer therefore returns the final norm of its
// input.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "encoder_check.hpp"
#include "encoder_subject.hpp"

namespace ladon_test {

namespace {

using ladon::Bias, ladon::NormKind;

template <std::size_t Model, NormKind Kind, std::size_t Tokens = 5, Bias B = Bias::with,
          class Mask = ladon::mask::Unmasked>
Subject norm_subject() {
  constexpr ladon::Shape shape{.queries = Tokens, .model = Model, .heads = 1, .head_width = 1};
  constexpr ladon::Model config{.feed_forward = 1, .norm = ladon::NormOrder::pre, .norm_kind = Kind, .norm_bias = B};
  return encoder_subject<1, shape, config, Mask, ladon::FinalNorm::with, ladon::layout::InProj, maps_of_wide_set>();
}

EncoderProblem norm_problem(const Subject& subject, NormKind kind, double deviation, double mean, float epsilon) {
  const EncoderForm form{.layer = {.feed_forward = 1, .norm = ladon::NormOrder::pre, .norm_kind = kind},
                         .final_norm = true,
                         .epsilon = epsilon};
  EncoderProblem problem = random_encoder(subject.shape, form, subject.shape.model);
  oracle::LayerWeights& layer = problem.layers[0];
  for (oracle::Linear* w : {&layer.attention.output, &layer.linear2}) {
    w->weight.assign(w->weight.size(), 0.0f);
    w->bias.assign(w->bias.size(), 0.0f);
  }
  problem.x = Random(9).normals(problem.x.size(), deviation, mean);
  return problem;
}

double distance_of_norm(const Subject& subject, const EncoderProblem& problem, float epsilon) {
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
  oracle::Norm norm = problem.final_norm;
  norm.epsilon = epsilon;
  const oracle::Matrix x(subject.shape.queries, subject.shape.model, problem.x.data());
  const oracle::Matrix y = oracle::normalized(problem.form.layer.norm_kind, norm, x);
  return worst_distance(outcome.y, Expected(y.data.begin(), y.data.end()));
}

template <NormKind Kind, std::size_t Model, std::size_t Tokens = 5>
void check_norm() {
  const Subject subject = norm_subject<Model, Kind, Tokens>();
  for (const float epsilon : {1e-5f, 1e-12f}) {
    for (const auto& of : {std::pair(1.0, 0.0), {1.0, 100.0}, {1e-3, 0.0}, {1e4, -1e4}, {1e-3, 1.0}}) {
      const double deviation = of.first, mean = of.second;  // clang++ 14 cannot capture a structured binding
      CAPTURE(Model);
      CAPTURE(epsilon);
      CAPTURE(deviation);
      CAPTURE(mean);
      const EncoderProblem problem = norm_problem(subject, Kind, deviation, mean, epsilon);
      CHECK(distance_of_norm(subject, problem, epsilon) <= 1);
    }
  }
}

template <NormKind Kind, std::size_t Tokens = 5>
void check_epsilon() {
  const Subject subject = norm_subject<17, Kind, Tokens>();
  for (const double deviation : {1.0, 0.1, 0.01}) {
    const EncoderProblem problem = norm_problem(subject, Kind, deviation, 0, 1e-12f);
    CHECK(distance_of_norm(subject, problem, 1e-12f) <= 1);
    CHECK(distance_of_norm(subject, problem, 1e-5f) > 1);
  }
}

}  // namespace

TEST_CASE("LayerNorm: several widths, means far from zero, large and small variances") {
  check_norm<NormKind::layer, 17>();
  check_norm<NormKind::layer, 64>();
#if !defined(LADON_TEST_SET_QUICK)
  check_norm<NormKind::layer, 2>();
  check_norm<NormKind::layer, 3>();
  check_norm<NormKind::layer, 100>();
#endif
}

// Layers have a separate function for the norm of a single token (norm.hpp).
TEST_CASE("LayerNorm of a single token: means far from zero, and epsilon") {
  check_norm<NormKind::layer, 17, 1>();
  check_epsilon<NormKind::layer, 1>();
}

TEST_CASE("RMSNorm: several widths, large and small features") {
  check_norm<NormKind::rms, 17>();
#if !defined(LADON_TEST_SET_QUICK)
  check_norm<NormKind::rms, 1>();
  check_norm<NormKind::rms, 100>();
#endif
}

TEST_CASE("LayerNorm without a bias is LayerNorm with a bias of zeros, of one token and of several") {
  const auto check = []<std::size_t Tokens>(std::integral_constant<std::size_t, Tokens>) {
    const Subject with = norm_subject<17, NormKind::layer, Tokens>();
    EncoderProblem problem = norm_problem(with, NormKind::layer, 2, 5, 1e-5f);
    const Outcome biased = run_guarded(with, task_of(with, problem, {}));
    oracle::LayerWeights& layer = problem.layers[0];
    const std::initializer_list<oracle::Norm*> norms{&layer.norm1, &layer.norm2, &problem.final_norm};
    for (oracle::Norm* norm : norms) norm->bias.assign(17, 0.0f);
    const Outcome zeros = run_guarded(with, task_of(with, problem, {}));
    for (oracle::Norm* norm : norms) norm->bias.clear();
    CHECK(distance_of_norm(norm_subject<17, NormKind::layer, Tokens, Bias::without>(), problem, 1e-5f) <= 1);
    const Subject without = norm_subject<17, NormKind::layer, Tokens, Bias::without>();
    CHECK(same_bits(run_guarded(without, task_of(without, problem, {})).y, zeros.y));
    CHECK_FALSE(same_bits(biased.y, zeros.y));
  };
  check(std::integral_constant<std::size_t, 1>());
  check(std::integral_constant<std::size_t, 5>());
}

TEST_CASE("LayerNorm: epsilon matters where the variance is small, and another epsilon breaks the bound") {
  check_epsilon<NormKind::layer>();
}
TEST_CASE("RMSNorm: epsilon matters where the features are small, and another epsilon breaks the bound") {
  check_epsilon<NormKind::rms>();
}

TEST_CASE("LayerNorm: equal features have the variance 0, and give the bias") {
  const Subject subject = norm_subject<64, NormKind::layer>();
  EncoderProblem problem = norm_problem(subject, NormKind::layer, 0, 3.5, 1e-5f);
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
  for (std::size_t i = 0; i < outcome.y.size(); ++i) CHECK(outcome.y[i] == problem.final_norm.bias[i % 64]);
}

TEST_CASE("RMSNorm: features that are all 0 stay 0") {
  const Subject subject = norm_subject<17, NormKind::rms>();
  const EncoderProblem problem = norm_problem(subject, NormKind::rms, 0, 0, 1e-5f);
  const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
  for (const float y : outcome.y) CHECK(y == 0);
}

namespace {

// Returns the norm of each row of x, also where squares of the features exceed the range of float. A norm does not
// change if the features and sqrt(epsilon) are multiplied by a power of two. So the oracle gets each row multiplied by
// a power of two, and its bound is that of a row whose largest feature is near 1. A row of zeros gives the bias.
Expected expected_norm(NormKind kind, oracle::Norm norm, const Floats& x, float epsilon) {
  const std::size_t width = norm.weight.size();
  Expected y;
  for (std::size_t first = 0; first < x.size(); first += width) {
    double largest = std::sqrt(static_cast<double>(epsilon));
    for (std::size_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[first + i])));
    const int exponent = largest > 0 ? std::ilogb(largest) : 0;
    oracle::Matrix row(1, width);
    for (std::size_t i = 0; i < width; ++i) {
      row(0, i) = std::ldexp(static_cast<double>(x[first + i]), -exponent);
    }
    norm.epsilon = std::ldexp(epsilon, -2 * exponent);
    if (largest == 0) norm.epsilon = 1;
    const oracle::Matrix normalized = oracle::normalized(kind, norm, row);
    y.insert(y.end(), normalized.data.begin(), normalized.data.end());
  }
  return y;
}

// Helium replaces subnormal numbers by 0, so tests of Helium have no row of subnormal numbers.
constexpr double least_magnitude = LADON_HAS_HELIUM ? 1e-30 : 0;

// Fills row `row` of x with random numbers between -magnitude and magnitude.
void fill_row(Floats& x, std::size_t row, std::size_t width, double magnitude, Random& random) {
  if (magnitude > 0) magnitude = std::max(magnitude, least_magnitude);
  for (std::size_t i = 0; i < width; ++i) {
    x[row * width + i] = static_cast<float>((2 * random.uniform() - 1) * magnitude);
  }
}

constexpr double magnitudes[] = {1e-42, 1e-40, 1e-38, 1e-30, 1e-25, 1e-19, 1e-15, 1e-10, 0,
                                 1,     1e10,  1e15,  1e18,  1e19,  1e25,  1e30,  1e38,  3.4e38};

template <NormKind Kind, std::size_t Model, std::size_t Tokens>
void check_magnitudes() {
  CAPTURE(Model);
  const Subject subject = norm_subject<Model, Kind, Tokens>();
  Random random(Model);
  for (const float epsilon : {1e-5f, 0.0f}) {
    CAPTURE(epsilon);
    EncoderProblem problem = norm_problem(subject, Kind, 1, 0, epsilon);
    const auto check = [&] {
      const Outcome outcome = run_guarded(subject, task_of(subject, problem, {}));
      CHECK(worst_distance(outcome.y, expected_norm(Kind, problem.final_norm, problem.x, epsilon)) <= 1);
    };
    std::size_t row = 0;
    for (const double magnitude : magnitudes) {
      CAPTURE(magnitude);
      fill_row(problem.x, row++ % Tokens, Model, magnitude, random);
      if (Tokens == 1) check();
    }
    if (Tokens > 1) check();
  }
}

// One token of a panel has features of another magnitude. The norms of the other tokens keep their bits.
template <NormKind Kind, std::size_t Model, std::size_t Tokens>
void check_one_extreme_token() {
  // Each token sees only itself, so a NaN does not reach the other tokens in attention.
  const Subject subject = norm_subject<Model, Kind, Tokens, Bias::with, ladon::mask::Window<0>>();
  const EncoderProblem problem = norm_problem(subject, Kind, 1, 0, 0);
  const Outcome usual = run_guarded(subject, task_of(subject, problem, {}));
  Random random(5);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double magnitude : {1e-45, 1e-25, 0.0, 1e19, 3.4e38, infinity, static_cast<double>(NAN)}) {
    CAPTURE(magnitude);
    for (std::size_t token = 0; token < Tokens; token += 3) {
      EncoderProblem changed = problem;
      fill_row(changed.x, token, Model, std::isfinite(magnitude) ? magnitude : 1, random);
      if (!std::isfinite(magnitude)) changed.x[token * Model + Model / 2] = static_cast<float>(magnitude);
      const Outcome outcome = run_guarded(subject, task_of(subject, changed, {}));
      for (std::size_t t = 0; t < Tokens; ++t) {
        const auto row = [&](const Floats& y) { return std::span(y).subspan(t * Model, Model); };
        if (t != token) CHECK(same_bits(row(outcome.y), row(usual.y)));
      }
      if (std::isfinite(magnitude)) {
        CHECK(worst_distance(outcome.y, expected_norm(Kind, changed.final_norm, changed.x, 0)) <= 1);
      } else {
        CHECK(std::isnan(outcome.y[token * Model + Model / 2]));
      }
    }
  }
}

}  // namespace

TEST_CASE("norms of several tokens: features of every magnitude") {
  check_magnitudes<NormKind::rms, 17, 20>();
  check_magnitudes<NormKind::layer, 17, 20>();
#if !defined(LADON_TEST_SET_QUICK)
  check_magnitudes<NormKind::rms, 512, 20>();
  check_magnitudes<NormKind::layer, 512, 20>();
  check_magnitudes<NormKind::rms, 4096, 20>();
  check_magnitudes<NormKind::layer, 4096, 20>();
#endif
}

TEST_CASE("norms of a single token: features of every magnitude") {
  check_magnitudes<NormKind::rms, 17, 1>();
  check_magnitudes<NormKind::layer, 17, 1>();
#if !defined(LADON_TEST_SET_QUICK)
  check_magnitudes<NormKind::rms, 16, 1>();
  check_magnitudes<NormKind::layer, 64, 1>();
  check_magnitudes<NormKind::rms, 4096, 1>();
  check_magnitudes<NormKind::layer, 4096, 1>();
#endif
}

TEST_CASE("norms: a token of another magnitude, an infinity or a NaN changes no other token") {
  check_one_extreme_token<NormKind::rms, 17, 20>();
#if !defined(LADON_TEST_SET_QUICK)
  check_one_extreme_token<NormKind::layer, 17, 20>();
#endif
}

}  // namespace ladon_test
