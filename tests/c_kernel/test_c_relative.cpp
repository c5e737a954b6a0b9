// Tests MASK relative: the kernel gives the bits of the C++ type, and NAME_relative_fill checks its arguments.
#include <doctest/doctest.h>
#include <ladon/ladon.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "c_relative.h"
#include "guarded_run.hpp"
#include "random.hpp"
#include "random_weights.hpp"

namespace ladon_test {

namespace {

constexpr ladon::Model model{.tokens = 3,
                             .keys = 12,
                             .model = 12,
                             .heads = 2,
                             .mask = {.causal = true, .relative = true},
                             .projection_bias = ladon::Bias::without,
                             .output_bias = ladon::Bias::without};
using Attention = ladon::MultiHeadAttention<model>;
using Table = ladon::RelativeTable<2, 12>;

}  // namespace

TEST_CASE("a kernel with numbers for each distance gives the bits of the C++ type") {
  const RandomWeights<Attention::Weights> random;
  const Attention::Weights& weights = random.weights;
  const c_relative_weights c_weights{weights.in_proj.weight.data, weights.out_proj.weight.data};
  const std::vector<float> x = Random(4).normals(4 * 36), bias = Random(5).normals(8 * 2);
  const auto workspace = std::make_unique<Attention::CachedWorkspace>();
  const auto cache = std::make_unique<Attention::Cache>();
  alignas(64) static unsigned char c_cache[C_RELATIVE_CACHE_BYTES];
  const auto table = std::make_unique<Table>(), c_table = std::make_unique<Table>();
  ladon::fill_relative_table(*table, bias.data(), {.count = 8, .causal = true, .max_distance = 9});
  c_table->values[Table::row_size - 1] = 1;  // the end of a row holds 0
  CHECK(c_relative_relative_fill(c_table->values, bias.data(), 8, 1, 9) == LADON_OK);
  c_relative_options options{};
  options.relative = c_table->values;
  CHECK(c_relative_cache_clear(c_cache) == LADON_OK);
  for (std::size_t call = 0; call < 4; ++call) {
    std::vector<float> expected(36), y(36);
    Attention::extend(x.data() + call * 36, *cache, weights, expected.data(), *workspace,
                      {.mask = {.second = {.table = table.get()}}});
    CHECK(c_relative_extend(x.data() + call * 36, c_cache, &c_weights, y.data(), workspace.get(), &options) ==
          LADON_OK);
    CHECK(same_bits(y, expected));
  }
}

TEST_CASE("a table of relative positions: wrong arguments") {
  std::vector<float> bias(64);
  const auto table = std::make_unique<Table>();
  const auto fill = [&](float* to, const float* from, std::size_t buckets, int causal, std::size_t max_distance) {
    return c_relative_relative_fill(to, from, buckets, causal, max_distance);
  };
  CHECK(fill(nullptr, bias.data(), 32, 0, 128) == LADON_NULL_OUTPUT);
  CHECK(fill(table->values, nullptr, 32, 0, 128) == LADON_NULL_INPUT);
  CHECK(fill(table->values, bias.data(), 3, 0, 128) == LADON_BAD_NUMBER);
  CHECK(fill(table->values, bias.data(), 1, 1, 128) == LADON_BAD_NUMBER);
  CHECK(fill(table->values, bias.data(), 32, 0, 8) == LADON_BAD_NUMBER);
  CHECK(fill(table->values, bias.data(), 32, 0, SIZE_MAX) == LADON_OK);
  CHECK(fill(table->values, bias.data(), 4, 0, 2) == LADON_OK);
  const RandomWeights<Attention::Weights> random;
  const Attention::Weights& weights = random.weights;
  const c_relative_weights c_weights{weights.in_proj.weight.data, weights.out_proj.weight.data};
  const auto workspace = std::make_unique<Attention::CachedWorkspace>();
  alignas(64) static unsigned char cache[C_RELATIVE_CACHE_BYTES];
  CHECK(c_relative_cache_clear(cache) == LADON_OK);
  std::vector<float> x(36), y(36);
  CHECK(c_relative_extend(x.data(), cache, &c_weights, y.data(), workspace.get(), nullptr) == LADON_NULL_OPTION);
}

}  // namespace ladon_test
