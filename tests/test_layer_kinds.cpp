// Tests stacks whose layers have kinds (Model::kinds): windows, rotary tables, and layers without a rotary embedding.
// The results must agree with the oracle, which computes one layer after another. All memory is filled with NaN.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include "cached_check.hpp"
#include "decoder_check.hpp"
#include "encoder_check.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

using ladon::Model, ladon::detail::value_of;

// Returns the rotary table of a kind. Each kind has a base of its own.
constexpr double base_of(std::size_t kind) { return kind == 0 ? 10000 : 100; }
template <class Table>
const Table* table_of(std::size_t kind) {
  constexpr std::size_t positions = std::extent_v<decltype(Table::cosine), 1>;
  constexpr std::size_t width = 2 * std::extent_v<decltype(Table::cosine)>;
  static const std::array<Table, 2> tables{ladon::rotary_table<positions, width>(base_of(0)),
                                           ladon::rotary_table<positions, width>(base_of(1))};
  return &tables[kind != 0];
}

// The options of the self-attention of a stack.
template <class Options>
Options options_of_stack(const Model& model, std::size_t tokens) {
  Options options{.tokens = tokens};
  if constexpr (requires { options.position.table; }) {
    for (std::size_t kind = 0; kind < model.kinds.count; ++kind) {
      if (model.kinds.items[kind].unrotated) continue;
      options.position.table[kind] = table_of<std::remove_cvref_t<decltype(*options.position.table[0])>>(kind);
    }
  }
  return options;
}

// What the oracle needs to compute layer number `layer`.
oracle::Heads heads_of_layer(const Model& model, std::size_t layer) {
  oracle::Heads heads = heads_of(model.shape());
  const std::size_t number = model.kind_number(layer);
  if (model.position.positions != 0 && !model.kinds.items[number].unrotated) {
    heads.score.rotary = {.width = model.position.width,
                          .halves = model.position.pairing == ladon::Pairing::halves,
                          .base = base_of(number)};
  }
  return heads;
}
oracle::MaySee mask_of_layer(const Model& model, bool causal, std::size_t layer) {
  const std::size_t window = model.kinds.items[model.kind_number(layer)].window;
  return [=](std::size_t query, std::size_t key) {
    const std::size_t distance = query < key ? key - query : query - key;
    return (window == 0 || distance <= window) && (!causal || key <= query);
  };
}

// Returns the tensors of all layers of a problem.
template <class Problem>
std::vector<Floats> tensors_of(const Problem& problem, const ladon::Shape& shape) {
  std::vector<Floats> all;
  for (const auto& layer : problem.layers) append_tensors(all, WeightLayout::in_proj, shape, layer);
  return all;
}

// Random weights of a stack, its inputs, and the oracle's result for the first `tokens` tokens.
template <Model M>
struct EncoderCase {
  static constexpr std::size_t memory_tokens = 0;
  EncoderProblem problem;
  explicit EncoderCase(std::size_t tokens)
      : problem(random_encoder({.queries = tokens, .model = M.model, .heads = 1}, {.layers = 0, .layer = M}, 5)) {
    Random random(7);
    for (std::size_t i = 0; i < M.layers; ++i) {
      problem.layers.push_back(random_layer(random, M.shape(), M, 1e-5f));
      problem.layers.back().norm1.omitted = value_of<M>.unnormed(i);
    }
  }
  Expected expected(std::size_t tokens) const {
    oracle::Matrix x(tokens, M.model, problem.x.data());
    for (std::size_t i = 0; i < M.layers; ++i) {
      x = oracle::encoder_layer(x, problem.layers[i], heads_of_layer(value_of<M>, i), M, tokens, tokens,
                                mask_of_layer(value_of<M>, M.mask.causal, i))
              .out;
    }
    return Expected(x.data.begin(), x.data.end());
  }
};
template <Model M>
struct DecoderCase {
  static constexpr std::size_t memory_tokens = M.memory;
  DecoderProblem problem;
  explicit DecoderCase(std::size_t tokens) : problem{{.layer = M}, {}, {}, {}, {}} {
    Random random(7);
    for (std::size_t i = 0; i < M.layers; ++i) {
      problem.layers.push_back(random_decoder_layer(random, M.shape(), M, 1e-5f));
    }
    problem.x = random.normals(tokens * M.model);
    problem.memory = random.normals(M.memory * M.model);
  }
  Expected expected(std::size_t tokens) const {
    oracle::Matrix x(tokens, M.model, problem.x.data());
    const oracle::Matrix memory(M.memory, M.model, problem.memory.data());
    for (std::size_t i = 0; i < M.layers; ++i) {
      x = oracle::decoder_layer(x, memory, problem.layers[i], heads_of_layer(value_of<M>, i), M, tokens, tokens,
                                mask_of_layer(value_of<M>, true, i), [](std::size_t, std::size_t) { return true; })
              .out;
    }
    return Expected(x.data.begin(), x.data.end());
  }
};

