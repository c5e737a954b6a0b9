// Tests decoders whose text grows from call to call. A cache holds the keys and values of the text so far. The memory,
// which is the output of an encoder, is projected to keys and values only once. For every division of the text into
// calls, the outputs and the maps of both attentions must agree with the oracle of the whole text.
#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "decoder_check.hpp"
#include "guarded.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::FinalNorm, ladon::Model, ladon::NormOrder, ladon::mask::Causal, ladon::mask::Unmasked,
    ladon::mask::Padding, ladon::mask::Window;

// An object filled with NaN. An inaccessible page lies directly before or behind it, so that an access outside the
// object fails.
template <class T>
struct Poisoned {
  Guarded<float> floats;
  explicit Poisoned(Edge edge) : floats(sizeof(T) / sizeof(float), edge) {
    std::ranges::fill(floats.values(), poison());
  }
  T& get() const { return *reinterpret_cast<T*>(floats.data()); }
};

// Gives a single layer the interface of a stack that has one layer, so that the tests can treat both alike. A stack
// stays as it is.
template <class Stack>
struct AsStack : Stack {};
template <class Layer>
  requires requires { Layer::cross; }
struct AsStack<Layer> {
  static constexpr S shape = Layer::shape;
  struct Weights {
    std::array<typename Layer::Weights, 1> layers;
  };
  using Caches = std::array<typename Layer::Cache, 1>;
  using MemoryCaches = std::array<typename Layer::MemoryCache, 1>;
  using MemoryWorkspace = typename Layer::MemoryWorkspace;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  using MemoryInput = typename Layer::MemoryInput;
  using Options = typename Layer::Options;
  using Maps = std::array<ladon::DecoderMaps, 1>;
  static void project_memory(const float* memory, const Weights& weights, MemoryCaches& caches,
                             MemoryWorkspace& workspace, const Options& options) {
    Layer::project_memory(memory, weights.layers[0], caches[0], workspace, options);
  }
  static void extend(const float* x, Caches& caches, const MemoryCaches& memory, const Weights& weights, float* y,
                     CachedWorkspace& workspace, const Options& options) {
    Layer::extend(x, caches[0], memory[0], weights.layers[0], y, workspace, options);
  }
  static void extend(const float* x, Caches& caches, const MemoryCaches& memory, const Weights& weights, float* y,
                     CachedWorkspace& workspace, const Options& options, const Maps& maps) {
    Layer::extend(x, caches[0], memory[0], weights.layers[0], y, workspace, options, maps[0]);
  }
};

// The oracle's results for a whole text.
struct Whole {
  Expected y;                                        // [tokens][model]
  std::vector<std::vector<oracle::Matrix>> weights;  // of each layer: self-attention, then attention to the memory
};

// Describes a type of decoder by data instead of template arguments.
struct Growing {
  DecoderForm form;
  S cross;  // queries: tokens of the text; keys: tokens of the memory
  std::size_t capacity;
  std::size_t memory_tokens;      // the number of active tokens of the memory
  std::size_t left = ladon::all;  // keys that a windowed mask shows before the query
  WeightLayout layout = WeightLayout::in_proj;
  bool memory_causal = false;
  oracle::Rotary rotary{};
};

Whole expected_of(const Growing& growing, const DecoderProblem& problem) {
  const S& cross = growing.cross;
  const DecoderForm& form = growing.form;
  oracle::Matrix x(cross.queries, cross.model, problem.x.data());
  const oracle::Matrix memory(growing.memory_tokens, cross.model, problem.memory.data());
  oracle::Heads heads = heads_of(cross);
  heads.score.rotary = growing.rotary;
  const auto self_seen = [&](std::size_t query, std::size_t key) {
    return key <= query && (growing.left == ladon::all || key + growing.left >= query);
  };
  const auto memory_seen = [&](std::size_t query, std::size_t key) {
    if (form.memory_padding && key % 3 == 1) return false;
    return !growing.memory_causal || key + growing.capacity <= query + cross.keys;
  };
  Whole whole;
  for (const auto& layer : problem.layers) {
    auto decoded = oracle::decoder_layer(x, memory, layer, heads, form.layer, cross.queries, cross.queries, self_seen,
                                         memory_seen);
    whole.weights.push_back(std::move(decoded.self_weights));
    whole.weights.push_back(std::move(decoded.memory_weights));
    x = std::move(decoded.out);
  }
  if (form.final_norm) x = oracle::normalized(form.layer.norm_kind, problem.final_norm, x);
  whole.y.assign(x.data.begin(), x.data.end());
  return whole;
}

