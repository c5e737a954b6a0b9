// Tests `extend` in phases and shares for several threads (ladon/threads.hpp). In a shape
// for several tokens, any number of shares must give the bits of `extend`, in y, in the maps and in the cache. In a
// shape for a single token, parts may add in a different order than the whole call. There, any number of shares must
// give the bits of one share.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "guarded_run.hpp"
#include "models.hpp"
#include "random.hpp"
#include "random_weights.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::FinalNorm, ladon::Model, ladon::NormOrder;
namespace mask = ladon::mask;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t memory_tokens = 7;

// Returns whether all elements of `a` and `b` have equal bits. Any two NaNs count as equal, because the bits of a NaN
// are not specified.
bool same_numbers(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  });
}

// Holds the cache and the map of attention weights of a text that `Kernel` reads in several calls. Also makes the
// arguments of these calls. The specialisation below is for stacks, which have several caches and maps.
template <class Kernel>
struct Text {
  static constexpr S shape = Kernel::shape;
  typename Kernel::Cache cache{};
  auto arguments() { return std::tie(cache); }
  std::vector<float> map = std::vector<float>(shape.heads * shape.queries * shape.keys, nan);
  auto maps() { return typename Kernel::Map(map.data()); }
  std::vector<float> written() const { return map; }
  bool finite() const { return cache.values_finite(); }
  std::size_t length() const { return cache.length; }
  static auto options(std::size_t tokens) { return typename Kernel::Options{.tokens = tokens}; }
};
template <class Stack>
  requires requires { typename Stack::Caches; }
struct Text<Stack> {
  static constexpr S shape = Stack::shape;
  static constexpr std::size_t layers = std::tuple_size_v<typename Stack::Caches>;
  static constexpr bool decoder = requires { typename Stack::MemoryCaches; };
  struct Nothing {};
  template <class T>
  struct MemoryOf {
    using Type = Nothing;
  };
  template <class T>
    requires requires { typename T::MemoryCaches; }
  struct MemoryOf<T> {
    using Type = typename T::MemoryCaches;
  };
  typename Stack::Caches caches{};
  typename MemoryOf<Stack>::Type memory{};
  std::vector<std::vector<float>> arrays =
      std::vector(2 * layers, std::vector<float>(shape.heads* shape.queries* std::max(shape.keys, memory_tokens), nan));

  Text() {
    if constexpr (decoder) {
      const auto workspace = std::make_unique<typename Stack::MemoryWorkspace>();
      const std::vector<float> rows = Random(8).normals(memory_tokens * shape.model);
      const RandomWeights<typename Stack::Weights> random;
      Stack::project_memory(rows.data(), random.weights, memory, *workspace);
    }
  }
  auto arguments() {
    if constexpr (decoder) {
      return std::tie(caches, std::as_const(memory));
    } else {
      return std::tie(caches);
    }
  }
  auto maps() {
    typename Stack::Maps to;
    for (std::size_t i = 0; i < layers; ++i) {
      if constexpr (decoder) {
        to[i] = {arrays[2 * i].data(), arrays[2 * i + 1].data()};
      } else {
        to[i] = arrays[2 * i].data();
      }
    }
    return to;
  }
  std::vector<float> written() const {
    std::vector<float> all;
    for (const auto& array : arrays) all.insert(all.end(), array.begin(), array.end());
    return all;
  }
  bool finite() const {
    return std::ranges::all_of(caches, [](const auto& cache) { return cache.values_finite(); });
  }
  std::size_t length() const { return caches.back().length; }
  static auto options(std::size_t tokens) {
    if constexpr (decoder) {
      return typename Stack::Options{.self = {.tokens = tokens}, .memory = {}};
    } else {
      return typename Stack::Options{.tokens = tokens};
    }
  }
};

template <class Kernel>
std::vector<float> whole(const std::vector<float>& x, const typename Kernel::Weights& weights, std::size_t tokens,
                         Text<Kernel>& text) {
  const auto workspace = std::make_unique<typename Kernel::CachedWorkspace>();
  std::vector<float> y(x.size(), nan);
  std::apply(
      [&](auto&... kept) {
        Kernel::extend(x.data(), kept..., weights, y.data(), *workspace, Text<Kernel>::options(tokens), text.maps());
      },
      text.arguments());
  return y;
}

