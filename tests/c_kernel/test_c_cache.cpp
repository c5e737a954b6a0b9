// Tests kernels with a cache. The results of a kernel must equal the results of the C++ type with the same sizes and
// options. A kernel must reject a full cache, and a cache that another kernel has filled.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "attention_subject.hpp"
#include "c_grown.h"
#include "c_grown_stack.h"
#include "c_projected.h"
#include "c_subject.hpp"
#include "random.hpp"

namespace ladon_test {

namespace {

using Floats = std::vector<float>;

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

// The tensors of a kernel's weights. add() appends a tensor with random numbers, in the order of the members of the C
// weights struct. get() returns pointers to all tensors, which c_weights (c_subject.hpp) takes.
struct Tensors {
  std::vector<Floats> data;
  std::vector<const float*> pointers;
  void add(Random& random, std::size_t size) { data.push_back(random.normals(size, 0.3)); }
  const float* const* get() {
    for (const Floats& tensor : data) pointers.push_back(tensor.data());
    return pointers.data();
  }
};

constexpr ladon::Shape grown_shape{
    .queries = 4, .keys = 40, .model = 16, .heads = 2, .cache_precision = ladon::CachePrecision::bfloat16};
using Grown = ladon::MultiHeadAttention<grown_shape, ladon::mask::Window<9, 0>,
                                        ladon::layout::WithoutBias<ladon::layout::PerHead>, ladon::score::Scaled,
                                        ladon::position::Rotary<ladon::Pairing::halves, 8, 64>>;

// Returns random weights of c_grown_stack. They point to `tensors`.
c_grown_stack_weights stack_weights(Tensors& tensors, Random& random) {
  for (int layer = 0; layer < C_GROWN_STACK_LAYERS; ++layer) {
    for (const std::size_t size : {192u, 24u, 64u, 8u, 96u, 12u, 96u, 8u, 8u, 8u, 8u, 8u}) tensors.add(random, size);
  }
  return c_weights<c_grown_stack_weights>(tensors.get());
}

}  // namespace

TEST_CASE("a growing text with rotary embedding and a bfloat16 cache") {
  Random random(3);
  Tensors tensors;
  for (int i = 0; i < 6; ++i) tensors.add(random, 16 * 8);
  tensors.add(random, 16 * 16);
  const auto weights = c_weights<c_grown_weights>(tensors.get());
  Grown::Weights same;
  const float* const* next = tensors.pointers.data();
  point(same, next);

  c_grown_rotary_table table;
  REQUIRE(c_grown_rotary_fill(&table, 10000, 1) == LADON_OK);
  const auto same_table = ladon::rotary_table<64, 8>();
  CHECK(table.cosine[2][63] == same_table.cosine[2][63]);
  CHECK(table.sine[3][0] == same_table.sine[3][0]);

  static Memory<C_GROWN_CACHE_BYTES> cache;
  static Memory<C_GROWN_WORKSPACE_BYTES> workspace;
  static Grown::Cache same_cache;
  static Grown::CachedWorkspace same_workspace;
  CHECK(sizeof(cache) <= sizeof(same_cache) + 64);
  Floats y(4 * 16), map(2 * 4 * 40), expected(4 * 16), expected_map(2 * 4 * 40);
  c_grown_options options{};
  options.rotary = &table;
  options.attention = map.data();
  REQUIRE(c_grown_extend(y.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) ==
          LADON_CACHE_NOT_CLEARED);
  REQUIRE(c_grown_cache_clear(cache.bytes) == LADON_OK);
  std::size_t length = 0;
  for (const std::size_t tokens : {1u, 4u, 3u, 4u, 1u, 2u}) {
    const Floats x = random.normals(4 * 16);
    options.tokens = tokens;
    REQUIRE(c_grown_extend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) == LADON_OK);
    Grown::extend(Grown::Queries(x.data()), same_cache, same, Grown::Output(expected.data()), same_workspace,
                  {.tokens = tokens, .position = {.table = &same_table}}, Grown::Map(expected_map.data()));
    length += tokens;
    CHECK(c_grown_cache_length(cache.bytes) == length);
    CHECK(y == expected);
    CHECK(map == expected_map);
  }
  // Extends the text until all 64 positions of the rotary table are used. The next call must fail because of the table.
  // The cache is never full: it is a ring buffer, which accepts any number of tokens.
  options.tokens = 4;
  while (length + 4 <= 64) {
    REQUIRE(c_grown_extend(y.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) == LADON_OK);
    length += 4;
  }
  CHECK(c_grown_extend(y.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) ==
        LADON_LENGTH_BEYOND_SHAPE);
  CHECK(c_grown_cache_length(cache.bytes) == length);
}

