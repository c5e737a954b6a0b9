// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "safetensors.hpp"

namespace ladon::import {
namespace {

struct Last {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
};

Last last_of(const std::string& path) {
  const files::Safetensors file(path);
  const auto found = file.tensors().find("last");
  if (found == file.tensors().end()) throw files::Error(path + ": there is no tensor \"last\"");
  const files::Tensor& tensor = found->second;
  if (tensor.dtype != "F32") throw files::Error(path + ": \"last\" has the dtype " + tensor.dtype + "; expected F32");
  const auto bytes = file.bytes(tensor);
  Last last{tensor.shape, std::vector<float>(bytes.size() / sizeof(float))};
  if (!last.values.empty()) std::memcpy(last.values.data(), bytes.data(), bytes.size());
  if (last.shape.size() == 3 && last.shape[0] == 1) last.shape.erase(last.shape.begin());
  return last;
}

}  // namespace

double largest_error(const std::string& recorded, const std::string& computed) {
  const Last expected = last_of(recorded), found = last_of(computed);
  if (expected.shape != found.shape)
    throw files::Error(computed + ": \"last\" has the shape " + files::shown(found.shape) + ", but " + recorded +
                       " has " + files::shown(expected.shape));
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double value = static_cast<double>(expected.values[i]);
    const double d = std::abs(value - static_cast<double>(found.values[i]));
    difference = std::max(difference, std::isfinite(d) ? d : std::numeric_limits<double>::infinity());
    largest = std::max(largest, std::abs(value));
  }
  return difference / largest;
}

}  // namespace ladon::import
