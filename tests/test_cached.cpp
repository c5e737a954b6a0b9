// Tests attention with a cache: prefill of several tokens, decoding of single tokens, and both in any order.
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::mask::Additive, ladon::mask::Alibi, ladon::mask::Bits, ladon::mask::Causal, ladon::mask::Unmasked,
    ladon::mask::Padding, ladon::mask::Window;

struct WithSinks : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
struct Capped : ladon::score::Scaled {
  static constexpr float softcap = 3;
};
using Rotated = RotaryOf<ladon::Pairing::halves, 4, 66, 10000, 2>;
using Rotated2 = RotaryOf<ladon::Pairing::halves, 2, 66, 10000, 2>;

std::vector<std::size_t> ones(std::size_t count) { return std::vector<std::size_t>(count, 1); }

// Returns several ways to divide a text into calls (Cut in cached_check.hpp). Some of the texts have as many tokens as
// one call takes, and the others as many as the cache holds.
std::vector<Cut> cuts_of(const S& shape) {
  const std::size_t most = shape.queries, room = shape.keys;
  std::vector<std::size_t> mixed, prefilled{most};
  for (std::size_t length = 0, i = 0; length < room; length += mixed.back(), ++i) {
    const std::size_t next[] = {3, 1, 1, most, 2};
    mixed.push_back(std::min({next[i % 5], most, room - length}));
  }
  while (prefilled.size() + most <= room) prefilled.push_back(1);
  return {{{most}}, {ones(room)}, {ones(most), false}, {mixed}, {mixed, false}, {prefilled}};
}

void check_cuts(const CachedSubject& subject) { check_cached(subject, cuts_of(subject.shape)); }

// Several cases use these shapes with the same masks, so they share their instantiations.
constexpr S several{.queries = lanes + 3, .keys = 41, .model = 10, .heads = 2};
constexpr S padded{.queries = 4, .keys = 40, .model = 6, .heads = 2};
constexpr S ring{.queries = 5, .keys = 12, .model = 6, .heads = 2};
constexpr S large{.queries = 149, .keys = 301, .model = 150, .heads = 2};

}  // namespace

TEST_CASE("cache: causal") { check_cuts(cached_subject<several, Causal>()); }

