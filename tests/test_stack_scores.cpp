// Tests the scores that a stack of layers captures, also for a growing text. The scores must equal those that the same
// layers capture without a stack. test_scores and test_cached_encoder compare the scores of layers with the oracle.
#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "attention_subject.hpp"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;
using ladon::mask::Causal;

}  // namespace

TEST_CASE("every stage of a stack: encoder") {
  using Stack =
      ladon::Encoder<ladon::Model{.layers = 2, .tokens = 5, .model = 6, .heads = 2, .feed_forward = 4}, Causal>;
  using Layer = Stack::Layer;
  constexpr std::size_t map_size = 2 * 5 * 5;
  const RandomWeights<Stack::Weights> random;
  const Floats x = Random(8).normals(30);
  const auto check = [&]<ladon::Stage G>() {
    std::array<Floats, 2> run, layers, extended, alone;
    for (auto* maps : {&run, &layers, &extended, &alone}) maps->fill(Floats(map_size, poison()));
    const auto to = [](std::array<Floats, 2>& maps) {
      return Stack::Captures<G>{ladon::Capture<G>{maps[0].data()}, ladon::Capture<G>{maps[1].data()}};
    };
    static Stack::Workspace workspace;
    static Stack::CachedWorkspace cached;
    static Stack::Caches caches, own;
    Floats y(30), by_layers = x, grown(30), grown_by_layers = x;
    Stack::run(x.data(), random.weights, y.data(), workspace, {}, to(run));
    for (auto* each : {&caches, &own}) {
      for (auto& cache : *each) cache.clear();
    }
    Stack::extend(x.data(), caches, random.weights, grown.data(), cached, {}, to(extended));
    for (std::size_t i = 0; i < 2; ++i) {
      Layer::run(by_layers.data(), random.weights.layers[i], by_layers.data(), workspace, {}, to(layers)[i]);
      Layer::extend(grown_by_layers.data(), own[i], random.weights.layers[i], grown_by_layers.data(), cached, {},
                    to(alone)[i]);
      CHECK(same_bits(run[i], layers[i]));
      CHECK(same_bits(extended[i], alone[i]));
      CHECK(std::ranges::none_of(run[i], is_poison));
    }
    CHECK(same_bits(y, by_layers));
    CHECK(same_bits(grown, grown_by_layers));
    Floats only_second(map_size, poison());  // the scores of layer 1; layer 0 gets a null pointer
    Stack::run(x.data(), random.weights, y.data(), workspace, {},
               Stack::Captures<G>{ladon::Capture<G>{nullptr}, ladon::Capture<G>{only_second.data()}});
    CHECK(same_bits(only_second, run[1]));
  };
  check.operator()<ladon::Stage::scaled>();
  check.operator()<ladon::Stage::masked>();
  check.operator()<ladon::Stage::weights>();
}

TEST_CASE("every stage of a stack: decoder") {
  using Stack =
      ladon::Decoder<ladon::Model{.layers = 2, .tokens = 5, .memory = 7, .model = 6, .heads = 2, .feed_forward = 4},
                     Causal>;
  using Layer = Stack::Layer;
  const RandomWeights<Stack::Weights> random;
  const Floats x = Random(8).normals(30), memory = Random(9).normals(42);
  const auto check = [&]<ladon::Stage G>() {
    std::array<Floats, 4> run, layers;
    for (auto* maps : {&run, &layers})
      *maps = {Floats(50, poison()), Floats(70, poison()), Floats(50, poison()), Floats(70, poison())};
    const auto to = [](std::array<Floats, 4>& maps, std::size_t i) {
      return ladon::DecoderCaptures<G>{{maps[2 * i].data()}, {maps[2 * i + 1].data()}};
    };
    static Stack::Workspace workspace;
    Floats y(30), by_layers = x;
    Stack::run(x.data(), memory.data(), random.weights, y.data(), workspace, {},
               Stack::Captures<G>{to(run, 0), to(run, 1)});
    for (std::size_t i = 0; i < 2; ++i) {
      Layer::run(by_layers.data(), memory.data(), random.weights.layers[i], by_layers.data(), workspace, {},
                 to(layers, i));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(same_bits(run[i], layers[i]));
      CHECK(std::ranges::none_of(run[i], is_poison));
    }
    CHECK(same_bits(y, by_layers));
  };
  check.operator()<ladon::Stage::masked>();
  check.operator()<ladon::Stage::weights>();
}

}  // namespace ladon_test
