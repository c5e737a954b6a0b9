// Tests several threads that compute one call, and several threads that use one set of weights. A second executable
// compiles this file with ThreadSanitizer, which reports accesses of two threads to one address without a barrier
// between these accesses.
#include <algorithm>
#include <bit>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "attention_subject.hpp"
#include "models.hpp"
#include "random.hpp"
#include "random_weights.hpp"
#include "team.hpp"
#include "threads.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::FinalNorm, ladon::Model, ladon::NormOrder;
namespace mask = ladon::mask;
using Floats = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t rounds = 30, most_threads = 5;
using Threads = OnThreads<most_threads>;

bool same(const Floats& a, const Floats& b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint32_t, float>, std::bit_cast<std::uint32_t, float>);
}

// Returns the output of a run. Elements that the run does not write stay NaN, so outputs are compared as bits.
template <class Run>
Floats output_of(std::size_t size, Run run) {
  Floats y(size, nan);
  run(y.data());
  return y;
}

constexpr S square{.queries = 41, .model = 12, .heads = 3};
constexpr S oblong{.queries = 9, .keys = 40, .model = 12, .heads = 6, .kv_heads = 3};
constexpr std::size_t numbers = 41 * 12;

using Attention = ladon::MultiHeadAttention<square, mask::Causal>;
using Decoder =
    ladon::Decoder<stack_of(Model{.feed_forward = 14, .norm = NormOrder::pre}, square, 2, FinalNorm::with, 29),
                   mask::Causal>;
using Cross = ladon::MultiHeadAttention<oblong>;
using One = ladon::MultiHeadAttention<S{.queries = 1, .keys = 40, .model = 12, .heads = 3}>;
using Layer = ladon::EncoderLayer<Model{.feed_forward = 14}.with(square), mask::Causal>;
using Int8Layer = ladon::EncoderLayer<Model{.feed_forward = 14}.with(square), mask::Causal,
                                      ladon::layout::Int8<ladon::layout::InProj>>;
using Stack = ladon::Encoder<stack_of(Model{.feed_forward = 14, .norm = NormOrder::pre}, square, 2, FinalNorm::with),
                             mask::Causal>;

// Computes y from x several times, with `threads` threads on one workspace. Then computes once more in place, with y =
// x. Every result must have the bits of a call with one thread.
template <class Block>
void check_team(std::size_t threads, const typename Block::Options& options = {}) {
  using Team = InPhases<Block, Threads>;
  Threads::shares = threads;
  const RandomWeights<typename Block::Weights> random;
  const Floats x = Random(4).normals(numbers);
  const auto alone = std::make_unique<typename Block::Workspace>();
  const auto workspace = std::make_unique<typename Team::Workspace>();
  const Floats expected =
      output_of(numbers, [&](float* y) { Block::run(x.data(), random.weights, y, *alone, options); });
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto run = [&](float* y) { Team::run(x.data(), random.weights, y, *workspace, options); };
    REQUIRE(same(output_of(numbers, run), expected));
  }
  Floats in_place = x, in_place_alone = x;
  Block::run(in_place_alone.data(), random.weights, in_place_alone.data(), *alone, options);
  Team::run(in_place.data(), random.weights, in_place.data(), *workspace, options);
  CHECK(same(in_place, in_place_alone));
}

template <class Block>
void check_cross_team() {
  constexpr S shape = Block::shape;
  using Team = InPhases<Block, Threads>;
  Threads::shares = 3;
  const RandomWeights<typename Block::Weights> random;
  const Floats x = Random(4).normals(shape.queries * shape.model),
               context = Random(5).normals(shape.keys * shape.model);
  const auto alone = std::make_unique<typename Block::Workspace>();
  const auto workspace = std::make_unique<typename Team::Workspace>();
  Floats y(x.size()), expected = y, map(shape.heads * shape.queries * shape.keys), expected_map = map;
  Block::run(x.data(), context.data(), random.weights, expected.data(), *alone, {}, expected_map.data());
  for (std::size_t round = 0; round < rounds; ++round) {
    std::ranges::fill(y, nan);
    std::ranges::fill(map, nan);
    Team::run(x.data(), context.data(), random.weights, y.data(), *workspace, {}, map.data());
    REQUIRE(same(y, expected));
    REQUIRE(same(map, expected_map));
  }
}

