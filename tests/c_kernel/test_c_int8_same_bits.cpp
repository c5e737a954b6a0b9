// Tests an int8 and an int4 kernel with DETERMINISTIC and activations of 7 bits. Their libraries and their WebAssembly
// modules must compute equal bits. This test and tests/wasm/modules/run_modules.mjs make equal weights and inputs, and
// compare their results with the digests in tests/data/int8_same_bits.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#ifdef LADON_INT4_SAME_BITS
#include "c_int4_same_bits.h"
#endif
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

// Returns the weights of a stack, such as c_int8_same_bits_float_weights.
template <class FloatWeights>
FloatWeights random_weights(Numbers& numbers, std::size_t model, std::size_t inner) {
  FloatWeights weights;
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

std::string digest_in(const char* path) {
  std::ifstream file(path);
  std::string digits;
  file >> digits;
  return digits;
}

alignas(64) unsigned char workspace[C_INT8_SAME_BITS_WORKSPACE_BYTES];
alignas(64) unsigned char quantised[C_INT8_SAME_BITS_QUANTISED_BYTES];

}  // namespace

TEST_CASE("an int8 kernel computes the bits of its WebAssembly modules") {
  Numbers numbers;
  const c_int8_same_bits_float_weights floats = random_weights<c_int8_same_bits_float_weights>(numbers, 12, 18);
  const std::size_t size = std::size_t{C_INT8_SAME_BITS_QUERIES} * C_INT8_SAME_BITS_MODEL;
  const float* const begin = numbers.next(size, 1);
  const Floats x(begin, begin + size);
  c_int8_same_bits_weights weights;
  REQUIRE(c_int8_same_bits_quantise(&floats, &weights, quantised) == LADON_OK);
  std::vector<float> y(x.size());
  REQUIRE(c_int8_same_bits_run(x.data(), &weights, y.data(), workspace) == LADON_OK);
  Fingerprint fingerprint;
  fingerprint.add(y);
  CHECK(fingerprint.text() == digest_in(LADON_INT8_SAME_BITS));
  check_same_bits<C_INT8_SAME_BITS_WORKSPACE_BYTES, c_int8_same_bits_weights, c_int8_same_bits_options,
                  c_int8_same_bits_run_with>(x, weights);
}

#ifdef LADON_INT4_SAME_BITS
TEST_CASE("an int4 kernel computes the bits of its WebAssembly modules") {
  alignas(64) static unsigned char int4_workspace[C_INT4_SAME_BITS_WORKSPACE_BYTES];
  alignas(64) static unsigned char int4_weights[C_INT4_SAME_BITS_QUANTISED_BYTES];
  Numbers numbers;
  const auto floats = random_weights<c_int4_same_bits_float_weights>(numbers, 40, 72);
  const float* const x = numbers.next(std::size_t{C_INT4_SAME_BITS_QUERIES} * C_INT4_SAME_BITS_MODEL, 1);
  c_int4_same_bits_weights weights;
  REQUIRE(c_int4_same_bits_quantise(&floats, &weights, int4_weights) == LADON_OK);
  std::vector<float> y(std::size_t{C_INT4_SAME_BITS_QUERIES} * C_INT4_SAME_BITS_MODEL);
  REQUIRE(c_int4_same_bits_run(x, &weights, y.data(), int4_workspace) == LADON_OK);
  Fingerprint fingerprint;
  fingerprint.add(y);
  CHECK(fingerprint.text() == digest_in(LADON_INT4_SAME_BITS));
}
#endif

}  // namespace ladon_test
