// Tests kernels that contain the weights of a checkpoint, in each precision. The checkpoint has no biases of queries,
// keys and values, so ladon_add_kernel makes these kernels with the option "BIAS output".
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "c_bfloat16_keywords.h"
#include "c_float32_keywords.h"
#include "c_int8_keywords.h"
#include "small_keywords.hpp"
#include "stored.hpp"

#include <ladon/bfloat16.hpp>

namespace ladon_test {

namespace {

constexpr std::size_t numbers = C_FLOAT32_KEYWORDS_QUERIES * C_FLOAT32_KEYWORDS_MODEL;

std::vector<float> some_x() {
  Random random(18);
  return random.normals(numbers);
}

// Checks that the kernel `run` gives bit-identical outputs with the weights `own`, which the test made, and with the
// weights `stored`, which the library contains. Returns the output.
template <std::size_t WorkspaceBytes, class Weights>
std::vector<float> check_stored(ladon_status (*run)(const float*, const Weights*, float*, void*), const Weights& own,
                                const Weights& stored) {
  const auto expected = run_with<WorkspaceBytes>(run, own, some_x());
  const auto y = run_with<WorkspaceBytes>(run, stored, some_x());
  CHECK(y == expected);
  return y;
}

}  // namespace

TEST_CASE("BIAS output, float32: the tensors of the checkpoint") {
  auto tensors = small_keywords();
  const auto own = weights_of<c_float32_keywords_weights>(tensors);
  const auto y =
      check_stored<C_FLOAT32_KEYWORDS_WORKSPACE_BYTES>(c_float32_keywords_run, own, c_float32_keywords_stored_weights);
  // Sets the bias of one output projection to 0, which must change the result.
  for (NamedTensor& tensor : tensors) {
    if (tensor.name == "layers.1.self_attn.out_proj.bias") std::ranges::fill(tensor.data, 0.0f);
  }
  const auto without = run_with<C_FLOAT32_KEYWORDS_WORKSPACE_BYTES>(c_float32_keywords_run, own, some_x());
  CHECK(without != y);
}

TEST_CASE("BIAS output, bfloat16: the matrices of the checkpoint, rounded") {
  const auto tensors = small_keywords();
  std::vector<std::vector<std::uint16_t>> rounded;
  rounded.reserve(tensors.size());
  std::vector<const void*> pointers;
  for (const NamedTensor& tensor : tensors) {
    rounded.emplace_back();
    for (const float value : tensor.data) rounded.back().push_back(ladon::to_bfloat16(value).bits);
    const bool is_matrix = tensor.shape.size() == 2;
    pointers.push_back(is_matrix ? static_cast<const void*>(rounded.back().data()) : tensor.data.data());
  }
  check_stored<C_BFLOAT16_KEYWORDS_WORKSPACE_BYTES>(
      c_bfloat16_keywords_run, weights_at<c_bfloat16_keywords_weights>(pointers), c_bfloat16_keywords_stored_weights);
}

TEST_CASE("BIAS output, int8: the integers that the device makes of the tensors") {
  const auto tensors = small_keywords();
  const auto floats = weights_of<c_int8_keywords_float_weights>(tensors);
  static Memory<C_INT8_KEYWORDS_QUANTISED_BYTES> memory;
  c_int8_keywords_weights own;
  REQUIRE(c_int8_keywords_quantise(&floats, &own, memory.bytes) == LADON_OK);
  check_stored<C_INT8_KEYWORDS_WORKSPACE_BYTES>(c_int8_keywords_run, own, c_int8_keywords_stored_weights);
}

}  // namespace ladon_test
