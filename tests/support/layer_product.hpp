// Defines random numbers, and a product computed with the code of layers, for test_int8_products.cpp and
// test_bfloat16_products.cpp. Both files are compiled for many instruction sets. So this header includes no other
// header of the tests, which would take time to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/product/product.hpp>

namespace ladon_test {

// A linear congruential generator with the constants of Knuth's MMIX.
class ProductRandom {
 public:
  explicit ProductRandom(std::uint64_t seed) : state_(seed) {}
  std::uint32_t bits() {
    return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 33);
  }
  float number() { return static_cast<float>(bits()) / static_cast<float>(1u << 30) - 1.0f; }

 private:
  std::uint64_t state_;
};

// Returns the product [Tokens][Rows] of `x` [Tokens][Features] and the weights, computed with the library's code for
// layers. `weights` is a view of `Rows` rows, for example Int8Rows.
template <class Precision, std::size_t Tokens, std::size_t Features, std::size_t Rows, class Weights>
std::vector<float> layer_product(const std::vector<float>& x, const Weights& weights) {
  using namespace ladon::detail;
  using Vectors = vec::NativeVectors;
  constexpr PanelLayout tiles = panel_layout<Vectors>(Tokens), last = last_panel_layout<Vectors>(Tokens);
  constexpr std::size_t width = tiles.width(), last_width = last.width(), panels = tiles.panels(Tokens);
  alignas(64) static float in[panels * Features * width], out[panels * Rows * width];
  // Returns the index of row `row` and token `t` in an array of panels. A panel is a matrix with `rows` rows and a
  // column for each of up to `width` tokens.
  const auto index = [](std::size_t rows, std::size_t row, std::size_t t) {
    const std::size_t panel = t / width, panel_width = panel + 1 == panels ? last_width : width;
    return panel * rows * width + row * panel_width + t % width;
  };
  for (std::size_t t = 0; t < Tokens; ++t) {
    for (std::size_t i = 0; i < Features; ++i) in[index(Features, i, t)] = x[t * Features + i];
  }
  static LinearInput<Precision, Vectors, Tokens, Features, tiles> input;
  std::memset(static_cast<void*>(&input), 0x5a, sizeof(input));
  convert_input<Vectors, last, Features>(in, Tokens, input);
  ladon::for_panels<tiles, last, Tokens>(
      Tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        matmul<Vectors, P, Packs, Rows, Features>(weights, input.view(in).template panels_from<Features, width>(first),
                                                  count, Epilogue<P.width()>{out + first * Rows * width, Rows * width});
      });
  std::vector<float> y;
  for (std::size_t t = 0; t < Tokens; ++t) {
    for (std::size_t r = 0; r < Rows; ++r) y.push_back(out[index(Rows, r, t)]);
  }
  return y;
}

}  // namespace ladon_test