template <class Stack>
typename Stack::Weights weights_of(const std::vector<Floats>& tensors) {
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  typename Stack::Weights weights;
  const float* const* next = pointers.data();
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    point(weights.layers[i], next);
    if (value_of<Stack::Layer::model>.unnormed(i)) weights.layers[i].norm1.weight.data = nullptr;
  }
  return weights;
}

// An object filled with NaN, between guards.
template <class T>
struct Poisoned {
  Guarded<float> floats;
  explicit Poisoned(Edge edge) : floats(sizeof(T) / sizeof(float), edge) {
    std::ranges::fill(floats.values(), poison());
  }
  T& get() const { return *reinterpret_cast<T*>(floats.data()); }
};

// Runs the stack for each of `lengths`.
template <Model M, class Stack, class Case>
void check_run(const std::vector<std::size_t>& lengths) {
  const Case random(M.tokens);
  const std::vector<Floats> tensors = tensors_of(random.problem, M.shape());
  const auto weights = weights_of<Stack>(tensors);
  for (const Edge edge : {Edge::begin, Edge::end}) {
    for (const std::size_t tokens : lengths) {
      CAPTURE(tokens);
      const Guarded<float> x(std::span(random.problem.x).first(tokens * M.model), edge);
      const Guarded<float> y(tokens * M.model, edge);
      std::ranges::fill(y.values(), poison());
      const Poisoned<typename Stack::Workspace> workspace(edge);
      if constexpr (Case::memory_tokens == 0) {
        const auto options = options_of_stack<typename Stack::Options>(value_of<M>, tokens);
        Stack::run(x.data(), weights, y.data(), workspace.get(), options);
      } else {
        const Guarded<float> memory(std::span<const float>(random.problem.memory), edge);
        const typename Stack::Options options{
            .self = options_of_stack<typename Stack::Layer::SelfOptions>(value_of<M>, tokens)};
        Stack::run(x.data(), memory.data(), weights, y.data(), workspace.get(), options);
      }
      CHECK((x.intact() && y.intact() && workspace.floats.intact()));
      CHECK(worst_distance(y.values(), random.expected(tokens)) <= 1);
    }
  }
}

void clear(auto& caches) {
  if constexpr (requires { caches.clear(); }) {
    caches.clear();
  } else {
    for (auto& cache : caches) cache.clear();
  }
}

