// SPDX-License-Identifier: Apache-2.0
// Tests that ladon-import expects of a checkpoint what the program's `load` expects.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <ladon/quantise.hpp>
#include <ladon/safetensors.hpp>
#include <string>
#include <vector>

#include "layer_members.hpp"
#include "safetensors_file.hpp"
#include "testing/fixtures.hpp"

namespace ladon::import {
namespace {

template <class Stack>
std::string members_of_load() {
  typename Stack::Weights weights{};
  std::string members = "kv_heads " + std::to_string(Stack::shape.complete().kv_heads) + "\n";
  safetensors::detail::for_each_tensor_of<Stack::shape>(weights,
                                                        [&](auto&, const std::string& line) { members += line; });
  return members;
}
template <Model M>
void check() {
  if constexpr (M.memory > 0)
    CHECK(layer_members(M, true) == members_of_load<Decoder<M>>());
  else
    CHECK(layer_members(M, false) == members_of_load<Encoder<M>>());
}

constexpr Model small{.layers = 2, .tokens = 5, .model = 8, .heads = 4, .feed_forward = 24};
constexpr Model changed(auto change) {
  Model model = small;
  change(model);
  return model;
}

constexpr Model llama = changed([](Model& m) {
  m.kv_heads = 2, m.norm = NormOrder::pre, m.norm_kind = NormKind::rms, m.gated = true, m.final_norm = FinalNorm::with;
  m.bias = m.projection_bias = m.output_bias = Bias::without, m.layout = LayoutKind::separate_qkv;
  m.query_key_norm = {.over = HeadNorm::head}, m.precision = PrecisionKind::bfloat16;
});
constexpr Model codegen = changed([](Model& m) {
  m.norm = NormOrder::pre, m.residual = Residual::parallel_one_norm, m.projection_blocks = 4;
  m.values_before_keys = true, m.projection_bias = Bias::without, m.precision = PrecisionKind::int8;
});
constexpr Model gemma = changed([](Model& m) {
  m.norm = NormOrder::both, m.head_width = 6, m.feed_forward_norm_kind = NormKind::rms;
  m.query_key_norm = {.over = HeadNorm::all, .kind = NormKind::layer, .bias = Bias::with};
  m.layout = LayoutKind::in_out, m.activation = Activation::xielu;
});
constexpr Model beit = changed([](Model& m) {
  m.norm = NormOrder::pre, m.layer_scale = m.layer_bias = true, m.norm_bias = Bias::without;
  m.layout = LayoutKind::in_proj_in_out, m.query_key_norm = {.over = HeadNorm::each_head};
});
constexpr Model t5gemma = changed([](Model& m) {
  m.memory = 7, m.norm = NormOrder::both, m.kv_heads = 2, m.value_width = 4, m.final_norm = FinalNorm::with;
  m.layout = LayoutKind::separate_qkv, m.precision = PrecisionKind::rotated_int8;
});

}  // namespace

TEST_SUITE_BEGIN("layer_members");

TEST_CASE("the tensors of layers are those of load") {
  check<small>();
  check<llama>();
  check<codegen>();
  check<gemma>();
  check<beit>();
  check<t5gemma>();
}

TEST_CASE("--keep and --budget choose the linear maps that get 8 bits") {
  using Names = std::vector<std::string>;
  const Model minilm{
      .layers = 6, .tokens = 8, .model = 384, .heads = 12, .feed_forward = 1536, .layout = LayoutKind::separate_qkv};
  double share = 0;
  const auto chosen = [&](const Names& keep, double budget) {
    const Choices choices{
        .name = "m", .precision = PrecisionKind::rotated_int4, .keep = keep, .budget = budget, .source = ""};
    return int8_members(minilm, false, choices, share);
  };
  CHECK(chosen({"layers.2.linear1", "5.*value"}, 0) == Names{"layers.2.linear1", "layers.5.attention.value_proj"});
  CHECK(share == doctest::Approx(0.5563).epsilon(1e-3));
  CHECK(chosen({"."}, 0) == Names{"layers.0", "layers.1", "layers.2", "layers.3", "layers.4", "layers.5"});
  CHECK(share == 1);
  CHECK(chosen({}, 0.7616) == Names{"layers.3", "layers.4", "layers.5"});
  CHECK(share == doctest::Approx(0.7615).epsilon(1e-3));
  CHECK(chosen({"layers.0.linear1"}, 0.64) == Names{"layers.0.linear1", "layers.4.attention.value_proj", "layers.5"});
  CHECK(share <= 0.64);
  CHECK(chosen({}, 0.524).empty());
  CHECK_THROWS_WITH_AS(chosen({}, 0.4), "--budget is 40%, and the weights take 52.3% of the bytes of int8",
                       Unsupported);
  CHECK_THROWS_WITH_AS(chosen({"linear3"}, 0),
                       "--keep: no linear map of the layers has a name with \"linear3\"; a name is such as "
                       "\"layers.0.attention.query_proj\"",
                       Unsupported);
}

TEST_CASE("load gives int8 weights to the members that the options name") {
  files::Checkpoint checkpoint;
  for (const std::string layer : {"0.", "1."}) {
    checkpoint.add(layer + "self_attn.in_proj_weight", 96, 32, 1).add(layer + "self_attn.in_proj_bias", 96, 1);
    checkpoint.add(layer + "self_attn.out_proj.weight", 32, 32, 1).add(layer + "self_attn.out_proj.bias", 32, 1);
    checkpoint.add(layer + "linear1.weight", 8, 32, 1).add(layer + "linear1.bias", 8, 1);
    checkpoint.add(layer + "linear2.weight", 32, 8, 1).add(layer + "linear2.bias", 32, 1);
    for (const char* norm : {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"})
      checkpoint.add(layer + norm, 32, 1);
  }
  constexpr Model model{
      .layers = 2, .tokens = 5, .model = 32, .heads = 4, .feed_forward = 8, .precision = PrecisionKind::rotated_int4};
  const examples::TemporaryFolder folder;
  const safetensors::File file(folder.file("m.safetensors", checkpoint.content()));
  const auto load = [&](const std::vector<std::string>& int8_members) {
    return safetensors::load<Encoder<model>>(file, "", {.int8_members = int8_members});
  };
  const auto four = load({}), mixed = load({"layers.1", "layers.0.linear2"});
  CHECK(four.layers[1].linear1.int8_weight.data == nullptr);
  CHECK(mixed.layers[0].linear1.int8_weight.data == nullptr);
  CHECK(mixed.layers[0].linear1.weight.data == four.layers[0].linear1.weight.data);
  CHECK(mixed.layers[0].linear2.weight.data == nullptr);
  REQUIRE(mixed.layers[0].linear2.int8_weight.data != nullptr);
  REQUIRE(mixed.layers[1].attention.in_proj.int8_weight.data != nullptr);
  std::vector<std::int8_t> integers(96 * 32);
  std::vector<float> scale(96);
  const Linear<96, 32, Order::out_in, Bias::without> floats{
      reinterpret_cast<const float*>(file.tensor("1.self_attn.in_proj_weight", {96, 32}))};
  REQUIRE(quantise_rotated(floats, integers.data(), scale.data()));
  const auto& in_proj = mixed.layers[1].attention.in_proj;
  CHECK(std::equal(integers.begin(), integers.end(), in_proj.int8_weight.data));
  CHECK(std::equal(scale.begin(), scale.end(), in_proj.scale.data));
  CHECK_THROWS_WITH_AS(
      load({"layers.2"}),
      "int8_members has \"layers.2\", which is no linear map with 4-bit weights, and no layer with such "
      "maps",
      safetensors::Error);
  CHECK_THROWS_AS(load({"layers.0.norm1"}), safetensors::Error);
}

TEST_SUITE_END();

}  // namespace ladon::import
