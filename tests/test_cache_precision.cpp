// Tests bfloat16 and int8 caches. cached_check.hpp compares the stored numbers and the results with the oracle. The
// tests of this file also compare whole calls with a float32 cache: the error of y must stay below the documented
// limit (docs/precision.md).
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "mask_sweep.hpp"
#include "models.hpp"
#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

using ladon::CachePrecision;
using ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Padding, ladon::mask::Window;

struct CappedWithSinks : ladon::score::Scaled {
  static constexpr float softcap = 3;
  static constexpr bool sinks = true;
};
using Rotated = RotaryOf<ladon::Pairing::halves, 4, 66, 10000, 2>;

std::vector<std::size_t> ones(std::size_t count) { return std::vector<std::size_t>(count, 1); }

constexpr S with(S shape, CachePrecision precision) {
  shape.cache_precision = precision;
  return shape;
}

template <CachePrecision P, S Shape, class Mask, class Score = ladon::score::Scaled,
          class Position = ladon::position::Unrotated, Maps M = maps_of_wide_set>
void check(const std::vector<Cut>& cuts) {
  check_cached(cached_subject<with(Shape, P), Mask, Score, Position, ladon::layout::InProj, M>(), cuts);
}
template <S Shape, class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated,
          Maps M = maps_of_wide_set>
void check_both(const std::vector<Cut>& cuts) {
  check<CachePrecision::bfloat16, Shape, Mask, Score, Position, M>(cuts);
  check<CachePrecision::int8, Shape, Mask, Score, Position, M>(cuts);
}

// Calls f.operator()<P>() for both precisions.
template <class F>
void for_both(F f) {
  f.template operator()<CachePrecision::bfloat16>();
  f.template operator()<CachePrecision::int8>();
}

// Several cases use these shapes with the same masks, so they share their instantiations.
constexpr S several{.queries = lanes + 3, .keys = 41, .model = 10, .heads = 2};
constexpr S ring{.queries = 5, .keys = 12, .model = 6, .heads = 2};

}  // namespace

TEST_CASE("cache precision: causal, rotary embedding") {
  check_both<several, Causal, ladon::score::Scaled, Rotated, Maps::with>(
      {{{lanes + 3, 1, 1}}, {ones(41)}, {ones(5), false}, {{3, 1, 1, 2, 1}}});
}

TEST_CASE("cache precision: a ring buffer") {
  check_both<ring, Window<7>>({{ones(40)}, {{5, 1, 1, 1, 5, 3, 1, 1, 1, 1, 1, 5, 2, 1, 1, 1, 4}}});
}

#if !defined(LADON_TEST_SET_QUICK)
// Masks and scores do not depend on the precision of the cache. So the following cases test some masks with only one
// precision. The wide test set tests both precisions.
TEST_CASE("cache precision: no mask, a mask that adds, values of another width") {
  check<CachePrecision::int8, S{.queries = 4, .keys = 33, .model = 12, .heads = 4, .kv_heads = 2}, Unmasked>(
      {{ones(33)}, {{4, 4, 1, 3}}});
  check<CachePrecision::int8, S{.queries = 3, .keys = 17, .model = 6, .heads = 1},
        decltype(ladon::mask::Additive{} & Causal{})>({{ones(17)}, {{3, 3, 1, 3}}});
  check<CachePrecision::bfloat16,
        S{.queries = 3, .keys = 34, .model = 9, .heads = 3, .head_width = 7, .value_width = 5}, Causal>(
      {{ones(34)}, {{3, 3, 1, 3}}});
  check<CachePrecision::int8, S{.queries = 5, .keys = 18, .model = 12, .heads = 6, .kv_heads = 3},
        decltype(Causal{} & ladon::mask::Relative{})>({{ones(18)}, {{5, 5, 1, 3}}});
}

