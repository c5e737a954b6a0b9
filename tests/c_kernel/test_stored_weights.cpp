// Tests kernels that contain the weights of a checkpoint. Calls with these weights, and calls to which the test passes
// the tensors of the checkpoint, must give equal bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_bert.h"
#include "c_bfloat16_bert.h"
#include "c_first.h"
#include "c_int8_bert.h"
#include "c_int8_joined.h"
#include "c_qwen.h"
#include "small_bert.hpp"
#include "small_qwen.hpp"
#include "stored.hpp"

#include <ladon/bfloat16.hpp>
#include <ladon/detail/vec/choose.hpp>

namespace ladon_test {

namespace {

std::vector<float> some_x(unsigned seed) {
  Random random(seed);
  return random.normals(C_BERT_QUERIES * C_BERT_MODEL);
}

}  // namespace

TEST_CASE("a stack of BERT's layers") {
  const auto tensors = small_bert();
  const auto x = some_x(8);
  const auto expected = run_with<C_BERT_WORKSPACE_BYTES>(c_bert_run, weights_of<c_bert_weights>(tensors), x);
  const auto y = run_with<C_BERT_WORKSPACE_BYTES>(c_bert_run, c_bert_stored_weights, x);
  CHECK(y == expected);
  CHECK(y != x);
}

TEST_CASE("separate projections of queries, keys and values, as one in_proj") {
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
  const auto x = some_x(9);
  const auto expected = run_with<C_FIRST_WORKSPACE_BYTES>(c_first_run, own, x);
  const auto y = run_with<C_FIRST_WORKSPACE_BYTES>(c_first_run, c_first_stored_weights, x);
  CHECK(y == expected);
}

TEST_CASE("TENSORS: arrays of other tensors") {
  const auto tensors = small_bert();
  const std::string name = "bert.encoder.layer.0.output.dense.";
  const auto find = [&](const std::string& end) {
    return std::ranges::find(tensors, name + end, &NamedTensor::name)->data;
  };
  const auto& weight = c_first_tensor_bert_encoder_layer_0_output_dense_weight;
  CHECK(std::size(weight) == C_FIRST_MODEL);
  CHECK(std::vector<float>(&weight[0][0], &weight[0][0] + sizeof(weight) / sizeof(float)) == find("weight"));
  const auto& bias = c_first_tensor_bert_encoder_layer_0_output_dense_bias;
  CHECK(std::vector<float>(std::begin(bias), std::end(bias)) == find("bias"));
}

TEST_CASE("norms of queries and keys") {
  const auto tensors = small_qwen();
  const auto x = Random(8).normals(C_QWEN_QUERIES * C_QWEN_MODEL);
  const auto run = [&](const c_qwen_weights& weights) {
    return run_with<C_QWEN_WORKSPACE_BYTES>(c_qwen_run, weights, x);
  };
  const auto y = run(c_qwen_stored_weights);
  CHECK(y == run(weights_of<c_qwen_weights>(tensors)));
  for (const std::size_t norm : {4u, 5u}) {  // of the queries, and of the keys
    auto others = tensors;
    others[norm].data[1] += 1;
    CHECK(y != run(weights_of<c_qwen_weights>(others)));
  }
}

// c_bfloat16_bert_stored_weights has the weight matrices of the checkpoint, which the build rounded to bfloat16. The
// test also calls c_bert with float32 weights of equal values. If products convert bfloat16 weights to floats, the
// results of both kernels are bit-identical. If products also round their inputs to bfloat16 (multiplies_bfloat16), the
// results differ.
TEST_CASE("bfloat16: the matrices of the checkpoint, rounded") {
  auto tensors = small_bert();
  std::vector<std::vector<std::uint16_t>> rounded;
  std::vector<const void*> rounded_pointers;
  for (NamedTensor& tensor : tensors) {
    if (tensor.shape.size() == 2) {
      rounded.emplace_back();
      for (float& value : tensor.data) {
        rounded.back().push_back(ladon::to_bfloat16(value).bits);
        value = ladon::to_float(ladon::to_bfloat16(value));
      }
    }
    rounded_pointers.push_back(tensor.shape.size() == 2 ? static_cast<const void*>(rounded.back().data())
                                                        : tensor.data.data());
  }
  const auto own = weights_at<c_bfloat16_bert_weights>(rounded_pointers);
  const auto x = some_x(10);
  const auto expected = run_with<C_BFLOAT16_BERT_WORKSPACE_BYTES>(c_bfloat16_bert_run, own, x);
  const auto of_floats = run_with<C_BERT_WORKSPACE_BYTES>(c_bert_run, weights_of<c_bert_weights>(tensors), x);
  CHECK((of_floats == expected) == !ladon::detail::vec::NativeVectors::multiplies_bfloat16);
  CHECK(run_with<C_BFLOAT16_BERT_WORKSPACE_BYTES>(c_bfloat16_bert_run, c_bfloat16_bert_stored_weights, x) == expected);
}

// Compares three int8 versions of one float checkpoint. ladon_add_kernel quantised the weights in the library of
// c_int8_bert. `ladon-weights quantise` made the checkpoint whose weights are in the library of c_int8_joined. This
// test makes the third version with c_int8_bert_quantise. All three versions must have equal bits.
TEST_CASE("int8: quantised when the library is made, on the device, and in the checkpoint") {
  const auto tensors = small_bert();
  const auto own = weights_of<c_int8_bert_float_weights>(tensors);
  static Memory<C_INT8_BERT_QUANTISED_BYTES> memory;
  c_int8_bert_weights device;
  REQUIRE(c_int8_bert_quantise(&own, &device, memory.bytes) == LADON_OK);

  const auto same = [](const auto* a, const auto* b, std::size_t count) {
    return std::memcmp(a, b, count * sizeof(*a)) == 0;
  };
  for (std::size_t i = 0; i < C_INT8_BERT_LAYERS; ++i) {
    const auto& a = device.layers[i];
    const auto& b = c_int8_bert_stored_weights.layers[i];
    const auto& joined = c_int8_joined_stored_weights.layers[i].attention;
#define LADON_CHECK_SAME(linear, out, in)                             \
  CHECK(same(a.linear##_weight, b.linear##_weight, out* in));         \
  CHECK(same(a.linear##_weight_scale, b.linear##_weight_scale, out)); \
  CHECK(same(a.linear##_weight_row_sum, b.linear##_weight_row_sum, out));
    LADON_CHECK_SAME(attention.query_proj, 12, 12)
    LADON_CHECK_SAME(attention.key_proj, 12, 12)
    LADON_CHECK_SAME(attention.value_proj, 12, 12)
    LADON_CHECK_SAME(attention.out_proj, 12, 12)
    LADON_CHECK_SAME(linear1, 20, 12)
    LADON_CHECK_SAME(linear2, 12, 20)
#undef LADON_CHECK_SAME
    CHECK(same(a.attention.key_proj_weight, joined.in_proj_weight + 12 * 12, 12 * 12));
    CHECK(same(a.attention.value_proj_weight_scale, joined.in_proj_weight_scale + 24, 12));
    CHECK(same(a.attention.value_proj_weight_row_sum, joined.in_proj_weight_row_sum + 24, 12));
  }

  const auto x = some_x(10);
  const auto expected = run_with<C_INT8_BERT_WORKSPACE_BYTES>(c_int8_bert_run, device, x);
  CHECK(run_with<C_INT8_BERT_WORKSPACE_BYTES>(c_int8_bert_run, c_int8_bert_stored_weights, x) == expected);
  CHECK(run_with<C_INT8_JOINED_WORKSPACE_BYTES>(c_int8_joined_run, c_int8_joined_stored_weights, x) == expected);
}

}  // namespace ladon_test
