// Tests products in a matrix unit (detail/product/unit_product.hpp) on every machine, with a unit in plain C++. The
// results must have the bits of the other loops. test_int8_products.cpp and test_bfloat16_products.cpp test the unit of
// this machine, if it has one.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

#include "support/layer_product.hpp"
#include "support/plain_unit.hpp"

namespace {

using namespace ladon::detail;
using ladon::BFloat16;
using ladon_test::PlainUnit;

// Packs of Lanes floats on every target, whose features are bytes or bfloat16 numbers.
template <std::size_t Lanes, class UnitType>
struct Vectors : vec::ArrayVectors<Lanes> {
  using Unit = UnitType;
  using Int8Element = std::uint8_t;
  static constexpr bool multiplies_bfloat16 = true, widens_int8 = false;
};

template <class Precision, std::size_t Lanes, std::size_t Packs, std::size_t Rows, std::size_t Features>
void check(const auto& weights, const std::vector<float>& x, std::size_t panels) {
  constexpr PanelLayout layout{Lanes, Packs, 4};
  using Simd = Vectors<Lanes, PlainUnit>;
  using P = ProductForm<Simd, layout, Packs, Rows, Features>;
  constexpr std::size_t width = layout.width(), most_panels = 3;
  static LinearInput<Precision, Simd, most_panels * width, Features, layout> input;
  input.template convert<Simd, layout, Packs, Features>(x.data(), 0, panels);
  typename decltype(input.view(x.data()))::Lanes in(input.view(x.data()));
  REQUIRE(multiplies_in_unit<P, decltype(weights.weight), decltype(in)>);
  std::vector<float> y(panels * width * Rows, -1), expected = y;
  const auto epilogue_to = [](std::vector<float>& to) { return Epilogue<width>{to.data(), width * Rows, {0.5f}}; };
  PlainUnit::begun = PlainUnit::ended = 0;
  product<P>(weights, in, panels, epilogue_to(y), Reading::first);
  CHECK(PlainUnit::begun == 1);
  CHECK(PlainUnit::ended == 1);
  using WithoutUnit = ProductForm<Vectors<Lanes, vec::NoMatrixUnit>, layout, Packs, Rows, Features>;
  product<WithoutUnit>(weights, in, panels, epilogue_to(expected), Reading::first);
  CAPTURE(Rows);
  CAPTURE(panels);
  CHECK(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0);
}

// Weights and features are small integers, so that sums of floats are exact in any order. Rows begin Features + Gap
// weights apart.
template <std::size_t Lanes, std::size_t Packs, std::size_t Rows, std::size_t Features, std::size_t Gap = 0>
void check() {
  constexpr std::size_t stride = Features + Gap;
  ladon_test::ProductRandom random(5);
  const auto integer = [&] { return static_cast<int>(random.bits() % 15) - 7; };
  std::vector<float> x(3 * Lanes * Packs * Features), scale(Rows), bias(Rows);
  for (float& f : x) f = static_cast<float>(integer());
  for (float& f : scale) f = random.number();
  for (float& f : bias) f = static_cast<float>(integer());
  std::vector<std::int8_t> bytes(Rows * stride);
  std::vector<BFloat16> numbers(Rows * stride);
  std::vector<std::int32_t> row_sum(Rows);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::int8_t>(random.bits());
    numbers[i] = ladon::to_bfloat16(static_cast<float>(integer()));
    if (i % stride < Features) row_sum[i / stride] += bytes[i];
  }
  for (std::size_t panels = 1; panels <= 3; panels += 2) {
    check<ladon::precision::Int8<8>, Lanes, Packs, Rows, Features>(
        Int8Rows<stride, BiasVector>{{bytes.data()}, scale.data(), row_sum.data(), {bias.data()}}, x, panels);
    check<ladon::precision::BFloat16, Lanes, Packs, Rows, Features>(
        WeightRows<WeightMatrix<BFloat16, stride, 1>, BiasVector>{{numbers.data()}, {bias.data()}}, x, panels);
  }
}

}  // namespace

TEST_CASE("matrix unit: one tile, two tiles, three tiles") {
  check<16, 2, 16, 64>();
  check<16, 2, 32, 128>();
  check<16, 1, 48, 64>();
}
TEST_CASE("matrix unit: rows beyond the last tile") {
  check<16, 1, 17, 64>();
  check<8, 2, 53, 192>();
}
TEST_CASE("matrix unit: fewer lanes, and rows that lie apart") {
  check<8, 1, 32, 64, 24>();
  check<4, 2, 35, 64, 1>();
}
