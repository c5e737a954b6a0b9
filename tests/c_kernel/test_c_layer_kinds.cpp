// Tests LAYER_KINDS and KIND_OF_LAYER: the kernel of a stack whose layers have kinds gives the bits of the C++ type.
#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "c_layer_kinds.h"
#include "c_window_keys.h"
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

template <class To>
To as_c(const auto& from) {
  To to{};
  for (std::size_t i = 0; i < from.layers.size(); ++i) {
    const auto& layer = from.layers[i];
    const auto &in_proj = layer.attention.in_proj, &out_proj = layer.attention.out_proj;
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

ladon_rotary_scaling scaling_of(int kind,
                                std::initializer_list<std::pair<double ladon_rotary_scaling::*, double>> numbers = {}) {
  ladon_rotary_scaling scaling{};
  scaling.kind = kind;
  for (const auto& [member, number] : numbers) scaling.*member = number;
  return scaling;
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
  const auto weights = as_c<c_layer_kinds_weights>(random.weights);
  c_layer_kinds_options options{};
  options.rotary[0] = &c_local;
  options.rotary[2] = &c_global;
  CHECK(c_layer_kinds_run_with(x.data(), &weights, y.data(), workspace.get(), &options) == LADON_OK);
  CHECK(same_bits(y, expected));
  options.rotary[0] = nullptr;
  CHECK(c_layer_kinds_run_with(x.data(), &weights, y.data(), workspace.get(), &options) == LADON_NULL_OPTION);
}

TEST_CASE(
    "a kernel in which layers with a window have rings gives the bits of the C++ type, and its cache is smaller") {
  constexpr ladon::Model rings{.layers = 3,
                               .tokens = 3,
                               .keys = 18,
                               .window_keys = 7,
                               .model = 8,
                               .heads = 2,
                               .feed_forward = 12,
                               .mask = {.causal = true},
                               .kinds = {{.window = 4}, {}}};
  using Growing = ladon::Encoder<rings>;
  const RandomWeights<Growing::Weights> random;
  const auto weights = as_c<c_window_keys_weights>(random.weights);
  const std::vector<float> x = Random(4).normals(6 * 24);
  const auto workspace = std::make_unique<Growing::CachedWorkspace>();
  const auto caches = std::make_unique<Growing::Caches>();
  CHECK(C_WINDOW_KEYS_CACHE_BYTES < sizeof(Growing::Caches) + 129);
  alignas(64) static unsigned char cache[C_WINDOW_KEYS_CACHE_BYTES];
  CHECK(c_window_keys_cache_clear(cache) == LADON_OK);
  std::vector<float> expected(24), y(24);
  const auto extend = [&](std::size_t call) {
    return c_window_keys_extend(x.data() + call * 24, cache, &weights, y.data(), workspace.get(), nullptr);
  };
  for (std::size_t call = 0; call < 6; ++call) {
    Growing::extend(x.data() + call * 24, *caches, random.weights, expected.data(), *workspace);
    CHECK(extend(call) == LADON_OK);
    CHECK(same_bits(y, expected));
    CHECK(c_window_keys_cache_length(cache) == 3 * call + 3);
  }
  CHECK(extend(0) == LADON_CACHE_FULL);
}

TEST_CASE("a rotary table with scaled frequencies has the bits of the C++ table, and wrong numbers are refused") {
  c_layer_kinds_rotary_table table;
  using C = ladon_rotary_scaling;
  C from{};
  const auto scale = [&] { return c_layer_kinds_rotary_scale(&table, &from); };
  const auto same = [&](const ladon::RotaryScaling& scaling) {
    const auto expected = ladon::rotary_table<12, 4>(scaling);
    return scale() == LADON_OK && std::memcmp(&table, &expected, sizeof(table)) == 0;
  };
  CHECK(same({}));
  from = scaling_of(LADON_ROTARY_LINEAR, {{&C::base, 50}, {&C::factor, 3}});
  CHECK(same({.kind = ladon::RotaryKind::linear, .base = 50, .factor = 3}));
  from = scaling_of(LADON_ROTARY_LLAMA3, {{&C::base, 50}, {&C::factor, 8}, {&C::original_positions, 16}});
  CHECK(same({.kind = ladon::RotaryKind::llama3, .base = 50, .factor = 8, .original_positions = 16}));
  from = scaling_of(LADON_ROTARY_YARN, {{&C::factor, 4}, {&C::original_positions, 64}});
  from.not_truncated = 1;
  from.negated = 1;
  CHECK(same(
      {.kind = ladon::RotaryKind::yarn, .factor = 4, .original_positions = 64, .truncate = false, .negated = true}));
  const double factors[] = {1, 2.5};
  from = scaling_of(LADON_ROTARY_LONGROPE, {{&C::factor, 4}, {&C::original_positions, 64}});
  from.factors = factors;
  CHECK(same({.kind = ladon::RotaryKind::longrope, .factor = 4, .original_positions = 64, .factors = factors}));
  from = scaling_of(LADON_ROTARY_PROPORTIONAL, {{&C::proportion, 0.5}});
  CHECK(same({.kind = ladon::RotaryKind::proportional, .proportion = 0.5}));
  from = scaling_of(LADON_ROTARY_DYNAMIC, {{&C::factor, 4}, {&C::original_positions, 6}});
  CHECK(same({.kind = ladon::RotaryKind::dynamic, .factor = 4, .original_positions = 6}));

  CHECK(c_layer_kinds_rotary_scale(nullptr, &from) == LADON_NULL_OUTPUT);
  CHECK(c_layer_kinds_rotary_scale(&table, nullptr) == LADON_NULL_INPUT);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const C& wrong :
       {scaling_of(7), scaling_of(-1), scaling_of(0, {{&C::base, 1.5}}), scaling_of(0, {{&C::base, nan}}),
        scaling_of(LADON_ROTARY_LINEAR, {{&C::factor, -1}}),
        scaling_of(LADON_ROTARY_DYNAMIC, {{&C::factor, 0.5}, {&C::original_positions, 6}}),
        scaling_of(LADON_ROTARY_LLAMA3, {{&C::factor, 8}}),
        scaling_of(LADON_ROTARY_LLAMA3, {{&C::factor, 8}, {&C::original_positions, 16}, {&C::low_frequency_factor, 4}}),
        scaling_of(LADON_ROTARY_YARN, {{&C::factor, 8}, {&C::original_positions, nan}}),
        scaling_of(LADON_ROTARY_YARN, {{&C::factor, 8}, {&C::original_positions, 16}, {&C::attention_factor, nan}}),
        scaling_of(LADON_ROTARY_LONGROPE, {{&C::factor, 8}, {&C::original_positions, 16}}),
        scaling_of(LADON_ROTARY_PROPORTIONAL, {{&C::proportion, 2}})}) {
    from = wrong;
    CHECK(scale() == LADON_BAD_NUMBER);
  }
  from = scaling_of(LADON_ROTARY_LONGROPE, {{&C::factor, 8}, {&C::original_positions, 1}});
  from.factors = factors;
  CHECK(scale() == LADON_BAD_NUMBER);
}

}  // namespace ladon_test
