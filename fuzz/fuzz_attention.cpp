// Compares attention with the oracle of tests/support, which computes in float64. The functions projecting(), given()
// and cached() return the instantiations of attention under test, called subjects. An input of the fuzzer chooses a
// subject, the lengths, the masks, and the magnitudes and special numbers of the arrays. For a subject of cached(), the
// input also chooses how many tokens of a text each call appends to the cache. Guard pages surround the arrays of each
// call. All data that no query may see are NaN or infinite. Visible data may be NaN but not infinite, because the
// oracle does not define the result of infinite scores.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "cached_check.hpp"
#include "support/change.hpp"

namespace {

using namespace ladon_test;
using namespace ladon::mask;
using ladon_fuzz::change, ladon_fuzz::Specials;
using S = ladon::Shape;
using ladon::detail::vec::ArrayVectors;
using ladon::layout::InProj, ladon::layout::Int8, ladon::layout::PerHead, ladon::layout::SeparateQKV;

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};
using Halves = RotaryOf<ladon::Pairing::halves, 4, 24>;
using Neighbours = RotaryOf<ladon::Pairing::neighbours, 6, 64>;

// Returns the subjects (instantiations under test) that compute queries, keys and values from x.
const std::vector<Subject>& projecting() {
  static const std::vector<Subject> all{
      attention_subject<S{.queries = 13, .model = 10, .heads = 2}, CausalAndPadding>(),
      attention_subject<S{.queries = 1, .keys = 43, .model = 9, .heads = 3}, Padding>(),
      attention_subject<S{.queries = 7, .keys = 37, .model = 8, .heads = 4, .kv_heads = 2},
                        decltype(Bits{} & Window<20, 3>{}), SeparateQKV, ArrayVectors<4>>(),
      attention_subject<S{.queries = 9, .keys = 11, .model = 8, .heads = 2, .head_width = 5, .value_width = 3},
                        BooleanPerHead, PerHead, ArrayVectors<1>, ladon::score::Scaled, Halves>(),
      attention_subject<S{.queries = 8, .model = 11, .heads = 2, .head_width = 5}, CausalAndPadding,
                        Int8<SeparateQKV>>(),
  };
  return all;
}

// Returns the subjects that take queries, keys and values as inputs. The last subject has 270 keys, more than the 256
// keys that attention computes at a time, so that the fuzzer also tests several blocks of keys.
const std::vector<Subject>& given() {
  static const std::vector<Subject> all{
      given_subject<S{.queries = 6, .keys = 19, .model = 6, .heads = 3}, decltype(Additive{} & Alibi{}),
                    CappedWithSinks>(),
      given_subject<S{.queries = 3, .keys = 270, .model = 10, .heads = 2, .value_width = 7}, AdditivePerHead,
                    ladon::score::Scaled, ladon::position::Unrotated, Captures::weights, ArrayVectors<8>>(),
  };
  return all;
}

// Returns the subjects that append a text to a cache in several calls. The second subject has a window, so its cache
// keeps only the latest tokens.
const std::vector<CachedSubject>& cached() {
  static const std::vector<CachedSubject> all{
      cached_subject<S{.queries = 5, .keys = 24, .model = 12, .heads = 2}, Causal, ladon::score::Scaled, Neighbours>(),
      cached_subject<S{.queries = 4, .keys = 11, .model = 6, .heads = 2}, Window<6>>(),
      cached_subject<S{.queries = 3, .keys = 10, .model = 9, .heads = 3}, Causal, ladon::score::Scaled,
                     ladon::position::Unrotated, Int8<InProj>>(),
  };
  return all;
}

// Scales all weights and biases, and overwrites some of their elements with special numbers (change.hpp). Int8 weights
// stay unchanged, because the oracle holds int8 weights as integers.
void change_weights(oracle::AttentionWeights& weights, FuzzedDataProvider& data) {
  for (oracle::Linear* linear : {&weights.query, &weights.key, &weights.value, &weights.output}) {
    if (linear->activation_bits == 0) change(linear->weight, data, -8, 4, Specials::finite);
    change(linear->bias, data, -8, 4, Specials::finite);
  }
}

