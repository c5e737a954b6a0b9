// Kernels that hold a checkpoint's weights compute what they compute from the checkpoint's own tensors, to the last
// bit.
#include <doctest/doctest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_bert.h"
#include "c_first.h"
#include "small_bert.hpp"

namespace ladon_test {

namespace {

template <std::size_t Bytes>
struct alignas(64) Memory {
  unsigned char bytes[Bytes];
};

constexpr std::size_t numbers = C_BERT_QUERIES * C_BERT_MODEL;

}  // namespace

TEST_CASE("a stack of BERT's layers") {
  const auto tensors = small_bert();
  // the order of small_bert() is that of the struct
  c_bert_weights own;
  std::vector<const float*> pointers;
  for (const NamedTensor& tensor : tensors) pointers.push_back(tensor.data.data());
  REQUIRE(sizeof(own) == pointers.size() * sizeof(const float*));
  std::memcpy(&own, pointers.data(), sizeof(own));

  static Memory<C_BERT_WORKSPACE_BYTES> workspace;
  Random random(8);
  const auto x = random.normals(numbers);
  std::vector<float> expected(numbers), y(numbers);
  REQUIRE(c_bert_run(x.data(), &own, expected.data(), workspace.bytes) == LADON_OK);
  REQUIRE(c_bert_run(x.data(), &c_bert_stored_weights, y.data(), workspace.bytes) == LADON_OK);
  CHECK(y == expected);
  CHECK(y != x);
}

TEST_CASE("queries, keys and values that lie apart, as one in_proj") {
  const auto tensors = small_bert();
  const auto find = [&](const std::string& name) -> const std::vector<float>& {
    for (const NamedTensor& tensor : tensors) {
      if (tensor.name == "bert.encoder.layer.1.attention." + name) return tensor.data;
    }
    throw std::runtime_error(name);
  };
  std::vector<float> weight, bias;
  for (const std::string part : {"query", "key", "value"}) {
    const auto& more = find("self." + part + ".weight");
    weight.insert(weight.end(), more.begin(), more.end());
    const auto& more_bias = find("self." + part + ".bias");
    bias.insert(bias.end(), more_bias.begin(), more_bias.end());
  }
  const c_first_weights own{weight.data(), bias.data(), find("output.dense.weight").data(),
                            find("output.dense.bias").data()};
  static Memory<C_FIRST_WORKSPACE_BYTES> workspace;
  Random random(9);
  const auto x = random.normals(numbers);
  std::vector<float> expected(numbers), y(numbers);
  REQUIRE(c_first_run(x.data(), &own, expected.data(), workspace.bytes) == LADON_OK);
  REQUIRE(c_first_run(x.data(), &c_first_stored_weights, y.data(), workspace.bytes) == LADON_OK);
  CHECK(y == expected);
}

}  // namespace ladon_test
