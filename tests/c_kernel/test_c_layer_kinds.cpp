// Tests LAYER_KINDS and KIND_OF_LAYER: the kernel of a stack whose layers have kinds gives the bits of the C++ type.
#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "c_layer_kinds.h"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

constexpr ladon::Model model{.layers = 3,
                             .tokens = 9,
                             .model = 8,
                             .heads = 2,
                             .feed_forward = 12,
                             .mask = {.causal = true},
                             .position = {.pairing = ladon::Pairing::halves, .width = 4, .positions = 12},
                             .kinds = {{.window = 2}, {.unrotated = true}, {}},
                             .kind_of_layer = {0, 2, 1}};
using Stack = ladon::Encoder<model>;

c_layer_kinds_weights as_c(const Stack::Weights& from) {
  c_layer_kinds_weights to{};
  for (std::size_t i = 0; i < model.layers; ++i) {
    const auto& layer = from.layers[i];
    const auto& [in_proj, out_proj] = layer.attention;
    to.layers[i] = {.attention = {in_proj.weight.data, in_proj.bias.data, out_proj.weight.data, out_proj.bias.data},
                    .linear1_weight = layer.linear1.weight.data,
                    .linear1_bias = layer.linear1.bias.data,
                    .linear2_weight = layer.linear2.weight.data,
                    .linear2_bias = layer.linear2.bias.data,
                    .norm1_weight = layer.norm1.weight.data,
                    .norm1_bias = layer.norm1.bias.data,
                    .norm2_weight = layer.norm2.weight.data,
                    .norm2_bias = layer.norm2.bias.data};
  }
  return to;
}

}  // namespace

TEST_CASE("a kernel whose layers have kinds gives the bits of the C++ type") {
  const RandomWeights<Stack::Weights> random;
  const std::vector<float> x = Random(4).normals(Stack::Input::size);
  std::vector<float> expected(Stack::Output::size), y(Stack::Output::size);
  const auto local = ladon::rotary_table<12, 4>(100), global = ladon::rotary_table<12, 4>(10000);
  const auto workspace = std::make_unique<Stack::Workspace>();
  Stack::run(x.data(), random.weights, expected.data(), *workspace,
             {.position = {.table = {&local, nullptr, &global}}});

  c_layer_kinds_rotary_table c_local, c_global;
  CHECK(c_layer_kinds_rotary_fill(&c_local, 100, 1) == LADON_OK);
  CHECK(c_layer_kinds_rotary_fill(&c_global, 10000, 1) == LADON_OK);
  const c_layer_kinds_weights weights = as_c(random.weights);
  c_layer_kinds_options options{};
  options.rotary[0] = &c_local;
  options.rotary[2] = &c_global;
  CHECK(c_layer_kinds_run_with(x.data(), &weights, y.data(), workspace.get(), &options) == LADON_OK);
  CHECK(same_bits(y, expected));
  options.rotary[0] = nullptr;
  CHECK(c_layer_kinds_run_with(x.data(), &weights, y.data(), workspace.get(), &options) == LADON_NULL_OPTION);
}

}  // namespace ladon_test
