// Tests kernels that contain the weights of a decoder stack of PyTorch (torch.nn.TransformerDecoder). A kernel with
// float32 weights computes the decoder's text in one call. A kernel with int8 weights computes the text by several
// calls with one, two or three tokens each. The outputs must agree with the outputs of PyTorch, which computed the
// whole text at once.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <ladon/safetensors/file.hpp>
#include <vector>

#include "c_torch_decoder.h"
#include "c_torch_decoding.h"
#include "stored.hpp"

namespace ladon_test {

namespace {

constexpr std::size_t model = C_TORCH_DECODER_MODEL, tokens = C_TORCH_DECODER_QUERIES;

// The last case of tests/data/pytorch-extra/decoding.json. Its tensors are in the checkpoint of the kernels.
struct TorchCase {
  std::vector<float> target, memory, expected;

  TorchCase() {
    const ladon::safetensors::File file(LADON_DECODING_CHECKPOINT);  // ladon_write_checkpoint wrote this file
    const auto tensor = [&](const char* name, std::size_t rows) {
      const float* const first = file.tensor(name, {rows, model});
      return std::vector<float>(first, first + rows * model);
    };
    target = tensor("target", tokens);
    memory = tensor("memory", C_TORCH_DECODER_MEMORY);
    expected = tensor("expected", tokens);
  }
  // Returns the largest difference between an element of `y` and the element of `expected`, or infinity if `y` contains
  // a NaN.
  double distance(const std::vector<float>& y) const {
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      largest = std::fmax(largest, std::abs(static_cast<double>(y[i]) - static_cast<double>(expected[i])));
      if (std::isnan(y[i])) return INFINITY;
    }
    return largest;
  }
};

}  // namespace

TEST_CASE("PyTorch's decoder: the whole target in one call") {
  const TorchCase test;
  static Memory<C_TORCH_DECODER_WORKSPACE_BYTES> workspace;
  std::vector<float> y(tokens * model, NAN);
  REQUIRE(c_torch_decoder_run(test.target.data(), test.memory.data(), &c_torch_decoder_stored_weights, y.data(),
                              workspace.bytes) == LADON_OK);
  CHECK(test.distance(y) < 1e-5);
}

TEST_CASE("PyTorch's decoder with int8 weights that the build quantises, token by token and in pieces") {
  const TorchCase test;
  static Memory<C_TORCH_DECODING_WORKSPACE_BYTES> workspace;
  static Memory<C_TORCH_DECODING_CACHE_BYTES> cache;
  static Memory<C_TORCH_DECODING_MEMORY_CACHE_BYTES> memory_cache;
  const c_torch_decoding_weights& weights = c_torch_decoding_stored_weights;
  REQUIRE(c_torch_decoding_project_memory(test.memory.data(), memory_cache.bytes, &weights, workspace.bytes, nullptr) ==
          LADON_OK);
  for (const std::size_t piece : {1u, 2u, 3u}) {
    CAPTURE(piece);
    std::vector<float> y(tokens * model, NAN);
    REQUIRE(c_torch_decoding_cache_clear(cache.bytes) == LADON_OK);
    for (std::size_t first = 0; first < tokens; first += piece) {
      c_torch_decoding_options options{};
      options.tokens = tokens - first < piece ? tokens - first : piece;
      REQUIRE(c_torch_decoding_extend(test.target.data() + first * model, cache.bytes, memory_cache.bytes, &weights,
                                      y.data() + first * model, workspace.bytes, &options) == LADON_OK);
    }
    const double distance = test.distance(y);
    CHECK(distance < 0.1);
    CHECK(distance > 1e-5);  // int8 weights are rounded, so the results differ from PyTorch's
  }
}

}  // namespace ladon_test
