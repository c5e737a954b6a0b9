// Tests a stack of layers with one cache for each layer. A text is fed to the stack in several calls. The results must
// agree with the oracle of the whole text.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "encoder_check.hpp"
#include "models.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::Model, ladon::mask::Causal, ladon::mask::Window;

// Rotary embedding of neighbouring features, as in llama2.c.
using Rotated = RotaryOf<ladon::Pairing::neighbours, 4, 40>;

template <class Encoder>
typename Encoder::Weights weights_of(const std::vector<Floats>& tensors, float epsilon) {
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  typename Encoder::Weights weights;
  const float* const* next = pointers.data();
  for (auto& layer : weights.layers) {
    point(layer, next);
    set_epsilon(layer, epsilon);
  }
  if constexpr (requires { weights.norm.weight; }) {
    point(weights.norm, next);
    weights.norm.epsilon = epsilon;
  }
  return weights;
}

template <class Encoder, class Position>
void extend(const float* x, std::size_t tokens, typename Encoder::Caches& caches,
            const typename Encoder::Weights& weights, float* y, const std::vector<Floats*>& maps = {}) {
  static typename Encoder::CachedWorkspace workspace;
  typename Encoder::Options options;
  set_position<Position>(options, {});
  options.tokens = tokens;
  if (maps.empty()) return Encoder::extend(x, caches, weights, y, workspace, options);
  typename Encoder::Maps pointers;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    maps[i]->assign(Encoder::shape.heads * Encoder::shape.queries * Encoder::shape.keys, poison());
    pointers[i] = maps[i]->data();
  }
  Encoder::extend(x, caches, weights, y, workspace, options, pointers);
}

// Gives a single layer the interface of a stack that has one layer, so that the tests can treat both alike.
template <class Layer>
struct Alone {
  static constexpr ladon::Shape shape = Layer::shape;
  struct Weights {
    std::array<typename Layer::Weights, 1> layers;
  };
  using Caches = std::array<typename Layer::Cache, 1>;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  using Options = typename Layer::Options;
  using Maps = std::array<float*, 1>;
  static void extend(const float* x, Caches& caches, const Weights& weights, float* y, CachedWorkspace& workspace,
                     const Options& options) {
    Layer::extend(x, caches[0], weights.layers[0], y, workspace, options);
  }
  static void extend(const float* x, Caches& caches, const Weights& weights, float* y, CachedWorkspace& workspace,
                     const Options& options, const Maps& maps) {
    Layer::extend(x, caches[0], weights.layers[0], y, workspace, options, typename Layer::Map(maps[0]));
  }
};

// Returns the attention weights [heads][queries][keys] that a call captures for `tokens` tokens after `past` tokens.
// `whole` has the attention weights [heads][length][length] of the whole text. The weight of key k is in column
// k % keys, as in the ring buffer of the cache. All other columns are 0.
Expected rows_of(const Expected& whole, std::size_t heads, std::size_t length, std::size_t past, std::size_t tokens,
                 std::size_t queries, std::size_t keys) {
  Expected map(heads * queries * keys);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t q = 0; q < tokens; ++q) {
      auto* const row = map.data() + (h * queries + q) * keys;
      std::fill_n(row, keys, Real(0));
      for (std::size_t k = 0; k < length; ++k) {
        const auto& weight = whole[(h * length + past + q) * length + k];
        if (weight->deviation != 0) row[k % keys] = weight;
      }
    }
  }
  return map;
}

