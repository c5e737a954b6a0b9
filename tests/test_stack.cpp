// Tests that a layer of the user joins a stack (ladon/stack.hpp): an encoder layer that then doubles its result.
#include <array>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <ladon/encoder.hpp>

#include "random.hpp"
#include "random_weights.hpp"
#include "team.hpp"

namespace ladon_test {

namespace {

constexpr ladon::Model model{.tokens = 19, .keys = 19, .model = 12, .heads = 3, .feed_forward = 20};
using Usual = ladon::EncoderLayer<model>;

struct Doubling : Usual {
  template <class Packs>
  struct Steps : Usual::Steps<Packs> {
    using Base = Usual::Steps<Packs>;
    static constexpr void run(const auto& w, const auto& call, auto& shared, auto& scratch) noexcept {
      Base::run(w, call, shared, scratch);
      if (!call.share.has(call.first + 1)) return;
      const ladon::Range panels = call.share.of(Base::Sublayers::t.panels(call.lengths.self.queries));
      constexpr std::size_t stride = Base::Sublayers::stride;
      for (std::size_t i = panels.begin * stride; i < panels.end * stride; ++i) shared.x.data[i] *= 2;
    }
  };
};
using Mine = ladon::Stack<Doubling, 2>;

}  // namespace

TEST_CASE("a stack of layers of the user") {
  constexpr std::size_t size = model.tokens * model.model;
  const RandomWeights<Mine::Weights> random;
  const std::vector<float> x = Random(3).normals(size);
  std::vector<float> expected(size), y(size), in_parts(size);

  const auto layer_workspace = std::make_unique<Usual::Workspace>();
  Usual::run(x.data(), random.weights.layers[0], expected.data(), *layer_workspace);
  for (float& value : expected) value *= 2;
  Usual::run(expected.data(), random.weights.layers[1], expected.data(), *layer_workspace);
  for (float& value : expected) value *= 2;

  const auto workspace = std::make_unique<Mine::Workspace>();
  Mine::run(x.data(), random.weights, y.data(), *workspace);
  CHECK(y == expected);

  using Team = InTurn<3>;
  const auto team = std::make_unique<Mine::TeamWorkspace<Team::size>>();
  Team::drive(Mine::phases, [&](std::size_t phase, ladon::Share share) {
    Mine::run(x.data(), random.weights, in_parts.data(), team->part(phase, share));
  });
  CHECK(in_parts == expected);
}

}  // namespace ladon_test
