// Tests an int8 kernel with DETERMINISTIC and activations of 7 bits. Its library and its WebAssembly modules must
// compute equal bits. This test and tests/wasm/modules/run_modules.mjs make equal weights and inputs, and compare their
// results with tests/data/int8_same_bits/digest.txt.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "c_int8_same_bits.h"
#include "each_isa.hpp"
#include "fingerprint.hpp"

namespace ladon_test {

namespace {

// Generates pseudo-random numbers between -scale and scale. randomNumbers in tests/wasm/modules/module_memory.mjs
// generates equal numbers.
class Numbers {
 public:
  const float* next(std::size_t count, double scale) {
    std::vector<float>& made = made_.emplace_back();
    for (std::size_t i = 0; i < count; ++i) {
      state_ = state_ * 1664525u + 1013904223u;
      made.push_back(static_cast<float>(scale * (state_ / 2147483648.0 - 1)));
    }
    return made.data();
  }
  const float* matrix(std::size_t rows, std::size_t columns) {
    return next(rows * columns, 1 / std::sqrt(static_cast<double>(columns)));
  }
  const float* vector(std::size_t size) { return next(size, 0.5); }

 private:
  std::uint32_t state_ = 1;
  std::vector<std::vector<float>> made_;
};

c_int8_same_bits_float_weights random_weights(Numbers& numbers) {
  constexpr std::size_t model = 12, inner = 18;
  c_int8_same_bits_float_weights weights;
  for (auto& layer : weights.layers) {
    layer.attention.in_proj_weight = numbers.matrix(3 * model, model);
    layer.attention.in_proj_bias = numbers.vector(3 * model);
    layer.attention.out_proj_weight = numbers.matrix(model, model);
    layer.attention.out_proj_bias = numbers.vector(model);
    layer.linear1_weight = numbers.matrix(inner, model);
    layer.linear1_bias = numbers.vector(inner);
    layer.linear2_weight = numbers.matrix(model, inner);
    layer.linear2_bias = numbers.vector(model);
    layer.norm1_weight = numbers.vector(model);
    layer.norm1_bias = numbers.vector(model);
    layer.norm2_weight = numbers.vector(model);
    layer.norm2_bias = numbers.vector(model);
  }
  return weights;
}

std::string expected_digest() {
  std::ifstream file(LADON_INT8_SAME_BITS);
  std::string digits;
  file >> digits;
  return digits;
}

alignas(64) unsigned char workspace[C_INT8_SAME_BITS_WORKSPACE_BYTES];
alignas(64) unsigned char quantised[C_INT8_SAME_BITS_QUANTISED_BYTES];

}  // namespace

TEST_CASE("an int8 kernel computes the bits of its WebAssembly modules") {
  Numbers numbers;
  const c_int8_same_bits_float_weights floats = random_weights(numbers);
  const std::size_t size = std::size_t{C_INT8_SAME_BITS_QUERIES} * C_INT8_SAME_BITS_MODEL;
  const float* const begin = numbers.next(size, 1);
  const Floats x(begin, begin + size);
  c_int8_same_bits_weights weights;
  REQUIRE(c_int8_same_bits_quantise(&floats, &weights, quantised) == LADON_OK);
  std::vector<float> y(x.size());
  REQUIRE(c_int8_same_bits_run(x.data(), &weights, y.data(), workspace) == LADON_OK);
  Fingerprint fingerprint;
  fingerprint.add(y);
  CHECK(fingerprint.text() == expected_digest());
  check_same_bits<C_INT8_SAME_BITS_WORKSPACE_BYTES, c_int8_same_bits_weights, c_int8_same_bits_options,
                  c_int8_same_bits_run_with>(x, weights);
}

}  // namespace ladon_test
