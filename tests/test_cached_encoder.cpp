// A stack of layers with a cache each, fed in pieces: what the oracle makes of the whole text at once.
#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "cached_check.hpp"
#include "encoder_check.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::LayerConfig, ladon::mask::Causal, ladon::mask::Window;

// As in Llama: rotated in neighbouring pairs, grouped heads; the form of its layers is below.
using Rotated = RotaryOf<ladon::Pairing::neighbours, 4, 40>;

template <class Encoder>
typename Encoder::Weights weights_of(const std::vector<Floats>& tensors, float epsilon) {
  std::vector<const float*> pointers;
  for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
  typename Encoder::Weights weights;
  const float* const* next = pointers.data();
  for (auto& layer : weights.layers) {
    point(layer, next);
    layer.norm1.epsilon = layer.norm2.epsilon = epsilon;
  }
  if constexpr (requires { weights.norm; }) {
    point(weights.norm, next);
    weights.norm.epsilon = epsilon;
  }
  return weights;
}

template <class Encoder, class Position>
void extend(const float* x, std::size_t tokens, typename Encoder::Caches& caches,
            const typename Encoder::Weights& weights, float* y) {
  static typename Encoder::CachedWorkspace workspace;
  typename Encoder::Options options;
  set_position<Position>(options, {});
  options.tokens = tokens;
  Encoder::extend(x, caches, weights, y, workspace, options);
}

// A single layer, called as a stack of one.
template <class Layer>
struct Alone {
  static constexpr ladon::Shape shape = Layer::shape;
  struct Weights {
    std::array<typename Layer::Weights, 1> layers;
  };
  using Caches = std::array<typename Layer::Cache, 1>;
  using CachedWorkspace = typename Layer::CachedWorkspace;
  using Options = typename Layer::Options;
  static void extend(const float* x, Caches& caches, const Weights& weights, float* y, CachedWorkspace& workspace,
                     const Options& options) {
    Layer::extend(x, caches[0], weights.layers[0], y, workspace, options);
  }
};

// Many takes up to Many::shape.queries tokens in a call, One takes one. The shape's keys are what the caches hold.
template <class Many, class One, class Mask, class Position = ladon::position::None>
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
    const Expected expected = expected_encoder(whole, problem, {.lengths = {.offset = 0}}).y;

    const std::vector<Floats> tensors = task_of(whole, problem, {}).weights;
    const auto many = weights_of<Many>(tensors, form.epsilon);
    const auto one = weights_of<One>(tensors, form.epsilon);
    static typename Many::Caches caches;
    for (auto& cache : caches) cache.clear();
    Floats y(length * shape.model);
    std::size_t at = 0;
    for (const std::size_t tokens : cut.pieces) {
      const float* const x = problem.x.data() + at * shape.model;
      if (cut.by_one && tokens == 1) {
        extend<One, Position>(x, 1, caches, one, y.data() + at * shape.model);
      } else {
        Floats padded(shape.queries * shape.model), out(shape.queries * shape.model, poison());
        std::copy_n(x, tokens * shape.model, padded.begin());
        extend<Many, Position>(padded.data(), tokens, caches, many, out.data());
        std::copy_n(out.begin(), tokens * shape.model, y.begin() + static_cast<std::ptrdiff_t>(at * shape.model));
      }
      at += tokens;
    }
    CHECK(worst_distance(y, expected) <= 1);
  }
}

// A stack of layers and a final norm.
template <std::size_t Layers, ladon::Shape Shape, LayerConfig Config, class Mask,
          class Position = ladon::position::None, class Layout = ladon::layout::InProj>
void check_growing_stack(const std::vector<Cut>& cuts) {
  constexpr ladon::FinalNorm final_norm = ladon::FinalNorm::with;
  using Many = ladon::Encoder<Layers, Shape, Config, Mask, final_norm, Layout, ladon::score::Scaled, Position>;
  using One = ladon::Encoder<Layers, for_one(Shape), Config, Mask, final_norm, Layout, ladon::score::Scaled, Position>;
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
  constexpr LayerConfig config{.feed_forward = 20,
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

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("growing text: post-LN, in a ring; a stack, and a layer alone") {
  constexpr LayerConfig config{.feed_forward = 7, .activation = ladon::Activation::gelu};
  constexpr S shape{.queries = 3, .keys = 8, .model = 12, .heads = 2};
  const std::vector<Cut> cuts{{{3, 3, 3, 3, 3, 1, 1, 1, 3}}, {std::vector<std::size_t>(25, 1)}};
  check_growing_stack<3, shape, config, Window<5>>(cuts);
  using Many = ladon::EncoderLayer<shape, config, Window<5>>;
  using One = ladon::EncoderLayer<for_one(shape), config, Window<5>>;
  check_growing<Alone<Many>, Alone<One>, Window<5>>({.layer = config}, cuts);
}

TEST_CASE("growing text: int8, a stack and a layer alone") {
  using Layout = ladon::layout::Int8<ladon::layout::InProj>;
  constexpr LayerConfig config{.feed_forward = 21, .norm = ladon::NormOrder::pre};
  constexpr S shape{.queries = 3, .keys = 12, .model = 14, .heads = 2};
  const std::vector<Cut> cuts{{{3, 1, 1, 3, 2}}, {ones, false}};
  check_growing_stack<2, shape, config, Causal, ladon::position::None, Layout>(cuts);
  using Many = ladon::EncoderLayer<shape, config, Causal, Layout>;
  using One = ladon::EncoderLayer<for_one(shape), config, Causal, Layout>;
  check_growing<Alone<Many>, Alone<One>, Causal>({.layer = config, .activation_bits = 8}, cuts);
}
#endif

}  // namespace ladon_test
