// Tests that a hidden value that is infinite or NaN changes no bit of a single query's output. The values take more
// than 32 KB, because some targets read values of this size from several places at the same time.
#include <array>
#include <limits>
#include <memory>
#include <span>

#include <doctest/doctest.h>

#include "guarded_run.hpp"
#include "random.hpp"

namespace ladon_test {

TEST_CASE("hidden values: a single query and 64 KB to 256 KB of values") {
  constexpr std::size_t keys = 1024, width = 64, hidden = 500;
  using Attention =
      ladon::Attention<ladon::Shape{.queries = 1, .keys = keys, .model = width, .heads = 1}, ladon::mask::Padding>;
  Random random(1);
  const Floats q = random.normals(width), k = random.normals(keys * width);
  Floats v = random.normals(keys * width);
  std::array<std::uint8_t, keys> may_see;
  may_see.fill(1);
  may_see[hidden] = 0;
  const auto workspace = std::make_unique<Attention::Workspace>();
  const auto run = [&] {
    Floats out(width, std::numeric_limits<float>::quiet_NaN());
    Attention::run(q.data(), k.data(), v.data(), out.data(), *workspace, {.mask = {.may_see = may_see}});
    return out;
  };
  const Floats clean = run();
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    v[hidden * width + 3] = wrong;
    CHECK(same_bits(run(), clean));
  }
}

TEST_CASE("hidden values: a ring buffer drops an infinite token that has left the window") {
  constexpr std::size_t keys = 600, width = 32;
  using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 1, .keys = keys, .model = width, .heads = 1},
                                              ladon::mask::Window<keys - 1>>;
  Random random(2);
  const Floats in = random.normals(3 * width * width, 0.2), in_bias = random.normals(3 * width, 0.2),
               out = random.normals(width * width, 0.2), out_bias = random.normals(width, 0.2);
  const Attention::Weights weights{.in_proj = {in.data(), in_bias.data()}, .out_proj = {out.data(), out_bias.data()}};
  const auto workspace = std::make_unique<Attention::CachedWorkspace>();
  const auto clean = std::make_unique<Attention::Cache>(), spoiled = std::make_unique<Attention::Cache>();
  const auto extend = [&](const Floats& x, Attention::Cache& cache) {
    Floats y(width);
    Attention::extend(x.data(), cache, weights, y.data(), *workspace);
    return y;
  };
  for (std::size_t token = 0; token < keys + 20; ++token) {
    CAPTURE(token);
    Floats x = random.normals(width);
    const Floats expected = extend(x, *clean);
    if (token == 0) x[0] = std::numeric_limits<float>::infinity();
    const Floats y = extend(x, *spoiled);
    CHECK(spoiled->values_finite() == (token >= keys));
    if (token >= keys) CHECK(same_bits(y, expected));
  }
}

}  // namespace ladon_test
