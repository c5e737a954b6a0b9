// Tests linear maps of rows outside the layers (ladon/model/linear_rows.hpp).
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

#include <doctest/doctest.h>

#include <ladon/model/linear_rows.hpp>

#include "guarded.hpp"
#include "guarded_run.hpp"
#include "random_part.hpp"

namespace ladon_test {

namespace {

using ladon::Bias, ladon::Order;
using ladon::precision::BFloat16, ladon::precision::Float32;
template <int Bits, bool Rotated = false>
using Int8 = ladon::precision::Int8<Bits, Rotated>;

template <std::size_t Rows, class Linear, std::size_t Out, std::size_t In>
void check_rows() {
  using Map = ladon::LinearRowsOf<Rows, Linear>;
  CAPTURE(Rows);
  CAPTURE(Out);
  CAPTURE(In);
  const RandomLinear<Linear> linear(Out);
  const Floats values = Random(In).normals(Rows * In, 1, 0.3);
  const auto workspace = std::make_unique<typename Map::Workspace>();
  const std::size_t counts[] = {Rows, 1, Rows / 2, Rows - 1};
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    const std::size_t rows = counts[i];
    CAPTURE(rows);
    const std::span<const float> active(values.data(), rows * In);
    const Guarded<float> x(active, i % 2 == 0 ? Edge::end : Edge::begin);
    const Floats y = run_twice(rows * Out, [&](float* to) {
      std::fill_n(reinterpret_cast<float*>(workspace.get()), sizeof(*workspace) / sizeof(float), poison());
      Map::run(x.data(), linear.view, to, *workspace, rows);
    });
    const oracle::Matrix expected = oracle::linear(linear.w, oracle::Matrix(rows, In, values.data()));
    CHECK(worst_distance(y, Expected(expected.data.begin(), expected.data.end())) <= 1);
  }
}

template <class Precision, Order O = Order::out_in>
void check_sizes() {
  const auto check = []<std::size_t Rows, std::size_t Out, std::size_t In, Bias B>() {
    check_rows<Rows, ladon::Linear<Out, In, O, B, Precision>, Out, In>();
  };
  check.template operator()<1, 10, 64, Bias::with>();
  check.template operator()<33, 7, 24, Bias::without>();
  check.template operator()<99, 12, 40, Bias::with>();
  check.template operator()<5, 1, 8, Bias::with>();
  if constexpr (!std::is_same_v<Precision, Int8<8, true>>) check.template operator()<7, 5, 19, Bias::without>();
}

}  // namespace

TEST_CASE("linear maps of rows in every precision") {
  check_sizes<Float32>();
  check_sizes<Float32, Order::in_out>();
#if !LADON_DETERMINISTIC
  check_sizes<BFloat16>();
#endif
  check_sizes<Int8<8>>();
  check_sizes<Int8<7>>();
  check_sizes<Int8<8, true>>();
}

// Several parts of the outputs, of which the last overlaps the part before, and several groups of panels.
TEST_CASE("many outputs, and an input that exceeds the cache") {
  check_rows<70, ladon::Linear<1501, 9>, 1501, 9>();
  check_rows<70, ladon::Linear<1501, 9, Order::out_in, Bias::with, Int8<8>>, 1501, 9>();
  check_rows<330, ladon::Linear<3, 800>, 3, 800>();
}

TEST_CASE("the workspace does not grow with the number of outputs") {
  using Small = ladon::LinearRows<64, 5000, 768>;
  using Large = ladon::LinearRows<64, 150000, 768>;
  static_assert(Large::Product::part <= Small::Product::part + 24);
  static_assert(sizeof(Large::Workspace) < 64 * 1000 * sizeof(float) + 64 * 768 * sizeof(float));
  // A single row reads x and writes y.
  static_assert(LADON_DETERMINISTIC || sizeof(ladon::LinearRows<1, 150000, 768>::Workspace) < 64);
}

}  // namespace ladon_test