std::size_t any_length(FuzzedDataProvider& data, std::size_t most) {
  return data.ConsumeBool() ? ladon::all : data.ConsumeIntegralInRange<std::size_t>(0, most);
}

std::ptrdiff_t any_offset(FuzzedDataProvider& data, const S& shape, bool is_small) {
  switch (data.ConsumeIntegralInRange(0, is_small ? 1 : 3)) {
    case 0:
      return bottom_right;
    case 1:
      return data.ConsumeIntegralInRange<std::ptrdiff_t>(-static_cast<std::ptrdiff_t>(shape.queries),
                                                         static_cast<std::ptrdiff_t>(shape.keys));
    case 2:
      return std::numeric_limits<std::ptrdiff_t>::max();
    default:
      return std::numeric_limits<std::ptrdiff_t>::min() + 1;
  }
}

// Overwrites at most the first 64 elements of a mask with bytes of the fuzzer's input.
void change_bytes(std::vector<std::uint8_t>& bytes, FuzzedDataProvider& data) {
  const auto given_bytes = data.ConsumeBytes<std::uint8_t>(
      data.ConsumeIntegralInRange<std::size_t>(0, std::min<std::size_t>(bytes.size(), 64)));
  std::ranges::copy(given_bytes, bytes.begin());
}

Variation any_variation(const Subject& subject, FuzzedDataProvider& data) {
  const S& shape = subject.shape;
  Variation variation;
  fill_at_random(subject, variation, data.ConsumeIntegral<std::uint8_t>());
  variation.lengths.tokens = any_length(data, std::min(shape.queries, shape.keys));
  variation.lengths.queries = any_length(data, shape.queries);
  variation.lengths.keys = any_length(data, shape.keys);
  if (subject.mask.takes_offset()) variation.lengths.offset = any_offset(data, shape, subject.mask.alibi);
  if (subject.mask.padding && data.ConsumeBool()) {
    variation.may_see.assign(shape.keys, 1);
    change_bytes(variation.may_see, data);
  }
  change_bytes(variation.pairs, data);
  variation.poison_hidden_queries = data.ConsumeBool();
  return variation;
}

void check_projecting(const Subject& subject, FuzzedDataProvider& data) {
  const bool cross = subject.shape.queries != subject.shape.keys || data.ConsumeBool();
  AttentionProblem problem = random_problem(subject, cross, data.ConsumeIntegral<std::uint8_t>());
  const Variation variation = any_variation(subject, data);
  change_weights(problem.weights, data);
  change(problem.x, data, -30, 6, Specials::nan);
  change(problem.context, data, -30, 6, Specials::nan);
  check_problem(subject, variation, problem);
}

void check_given(const Subject& subject, FuzzedDataProvider& data) {
  GivenProblem problem = random_given(subject.shape, data.ConsumeIntegral<std::uint8_t>());
  const Variation variation = any_variation(subject, data);
  change(problem.q, data, -30, 10, Specials::nan);
  change(problem.k, data, -30, 10, Specials::nan);
  change(problem.v, data, -30, 30, Specials::nan);
  check_problem(subject, variation, problem);
}

void check_cached(const CachedSubject& subject, FuzzedDataProvider& data) {
  Cut cut{{}, data.ConsumeBool()};
  std::size_t length = 0;
  const std::size_t most = subject.ring ? 3 * subject.shape.keys : subject.shape.keys;
  for (int count = data.ConsumeIntegralInRange(1, 12); count > 0 && length < most; --count) {
    cut.pieces.push_back(data.ConsumeIntegralInRange<std::size_t>(1, std::min(subject.shape.queries, most - length)));
    length += cut.pieces.back();
  }
  CachedProblem text = random_cached(subject, length, data.ConsumeIntegral<std::uint8_t>());
  change_weights(text.weights, data);
  change(text.x, data, -30, 6, Specials::nan);
  ladon_test::check_cached(subject, text, cut);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  auto index = data.ConsumeIntegralInRange<std::size_t>(0, projecting().size() + given().size() + cached().size() - 1);
  if (index < projecting().size()) {
    check_projecting(projecting()[index], data);
  } else if (index -= projecting().size(); index < given().size()) {
    check_given(given()[index], data);
  } else {
    check_cached(cached()[index - given().size()], data);
  }
  return 0;
}