TEST_CASE("keys and values of a context, from tokens of different widths, projected once") {
  using Projected = ladon::MultiHeadAttention<
      ladon::Shape{.queries = 5, .keys = 11, .model = 16, .heads = 2, .key_model = 12, .value_model = 20},
      ladon::mask::Boolean, ladon::layout::SeparateQKV>;
  Random random(4);
  Tensors tensors;
  for (const std::size_t in : {16u, 12u, 20u, 16u}) {
    tensors.add(random, 16 * in);
    tensors.add(random, 16);
  }
  const auto weights = c_weights<c_projected_weights>(tensors.get());
  Projected::Weights same;
  const float* const* next = tensors.pointers.data();
  point(same, next);

  const Floats keys = random.normals(11 * 12), values = random.normals(11 * 20), x = random.normals(5 * 16);
  std::vector<std::uint8_t> pairs(5 * 11, 1);
  for (std::size_t i = 0; i < pairs.size(); i += 3) pairs[i] = 0;
  static Memory<C_PROJECTED_CACHE_BYTES> cache;
  static Memory<C_PROJECTED_WORKSPACE_BYTES> workspace;
  static Projected::Cache same_cache;
  static Projected::KeyWorkspace key_workspace;
  static Projected::CachedWorkspace query_workspace;
  Floats y(5 * 16), expected(5 * 16);
  c_projected_options options{};
  REQUIRE(c_projected_cache_clear(cache.bytes) == LADON_OK);
  CHECK(c_projected_attend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, nullptr) ==
        LADON_CACHE_NOT_CLEARED);
  options.keys = 9;
  REQUIRE(c_projected_project_keys(keys.data(), values.data(), cache.bytes, &weights, workspace.bytes, &options) ==
          LADON_OK);
  CHECK(c_projected_cache_length(cache.bytes) == 9);
  Projected::project_keys(keys.data(), values.data(), same, same_cache, key_workspace, {.keys = 9});

  options.boolean = pairs.data();
  for (const std::size_t few : {0u, 4u}) {
    options.keys = few;
    REQUIRE(c_projected_attend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) == LADON_OK);
    Projected::attend(x.data(), same_cache, same, expected.data(), query_workspace,
                      {.keys = few == 0 ? 9 : few, .mask = {.may_see = pairs.data()}});
    CHECK(y == expected);
  }
  options.keys = 10;
  CHECK(c_projected_attend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options) ==
        LADON_LENGTH_BEYOND_SHAPE);
}

