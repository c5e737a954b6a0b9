// SPDX-License-Identifier: Apache-2.0
#include "int8_weights.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "floats.hpp"

namespace ladon::weights {

using files::in_quotes, files::Safetensors, files::shown, files::Tensor;

std::string scale_name(std::string_view weight) { return std::string(weight) + "_scale"; }

std::string quantised_weight_in(const Safetensors& file, std::string_view dtype) {
  const auto& tensors = file.tensors();
  const auto found = std::ranges::find_if(tensors, [&](const auto& named) {
    const auto& [name, tensor] = named;
    return tensor.dtype == dtype && tensor.shape.size() == 2 && tensors.contains(scale_name(name));
  });
  return found == tensors.end() ? "" : found->first;
}

ScaleSign sign_of_scales(const Safetensors& file, const Tensor& scale) {
  const std::size_t width = bytes_of_float(scale.dtype);
  const auto bytes = file.bytes(scale);
  float first = 0;
  for (std::size_t at = 0; width != 0 && first == 0 && at + width <= bytes.size(); at += width)
    read_floats(scale.dtype, bytes.subspan(at, width), {&first, 1});
  return first < 0 ? ScaleSign::negative : ScaleSign::positive;
}

std::string scale_complaint(const Safetensors& file, const Tensor& scale, std::uint64_t rows, ScaleSign sign,
                            std::string_view dtype_of_weight) {
  const std::vector<std::uint64_t> flat{rows}, column{rows, 1};
  const std::size_t width = bytes_of_float(scale.dtype);
  if (scale.shape != flat && scale.shape != column)
    return "expected shape " + shown(column) + " or " + shown(flat) + ", found " + shown(scale.shape);
  if (width == 0) return "expected dtype F32, F16 or BF16, found " + in_quotes(scale.dtype);
  const auto bytes = file.bytes(scale);
  for (std::size_t row = 0; row < bytes.size() / width; ++row) {
    float value = 0;
    read_floats(scale.dtype, bytes.subspan(row * width, width), {&value, 1});
    const bool is_negative = sign == ScaleSign::negative;
    const bool is_zero_row = value == 0 && dtype_of_weight == "U8";
    if (!is_zero_row && !((is_negative ? value < 0 : value > 0) && std::isfinite(value)))
      return std::string(is_negative ? "expected negative and finite scales, as of rotated weights"
                                     : "expected positive and finite scales") +
             ", found " + std::to_string(value) + " at row " + std::to_string(row);
  }
  return "";
}

std::string zero_point_complaint(const Safetensors& file, std::string_view weight) {
  const std::string name = std::string(weight) + "_zero_point";
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end()) return "";
  const auto bytes = file.bytes(found->second);
  const bool symmetric = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
  return symmetric ? "" : "expected symmetric int8 weights, found zero points other than 0 in " + in_quotes(name);
}

}  // namespace ladon::weights
