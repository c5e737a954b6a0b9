// SPDX-License-Identifier: Apache-2.0
// The program `product RUNS` multiplies 128 tokens of 384 features by a matrix of 1536 rows, RUNS times. Each run also
// converts the tokens to the format that the product reads. The macro PRECISION is the type of the weights: Float32,
// BFloat16 or Int8. The script bench/arm/count counts the instructions of this program.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

namespace {

using namespace ladon::detail;
namespace precision {
using ladon::precision::BFloat16, ladon::precision::Float32;
using Int8 = ladon::precision::Int8<8>;
}  // namespace precision
using Precision = precision::PRECISION;
using Vectors = vec::NativeVectors;
constexpr std::size_t tokens = 128, features = 384, rows = 1536;
constexpr PanelLayout tiles = panel_layout<Vectors>(tokens, features);
constexpr std::size_t width = tiles.width();
using Weight =
    std::conditional_t<std::is_same_v<Precision, precision::Int8>, std::int8_t,
                       std::conditional_t<std::is_same_v<Precision, precision::BFloat16>, ladon::BFloat16, float>>;

alignas(64) float x[tiles.panels(tokens) * features * width], y[tiles.panels(tokens) * rows * width];
Weight weight[rows * features];
float scale[rows], bias[rows];
std::int32_t row_sum[rows];
LinearInput<Precision, Vectors, tokens, features, tiles> input;

template <class Element>
auto weights_at(const Element* elements) {
  if constexpr (std::is_same_v<Element, std::int8_t>) {
    return Int8Rows<features, BiasVector>{{elements}, scale, row_sum, {bias}};
  } else {
    return WeightRows<WeightMatrix<Element, features, 1>, BiasVector>{{elements}, {bias}};
  }
}

}  // namespace

int main(int, char** arguments) {
  for (std::size_t i = 0; i < tokens * features; ++i) x[i] = static_cast<float>(i % 13) - 6;
  for (int run = std::atoi(arguments[1]); run > 0; --run) {
    convert_input<Vectors, tiles, features>(x, tokens, input);
    ladon::for_panels<tiles, tiles, tokens>(
        tokens, [&]<PanelLayout, std::size_t Packs>(std::size_t first, std::size_t count) {
          matmul<Vectors, tiles, Packs, rows, features>(weights_at(weight),
                                                        input.view(x).template panels_from<features, width>(first),
                                                        count, Epilogue<width>{y + first * rows * width, rows * width});
        });
  }
  std::printf("%g\n", static_cast<double>(y[5]));
}