// In grouped attention, several heads of queries share one head of keys. The kernels for a single query compute several
// of these heads at once (ShapeLayout::heads_together).
TEST_CASE("cache precision: groups of several heads") {
  check_both<S{.queries = 3, .keys = 19, .model = 14, .heads = 7, .kv_heads = 1, .value_width = 5}, Causal>(
      {{ones(19)}, {{3, 1, 1, 3}}});
  check<CachePrecision::int8, S{.queries = 3, .keys = 35, .model = 24, .heads = 6, .kv_heads = 1},
        decltype(Padding{} & Causal{}), CappedWithSinks, Rotated>({{{3, 3, 1, 3, 1}}});
  // The heads have one feature.
  check<CachePrecision::bfloat16, S{.queries = 3, .keys = 20, .model = 8, .heads = 8, .kv_heads = 2},
        decltype(ladon::mask::Alibi{} & Causal{})>({{ones(20)}});
}

// The keys and values exceed the L1 cache, so the kernels read them from several places at the same time. The model is
// narrow, so that the projections take little time.
TEST_CASE("cache precision: keys of many kilobytes, two blocks of keys") {
  constexpr S large{.queries = 149, .keys = 301, .model = 6, .heads = 2, .head_width = 150};
  check_both<large, Causal>({{{149, 149, 1, 1}}});
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("cache precision: more masks and shapes with both precisions") {
  check<CachePrecision::bfloat16, S{.queries = 4, .keys = 33, .model = 12, .heads = 4, .kv_heads = 2}, Unmasked>(
      {{ones(33)}, {{4, 4, 1, 3}}});
  check<CachePrecision::bfloat16, S{.queries = 3, .keys = 17, .model = 6, .heads = 1},
        decltype(ladon::mask::Additive{} & Causal{})>({{ones(17)}, {{3, 3, 1, 3}}});
  check<CachePrecision::int8, S{.queries = 3, .keys = 34, .model = 9, .heads = 3, .head_width = 7, .value_width = 5},
        Causal>({{ones(34)}, {{3, 3, 1, 3}}});
  check<CachePrecision::int8, S{.queries = 3, .keys = 20, .model = 8, .heads = 8, .kv_heads = 2},
        decltype(ladon::mask::Alibi{} & Causal{})>({{ones(20)}});
  check<CachePrecision::bfloat16, S{.queries = 5, .keys = 18, .model = 12, .heads = 6, .kv_heads = 3},
        decltype(Causal{} & ladon::mask::Relative{})>({{ones(18)}, {{5, 5, 1, 3}}});
  check_both<S{.queries = 3, .keys = 19, .model = 3, .heads = 3}, Causal>({{ones(19)}, {{3, 3, 1, 3}}});
  check_both<S{.queries = 3, .keys = 20, .model = 6, .heads = 2}, decltype(Padding{} & Causal{})>(
      {{ones(20)}, {{3, 3, 1, 3, 1}}});
  check_both<S{.queries = 5, .keys = 64, .model = 12, .heads = 2}, Causal, CappedWithSinks, Rotated>(
      {{{5, 5, 1, 1, 5, 1}}, {ones(9), false}});
  check_both<S{.queries = 149, .keys = 301, .model = 6, .heads = 2, .head_width = 150}, decltype(Padding{} & Causal{}),
             CappedWithSinks>({{{149, 149, 1, 1}}});
  check<CachePrecision::bfloat16, S{.queries = 3, .keys = 35, .model = 24, .heads = 6, .kv_heads = 1},
        decltype(Padding{} & Causal{}), CappedWithSinks, Rotated>({{{3, 3, 1, 3, 1}}});
  check_both<S{.queries = lanes + 1, .keys = 600, .model = 4, .heads = 1}, Causal>(
      {{std::vector<std::size_t>(33, lanes + 1)}, {{lanes, lanes + 1, 1, 1, 1}}});
}
#endif

TEST_CASE("cache precision: pieces of any size give equal bits") {
  for_both([]<CachePrecision P>() {
    const CachedSubject subject = cached_subject<with(several, P), Causal, ladon::score::Scaled, Rotated>();
    const Floats at_once = run_cached(subject, {{6, 6, 6}});
    CHECK(same_bits(run_cached(subject, {{3, 5, 2, 6, 2}}), at_once));
    CHECK(same_bits(run_cached(subject, {ones(18), false}), at_once));
  });
}

namespace {

// A text of 1024 tokens. Queries, keys and values are nearly normal with a standard deviation of `spread`, so scores
// have a standard deviation of spread^2.
template <CachePrecision P>
struct LongText {
  static constexpr S shape{.queries = 64, .keys = 1024, .model = 128, .heads = 2, .cache_precision = P};
  using Prompt = ladon::MultiHeadAttention<shape, Causal, ladon::layout::WithoutBias<ladon::layout::InProj>>;
  using Token = ladon::MultiHeadAttention<for_one(shape), Causal, ladon::layout::WithoutBias<ladon::layout::InProj>>;

  // Computes the last 64 tokens of a text of 1024 tokens. Returns their outputs y from one call with all 64 tokens, and
  // from 64 calls with one token each.
  static std::pair<Floats, Floats> run(double spread) {
    Random random(5);
    const double deviation = 1 / std::sqrt(128.0);
    const Floats in_weight = random.normals(3 * 128 * 128, spread * deviation),
                 out_weight = random.normals(128 * 128, deviation), x = random.normals(1024 * 128);
    const typename Prompt::Weights weights{.in_proj = {in_weight.data()}, .out_proj = {out_weight.data()}};
    const auto cache = std::make_unique<typename Prompt::Cache>();
    const auto workspace = std::make_unique<typename Prompt::CachedWorkspace>();
    const auto one_workspace = std::make_unique<typename Token::CachedWorkspace>();
    Floats y(64 * 128), by_one(64 * 128);
    {
      // Only the keys and values of the first 960 tokens matter, so their outputs are not computed.
      const auto keys = std::make_unique<typename Prompt::KeyWorkspace>();
      Prompt::project_keys(x.data(), weights, *cache, *keys, {.keys = 960});
    }
    const auto copy = std::make_unique<typename Prompt::Cache>(*cache);
    Prompt::extend(x.data() + 960 * 128, *cache, weights, y.data(), *workspace);
    for (std::size_t t = 0; t < 64; ++t) {
      Token::extend(x.data() + (960 + t) * 128, *copy, weights, by_one.data() + t * 128, *one_workspace);
    }
    return {y, by_one};
  }
};

// Returns the mean absolute difference of two arrays, divided by the RMS of `exact`.
double mean_error(const Floats& y, const Floats& exact) {
  double error = 0, squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    error += std::abs(static_cast<double>(y[i] - exact[i]));
    squares += static_cast<double>(exact[i]) * static_cast<double>(exact[i]);
  }
  const auto count = static_cast<double>(y.size());
  return error / count / std::sqrt(squares / count);
}

}  // namespace

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("cache precision: the error of y at 1024 keys") {
  const auto exact = LongText<CachePrecision::float32>::run(1),
             in_bfloat16 = LongText<CachePrecision::bfloat16>::run(1), in_int8 = LongText<CachePrecision::int8>::run(1);
  for (const auto y : {&std::pair<Floats, Floats>::first, &std::pair<Floats, Floats>::second}) {
    const double bfloat16 = mean_error(in_bfloat16.*y, exact.*y), int8 = mean_error(in_int8.*y, exact.*y);
    MESSAGE("mean absolute error of y / RMS of y: bfloat16 ", bfloat16, ", int8 ", int8);
    CHECK(bfloat16 < 0.005);
    CHECK(int8 < 0.01);
    CHECK(int8 > 1e-5);  // the int8 cache rounds, so the results differ
  }
}
#endif