// Returns the expected attention weights of a call with `tokens` tokens, after `past` earlier tokens. `weights` has the
// attention weights of the whole text, one matrix for each head. Key k is in column k % keys of the result, as in the
// ring buffer of the cache.
Expected map_of(const std::vector<oracle::Matrix>& weights, std::size_t past, std::size_t tokens, std::size_t queries,
                std::size_t keys) {
  Expected map(weights.size() * queries * keys);
  for (std::size_t h = 0; h < weights.size(); ++h) {
    for (std::size_t q = 0; q < tokens; ++q) {
      auto* const row = map.data() + (h * queries + q) * keys;
      std::fill_n(row, keys, Real(0));
      for (std::size_t k = 0; k < weights[h].columns; ++k) {
        if (weights[h](past + q, k).deviation != 0) row[k % keys] = weights[h](past + q, k);
      }
    }
  }
  return map;
}

template <class Stack>
typename Stack::Weights weights_of(const std::vector<Guarded<float>>& tensors, float epsilon) {
  std::vector<const float*> pointers;
  for (const auto& tensor : tensors) pointers.push_back(tensor.data());
  typename Stack::Weights weights;
  const float* const* next = pointers.data();
  for (auto& layer : weights.layers) point_decoder_layer(layer, next, epsilon);
  if constexpr (requires { weights.norm.weight; }) {
    point(weights.norm, next);
    weights.norm.epsilon = epsilon;
  }
  return weights;
}

template <class Stack, class Position>
typename Stack::Options options_of(const Growing& growing, const std::vector<std::uint8_t>& may_see) {
  typename Stack::Options options;
  set_position<Position>(options.self, Call{});
  if (growing.memory_tokens != growing.cross.keys) options.memory.keys = growing.memory_tokens;
  if constexpr (requires { options.memory.mask.may_see; }) options.memory.mask.may_see = may_see.data();
  return options;
}

// Runs one call with `tokens` tokens of a text, after `past` earlier tokens. Compares the results with the oracle's
// results for the whole text. `tokens` is at most Stack::shape.queries.
template <class Stack, class Position>
void check_piece(const Growing& growing, const DecoderProblem& problem, const Whole& whole,
                 const typename Stack::Weights& weights, typename Stack::Caches& caches,
                 const typename Stack::MemoryCaches& memory, const std::vector<std::uint8_t>& may_see, std::size_t past,
                 std::size_t tokens, Edge edge) {
  constexpr S shape = Stack::shape;
  const std::size_t layers = problem.layers.size(), model = shape.model, keys = growing.cross.keys;
  const Guarded<float> x(std::span(problem.x).subspan(past * model, tokens * model), edge);
  const Guarded<float> y(tokens * model, edge);
  std::ranges::fill(y.values(), poison());
  const Poisoned<typename Stack::CachedWorkspace> workspace(edge);
  typename Stack::Options options = options_of<Stack, Position>(growing, may_see);
  options.self.tokens = tokens;
  if (edge == Edge::begin) {
    Stack::extend(x.data(), caches, memory, weights, y.data(), workspace.get(), options);
  } else {
    typename Stack::Maps maps;
    std::vector<Floats> floats;
    for (std::size_t i = 0; i < layers; ++i) {
      floats.emplace_back(shape.heads * shape.queries * shape.keys, poison());
      floats.emplace_back(shape.heads * shape.queries * keys, poison());
    }
    for (std::size_t i = 0; i < layers; ++i) maps[i] = {floats[2 * i].data(), floats[2 * i + 1].data()};
    Stack::extend(x.data(), caches, memory, weights, y.data(), workspace.get(), options, maps);
    for (std::size_t i = 0; i < 2 * layers; ++i) {
      const std::size_t columns = i % 2 == 0 ? shape.keys : keys;
      CHECK(worst_distance(floats[i], map_of(whole.weights[i], past, tokens, shape.queries, columns)) <= 1);
    }
  }
  CHECK((x.intact() && y.intact() && workspace.floats.intact()));
  const auto first = whole.y.begin() + static_cast<std::ptrdiff_t>(past * model);
  CHECK(worst_distance(y.values(), Expected(first, first + static_cast<std::ptrdiff_t>(tokens * model))) <= 1);
}