// Checks a stack of layers that reads a text in several calls, for each of `cuts`. `Many` is the stack for calls with
// up to Many::shape.queries tokens, and `One` is the stack for calls with a single token. Both use the same caches,
// which hold shape.keys keys.
template <class Many, class One, class Mask, class Position = ladon::position::Unrotated>
void check_growing(const EncoderForm& form, const std::vector<Cut>& cuts) {
  constexpr S shape = Many::shape;
  static_assert(std::is_same_v<typename Many::Caches, typename One::Caches>);
  for (const Cut& cut : cuts) {
    std::size_t length = 0;
    for (const std::size_t tokens : cut.pieces) length += tokens;
    CAPTURE(length);
    Subject whole{};
    whole.shape = shape;
    whole.shape.queries = whole.shape.keys = length;
    whole.layers = form.layers;
    whole.mask = MaskOf<Mask>::form;
    whole.score = score_form<shape, ladon::score::Scaled, Position>();
    whole.score.rotary.first_query = 0;
    const EncoderProblem problem = random_encoder(whole.shape, form, 3);
    const ExpectedEncoder expected = expected_encoder(whole, problem, {.lengths = {.offset = 0}});

    const std::vector<Floats> tensors = task_of(whole, problem, {}).weights;
    const auto many = weights_of<Many>(tensors, form.epsilon);
    const auto one = weights_of<One>(tensors, form.epsilon);
    static typename Many::Caches caches, caches_with_maps;
    for (auto& cache : caches) cache.clear();
    for (auto& cache : caches_with_maps) cache.clear();
    std::vector<Floats> maps(form.layers);
    std::vector<Floats*> given;
    for (Floats& map : maps) given.push_back(&map);
    Floats y(length * shape.model);
    std::size_t at = 0;
    for (const std::size_t tokens : cut.pieces) {
      const float* const x = problem.x.data() + at * shape.model;
      const bool by_one = cut.by_one && tokens == 1;
      if (by_one) {
        extend<One, Position>(x, 1, caches, one, y.data() + at * shape.model);
        Floats mapped(shape.model);
        extend<One, Position>(x, 1, caches_with_maps, one, mapped.data(), given);
        CHECK_MESSAGE(same_bits(mapped, std::span(y).subspan(at * shape.model, shape.model)), "the maps changed y");
      } else {
        Floats padded(shape.queries * shape.model), out(shape.queries * shape.model, poison());
        std::copy_n(x, tokens * shape.model, padded.begin());
        extend<Many, Position>(padded.data(), tokens, caches, many, out.data());
        std::copy_n(out.begin(), tokens * shape.model, y.begin() + static_cast<std::ptrdiff_t>(at * shape.model));
        Floats mapped(shape.queries * shape.model, poison());
        extend<Many, Position>(padded.data(), tokens, caches_with_maps, many, mapped.data(), given);
        CHECK_MESSAGE(same_bits(mapped, out), "the maps changed y");
      }
      for (std::size_t i = 0; i < form.layers; ++i) {
        const Expected rows =
            rows_of(expected.maps[i], shape.heads, length, at, tokens, by_one ? 1 : shape.queries, shape.keys);
        CHECK(worst_distance(maps[i], rows) <= 1);
      }
      at += tokens;
    }
    CHECK(worst_distance(y, expected.y) <= 1);
  }
}

// Checks a stack of layers with a final norm.
template <std::size_t Layers, ladon::Shape Shape, Model Config, class Mask, class Position = ladon::position::Unrotated,
          class Layout = ladon::layout::InProj>
void check_growing_stack(const std::vector<Cut>& cuts) {
  constexpr ladon::FinalNorm final_norm = ladon::FinalNorm::with;
  using Many =
      ladon::Encoder<stack_of(Config, Shape, Layers, final_norm), Mask, Layout, ladon::score::Scaled, Position>;
  using One = ladon::Encoder<stack_of(Config, for_one(Shape), Layers, final_norm), Mask, Layout, ladon::score::Scaled,
                             Position>;
  static_assert(std::is_same_v<typename Many::Weights, typename One::Weights>);
  check_growing<Many, One, Mask, Position>({.layers = Layers,
                                            .layer = Config,
                                            .projections = Layout::projections,
                                            .output = Layout::output,
                                            .final_norm = true,
                                            .activation_bits = activation_bits<typename Layout::Precision>},
                                           cuts);
}

const std::vector<std::size_t> ones(12, 1);

}  // namespace

TEST_CASE("growing text: a stack as in Llama") {
  constexpr Model config{.feed_forward = 20,
                         .activation = ladon::Activation::silu,
                         .norm = ladon::NormOrder::pre,
                         .gated = true,
                         .norm_kind = ladon::NormKind::rms,
                         .bias = ladon::Bias::without};
  constexpr S shape{.queries = 6, .keys = 20, .model = 16, .heads = 4, .kv_heads = 2};
  using Layout = ladon::layout::WithoutBias<ladon::layout::InProj>;
  check_growing_stack<2, shape, config, Causal, Rotated, Layout>(
      {{{6, 1, 1, 3, 1, 1, 1, 6}}, {ones}, {{6, 6}}, {ones, false}});
}