TEST_CASE("cache: a ring buffer of the latest keys") {
  const CachedSubject subject = cached_subject<ring, Window<7>>();
  REQUIRE(subject.ring);
  check_cuts(subject);
  check_cached(subject, {{ones(40)}, {{5, 5, 5, 5, 5, 5}}, {{5, 1, 1, 1, 5, 3, 1, 1, 1, 1, 1, 5, 2, 1, 1, 1, 4}}});
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("cache: no mask: each query sees its whole piece") {
  check_cuts(cached_subject<S{.queries = 4, .keys = 33, .model = 12, .heads = 4, .kv_heads = 2}, Unmasked>());
}

TEST_CASE("cache: masks of keys and of bits") {
  check_cuts(cached_subject<padded, decltype(Padding{} & Causal{})>());
  check_cuts(cached_subject<S{.queries = 3, .keys = 34, .model = 6, .heads = 1}, Bits>());
}

TEST_CASE("cache: numbers for each distance") {
  check_cuts(cached_subject<S{.queries = lanes + 3, .keys = 41, .model = 12, .heads = 6, .kv_heads = 3},
                            decltype(Causal{} & ladon::mask::Relative{})>());
}

TEST_CASE("cache: a ring buffer with sinks or rotary embedding: the smallest, and many times around") {
  check_cached(cached_subject<S{.queries = 1, .keys = 1, .model = 4, .heads = 1}, Window<0>>(), {{ones(5)}});
  // With Window<6>, a query sees at most seven keys. A call of two tokens needs room for eight, so the ring buffer of
  // the cache has eight slots. In a call of one token, the eighth slot holds a key that this token must not see.
  check_cached(cached_subject<S{.queries = 2, .keys = 8, .model = 4, .heads = 1}, Window<6>, WithSinks>(),
               {{ones(30)}, {{2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 2}}, {{2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 2}, false}});
  check_cached(cached_subject<S{.queries = 4, .keys = 9, .model = 12, .heads = 2}, Window<3>, Capped, Rotated>(),
               {{ones(50)}, {{4, 4, 4, 4, 4, 4, 1, 1, 1, 1, 1, 3, 4}}});
}

// Weights and caches exceed the L1 cache, so the kernels read arrays from several places at the same time. The numbers
// of rows, keys and features cannot be divided evenly among these places.
TEST_CASE("cache: weights and keys of many kilobytes") {
  constexpr S wide{.queries = 59, .keys = 62, .model = 301, .heads = 1};
  check_cached(
      cached_subject<large, Window<100>, ladon::score::Scaled, ladon::position::Unrotated, ladon::layout::PerHead>(),
      {{{149, 149, 1, 1, 1, 1, 1}}});
  check_cached(cached_subject<large, decltype(Padding{} & Causal{}), WithSinks, ladon::position::Unrotated,
                              ladon::layout::InOut>(),
               {{{149, 149, 1, 1}}, {{1, 149, 1}}});
  check_cached(cached_subject<wide, Causal, Capped, Rotated, ladon::layout::SeparateQKV>(), {{{59, 1, 1, 1}}});
}

// In grouped attention, several heads of queries share one head of keys. The kernels for a single query compute several
// of these heads at once (ShapeLayout::heads_together). In these shapes, 4, 5 or 7 heads share their keys, so the
// kernels compute different numbers of heads at once. Each shape also tests another kind of mask or score.
TEST_CASE("cache: groups of several heads") {
  const std::vector<Cut> cuts{{{3, 1, 1, 3, 1}}, {ones(9)}};
  check_cached(cached_subject<S{.queries = 3, .keys = 35, .model = 20, .heads = 10, .kv_heads = 2},
                              decltype(Alibi{} & Causal{})>(),
               cuts);
  check_cached(cached_subject<S{.queries = 3, .keys = 19, .model = 14, .heads = 7, .kv_heads = 1, .value_width = 5},
                              Causal, WithSinks, Rotated2, ladon::layout::SeparateQKV>(),
               cuts);
  check_cached(cached_subject<S{.queries = 3, .keys = 20, .model = 8, .heads = 8, .kv_heads = 2},
                              decltype(Additive{} & Bits{})>(),
               cuts);
}

// The keys and values of a head exceed the L1 cache, so the kernels read them from several places at the same time.
TEST_CASE("cache: groups of several heads, and keys of many kilobytes") {
  constexpr S five{
      .queries = 149, .keys = 301, .model = 15, .heads = 5, .kv_heads = 1, .head_width = 29, .value_width = 31};
  check_cached(cached_subject<five, decltype(Padding{} & Causal{}), WithSinks>(), {{{149, 149, 1, 1}}});
  check_cached(cached_subject<five, decltype(Alibi{} & Window<100>{})>(), {{{149, 149, 1, 1, 1}}});
}

TEST_CASE("cache: several blocks of keys") {
  check_cached(cached_subject<S{.queries = lanes + 1, .keys = 600, .model = 4, .heads = 1}, Causal>(),
               {{std::vector<std::size_t>(33, lanes + 1)}, {{lanes, lanes + 1, 1, 1, 1}}});
}
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("cache: more masks and scores") {
  check_cuts(cached_subject<S{.queries = 3, .keys = 17, .model = 6, .heads = 1}, decltype(Additive{} & Causal{})>());
  check_cuts(cached_subject<S{.queries = 7, .keys = 20, .model = 6, .heads = 3}, decltype(Alibi{} & Causal{})>());
  check_cuts(cached_subject<S{.queries = 5, .keys = 64, .model = 12, .heads = 2}, Causal, Capped, Rotated>());
  check_cuts(cached_subject<S{.queries = 5, .keys = 33, .model = 9, .heads = 3, .value_width = 5}, Causal, WithSinks,
                            ladon::position::Unrotated, ladon::layout::PerHead>());
}

TEST_CASE("cache: more shapes of many kilobytes or several blocks") {
  const std::vector<Cut> cuts{{{149, 149, 1, 1}}, {{1, 149, 1}}};
  check_cached(cached_subject<large, Causal>(), cuts);
  check_cached(cached_subject<large, decltype(Window<200>{} & Padding{})>(), cuts);
  constexpr S four{.queries = 149, .keys = 301, .model = 12, .heads = 4, .kv_heads = 1, .head_width = 30};
  check_cached(cached_subject<four, Causal>(), {{{149, 149, 1, 1}}});
  check_cached(cached_subject<S{.queries = lanes, .keys = 530, .model = 8, .heads = 4, .kv_heads = 2}, Causal>(),
               {{{lanes, 1, lanes, 1}}});
  check_cached(cached_subject<S{.queries = lanes, .keys = 530, .model = 4, .heads = 1}, Window<500>>(),
               {{std::vector<std::size_t>(40, lanes)}});
}

TEST_CASE("cache: more groups of heads") {
  const std::vector<Cut> cuts{{{3, 1, 1, 3, 1}}, {ones(9)}};
  check_cuts(cached_subject<S{.queries = 3, .keys = 35, .model = 12, .heads = 6, .kv_heads = 3}, Causal, Capped>());
  check_cached(cached_subject<S{.queries = 3, .keys = 33, .model = 9, .heads = 3, .kv_heads = 1}, Causal>(),
               {{ones(33)}, {{3, 1, 1, 3}}});
  check_cached(cached_subject<S{.queries = 3, .keys = 20, .model = 18, .heads = 9, .kv_heads = 1},
                              decltype(Padding{} & Causal{}), WithSinks>(),
               cuts);
  check_cached(
      cached_subject<S{.queries = 2, .keys = 8, .model = 8, .heads = 4, .kv_heads = 1}, Window<6>, WithSinks>(),
      {{ones(30)}, {{2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2, 2}}});
}
#endif

TEST_CASE("cache: pieces of any size give equal bits, and clear() forgets the text") {
  const CachedSubject subject = cached_subject<several, Causal>();
  const Floats at_once = run_cached(subject, {{6, 6, 6}});
  // The order of each sum does not depend on how many tokens a call has. So every division of the text into calls must
  // give equal bits.
  CHECK(same_bits(run_cached(subject, {{3, 5, 2, 6, 2}}), at_once));
  CHECK(same_bits(run_cached(subject, {ones(18), false}), at_once));
}

TEST_CASE("cache: the keys and values of a hidden token change nothing, not even as NaN") {
  using Mask = decltype(Padding{} & Causal{});
  using Prompt = ladon::MultiHeadAttention<padded, Mask>;
  using Token = ladon::MultiHeadAttention<for_one(padded), Mask>;
  Random random(8);
  const Floats in_weight = random.normals(18 * 6), in_bias = random.normals(18), out_weight = random.normals(36),
               out_bias = random.normals(6), clean = random.normals(12 * 6);
  const Prompt::Weights weights{.in_proj = {in_weight.data(), in_bias.data()},
                                .out_proj = {out_weight.data(), out_bias.data()}};
  const Token::Weights same_weights{.in_proj = weights.in_proj, .out_proj = weights.out_proj};
  std::vector<std::uint8_t> may_see(40, 1);
  may_see[1] = may_see[5] = 0;
  const auto run = [&](const Floats& x) {
    static Prompt::Cache cache;
    static Prompt::CachedWorkspace workspace;
    static Token::CachedWorkspace one_workspace;
    Floats y(12 * 6);
    cache.clear();
    Prompt::extend(x.data(), cache, weights, y.data(), workspace, {.mask = {.first = {.may_see = may_see.data()}}});
    for (std::size_t t = 4; t < 12; ++t) {
      Token::extend(x.data() + t * 6, cache, same_weights, y.data() + t * 6, one_workspace,
                    {.mask = {.first = {.may_see = may_see.data()}}});
    }
    return y;
  };
  Floats spoiled = clean;
  spoil_row(spoiled, 1, 6);  // infinities, which become NaN in K and V
  spoiled[5 * 6] = std::numeric_limits<float>::quiet_NaN();
  const Floats expected = run(clean), outcome = run(spoiled);
  for (std::size_t t = 0; t < 12; ++t) {
    if (t == 1 || t == 5) continue;  // the inputs of these queries are spoiled
    CAPTURE(t);
    CHECK(same_bits(std::span(outcome).subspan(t * 6, 6), std::span(expected).subspan(t * 6, 6)));
  }
}

TEST_CASE("cache: a token that left the window changes nothing, not even as NaN") {
  using Text = ladon::MultiHeadAttention<ring, Window<7>>;
  using Token = ladon::MultiHeadAttention<for_one(ring), Window<7>>;
  Random random(8);
  const Floats in_weight = random.normals(18 * 6), in_bias = random.normals(18), out_weight = random.normals(36),
               out_bias = random.normals(6), clean = random.normals(24 * 6);
  const Text::Weights weights{.in_proj = {in_weight.data(), in_bias.data()},
                              .out_proj = {out_weight.data(), out_bias.data()}};
  const Token::Weights same_weights{.in_proj = weights.in_proj, .out_proj = weights.out_proj};
  const auto run = [&](const Floats& x, bool by_one) {
    static Text::Cache cache;
    static Text::CachedWorkspace workspace;
    static Token::CachedWorkspace one_workspace;
    Floats y(x.size());
    cache.clear();
    for (std::size_t t = 0; t < 24; t += by_one ? 1 : 2) {
      const float* const from = x.data() + t * 6;
      if (by_one) {
        Token::extend(from, cache, same_weights, y.data() + t * 6, one_workspace);
      } else {
        Text::extend(from, cache, weights, y.data() + t * 6, workspace, {.tokens = 2});
      }
    }
    return y;
  };
  Floats spoiled = clean;
  spoil_row(spoiled, 9, 6);
  for (const bool by_one : {true, false}) {
    const Floats expected = run(clean, by_one), outcome = run(spoiled, by_one);
    for (std::size_t t = 0; t < 24; ++t) {
      CAPTURE(t);
      const bool sees = t >= 9 && t <= 16;
      CHECK(same_bits(std::span(outcome).subspan(t * 6, 6), std::span(expected).subspan(t * 6, 6)) == !sees);
    }
  }
}

TEST_CASE("cache: a token that may see nothing gives the bias of the output projection") {
  using Mask = ladon::mask::CausalAt<-1>;
  using Token = ladon::MultiHeadAttention<S{.queries = 1, .keys = 5, .model = 4, .heads = 2}, Mask>;
  Random random(3);
  const Floats in_weight = random.normals(48), in_bias = random.normals(12), out_weight = random.normals(16),
               out_bias = random.normals(4), x = random.normals(4);
  Floats y(4);
  static Token::Cache cache;
  static Token::CachedWorkspace workspace;
  Token::extend(x.data(), cache,
                {.in_proj = {in_weight.data(), in_bias.data()}, .out_proj = {out_weight.data(), out_bias.data()}},
                y.data(), workspace);
  CHECK(same_bits(y, out_bias));
}

}  // namespace ladon_test
