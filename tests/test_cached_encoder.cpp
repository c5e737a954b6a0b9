// A stack of layers with a cache each, fed in pieces: what the oracle makes of the whole text at once.
#include <algorithm>
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
  point(weights.norm, next);
  weights.norm.epsilon = epsilon;
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

// Shape: queries are the most tokens of a call, keys what the caches hold.
template <std::size_t Layers, ladon::Shape Shape, LayerConfig Config, class Mask,
          class Position = ladon::position::None>
void check_growing(const std::vector<Cut>& cuts, ladon::Bias attention = ladon::Bias::with) {
  using Layout = std::conditional_t<Config.bias == ladon::Bias::with, ladon::layout::InProj,
                                    ladon::layout::WithoutBias<ladon::layout::InProj>>;
  constexpr ladon::FinalNorm final_norm = ladon::FinalNorm::with;
  using Many = ladon::Encoder<Layers, Shape, Config, Mask, final_norm, Layout, ladon::score::Scaled, Position>;
  using One = ladon::Encoder<Layers, for_one(Shape), Config, Mask, final_norm, Layout, ladon::score::Scaled, Position>;
  static_assert(std::is_same_v<typename Many::Caches, typename One::Caches>);
  static_assert(std::is_same_v<typename Many::Weights, typename One::Weights>);
  for (const Cut& cut : cuts) {
    std::size_t length = 0;
    for (const std::size_t tokens : cut.pieces) length += tokens;
    CAPTURE(length);
    Subject whole{};
    whole.shape = Many::shape;
    whole.shape.queries = whole.shape.keys = length;
    whole.layers = Layers;
    whole.mask = MaskOf<Mask>::form;
    whole.score = score_form<Many::shape, ladon::score::Scaled, Position>();
    whole.score.rotary.first_query = 0;
    const EncoderForm form{
        .layers = Layers, .layer = Config, .projections = attention, .output = attention, .final_norm = true};
    const EncoderProblem problem = random_encoder(whole.shape, form, 3);
    const Expected expected = expected_encoder(whole, problem, {.lengths = {.offset = 0}}).y;

    const std::vector<Floats> tensors = task_of(whole, problem, {}).weights;
    const auto many = weights_of<Many>(tensors, form.epsilon);
    const auto one = weights_of<One>(tensors, form.epsilon);
    static typename Many::Caches caches;
    for (auto& cache : caches) cache.clear();
    Floats y(length * Shape.model);
    std::size_t at = 0;
    for (const std::size_t tokens : cut.pieces) {
      const float* const x = problem.x.data() + at * Shape.model;
      if (cut.by_one && tokens == 1) {
        extend<One, Position>(x, 1, caches, one, y.data() + at * Shape.model);
      } else {
        Floats padded(Shape.queries * Shape.model), out(Shape.queries * Shape.model, poison());
        std::copy_n(x, tokens * Shape.model, padded.begin());
        extend<Many, Position>(padded.data(), tokens, caches, many, out.data());
        std::copy_n(out.begin(), tokens * Shape.model, y.begin() + static_cast<std::ptrdiff_t>(at * Shape.model));
      }
      at += tokens;
    }
    CHECK(worst_distance(y, expected) <= 1);
  }
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
  check_growing<2, shape, config, Causal, Rotated>({{{6, 1, 1, 3, 1, 1, 1, 6}}, {ones}, {{6, 6}}, {ones, false}},
                                                   ladon::Bias::without);
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("growing text: post-LN, in a ring") {
  constexpr LayerConfig config{.feed_forward = 7, .activation = ladon::Activation::gelu};
  constexpr S shape{.queries = 3, .keys = 8, .model = 12, .heads = 2};
  check_growing<3, shape, config, Window<5>>({{{3, 3, 3, 3, 3, 1, 1, 1, 3}}, {std::vector<std::size_t>(25, 1)}});
}
#endif

}  // namespace ladon_test