// Feeds a text to a decoder in the calls of `cut`, twice. An inaccessible page lies directly before the arrays in the
// first pass, and directly behind them in the second. Only the second pass writes attention maps.
template <class Many, class One, class Position>
void check_cut(const Growing& growing, const DecoderProblem& problem, const Cut& cut) {
  static_assert(std::is_same_v<typename Many::Caches, typename One::Caches>);
  static_assert(std::is_same_v<typename Many::MemoryCaches, typename One::MemoryCaches>);
  const Whole whole = expected_of(growing, problem);
  const auto bound = [](const std::optional<Real>& real) { return real->bound(); };
  CHECK_MESSAGE(std::ranges::max(whole.y | std::views::transform(bound)) <
                    (rounds_inputs(problem.form.activation_bits) ? 0.5 : 1e-3),
                "the bound is too wide");
  Subject subject{};
  subject.shape = growing.cross;
  subject.layout = growing.layout;
  std::vector<std::uint8_t> may_see(growing.cross.keys);
  for (std::size_t k = 0; k < may_see.size(); ++k) may_see[k] = k % 3 != 1;
  for (const Edge edge : {Edge::begin, Edge::end}) {
    std::vector<Guarded<float>> tensors;
    for (const Floats& tensor : task_of(subject, problem, {}, {}).weights)
      tensors.emplace_back(std::span(tensor), edge);
    const auto many = weights_of<Many>(tensors, problem.form.epsilon);
    const auto one = weights_of<One>(tensors, problem.form.epsilon);
    const Poisoned<typename Many::Caches> caches(edge);
    const Poisoned<typename Many::MemoryCaches> projected(edge);
    for (auto& cache : caches.get()) cache.clear();
    {
      const Guarded<float> memory(std::span(problem.memory).first(growing.memory_tokens * growing.cross.model), edge);
      const Poisoned<typename Many::MemoryWorkspace> workspace(edge);
      Many::project_memory(memory.data(), many, projected.get(), workspace.get(),
                           options_of<Many, Position>(growing, may_see));
      CHECK((memory.intact() && workspace.floats.intact()));
    }
    std::size_t past = 0;
    for (const std::size_t tokens : cut.pieces) {
      CAPTURE(past);
      CAPTURE(tokens);
      if (cut.by_one && tokens == 1) {
        check_piece<One, Position>(growing, problem, whole, one, caches.get(), projected.get(), may_see, past, 1, edge);
      } else {
        check_piece<Many, Position>(growing, problem, whole, many, caches.get(), projected.get(), may_see, past, tokens,
                                    edge);
      }
      past += tokens;
    }
    CHECK((caches.floats.intact() && projected.floats.intact()));
  }
}

template <class Many, class One, class SelfMask, class MemoryMask, class Layout,
          class Position = ladon::position::Unrotated>
void check_growing(DecoderForm form, std::size_t memory, std::size_t memory_tokens, const std::vector<Cut>& cuts) {
  form.memory_padding = MaskOf<MemoryMask>::padding;
  form.activation_bits = activation_bits<typename Layout::Precision>;
  for (const Cut& cut : cuts) {
    Growing growing{form, Many::shape, Many::shape.keys, memory_tokens};
    growing.cross.keys = memory;
    growing.cross.queries = std::accumulate(cut.pieces.begin(), cut.pieces.end(), std::size_t(0));
    if (MaskOf<SelfMask>::form.window) growing.left = MaskOf<SelfMask>::form.left;
    growing.layout = weight_layout<Layout>;
    growing.memory_causal = MaskOf<MemoryMask>::causal;
    growing.rotary = score_form<Many::shape, ladon::score::Scaled, Position>().rotary;
    growing.rotary.first_query = 0;
    check_cut<AsStack<Many>, AsStack<One>, Position>(growing, random_decoder(growing.cross, form, 3), cut);
  }
}

template <std::size_t Layers, S Shape, std::size_t Memory, Model Config, class SelfMask, class MemoryMask,
          class Layout = ladon::layout::InProj, class Position = ladon::position::Unrotated>
