// Tests a kernel with 4-bit weights. NAME_quantise must write the weights that ladon::quantise_rotated_int4 writes, and
// the kernel must compute what the C++ type with the same model computes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include <ladon/ladon.hpp>

#include "c_int4_layer.h"
#include "random.hpp"

namespace ladon_test {

TEST_CASE("int4, rotated: an encoder layer, and weights that were quantised on the device") {
  constexpr ladon::Model model{
      .tokens = 19, .model = 40, .heads = 2, .feed_forward = 72, .precision = ladon::PrecisionKind::rotated_int4};
  using Layer = ladon::EncoderLayer<model>;
  Random random(16);
  std::deque<std::vector<float>> tensors;
  const auto tensor = [&](std::size_t size) { return tensors.emplace_back(random.normals(size, 0.3)).data(); };
  c_int4_layer_float_weights floats{};
  floats.attention = {tensor(120 * 40), tensor(120), tensor(40 * 40), tensor(40)};
  floats.linear1_weight = tensor(72 * 40), floats.linear1_bias = tensor(72);
  floats.linear2_weight = tensor(40 * 72), floats.linear2_bias = tensor(40);
  floats.norm1_weight = tensor(40), floats.norm1_bias = tensor(40);
  floats.norm2_weight = tensor(40), floats.norm2_bias = tensor(40);
  alignas(C_INT4_LAYER_QUANTISED_ALIGN) static std::array<unsigned char, C_INT4_LAYER_QUANTISED_BYTES> memory;
  c_int4_layer_weights weights{};
  REQUIRE(c_int4_layer_quantise(&floats, &weights, memory.data()) == LADON_OK);

  std::array<std::uint8_t, 40 * ladon::int4_row_bytes(72)> codes{};
  std::array<float, 40> scale{};
  std::array<std::int32_t, 40> sums{};
  const ladon::Linear<40, 72> linear2{floats.linear2_weight, floats.linear2_bias};
  REQUIRE(ladon::quantise_rotated_int4(linear2, codes, scale));
  ladon::int4_row_sums<40, 72>(codes, sums);
  CHECK(std::memcmp(weights.linear2_weight, codes.data(), sizeof codes) == 0);
  CHECK(std::memcmp(weights.linear2_weight_scale, scale.data(), sizeof scale) == 0);
  CHECK(std::memcmp(weights.linear2_weight_row_sum, sums.data(), sizeof sums) == 0);

  Layer::Weights same;
  const auto point = [](auto& to, auto weight, auto row_scale, auto row_sum, auto bias) {
    to.weight = weight, to.scale = row_scale, to.row_sum = row_sum, to.bias = bias;
  };
  const auto& attention = weights.attention;
  point(same.attention.in_proj, attention.in_proj_weight, attention.in_proj_weight_scale,
        attention.in_proj_weight_row_sum, attention.in_proj_bias);
  point(same.attention.out_proj, attention.out_proj_weight, attention.out_proj_weight_scale,
        attention.out_proj_weight_row_sum, attention.out_proj_bias);
  point(same.linear1, weights.linear1_weight, weights.linear1_weight_scale, weights.linear1_weight_row_sum,
        weights.linear1_bias);
  point(same.linear2, weights.linear2_weight, weights.linear2_weight_scale, weights.linear2_weight_row_sum,
        weights.linear2_bias);
  same.norm1.weight = weights.norm1_weight, same.norm1.bias = weights.norm1_bias;
  same.norm2.weight = weights.norm2_weight, same.norm2.bias = weights.norm2_bias;

  const float* const x = tensor(19 * 40);
  std::array<float, 19 * 40> y{}, expected{};
  alignas(C_INT4_LAYER_WORKSPACE_ALIGN) static std::array<unsigned char, C_INT4_LAYER_WORKSPACE_BYTES> workspace;
  static Layer::Workspace own_workspace;
  for (const std::size_t tokens : {1, 2, 7, 19}) {
    CAPTURE(tokens);
    c_int4_layer_options options{};
    options.tokens = tokens;
    REQUIRE(c_int4_layer_run_with(x, &weights, y.data(), workspace.data(), &options) == LADON_OK);
    Layer::Options own_options{};
    own_options.queries = own_options.keys = tokens;
    Layer::run(x, same, expected.data(), own_workspace, own_options);
    for (std::size_t i = 0; i < tokens * 40; ++i) CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-4));
  }

  std::vector<float> infinite(72 * 40);
  infinite[5] = INFINITY;
  floats.linear1_weight = infinite.data();
  CHECK(c_int4_layer_quantise(&floats, &weights, memory.data()) == LADON_NOT_FINITE);
}

}  // namespace ladon_test