template <class Block>
void check_one_set_of_weights() {
  const RandomWeights<typename Block::Weights> random;
  const auto one = [&](std::size_t seed) {
    const Floats x = Random(seed).normals(numbers);
    const auto workspace = std::make_unique<typename Block::Workspace>();
    Floats y;
    for (std::size_t round = 0; round < rounds; ++round) {
      y = output_of(numbers, [&](float* to) { Block::run(x.data(), random.weights, to, *workspace); });
    }
    return y;
  };
  constexpr std::size_t threads = 4;
  std::vector<Floats> together(threads);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i) all.emplace_back([&, i] { together[i] = one(i); });
  for (std::thread& thread : all) thread.join();
  for (std::size_t i = 0; i < threads; ++i) CHECK(same(together[i], one(i)));
}

// Runs calls of several lengths, some with NaN as input, in random order on one workspace. No call may depend on the
// contents that an earlier call left.
template <class Block>
void check_reuse() {
  const RandomWeights<typename Block::Weights> random;
  const Floats inputs[] = {Random(4).normals(numbers), Random(5).normals(numbers), Floats(numbers, nan)};
  const std::size_t lengths[] = {41, 1, 17, 0, 32};
  const auto run = [&](std::size_t which, auto& workspace) {
    return output_of(numbers, [&](float* y) {
      Block::run(inputs[which % 3].data(), random.weights, y, workspace, {.tokens = lengths[which % 5]});
    });
  };
  std::vector<Floats> expected;
  for (std::size_t which = 0; which < 15; ++which) {
    const auto fresh = std::make_unique<typename Block::Workspace>();
    expected.push_back(run(which, *fresh));
  }
  const auto workspace = std::make_unique<typename Block::Workspace>();
  Random order(6);
  for (std::size_t round = 0; round < 100; ++round) {
    const std::size_t which = order.next() % 15;
    const Floats y = run(which, *workspace);
    CAPTURE(which);
    REQUIRE(std::ranges::equal(y, expected[which], [](float a, float b) {
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
    }));
  }
}

}  // namespace

TEST_CASE("one attention by several threads") {
  check_team<Attention>(2);
  check_team<Attention>(3, {.tokens = 37});
  check_team<Attention>(5, {.queries = 11, .keys = 40});
}
TEST_CASE("one encoder layer by several threads") {
  check_team<Layer>(2);
  check_team<Layer>(3, {.queries = 20});
  check_team<Int8Layer>(3);
}
TEST_CASE("one stack by several threads") {
  check_team<Stack>(2);
  check_team<Stack>(4, {.queries = 18, .keys = 41});
}

TEST_CASE("one decoder by several threads") {
  using Team = InPhases<Decoder, Threads>;
  Threads::shares = 3;
  const RandomWeights<Decoder::Weights> random;
  const Floats x = Random(4).normals(numbers), memory = Random(5).normals(29 * 12);
  const auto alone = std::make_unique<Decoder::Workspace>();
  const auto workspace = std::make_unique<Team::Workspace>();
  const Floats expected =
      output_of(numbers, [&](float* y) { Decoder::run(x.data(), memory.data(), random.weights, y, *alone); });
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto run = [&](float* y) { Team::run(x.data(), memory.data(), random.weights, y, *workspace); };
    REQUIRE(same(output_of(numbers, run), expected));
  }
}

