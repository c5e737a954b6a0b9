// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../c_kernel/difference.hpp"
#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::import {
namespace {

// Returns whether a tensor is a result of a program. The results of several stacks have the name of the stack at their
// end, such as "answer_text".
bool is_result(const std::string& name) {
  return std::ranges::any_of(std::array{"last", "pooled", "answer"}, [&](const char* result) {
    return name == result || name.starts_with(std::string(result) + "_");
  });
}

struct ResultTensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

ResultTensor read_result(const files::Safetensors& file, const std::string& name) {
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end()) throw files::Error(file.name() + ": there is no tensor \"" + name + "\"");
  const files::Tensor& tensor = found->second;
  if (tensor.dtype != "F32")
    throw files::Error(file.name() + ": \"" + name + "\" has the dtype " + tensor.dtype + "; expected F32");
  const auto bytes = file.bytes(tensor);
  ResultTensor result{tensor.shape, std::vector<float>(bytes.size() / sizeof(float))};
  if (!result.values.empty()) std::memcpy(result.values.data(), bytes.data(), bytes.size());
  while (result.shape.size() > 1 && result.shape[0] == 1) result.shape.erase(result.shape.begin());
  return result;
}

// Returns the largest difference of the tensors `name` of two files, relative to the largest recorded magnitude.
double error_of(const files::Safetensors& recorded, const files::Safetensors& computed, const std::string& name) {
  const ResultTensor expected = read_result(recorded, name), found = read_result(computed, name);
  if (expected.shape != found.shape)
    throw files::Error(computed.name() + ": \"" + name + "\" has the shape " + files::shown(found.shape) + ", but " +
                       recorded.name() + " has " + files::shown(expected.shape));
  c_kernel::Difference difference;
  for (std::size_t i = 0; i < expected.values.size(); ++i) difference.add(expected.values[i], found.values[i]);
  return difference.relative();
}

}  // namespace

double largest_error(const std::string& recorded, const std::string& computed) {
  const files::Safetensors recorded_file(files::path_of(recorded)), computed_file(files::path_of(computed));
  double error = 0;
  bool is_compared = false;
  for (const auto& [name, tensor] : recorded_file.tensors()) {
    if (!is_result(name)) continue;
    error = std::max(error, error_of(recorded_file, computed_file, name));
    is_compared = true;
  }
  if (!is_compared) throw files::Error(recorded + ": there is no tensor \"last\", \"pooled\" or \"answer\"");
  return error;
}

}  // namespace ladon::import