TEST_CASE("cache precision: the sizes of caches") {
  using Float = LongText<CachePrecision::float32>::Prompt;
  using Half = LongText<CachePrecision::bfloat16>::Prompt;
  using Quarter = LongText<CachePrecision::int8>::Prompt;
  constexpr std::size_t numbers = 2 * 2 * 1024 * 64;  // keys and values, 2 heads, 1024 tokens, 64 features
  static_assert(sizeof(Float::Cache) == 4 * numbers + 64);
  static_assert(sizeof(Half::Cache) == 2 * numbers + 64);
  static_assert(sizeof(Quarter::Cache) == numbers + 4 * numbers / 64 + 64);
  static_assert(std::is_same_v<Float::Weights, Quarter::Weights>);
  static_assert(std::is_same_v<Quarter::Cache, LongText<CachePrecision::int8>::Token::Cache>);
  // With a bfloat16 or int8 cache, a call with several queries converts blocks of 256 keys to floats. The values of a
  // block are later converted in the same memory. So the workspace has 65536 bytes more than with a float32 cache: 256
  // keys or values with 64 features of 4 bytes.
  static_assert(LADON_KEY_BLOCK != 256 || sizeof(Quarter::CachedWorkspace) == sizeof(Float::CachedWorkspace) + 65536);
  CHECK(sizeof(LongText<CachePrecision::int8>::Token::CachedWorkspace) <=
        sizeof(LongText<CachePrecision::float32>::Token::CachedWorkspace) + (LADON_DETERMINISTIC ? 65536 : 8192));
}