void check_stack(const std::vector<Cut>& cuts, std::size_t memory_tokens = Memory) {
  constexpr FinalNorm final = FinalNorm::with;
  using Many = ladon::Decoder<stack_of(Config, Shape, Layers, final, Memory), ladon::DecoderMasks<SelfMask, MemoryMask>,
                              Layout, ladon::score::Scaled, Position>;
  using One = ladon::Decoder<stack_of(Config, for_one(Shape), Layers, final, Memory),
                             ladon::DecoderMasks<SelfMask, MemoryMask>, Layout, ladon::score::Scaled, Position>;
  check_growing<Many, One, SelfMask, MemoryMask, Layout, Position>(
      {.layers = Layers, .layer = Config, .final_norm = true}, Memory, memory_tokens, cuts);
}
template <S Shape, std::size_t Memory, Model Config, class SelfMask, class MemoryMask,
          class Layout = ladon::layout::InProj>
void check_layer(const std::vector<Cut>& cuts, std::size_t memory_tokens = Memory) {
  using Many =
      ladon::DecoderLayer<decoder_of(Config, Shape, Memory), ladon::DecoderMasks<SelfMask, MemoryMask>, Layout>;
  using One = ladon::DecoderLayer<decoder_of(Config, for_one(Shape), Memory), ladon::DecoderMasks<SelfMask, MemoryMask>,
                                  Layout>;
  check_growing<Many, One, SelfMask, MemoryMask, Layout>({.layer = Config}, Memory, memory_tokens, cuts);
}

const std::vector<std::size_t> ones(11, 1);
constexpr Model post{.feed_forward = 21};
constexpr Model pre{.feed_forward = 15, .activation = ladon::Activation::gelu, .norm = NormOrder::pre};

}  // namespace

TEST_CASE("growing decoder: a layer, post-LN, a memory with padding, of which only some tokens are active") {
  constexpr S shape{.queries = 5, .keys = 12, .model = 12, .heads = 3};
  check_layer<shape, 21, post, Causal, Padding>({{{5, 1, 1, 3, 1, 1}}, {ones}, {ones, false}}, 17);
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("growing decoder: a stack, pre-LN, grouped heads, rotary embedding, a causal mask over the memory") {
  constexpr S shape{.queries = 19, .keys = 33, .model = 16, .heads = 4, .kv_heads = 2};
  check_stack<2, shape, 40, pre, Causal, Causal, ladon::layout::InProj, RotaryOf<ladon::Pairing::halves, 4, 40>>(
      {{{19, 1, 1, 2, 7}}, {{18, 15}}});
}

TEST_CASE("growing decoder: weights (in, out), a gate, no biases of norms, values of another width") {
  constexpr S shape{.queries = 4, .keys = 9, .model = 8, .heads = 4, .kv_heads = 2, .head_width = 3, .value_width = 5};
  constexpr Model config{.feed_forward = 7, .gated = true, .norm_bias = ladon::Bias::without};
  check_layer<shape, 40, config, Causal, Unmasked, ladon::layout::InOut>({{{4, 1, 4}}});
}

// An int8 stack can be tested with one layer only. The input of a second layer has float32 errors. If a feature lies
// near the midpoint between two integers, kernel and oracle may then round it to different integers. A bound that
// allows both integers would be too wide to find mistakes.
TEST_CASE("growing decoder: int8, a layer and a stack") {
  using Layout = ladon::layout::Int8<ladon::layout::InProj>;
  constexpr S shape{.queries = 3, .keys = 11, .model = 14, .heads = 2};
  check_layer<shape, 19, post, Causal, Unmasked, Layout>({{{3, 1, 1, 3, 2}}, {ones, false}}, 18);
  check_stack<1, shape, 19, pre, Causal, Unmasked, Layout>({{{3, 1, 1, 3, 2}}});
}

#if !LADON_DETERMINISTIC
TEST_CASE("growing decoder: bfloat16") {
  using Layout = ladon::layout::BFloat16<ladon::layout::InProj>;
  constexpr S shape{.queries = 3, .keys = 11, .model = 14, .heads = 2};
  check_stack<2, shape, 6, pre, Causal, Unmasked, Layout>({{{3, 1, 1, 3, 2}}, {ones}});
}
#endif
#endif

#if defined(LADON_TEST_WIDE)
TEST_CASE("growing decoder: a stack with a window over the text, and a causal mask over the memory") {
  constexpr S shape{.queries = 3, .keys = 8, .model = 12, .heads = 2};
  check_stack<2, shape, 30, post, Window<5>, Causal>({{{3, 3, 3, 1, 1, 3, 3}}, {std::vector<std::size_t>(17, 1)}});
}
#endif

}  // namespace ladon_test
