// SPDX-License-Identifier: Apache-2.0
// Tests that ladon-import expects of a checkpoint what the program's `load` expects.
#include <doctest/doctest.h>

#include <ladon/safetensors.hpp>
#include <string>

#include "layer_members.hpp"

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

TEST_SUITE_END();

}  // namespace ladon::import
