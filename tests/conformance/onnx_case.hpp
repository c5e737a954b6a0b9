// Defines a case of ONNX's operator Attention, as read from a file. If the file lacks an optional value, the case has
// the default value. Past keys and values stand before the new keys and values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "attention_instance.hpp"
#include "tensor.hpp"

namespace conformance {

struct Attributes {
  int opset = 23;
  bool causal = false;
  int heads = 0, kv_heads = 0;  // the attributes for inputs with three dimensions
  int left = -1, right = -1;
  int mode = 0;
  int precision = 1;
  std::optional<float> scale;
  float softcap = 0;
};

struct Inputs {
  Tensor q, k, v;  // [batch][heads][tokens][width], past keys and values included
  std::optional<Tensor> mask;
  std::optional<Tensor> valid_keys;
  std::size_t past = 0;
  bool three_dimensions = false;
};

struct OnnxCase {
  Attributes attributes;
  Inputs inputs;
  bool captures;  // the case expects qk_matmul_output
  Form form;      // the form of the instantiation for this case
};

OnnxCase onnx_case(const nlohmann::json& document);

// Swaps the two middle axes of an array: `in` is [batch][outer][inner][width], and the result is
// [batch][inner][outer][width].
std::vector<float> transposed(const std::vector<float>& in, std::size_t batch, std::size_t outer, std::size_t inner,
                              std::size_t width);

}  // namespace conformance