TEST_CASE("growing text: norms of outputs, parallel sublayers, scales") {
  using ladon::NormOrder, ladon::Residual;
  constexpr S shape{.queries = 5, .keys = 18, .model = 48, .heads = 6, .kv_heads = 3};
  const std::vector<Cut> cuts{{{5, 1, 3, 1, 1, 5, 2}}, {ones}};
  check_growing_stack<2, shape,
                      Model{.feed_forward = 20,
                            .activation = ladon::Activation::xielu,
                            .norm = NormOrder::both,
                            .residual_scale = 0.5f,
                            .layer_scale = true,
                            .norm_kind = ladon::NormKind::rms,
                            .norm_gain = ladon::NormGain::one_plus_weight},
                      Causal, Rotated>(cuts);
  check_growing_stack<2, shape, Model{.feed_forward = 20, .norm = NormOrder::pre, .residual = Residual::parallel},
                      Causal>(cuts);
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("growing text: post-LN with a window: a stack, and a single layer") {
  constexpr Model config{.feed_forward = 7, .activation = ladon::Activation::gelu};
  constexpr S shape{.queries = 3, .keys = 8, .model = 12, .heads = 2};
  const std::vector<Cut> cuts{{{3, 3, 3, 3, 3, 1, 1, 1, 3}}, {std::vector<std::size_t>(25, 1)}};
  check_growing_stack<3, shape, config, Window<5>>(cuts);
  using Many = ladon::EncoderLayer<config.with(shape), Window<5>>;
  using One = ladon::EncoderLayer<config.with(for_one(shape)), Window<5>>;
  check_growing<Alone<Many>, Alone<One>, Window<5>>({.layer = config}, cuts);
}

namespace {

constexpr S scored_shape{.queries = 7, .keys = 19, .model = 12, .heads = 2};
constexpr Model scored_config{.feed_forward = 5, .norm = ladon::NormOrder::pre};
using Scored = ladon::EncoderLayer<scored_config.with(scored_shape), Causal>;
constexpr std::size_t scored_tokens = 6;

// Returns the scores that a layer captures at the stage `G` of their computation, for the first tokens of a text.
template <ladon::Stage G>
Floats scores_of(const EncoderProblem& problem, const std::vector<Floats>& tensors) {
  const auto weights = weights_of<Alone<Scored>>(tensors, problem.form.epsilon).layers[0];
  static Scored::Cache cache;
  static Scored::CachedWorkspace workspace;
  cache.clear();
  Floats y(Scored::Output::size), map(Scored::Map::size, poison());
  Scored::extend(problem.x.data(), cache, weights, y.data(), workspace, {.tokens = scored_tokens},
                 ladon::Capture<G>{map.data()});
  return map;
}

}  // namespace

TEST_CASE("growing text: every stage of a layer's scores") {
  Subject whole{};
  whole.shape = Scored::shape;
  const EncoderProblem problem = random_encoder(whole.shape, {.layer = scored_config}, 4);
  const std::vector<Floats> tensors = task_of(whole, problem, {}).weights;
  const oracle::Matrix x(scored_tokens, whole.shape.model, problem.x.data());
  const auto attended = oracle::encoder_layer(x, problem.layers[0], heads_of(whole.shape), scored_config, scored_tokens,
                                              scored_tokens, [](std::size_t q, std::size_t k) { return k <= q; });
  const auto check = [&](const Floats& map, const std::vector<oracle::Matrix>& scores, double beyond) {
    CHECK(worst_distance(map, expected_scores(whole.shape, scores, beyond)) <= 1);
  };
  check(scores_of<ladon::Stage::scaled>(problem, tensors), attended.scaled, 0);
  check(scores_of<ladon::Stage::capped>(problem, tensors), attended.capped, 0);
  check(scores_of<ladon::Stage::masked>(problem, tensors), attended.masked, -std::numeric_limits<double>::infinity());
}

TEST_CASE("growing text: int8, a stack and a single layer") {
  using Layout = ladon::layout::Int8<ladon::layout::InProj>;
  constexpr Model config{.feed_forward = 21, .norm = ladon::NormOrder::pre};
  constexpr S shape{.queries = 3, .keys = 12, .model = 14, .heads = 2};
  const std::vector<Cut> cuts{{{3, 1, 1, 3, 2}}, {ones, false}};
  check_growing_stack<2, shape, config, Causal, ladon::position::Unrotated, Layout>(cuts);
  using Many = ladon::EncoderLayer<config.with(shape), Causal, Layout>;
  using One = ladon::EncoderLayer<config.with(for_one(shape)), Causal, Layout>;
  check_growing<Alone<Many>, Alone<One>, Causal>({.layer = config, .activation_bits = 8}, cuts);
}
#endif

}  // namespace ladon_test
