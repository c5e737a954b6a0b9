// Tests attention to more keys than a key block holds (kernel::key_block, 256). These tests cover the running maximum,
// the corrections of earlier sums, and masks that hide whole blocks.
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
constexpr S long_rows{.queries = 19, .keys = 1100, .model = 8, .heads = 2};

void check_problem(const Subject& subject, const AttentionProblem& problem, const Variation& variation) {
  INFO(to_string(subject, variation));
  check_run(subject, task_of(subject, problem, variation), variation, expected_attention(subject, problem, variation));
}

// Returns a problem in which the magnitude of the keys grows or shrinks with their position. If the magnitude grows,
// each key block has a larger maximum than the previous block.
AttentionProblem trending_problem(const ladon::Shape& shape, bool growing) {
  AttentionProblem problem = random_problem(shape, true, 7);
  for (std::size_t k = 0; k < shape.keys; ++k) {
    const double along = static_cast<double>(growing ? k : shape.keys - k) / static_cast<double>(shape.keys);
    for (std::size_t i = 0; i < shape.model; ++i) problem.context[k * shape.model + i] *= static_cast<float>(4 * along);
  }
  return problem;
}

}  // namespace

TEST_CASE("long rows: no mask") {
  const Subject subject = attention_subject<long_rows, ladon::mask::Unmasked>();
  check_attention(subject);
  for (const bool growing : {true, false}) check_problem(subject, trending_problem(subject.shape, growing), {});
  for (const std::size_t keys : {255u, 256u, 257u, 511u, 512u, 513u, 1024u, 1025u}) {
    check_problem(subject, trending_problem(subject.shape, true), {.lengths = {.keys = keys}});
  }
}

// Tests projections whose input takes more than 512 KB. Such a projection processes only some tokens at a time. In
// the first shape, the large input is the context. In the second shape, the large input is the output of the heads.
TEST_CASE("long rows: more panels than a cache holds") {
  check_attention(attention_subject<S{.queries = 5, .keys = 1037, .model = 136, .heads = 2, .head_width = 3},
                                    ladon::mask::Unmasked>());
  check_attention(
      attention_subject<S{.queries = 1037, .keys = 5, .model = 7, .heads = 1, .head_width = 3, .value_width = 136},
                        ladon::mask::Unmasked>());
}

#if !defined(LADON_TEST_SET_QUICK)
namespace {
Variation showing(std::size_t begin, std::size_t end) {
  Variation variation;
  variation.may_see.assign(long_rows.keys, 0);
  for (std::size_t k = begin; k < end; ++k) variation.may_see[k] = 1;
  return variation;
}
}  // namespace

// One mask, causal and padding, tests three cases. The data of the mask then hides keys only by position, only by
// padding, or by both.
TEST_CASE("long rows: causal, some queries see one block more than others") {
  const Subject subject = attention_subject<long_rows, CausalAndPadding>();
  for (const std::ptrdiff_t offset : {250, 500, 511, 1010}) {
    check_problem(subject, trending_problem(subject.shape, true), {.lengths = {.offset = offset}});
  }
}

TEST_CASE("long rows: padding hides whole blocks") {
  const Subject subject = attention_subject<long_rows, CausalAndPadding>();
  const AttentionProblem problem = trending_problem(subject.shape, true);
  Variation middle_hidden = showing(0, 300);
  middle_hidden.may_see[1099] = 1;
  for (Variation variation :
       {showing(0, 512), showing(512, 1100), showing(512, 1024), showing(1024, 1100), middle_hidden}) {
    variation.lengths.offset = long_rows.keys;  // a causal mask with this offset shows every key
    check_problem(subject, problem, variation);
  }
}

TEST_CASE("long rows: causal and padding, first blocks hidden from all and later ones from some") {
  const Subject subject = attention_subject<long_rows, CausalAndPadding>();
  check_attention(subject);
  const AttentionProblem problem = trending_problem(subject.shape, false);
  for (const std::ptrdiff_t offset : {505, 520, 1020}) {
    Variation variation = showing(512, 1100);
    variation.lengths.offset = offset;
    check_problem(subject, problem, variation);
  }
}
#endif

namespace {
// Returns the relative RMS error of a weighted sum over 5,000 keys. The values have the mean 1.
template <std::size_t queries, std::size_t width>
double error_of_long_sum() {
  constexpr std::size_t keys = 5000;
  using Attention = ladon::Attention<ladon::Shape{.queries = queries, .keys = keys, .model = width, .heads = 1}>;
  Random random(1);
  const Floats q = random.normals(queries * width, 0.1), k = random.normals(keys * width, 1, 1),
               v = random.normals(keys * width, 1, 1);
  Floats y(queries * width);
  const auto workspace = std::make_unique<typename Attention::Workspace>();
  Attention::run(q.data(), k.data(), v.data(), y.data(), *workspace);
  double squares = 0;
  for (std::size_t query = 0; query < queries; ++query) {
    std::vector<double> sums(width);
    double total = 0;
    for (std::size_t key = 0; key < keys; ++key) {
      double score = 0;
      for (std::size_t i = 0; i < width; ++i) {
        score += static_cast<double>(q[query * width + i]) * static_cast<double>(k[key * width + i]);
      }
      const double weight = std::exp(score / std::sqrt(width));
      total += weight;
      for (std::size_t i = 0; i < width; ++i) sums[i] += weight * static_cast<double>(v[key * width + i]);
    }
    for (std::size_t i = 0; i < width; ++i) {
      const double error = static_cast<double>(y[query * width + i]) * total / sums[i] - 1;
      squares += error * error;
    }
  }
  return std::sqrt(squares / (queries * width));
}
}  // namespace

// The error of a sum must not grow with the number of key blocks. numpy computes these sums in float32 with a relative
// RMS error of 9e-8, and the test allows three times this error. The three shapes use different kernels. For a single
// query, the kernel reads wide values from several places at the same time, and values of width 1 from one place.
TEST_CASE("long rows: the error of a sum over 5,000 keys") {
  CHECK(error_of_long_sum<4, 16>() < 3 * 9e-8);
  CHECK(error_of_long_sum<1, 16>() < 3 * 9e-8);
  CHECK(error_of_long_sum<1, 1>() < 3 * 9e-8);
}

#if defined(LADON_TEST_WIDE)
TEST_CASE("long rows: causal alone and padding alone") {
  check_attention(attention_subject<long_rows, ladon::mask::Causal>());
  check_attention(attention_subject<long_rows, ladon::mask::Padding>());
}
#endif

}  // namespace ladon_test
