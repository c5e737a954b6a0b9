// Tests how the argument CHECK compares a kernel with recorded results. The kernel is a function that doubles x.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sample.hpp"

namespace ladon_test {
namespace {

using c_kernel::check_sample, c_kernel::Recorded;

constexpr std::size_t width = 2;

// Doubles x. If the option `padding` hides a token, its result is x. If the option `additive` is given, adds its
// columns.
struct Doubling {
  struct Options {
    std::size_t tokens;
    const unsigned char* padding;
    const float* additive;
    std::size_t additive_keys;
  };
  static constexpr const char* name = "doubling";
  static constexpr const char* other = "";
  static constexpr std::size_t queries = 3, model = width;
  static constexpr double tolerance = c_kernel::tolerance_of("float32");

  static const char* run(const float* x, const float*, float* y, const Options& options) {
    for (std::size_t i = 0; i < options.tokens * width; ++i) {
      const bool hidden = options.padding != nullptr && options.padding[i / width] == 0;
      y[i] = x[i] * (hidden ? 1 : 2) + static_cast<float>(options.additive_keys);
    }
    return x[0] > 100 ? "x is too large" : nullptr;
  }
};

// Adds a context to x.
struct Adding : Doubling {
  struct Options {
    std::size_t queries, keys;
  };
  static constexpr const char* other = "context";
  static constexpr std::size_t other_tokens = 3, other_width = width;
  static const char* run(const float* x, const float* context, float* y, const Options& options) {
    for (std::size_t i = 0; i < options.queries * width; ++i) y[i] = x[i] + context[options.keys * width - 1];
    return nullptr;
  }
};

struct Tensor {
  std::vector<float> values;
  std::vector<std::size_t> shape;
};

Recorded recorded(const char* name, const Tensor& tensor) {
  Recorded result{name, "float", tensor.values.data(), tensor.values.size() * sizeof(float), {}};
  std::ranges::copy(tensor.shape, result.extents.begin());
  return result;
}

template <class Kernel>
int check(const Tensor& x, const Tensor& y, const std::vector<Recorded>& more = {}) {
  std::vector<Recorded> tensors{recorded("x", x), recorded("y", y)};
  tensors.insert(tensors.end(), more.begin(), more.end());
  return check_sample<Kernel>(tensors);
}

const Tensor x{{1, 2, 3, 4}, {2, width}};

}  // namespace

TEST_CASE("one sample") {
  CHECK(check<Doubling>(x, {{2, 4, 6, 8}, {2, width}}) == 0);
  CHECK(check<Doubling>(x, {{2, 4, 6, 8.0001f}, {2, width}}) == 0);
  CHECK(check<Doubling>(x, {{2, 4, 6, 8.001f}, {2, width}}) == 1);
  CHECK(check<Doubling>(x, {{2, 4, 6, NAN}, {2, width}}) == 1);
  CHECK(check<Doubling>({{1, NAN, 3, 4}, {2, width}}, {{2, 4, 6, 8}, {2, width}}) == 1);
  CHECK(check<Doubling>({{0, 0}, {1, width}}, {{0, 0}, {1, width}}) == 0);
}

TEST_CASE("several samples") {
  CHECK(check<Doubling>({x.values, {2, 1, width}}, {{2, 4, 6, 8}, {2, 1, width}}) == 0);
  CHECK(check<Doubling>({x.values, {2, 1, width}}, {{2, 4, 6, 9}, {2, 1, width}}) == 1);
  CHECK(check<Doubling>({x.values, {2, 1, width}}, {{2, 4, 6, 8}, {2, width}}) == 1);
}

TEST_CASE("an error of the kernel") { CHECK(check<Doubling>({{101, 0}, {1, width}}, {{202, 0}, {1, width}}) == 1); }

TEST_CASE("wrong tensors") {
  const Tensor wide{{1, 2, 3}, {1, 3}}, long_x{std::vector<float>(8), {4, width}};
  CHECK(check<Doubling>(wide, wide) == 1);
  CHECK(check<Doubling>(long_x, long_x) == 1);
  CHECK(check<Doubling>(x, {{2, 4}, {1, width}}) == 1);
  CHECK(check_sample<Doubling>(std::vector{recorded("x", x)}) == 1);
  Recorded bytes = recorded("y", x);
  bytes.type = "int32_t";
  CHECK(check_sample<Doubling>(std::vector{recorded("x", x), bytes}) == 1);
}

TEST_CASE("options") {
  const unsigned char may_see[2] = {1, 0};
  Recorded padding{"padding", "uint8_t", may_see, 2, {2}};
  CHECK(check<Doubling>(x, {{2, 4, 3, 4}, {2, width}}, {padding}) == 0);
  padding.extents = {2, 1};
  CHECK(check<Doubling>({x.values, {2, 1, width}}, {{2, 4, 3, 4}, {2, 1, width}}, {padding}) == 0);
  padding.type = "float";
  CHECK(check<Doubling>(x, {{2, 4, 3, 4}, {2, width}}, {padding}) == 1);
  padding = {"padding", "uint8_t", may_see, 1, {1}};
  CHECK(check<Doubling>(x, {{2, 4, 3, 4}, {2, width}}, {padding}) == 1);
  const Tensor scores{std::vector<float>(10), {2, 5}};
  CHECK(check<Doubling>(x, {{7, 9, 11, 13}, {2, width}}, {recorded("additive", scores)}) == 0);
}

TEST_CASE("a context") {
  const Tensor context{{0, 0, 0, 10}, {2, width}};
  CHECK(check<Adding>(x, {{11, 12, 13, 14}, {2, width}}, {recorded("context", context)}) == 0);
  CHECK(check<Adding>(x, {{11, 12, 13, 14}, {2, width}}) == 1);
}

}  // namespace ladon_test