TEST_CASE("a cache becomes full, also the cache of a stack") {
  Random random(5);
  Tensors tensors;
  const auto weights = stack_weights(tensors, random);
  static Memory<C_GROWN_STACK_CACHE_BYTES> cache;
  static Memory<C_GROWN_STACK_WORKSPACE_BYTES> workspace;
  const Floats x = random.normals(3 * 8);
  Floats y(3 * 8);
  const auto extend = [&](std::size_t tokens) {
    c_grown_stack_options options{};
    options.tokens = tokens;
    return c_grown_stack_extend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, &options);
  };
  REQUIRE(c_grown_stack_cache_clear(cache.bytes) == LADON_OK);
  CHECK(extend(3) == LADON_OK);
  const Floats first = y;
  CHECK(extend(3) == LADON_OK);
  CHECK(y != first);
  CHECK(extend(3) == LADON_OK);
  const Floats before = y;
  const auto cache_before = cache;
  CHECK(extend(3) == LADON_CACHE_FULL);
  CHECK(y == before);
  CHECK(std::memcmp(&cache_before, &cache, sizeof(cache)) == 0);
  CHECK(extend(1) == LADON_OK);
  CHECK(extend(1) == LADON_CACHE_FULL);
  REQUIRE(c_grown_stack_cache_clear(cache.bytes) == LADON_OK);
  CHECK(c_grown_stack_cache_length(cache.bytes) == 0);
  CHECK(extend(3) == LADON_OK);
  CHECK(y == first);
}

TEST_CASE("a cache that another kernel filled") {
  Random random(6);
  Tensors other_tensors, tensors;
  const auto other_weights = stack_weights(other_tensors, random);
  for (const std::size_t in : {16u, 12u, 20u, 16u}) {
    tensors.add(random, 16 * in);
    tensors.add(random, 16);
  }
  const auto weights = c_weights<c_projected_weights>(tensors.get());
  static Memory<C_PROJECTED_CACHE_BYTES + C_GROWN_STACK_CACHE_BYTES> cache;
  static Memory<C_PROJECTED_WORKSPACE_BYTES + C_GROWN_STACK_WORKSPACE_BYTES> workspace;
  const Floats x = random.normals(5 * 16);
  Floats y(5 * 16);
  const auto attend = [&] {
    return c_projected_attend(x.data(), cache.bytes, &weights, y.data(), workspace.bytes, nullptr);
  };
  REQUIRE(c_grown_stack_cache_clear(cache.bytes) == LADON_OK);
  REQUIRE(c_grown_stack_extend(x.data(), cache.bytes, &other_weights, y.data(), workspace.bytes, nullptr) == LADON_OK);
  CHECK(attend() == LADON_CACHE_NOT_CLEARED);
  const Floats keys = random.normals(11 * 12), values = random.normals(11 * 20);
  REQUIRE(c_projected_cache_clear(cache.bytes) == LADON_OK);
  REQUIRE(c_projected_project_keys(keys.data(), values.data(), cache.bytes, &weights, workspace.bytes, nullptr) ==
          LADON_OK);
  CHECK(attend() == LADON_OK);
}

TEST_CASE("a kernel refuses options without a rotary table, and wrong numbers for the table") {
  static Memory<C_GROWN_CACHE_BYTES> cache;
  static Memory<C_GROWN_WORKSPACE_BYTES> workspace;
  Tensors tensors;
  Random random(7);
  for (int i = 0; i < 6; ++i) tensors.add(random, 16 * 8);
  tensors.add(random, 16 * 16);
  const auto weights = c_weights<c_grown_weights>(tensors.get());
  Floats y(4 * 16);
  REQUIRE(c_grown_cache_clear(cache.bytes) == LADON_OK);
  CHECK(c_grown_extend(y.data(), cache.bytes, &weights, y.data(), workspace.bytes, nullptr) == LADON_NULL_OPTION);
  static c_grown_rotary_table table;
  CHECK(c_grown_rotary_fill(nullptr, 10000, 1) == LADON_NULL_OUTPUT);
  CHECK(c_grown_rotary_fill(&table, 10000, 0) == LADON_BAD_NUMBER);
  CHECK(c_grown_rotary_fill(&table, 0.5, 1) == LADON_BAD_NUMBER);
  CHECK(c_grown_rotary_fill(&table, NAN, 1) == LADON_BAD_NUMBER);
  CHECK(c_grown_rotary_fill(&table, 10000, NAN) == LADON_BAD_NUMBER);
}

}  // namespace ladon_test