// Feeds a text in `pieces` to a stack with caches. Pieces with one token use `One`.
template <Model M, class Many, class One, class Case>
void check_extend(const std::vector<std::size_t>& pieces) {
  static_assert(std::is_same_v<typename Many::Caches, typename One::Caches>);
  const std::size_t length = std::accumulate(pieces.begin(), pieces.end(), std::size_t(0));
  const Case random(length);
  const std::vector<Floats> tensors = tensors_of(random.problem, M.shape());
  const auto weights = weights_of<Many>(tensors);
  Floats y(length * M.model, poison());
  const Poisoned<typename Many::Caches> caches(Edge::end);
  clear(caches.get());
  const auto extend = [&]<class Stack>(std::type_identity<Stack>, const auto& memory, std::size_t past,
                                       std::size_t tokens) {
    const Poisoned<typename Stack::CachedWorkspace> workspace(Edge::end);
    const Guarded<float> x(std::span(random.problem.x).subspan(past * M.model, tokens * M.model), Edge::end);
    float* const to = y.data() + past * M.model;
    if constexpr (Case::memory_tokens == 0) {
      Stack::extend(x.data(), caches.get(), weights, to, workspace.get(),
                    options_of_stack<typename Stack::Options>(value_of<M>, tokens));
    } else {
      const typename Stack::Options options{
          .self = options_of_stack<typename Stack::Layer::SelfOptions>(value_of<M>, tokens)};
      Stack::extend(x.data(), caches.get(), memory.get(), weights, to, workspace.get(), options);
    }
    CHECK(workspace.floats.intact());
  };
  const auto extend_all = [&](const auto& memory) {
    std::size_t past = 0;
    for (const std::size_t tokens : pieces) {
      if (tokens == 1) {
        extend(std::type_identity<One>{}, memory, past, tokens);
      } else {
        extend(std::type_identity<Many>{}, memory, past, tokens);
      }
      past += tokens;
    }
  };
  if constexpr (Case::memory_tokens == 0) {
    extend_all(0);
  } else {
    const Poisoned<typename Many::MemoryCaches> memory(Edge::end);
    const Poisoned<typename Many::MemoryWorkspace> workspace(Edge::end);
    Many::project_memory(random.problem.memory.data(), weights, memory.get(), workspace.get());
    extend_all(memory);
  }
  CHECK(caches.floats.intact());
  CHECK(worst_distance(y, random.expected(length)) <= 1);
}

constexpr Model for_one_token(Model model) {
  model.keys = model.shape().keys;
  model.tokens = 1;
  return model;
}

// Every third layer sees all tokens, the others have a window (ModernBERT).
constexpr Model both_ways{.layers = 4,
                          .tokens = 35,
                          .model = 16,
                          .heads = 2,
                          .feed_forward = 20,
                          .norm = ladon::NormOrder::pre,
                          .position = {.pairing = ladon::Pairing::halves, .width = 8, .positions = 40},
                          .kinds = {{}, {.window = 3}},
                          .kind_of_layer = {0, 1, 1}};
// The kinds alternate. The windows are wider than some calls.
constexpr Model alternating{.layers = 3,
                            .tokens = 9,
                            .keys = 24,
                            .model = 18,
                            .heads = 3,
                            .feed_forward = 11,
                            .mask = {.causal = true},
                            .kinds = {{.window = 5}, {}}};
// A window, a layer without a window, and a layer without a rotary embedding.
constexpr Model unrotated{.layers = 4,
                          .tokens = 9,
                          .keys = 24,
                          .model = 24,
                          .heads = 4,
                          .kv_heads = 2,
                          .feed_forward = 20,
                          .norm = ladon::NormOrder::pre,
                          .mask = {.causal = true},
                          .position = {.width = 4, .positions = 24},
                          .kinds = {{.window = 4}, {}, {.unrotated = true}},
                          .kind_of_layer = {0, 1, 2, 0}};
// Attention of the first layer reads tokens without a norm.
constexpr Model unnormed{.layers = 3,
                         .tokens = 9,
                         .keys = 20,
                         .model = 24,
                         .heads = 4,
                         .feed_forward = 20,
                         .norm = ladon::NormOrder::pre,
                         .mask = {.causal = true},
                         .kinds = {{.unnormed_attention = true}, {}, {.window = 4}},
                         .kind_of_layer = {0, 2, 1}};
constexpr Model decoding{.layers = 3,
                         .tokens = 7,
                         .keys = 20,
                         .memory = 13,
                         .model = 12,
                         .heads = 2,
                         .feed_forward = 15,
                         .position = {.width = 6, .positions = 24},
                         .kinds = {{.window = 2}, {.unrotated = true}},
                         .kind_of_layer = {1, 0, 0}};

// Layers with a window have rings, of the smallest size: the window and the tokens of one call.
constexpr Model with_rings(Model model) {
  model.window_keys = model.window_of_kinds() + model.tokens;
  return model;
}

[[maybe_unused]] constexpr Model as_long(Model model, std::size_t tokens) {
  model.tokens = model.keys = tokens;
  return model;
}

const std::vector<std::size_t> pieces{9, 1, 1, 3, 1, 8, 1}, ones(12, 1);

}  // namespace