TEST_CASE("cache precision: keys of a context, projected once") {
  const auto run = []<CachePrecision P>() {
    constexpr S shape{.queries = 3, .keys = 40, .model = 20, .heads = 2, .kv_heads = 1, .cache_precision = P};
    using Cross = ladon::MultiHeadAttention<shape, Padding, ladon::layout::SeparateQKV>;
    const RandomWeights<typename Cross::Weights> random;
    const Floats x = Random(1).normals(3 * 20), context = Random(2).normals(40 * 20);
    const auto cache = std::make_unique<typename Cross::Cache>();
    const auto keys = std::make_unique<typename Cross::KeyWorkspace>();
    const auto workspace = std::make_unique<typename Cross::CachedWorkspace>();
    Cross::project_keys(context.data(), random.weights, *cache, *keys, {.keys = 37});
    Floats y(3 * 20);
    Cross::attend(x.data(), *cache, random.weights, y.data(), *workspace, {.keys = 35});
    CHECK(cache->length == 37);
    CHECK(cache->values_finite());
    return y;
  };
  const Floats exact = run.template operator()<CachePrecision::float32>();
  CHECK(mean_error(run.template operator()<CachePrecision::bfloat16>(), exact) < 0.005);
  CHECK(mean_error(run.template operator()<CachePrecision::int8>(), exact) < 0.01);
}

TEST_CASE("cache precision: a context that is appended and a context that is projected give equal caches") {
  for_both([]<CachePrecision P>() {
    using Text =
        ladon::MultiHeadAttention<with(several, P), Causal, ladon::layout::InProj, ladon::score::Scaled, Rotated>;
    constexpr std::size_t calls = 5, tokens = 7, model = several.model;
    const RandomWeights<typename Text::Weights> random;
    const typename Rotated::Table table = ladon::rotary_table<66, 4>(10000, 2);
    const Floats x = Random(2).normals(calls * tokens * model);
    typename Text::Options options{};
    options.position = {.table = &table};
    const auto appended = std::make_unique<typename Text::Cache>(),
               projected = std::make_unique<typename Text::Cache>();
    const auto keys = std::make_unique<typename Text::KeyWorkspace>();
    const auto workspace = std::make_unique<typename Text::CachedWorkspace>();
    Floats y(x.size());
    for (std::size_t call = 0; call < calls; ++call) {
      options.tokens = tokens;
      Text::extend(x.data() + call * tokens * model, *appended, random.weights, y.data(), *workspace, options);
    }
    options.tokens = ladon::all;
    options.keys = calls * tokens;
    Text::project_keys(x.data(), random.weights, *projected, *keys, options);
    for (std::size_t t = 0; t < calls * tokens; ++t) {
      std::vector<double> a(model), b(model), c(model), d(model);
      read_cache<typename Text::Cache>(appended.get(), t, a.data(), b.data());
      read_cache<typename Text::Cache>(projected.get(), t, c.data(), d.data());
      CHECK(a == c);
      CHECK(b == d);
    }
  });
}

