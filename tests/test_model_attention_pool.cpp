// Tests the attention of a learned query (ladon/model/attention_pool.hpp).
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/model/attention_pool.hpp>
#include <ladon/model/weight_image.hpp>

#include "guarded.hpp"
#include "random_part.hpp"

namespace ladon_test {

namespace {

using ladon::Model, ladon::PrecisionKind;

template <Model M>
struct RandomPool {
  using Pool = ladon::AttentionPool<M>;
  Floats query;
  oracle::LayerWeights layer;
  std::vector<Floats> tensors;
  typename Pool::Weights view{};

  RandomPool() {
    constexpr ladon::Shape shape = Pool::Attention::shape;
    Random random(M.model + M.tokens);
    query = random.normals(M.model);
    layer = random_layer(random, shape, M, 1e-6f);
    if constexpr (constexpr int bits = activation_bits<typename Pool::Layout::Precision>; bits != 0)
      quantise(layer, bits);
    append_tensors(tensors, weight_layout<typename Pool::Layout>, shape, layer.attention);
    append_tensors(tensors, layer.norm1);
    append_tensors(tensors, layer.linear1, Pool::Layout::order);
    append_tensors(tensors, layer.linear2, Pool::Layout::order);
    std::vector<const float*> pointers;
    for (const Floats& tensor : tensors) pointers.push_back(tensor.data());
    const float* const* next = pointers.data();
    view.query = query.data();
    point(view.attention, next), point(view.norm, next), point(view.linear1, next), point(view.linear2, next);
    view.norm.epsilon = layer.norm1.epsilon;
  }
  RandomPool(const RandomPool&) = delete;
  RandomPool& operator=(const RandomPool&) = delete;

  // The query is not added to the result of the attention.
  Expected expected(const float* x, std::size_t tokens) const {
    using namespace oracle;
    const auto every_key = [](std::size_t, std::size_t) { return true; };
    const Matrix of_query(1, M.model, query.data()), rows(tokens, M.model, x);
    const Matrix attended =
        multi_head_attention(of_query, rows, layer.attention, heads_of(Pool::Attention::shape), every_key).out;
    const Matrix more = feed_forward(layer, M, normalized(M.norm_kind, layer.norm1, attended));
    Expected sums;
    for (std::size_t i = 0; i < M.model; ++i) sums.push_back(attended.data[i] + more.data[i]);
    return sums;
  }
};

template <Model M>
void check_pool() {
  CAPTURE(M.tokens);
  CAPTURE(M.model);
  using Pool = ladon::AttentionPool<M>;
  const RandomPool<M> pool;
  const Floats values = Random(M.tokens).normals(M.tokens * M.model, 1, 0.3);
  const auto workspace = std::make_unique<typename Pool::Workspace>();
  for (const std::size_t tokens : {M.tokens, M.tokens / 2, std::size_t{1}, std::size_t{0}}) {
    CAPTURE(tokens);
    const std::span<const float> active(values.data(), tokens * M.model);
    const Guarded<float> x(active, Edge::end);
    const Floats y = run_twice(M.model, [&](float* to) {
      std::memset(static_cast<void*>(workspace.get()), 0xff, sizeof *workspace);  // floats of these bytes are NaN
      Pool::run(x.data(), pool.view, to, *workspace, tokens);
    });
    CHECK(worst_distance(y, pool.expected(values.data(), tokens)) <= 1);
  }
}

constexpr Model small{
    .tokens = 7, .model = 24, .heads = 3, .feed_forward = 40, .activation = ladon::Activation::gelu_tanh};

constexpr Model with(Model model, PrecisionKind precision) {
  model.precision = precision;
  return model;
}

}  // namespace

TEST_CASE("AttentionPool: one row from many, and from a few or none") {
  check_pool<small>();
  check_pool<Model{.tokens = 1, .model = 5, .heads = 1, .feed_forward = 3}>();
  check_pool<Model{.tokens = 300, .model = 32, .heads = 4, .feed_forward = 17}>();
}

TEST_CASE("AttentionPool: other layouts, norms and biases") {
  check_pool<Model{.tokens = 9,
                   .model = 16,
                   .heads = 4,
                   .kv_heads = 2,
                   .feed_forward = 8,
                   .activation = ladon::Activation::silu,
                   .norm_kind = ladon::NormKind::rms,
                   .bias = ladon::Bias::without,
                   .layout = ladon::LayoutKind::separate_qkv}>();
}

TEST_CASE("AttentionPool: the masks, positions and scores of the layers do not count") {
  check_pool<[] {
    Model model = small;
    model.mask = {.causal = true, .left = 2, .bits = true};
    model.position = {.width = 4, .positions = 7};
    model.score = {.scale = 2, .softcap = 3, .sinks = true};
    model.kinds = {{.window = 1}, {}};
    return model;
  }()>();
}

TEST_CASE("AttentionPool: reduced weights") {
#if !LADON_DETERMINISTIC
  check_pool<with(small, PrecisionKind::bfloat16)>();
#endif
  check_pool<with(small, PrecisionKind::int8)>();
  check_pool<with(small, PrecisionKind::rotated_int8)>();
}

TEST_CASE("AttentionPool: an image of weights has every tensor") {
  using Pool = ladon::AttentionPool<small>;
  RandomPool<small> pool;
  std::vector<std::byte> image(ladon::image_bytes<Pool::Weights>);
  ladon::write_image(pool.view, image.data());
  REQUIRE(ladon::is_image<Pool::Weights>(image.data(), image.size()));
  const auto read = ladon::from_image<Pool::Weights>(image.data());
  CHECK(read.norm.epsilon == pool.view.norm.epsilon);
  const auto workspace = std::make_unique<Pool::Workspace>();
  const Floats x = Random(5).normals(small.tokens * small.model);
  Floats expected(small.model), y(small.model);
  Pool::run(x.data(), pool.view, expected.data(), *workspace);
  Pool::run(x.data(), read, y.data(), *workspace);
  CHECK(same_bits(y, expected));
}

}  // namespace ladon_test