TEST_CASE("kinds of layers: an encoder with windows to both sides and two rotary bases") {
  check_run<both_ways, ladon::Encoder<both_ways>, EncoderCase<both_ways>>({1, 2, 7, 8, 17, 31, 33, 35});
}

TEST_CASE("kinds of layers: an encoder whose layers alternate, without a rotary embedding") {
  using One = ladon::Encoder<for_one_token(alternating)>;
  check_extend<alternating, ladon::Encoder<alternating>, One, EncoderCase<alternating>>(pieces);
  check_extend<alternating, ladon::Encoder<alternating>, One, EncoderCase<alternating>>(ones);
}

TEST_CASE("kinds of layers: layers with a window have rings") {
  constexpr Model rings = with_rings(alternating);
  using One = ladon::Encoder<for_one_token(rings)>;
  check_extend<rings, ladon::Encoder<rings>, One, EncoderCase<rings>>(pieces);
  check_extend<rings, ladon::Encoder<rings>, One, EncoderCase<rings>>(std::vector<std::size_t>(24, 1));
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("kinds of layers: rings with grouped heads and a rotary embedding, and of a decoder") {
  constexpr Model grouped = with_rings(unrotated), translating = with_rings(decoding);
  using One = ladon::Encoder<for_one_token(grouped)>;
  check_extend<grouped, ladon::Encoder<grouped>, One, EncoderCase<grouped>>(pieces);
  using OneDecoder = ladon::Decoder<for_one_token(translating)>;
  check_extend<translating, ladon::Decoder<translating>, OneDecoder, DecoderCase<translating>>({7, 1, 1, 5, 1, 5});
}

// If all layers have windows, all caches are rings, and the text may be longer than model.keys.
TEST_CASE("kinds of layers: rings alone") {
  constexpr Model rings = [] {
    Model model = with_rings(alternating);
    model.kinds = {{.window = 5}, {.window = 5, .unrotated = true}};
    model.position = {.width = 4, .positions = 60};
    return model;
  }();
  static_assert(std::tuple_element_t<0, ladon::Encoder<rings>::Caches>::ring);
  using One = ladon::Encoder<for_one_token(rings)>;
  check_extend<rings, ladon::Encoder<rings>, One, EncoderCase<rings>>({9, 9, 1, 9, 1, 1, 9, 1});
}

// Feeds three pieces of eight tokens. extend(x, i) returns the result of piece number `i`.
Floats feed(auto extend) {
  Floats all;
  for (std::size_t piece = 0; piece < 3; ++piece) {
    const Floats y = extend(piece);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}
template <Model M>
Floats feed_whole(const std::vector<Floats>& tensors, const Floats& x) {
  using Stack = ladon::Encoder<M>;
  const auto weights = weights_of<Stack>(tensors);
  const Poisoned<typename Stack::Caches> caches(Edge::end);
  const Poisoned<typename Stack::CachedWorkspace> workspace(Edge::end);
  clear(caches.get());
  return feed([&](std::size_t piece) {
    Floats y(8 * M.model);
    Stack::extend(x.data() + piece * y.size(), caches.get(), weights, y.data(), workspace.get(),
                  options_of_stack<typename Stack::Options>(value_of<M>, 8));
    return y;
  });
}
constexpr Model rounded(Model model, ladon::CachePrecision precision) {
  model.cache_precision = precision;
  return model;
}

TEST_CASE("kinds of layers: rings, in shares of several threads, and with rounded keys and values") {
  using enum ladon::CachePrecision;
  constexpr Model rings = with_rings(unrotated);
  using Stack = ladon::Encoder<rings>;
  using Team = InTurn<3>;
  const EncoderCase<rings> random(24);
  const std::vector<Floats> tensors = tensors_of(random.problem, rings.shape());
  const Floats& x = random.problem.x;
  const Floats expected = feed_whole<rings>(tensors, x);

  const auto weights = weights_of<Stack>(tensors);
  const auto options = options_of_stack<Stack::Options>(rings, 8);
  static Stack::CachedTeamWorkspace<Team::size> team;
  static Stack::Caches caches;
  CHECK(feed([&](std::size_t piece) {
          Floats y(8 * rings.model);
          Team::drive(Stack::phases, [&](std::size_t phase, ladon::Share share) {
            Stack::extend(x.data() + piece * y.size(), caches, weights, y.data(), team.part(phase, share), options);
          });
          return y;
        }) == expected);

  // Without rings, the caches hold the same numbers. The order of sums differs, which may change how a number is
  // rounded.
  const auto differ = [](const Floats& a, const Floats& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(double(a[i]) - double(b[i])));
    return worst;
  };
  CHECK(differ(feed_whole<rounded(rings, bfloat16)>(tensors, x), feed_whole<rounded(unrotated, bfloat16)>(tensors, x)) <
        0.01);
  CHECK(differ(feed_whole<rounded(rings, int8)>(tensors, x), feed_whole<rounded(unrotated, int8)>(tensors, x)) < 0.02);
  CHECK(differ(feed_whole<rounded(rings, int8)>(tensors, x), expected) > 0);
}

TEST_CASE("kinds of layers: an encoder with grouped heads and a layer without a rotary embedding") {
  using One = ladon::Encoder<for_one_token(unrotated)>;
  check_extend<unrotated, ladon::Encoder<unrotated>, One, EncoderCase<unrotated>>(pieces);
  check_extend<unrotated, ladon::Encoder<unrotated>, One, EncoderCase<unrotated>>(ones);
  constexpr Model whole = as_long(unrotated, 19);
  check_run<whole, ladon::Encoder<whole>, EncoderCase<whole>>({1, 5, 16, 19});
}

TEST_CASE("kinds of layers: attention without a norm in the first layer") {
  using One = ladon::Encoder<for_one_token(unnormed)>;
  check_extend<unnormed, ladon::Encoder<unnormed>, One, EncoderCase<unnormed>>({9, 1, 1, 3, 1});
  constexpr Model whole = as_long(unnormed, 19);
  check_run<whole, ladon::Encoder<whole>, EncoderCase<whole>>({1, 5, 19});
}

TEST_CASE("kinds of layers: a decoder") {
  using One = ladon::Decoder<for_one_token(decoding)>;
  check_extend<decoding, ladon::Decoder<decoding>, One, DecoderCase<decoding>>({7, 1, 1, 5, 1});
  check_extend<decoding, ladon::Decoder<decoding>, One, DecoderCase<decoding>>(ones);
  constexpr Model whole = as_long(decoding, 17);
  check_run<whole, ladon::Decoder<whole>, DecoderCase<whole>>({1, 3, 16, 17});
}

TEST_CASE("kinds of layers: the shares of several threads give the same bits") {
  using Stack = ladon::Encoder<both_ways>;
  using Team = InTurn<3>;
  const EncoderCase<both_ways> random(both_ways.tokens);
  const std::vector<Floats> tensors = tensors_of(random.problem, both_ways.shape());
  const auto weights = weights_of<Stack>(tensors);
  const auto options = options_of_stack<Stack::Options>(both_ways, 33);
  Floats expected(Stack::Output::size), y(Stack::Output::size);
  static Stack::Workspace workspace;
  static Stack::TeamWorkspace<Team::size> team;
  Stack::run(random.problem.x.data(), weights, expected.data(), workspace, options);
  Team::drive(Stack::phases, [&](std::size_t phase, ladon::Share share) {
    Stack::run(random.problem.x.data(), weights, y.data(), team.part(phase, share), options);
  });
  CHECK(y == expected);
}
#endif

// A ring takes the memory of its tokens alone.
constexpr Model long_text = [] {
  Model model = alternating;
  model.keys = 1024;
  model.window_keys = 128;
  return model;
}();
static_assert(sizeof(ladon::Encoder<long_text>::Caches) < sizeof(ladon::Encoder<long_text>::Layer::Cache) * 4 / 3);
// The mask makes no ring of models with kinds, and models without kinds have the layers that they had.
static_assert(sizeof(ladon::Encoder<alternating>::Caches) == 3 * sizeof(ladon::Encoder<alternating>::Layer::Cache));
static_assert(!ladon::Encoder<alternating>::Layer::Cache::ring);
static_assert(both_ways.kind_number(0) == 0 && both_ways.kind_number(2) == 1 && both_ways.kind_number(3) == 0);
static_assert(alternating.kind_number(1) == 1 && alternating.kind_number(2) == 0);

}  // namespace ladon_test