TEST_CASE("cache precision: a decoder whose memory is projected once") {
  const auto run = []<CachePrecision P>() {
    constexpr S shape{.queries = 1, .keys = 12, .model = 16, .heads = 2, .cache_precision = P};
    using Decoder = ladon::Decoder<stack_of(ladon::Model{.feed_forward = 20, .norm = ladon::NormOrder::pre}, shape, 2,
                                            ladon::FinalNorm::without, 21)>;
    const RandomWeights<typename Decoder::Weights> random;
    const Floats memory = Random(1).normals(21 * 16), x = Random(2).normals(9 * 16);
    const auto projected = std::make_unique<typename Decoder::MemoryCaches>();
    const auto caches = std::make_unique<typename Decoder::Caches>();
    const auto memory_workspace = std::make_unique<typename Decoder::MemoryWorkspace>();
    const auto workspace = std::make_unique<typename Decoder::CachedWorkspace>();
    Decoder::project_memory(memory.data(), random.weights, *projected, *memory_workspace);
    Floats y(x.size());
    for (std::size_t t = 0; t < 9; ++t) {
      Decoder::extend(x.data() + t * 16, *caches, *projected, random.weights, y.data() + t * 16, *workspace);
    }
    return y;
  };
  const Floats exact = run.template operator()<CachePrecision::float32>(),
               int8 = run.template operator()<CachePrecision::int8>();
  CHECK(mean_error(int8, exact) < 0.01);
  CHECK(!same_bits(int8, exact));
#if defined(LADON_TEST_WIDE)
  CHECK(mean_error(run.template operator()<CachePrecision::bfloat16>(), exact) < 0.005);
#endif
}

TEST_CASE("cache precision: a NaN reaches only the tokens that see it") {
  for_both([]<CachePrecision P>() {
    using Text = ladon::MultiHeadAttention<with(ring, P), Window<7>>;
    using Token = ladon::MultiHeadAttention<for_one(with(ring, P)), Window<7>>;
    const RandomWeights<typename Text::Weights> random;
    const Floats clean = Random(3).normals(24 * 6);
    const auto run = [&](const Floats& x, bool by_one) {
      const auto cache = std::make_unique<typename Text::Cache>();
      const auto workspace = std::make_unique<typename Text::CachedWorkspace>();
      const auto one_workspace = std::make_unique<typename Token::CachedWorkspace>();
      Floats y(x.size());
      for (std::size_t t = 0; t < 24; t += by_one ? 1 : 2) {
        const float* const from = x.data() + t * 6;
        if (by_one) {
          Token::extend(from, *cache, random.weights, y.data() + t * 6, *one_workspace);
        } else {
          Text::extend(from, *cache, random.weights, y.data() + t * 6, *workspace, {.tokens = 2});
        }
        if (t == 10 && &x != &clean) CHECK(!cache->values_finite());
      }
      CHECK(cache->values_finite());
      return y;
    };
    Floats spoiled = clean;
    for (std::size_t i = 0; i < 6; ++i) spoiled[9 * 6 + i] = std::numeric_limits<float>::quiet_NaN();
    for (const bool by_one : {true, false}) {
      CAPTURE(by_one);
      const Floats expected = run(clean, by_one), outcome = run(spoiled, by_one);
      for (std::size_t t = 0; t < 24; ++t) {
        CAPTURE(t);
        const auto row = std::span(outcome).subspan(t * 6, 6);
        if (t >= 9 && t <= 16) {
          for (const float number : row) CHECK(std::isnan(number));
        } else {
          CHECK(same_bits(row, std::span(expected).subspan(t * 6, 6)));
        }
      }
    }
  });
}

TEST_CASE("cache precision: bfloat16 rounds the largest floats to infinity") {
  ladon::detail::CachePanels<4, 2, ladon::detail::PanelLayout{1, 1, 4}, CachePrecision::bfloat16> panels{};
  const float large[] = {3.4e38f, 1};
  CHECK(panels.finite(1));
  panels.store(1, large, 1);
  CHECK(!panels.finite(1));
}

TEST_CASE("cache precision: int8 tokens") {
  constexpr std::size_t features = 5;
  ladon::detail::CachePanels<4, features, ladon::detail::PanelLayout{2, 1, 4}, CachePrecision::int8> panels{};
  const auto stored = [&](std::initializer_list<float> token) {
    panels.store(3, token.begin(), 1);
    std::vector<int> integers;
    for (std::size_t i = 0; i < features; ++i) integers.push_back(panels.data[2 * features + i * 2 + 1]);
    return integers;
  };
  CHECK(stored({127, -127, 0.5f, 1.5f, -2.5f}) == std::vector<int>{127, -127, 0, 2, -2});  // ties go to even
  CHECK(panels.scale[3] == 1);
  CHECK(stored({-254, 3, 253, -1, 0}) == std::vector<int>{-127, 2, 126, 0, 0});
  CHECK(panels.scale[3] == 2);
  CHECK(stored({0, -0.0f, 0, 0, 0}) == std::vector<int>(features));
  CHECK(panels.scale[3] == 1);
  CHECK(stored({1e-40f, -1e-38f, 0, 0, 0}) == std::vector<int>(features));
  CHECK(panels.finite(3));
  constexpr float most = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  CHECK(stored({most, -most, most / 4, 0, 1}) == std::vector<int>{127, -127, 32, 0, 0});
  CHECK(panels.finite(3));
  for (const float lost : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(stored({1, 2, lost, 3, 4}) == std::vector<int>(features));
    CHECK(std::isnan(panels.scale[3]));
    CHECK(!panels.finite(3));
  }
}