TEST_CASE("a growing text, by several threads") {
  using Growing = ladon::Encoder<ladon::Model{.layers = 2,
                                              .tokens = 18,
                                              .keys = 41,
                                              .model = 12,
                                              .heads = 3,
                                              .feed_forward = 14,
                                              .final_norm = FinalNorm::with},
                                 mask::Causal>;
  constexpr std::size_t size = 18 * 12;
  Threads::shares = 3;
  const RandomWeights<Growing::Weights> random;
  const Floats x = Random(4).normals(size);
  const auto alone = std::make_unique<Growing::CachedWorkspace>();
  const auto workspace = std::make_unique<Growing::CachedTeamWorkspace<most_threads>>();
  const auto caches = std::make_unique<Growing::Caches>(), team_caches = std::make_unique<Growing::Caches>();
  for (std::size_t round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (auto* both : {caches.get(), team_caches.get()}) {
        for (auto& cache : *both) cache.clear();
      }
    }
    const Floats expected =
        output_of(size, [&](float* y) { Growing::extend(x.data(), *caches, random.weights, y, *alone); });
    const auto run = [&](float* y) {
      Threads::drive(Growing::phases, [&](std::size_t phase, ladon::Share share) {
        Growing::extend(x.data(), *team_caches, random.weights, y, workspace->part(phase, share));
      });
    };
    REQUIRE(same(output_of(size, run), expected));
  }
}

TEST_CASE("attention to a context by several threads, with the map") { check_cross_team<Cross>(); }
TEST_CASE("attention of one query by several threads") { check_cross_team<One>(); }

// A window begins at another key for each query, and threads divide the heads of a group, so other queries share sums.
TEST_CASE("a few queries with long rows of keys, by any number of threads") {
  constexpr std::size_t queries = 3, keys = 700, heads = 4, groups = 2, width = 8;
  using Given = ladon::Attention<
      ladon::Shape{
          .queries = queries, .keys = keys, .model = 1, .heads = heads, .kv_heads = groups, .head_width = width},
      ladon::mask::Window<300>>;
  Random random(5);
  const Floats q = random.normals(heads * queries * width, 1), k = random.normals(groups * keys * width, 1),
               v = random.normals(groups * keys * width, 1);
  Given::Options options{};
  options.mask.offset = 315;
  Floats whole(q.size()), divided(q.size());
  const auto workspace = std::make_unique<Given::Workspace>();
  Given::run(q.data(), k.data(), v.data(), whole.data(), *workspace, options);
  const auto team = std::make_unique<Given::TeamWorkspace<heads>>();
  for (std::size_t i = 0; i < heads; ++i) {
    Given::run(q.data(), k.data(), v.data(), divided.data(), team->part(0, {.index = i, .count = heads}), options);
  }
  CHECK(same(whole, divided));
}

TEST_CASE("merged heads, by any number of threads") {
  using Given =
      ladon::Attention<ladon::Shape{.queries = 3, .keys = 50, .model = 1, .heads = 8, .kv_heads = 4, .head_width = 8}>;
  Random random(6);
  const Floats q = random.normals(8 * 3 * 8, 1), k = random.normals(4 * 50 * 8, 1), v = random.normals(4 * 50 * 8, 1);
  const auto team = std::make_unique<Given::TeamWorkspace<5>>();
  const auto by = [&](std::size_t threads) {
    return output_of(q.size(), [&](float* y) {
      for (std::size_t i = 0; i < threads; ++i)
        Given::run(q.data(), k.data(), v.data(), y, team->part(0, {.index = i, .count = threads}));
    });
  };
  const Floats alone = by(1);
  for (std::size_t threads = 2; threads <= 5; ++threads) CHECK(same(by(threads), alone));
}

TEST_CASE("several threads use one set of weights, each with its own workspace") {
  check_one_set_of_weights<Attention>();
  check_one_set_of_weights<Stack>();
}

TEST_CASE("a workspace holds nothing between two runs") {
  check_reuse<Attention>();
  check_reuse<Layer>();
  check_reuse<Stack>();
}

}  // namespace ladon_test