constexpr std::size_t most_shares = 7;
using Team = InTurn<most_shares>;

template <class Kernel>
std::vector<float> in_phases(const std::vector<float>& x, const typename Kernel::Weights& weights, std::size_t tokens,
                             Text<Kernel>& text) {
  const auto workspace = std::make_unique<typename Kernel::template CachedTeamWorkspace<most_shares>>();
  std::vector<float> y(x.size(), nan);
  Team::drive(Kernel::phases, [&](std::size_t phase, ladon::Share share) {
    spoil(workspace->scratch[share.index], nan);
    std::apply(
        [&](auto&... kept) {
          Kernel::extend(x.data(), kept..., weights, y.data(), workspace->part(phase, share),
                         Text<Kernel>::options(tokens), text.maps());
        },
        text.arguments());
  });
  return y;
}

// Feeds a text in parts, in several calls. `pieces` has the number of tokens of each call. Token number `lost`
// contains a NaN. Any number of shares must give equal results.
template <class Kernel>
void check_extend_in_phases(const std::vector<std::size_t>& pieces, std::size_t lost) {
  constexpr S shape = Kernel::shape;
  const RandomWeights<typename Kernel::Weights> random;
  const auto expected = std::make_unique<Text<Kernel>>();
  constexpr std::size_t numbers_of_shares[] = {1, 2, 5, most_shares};
  const auto texts = std::make_unique<std::array<Text<Kernel>, std::size(numbers_of_shares)>>();
  std::size_t past = 0;
  for (const std::size_t tokens : pieces) {
    CAPTURE(past);
    std::vector<float> x = Random(past + 4).normals(shape.queries * shape.model);
    if (lost >= past && lost < past + tokens) x[(lost - past) * shape.model + 1] = nan;
    const std::vector<float> y = whole<Kernel>(x, random.weights, tokens, *expected);
    std::vector<float> first;
    const auto check = [&](Text<Kernel>& text, const std::vector<float>& actual) {
      if (shape.queries > 1 || LADON_DETERMINISTIC) {
        CHECK(same_numbers(actual, y));
        CHECK(same_numbers(text.written(), expected->written()));
      } else if (first.empty()) {
        first = actual;
        for (std::size_t f = 0; f < y.size(); ++f) {
          CHECK((std::isnan(y[f]) ? std::isnan(actual[f]) : std::abs(actual[f] - y[f]) < 1e-5f));
        }
      }
      if (!first.empty()) CHECK(same_numbers(actual, first));
      CHECK(text.length() == expected->length());
      CHECK(text.finite() == expected->finite());
    };
    auto* text = texts->data();
    for (const std::size_t shares : numbers_of_shares) {
      CAPTURE(shares);
      Team::shares = shares;
      check(*text, in_phases<Kernel>(x, random.weights, tokens, *text));
      ++text;
    }
    past += tokens;
  }
}

// Checks that parts capture the same scores as `extend` in every layer of a stack.
template <class Stack>
void check_captured_scores() {
  constexpr S shape = Stack::shape;
  Team::shares = 2;
  const RandomWeights<typename Stack::Weights> random;
  const std::vector<float> x = Random(4).normals(shape.queries * shape.model);
  const auto captures_in = [](Text<Stack>& text) {
    typename Stack::template Captures<ladon::Stage::masked> captures;
    for (std::size_t i = 0; i < text.layers; ++i) {
      if constexpr (Text<Stack>::decoder) {
        captures[i] = {{text.arrays[2 * i].data()}, {text.arrays[2 * i + 1].data()}};
      } else {
        captures[i] = {text.arrays[2 * i].data()};
      }
    }
    return captures;
  };
  const auto expected = std::make_unique<Text<Stack>>(), actual = std::make_unique<Text<Stack>>();
  const auto workspace = std::make_unique<typename Stack::CachedWorkspace>();
  const auto team = std::make_unique<typename Stack::template CachedTeamWorkspace<most_shares>>();
  std::vector<float> y(x.size()), in_phases(x.size());
  const auto options = Text<Stack>::options(shape.queries);
  std::apply(
      [&](auto&... kept) {
        Stack::extend(x.data(), kept..., random.weights, y.data(), *workspace, options, captures_in(*expected));
      },
      expected->arguments());
  Team::drive(Stack::phases, [&](std::size_t phase, ladon::Share share) {
    std::apply(
        [&](auto&... kept) {
          Stack::extend(x.data(), kept..., random.weights, in_phases.data(), team->part(phase, share), options,
                        captures_in(*actual));
        },
        actual->arguments());
  });
  CHECK(same_numbers(in_phases, y));
  CHECK(same_numbers(actual->written(), expected->written()));
}

}  // namespace