namespace {

// Fills a cache with a text except its last token, and then calls the kernel with the last token. Returns the scores
// that this call captured.
template <S Shape, ladon::Stage G>
Floats captured(std::size_t tokens) {
  using Token = ladon::MultiHeadAttention<Shape, Causal>;
  const RandomWeights<typename Token::Weights> random;
  const Floats x = Random(4).normals(tokens * Shape.model);
  const auto cache = std::make_unique<typename Token::Cache>();
  const auto workspace = std::make_unique<typename Token::CachedWorkspace>();
  Floats y(Shape.queries * Shape.model), scores(Shape.heads * Shape.queries * Shape.keys);
  const auto keys = std::make_unique<typename Token::KeyWorkspace>();
  Token::project_keys(x.data(), random.weights, *cache, *keys, {.keys = tokens - 1});
  Token::extend(x.data() + (tokens - 1) * Shape.model, *cache, random.weights, y.data(), *workspace, {.tokens = 1},
                ladon::Capture<G>{scores.data()});
  Floats rows;
  for (std::size_t h = 0; h < Shape.heads; ++h) {
    const auto row = scores.begin() + static_cast<std::ptrdiff_t>(h * Shape.queries * Shape.keys);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(tokens));
  }
  return rows;
}

}  // namespace

TEST_CASE("cache precision: captured scores") {
  const auto check_scores = []<CachePrecision P>() {
    constexpr S many{.queries = 2, .keys = 300, .model = 10, .heads = 2, .cache_precision = P};
    const Floats scores = captured<for_one(many), ladon::Stage::scaled>(280),
                 same = captured<many, ladon::Stage::scaled>(280),
                 exact = captured<with(for_one(many), CachePrecision::float32), ladon::Stage::scaled>(280);
    CHECK(mean_error(scores, same) < 1e-5);
    CHECK(mean_error(scores, exact) < 0.01);
    CHECK(mean_error(scores, exact) > 1e-5);
  };
  check_scores.operator()<CachePrecision::int8>();
#if defined(LADON_TEST_WIDE)
  check_scores.operator()<CachePrecision::bfloat16>();
#endif
}

namespace {

// Returns y of the second of two tokens, for one head of one feature. The query is 0, so both keys have equal weights,
// and y is the mean of the values 3 and 5.
template <CachePrecision P, std::size_t Queries>
constexpr float mean_of_two() {
  using Attention =
      ladon::MultiHeadAttention<S{.queries = Queries, .keys = 3, .model = 1, .heads = 1, .cache_precision = P}, Causal>;
  const float in_weight[] = {0, 1, 1}, in_bias[] = {0, 0, 0}, out_weight[] = {1}, out_bias[] = {0}, x[] = {3, 5};
  const typename Attention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};
  typename Attention::Cache cache{};
  typename Attention::CachedWorkspace workspace{};
  float y[Queries]{};
  for (std::size_t t = 0; t < 2; ++t) Attention::extend(x + t, cache, weights, y, workspace, {.tokens = 1});
  return y[0];
}

constexpr bool near_four(float y) { return y > 3.9999f && y < 4.0001f; }

}  // namespace

TEST_CASE("cache precision: constant evaluation") {
#if LADON_CONSTANT_EVALUATION
  static_assert(near_four(mean_of_two<CachePrecision::bfloat16, 1>()));
  static_assert(near_four(mean_of_two<CachePrecision::int8, 1>()));
  static_assert(near_four(mean_of_two<CachePrecision::int8, 2>()));
#endif
  CHECK(near_four(mean_of_two<CachePrecision::int8, 1>()));
}

}  // namespace ladon_test