namespace {

// Several cases use these types or shapes, so they share most instantiations.
constexpr S several{.queries = 18, .keys = 40, .model = 12, .heads = 3};
using Stack = ladon::Encoder<stack_of(Model{.feed_forward = 14, .norm = NormOrder::pre}, several, 2, FinalNorm::with),
                             mask::Causal>;
using Decoder = ladon::Decoder<ladon::Model{.layers = 2,
                                            .tokens = 6,
                                            .keys = 20,
                                            .memory = memory_tokens,
                                            .model = 12,
                                            .heads = 3,
                                            .feed_forward = 14,
                                            .norm = NormOrder::pre,
                                            .final_norm = FinalNorm::with},
                               mask::Causal>;

}  // namespace

TEST_CASE("extend in phases: attention, grouped heads, a NaN that leaves the window") {
  using Attention =
      ladon::MultiHeadAttention<S{.queries = 19, .keys = 24, .model = 12, .heads = 6, .kv_heads = 3}, mask::Window<5>>;
  check_extend_in_phases<Attention>({19, 1, 18, 7, 19, 19}, 3);
}
TEST_CASE("extend in phases: an encoder layer") {
  using Layer = ladon::EncoderLayer<Model{.feed_forward = 14}.with(several), mask::Causal>;
  check_extend_in_phases<Layer>({5, 1, 18}, 1000);
}
TEST_CASE("extend in phases: a stack") { check_extend_in_phases<Stack>({18, 1, 3, 18}, 20); }
TEST_CASE("extend in phases: int8 weights") {
  using Layout = ladon::layout::Int8<ladon::layout::InProj>;
  using Int8Stack =
      ladon::Encoder<ladon::Model{.layers = 2, .tokens = 9, .keys = 20, .model = 12, .heads = 3, .feed_forward = 14},
                     mask::Causal, Layout>;
  check_extend_in_phases<Int8Stack>({9, 2, 9}, 1000);
}
TEST_CASE("extend in phases: a decoder") { check_extend_in_phases<Decoder>({6, 1, 5, 6}, 7); }
TEST_CASE("extend in phases: an int8 cache, a bfloat16 cache") {
  using Attention = ladon::MultiHeadAttention<S{.queries = 19,
                                                .keys = 24,
                                                .model = 12,
                                                .heads = 6,
                                                .kv_heads = 3,
                                                .cache_precision = ladon::CachePrecision::int8},
                                              mask::Window<5>>;
  check_extend_in_phases<Attention>({19, 1, 18, 7, 19, 19}, 3);
  using PostNorm = ladon::Decoder<ladon::Model{.layers = 2,
                                               .tokens = 6,
                                               .keys = 20,
                                               .memory = memory_tokens,
                                               .model = 12,
                                               .heads = 3,
                                               .cache_precision = ladon::CachePrecision::bfloat16,
                                               .feed_forward = 14},
                                  mask::Causal>;
  check_extend_in_phases<PostNorm>({6, 1, 5, 6}, 7);
}
TEST_CASE("extend in phases: the scores of each layer") {
  check_captured_scores<Stack>();
  check_captured_scores<Decoder>();
}
TEST_CASE("extend in phases: a single token") {
  using One = ladon::Encoder<
      ladon::Model{
          .layers = 2, .tokens = 1, .keys = 20, .model = 12, .heads = 3, .feed_forward = 14, .norm = NormOrder::pre},
      mask::Causal>;
  check_extend_in_phases<One>({1, 1, 1, 1}, 1000);
}

}  // namespace ladon_test
