// SPDX-License-Identifier: Apache-2.0
#include "tensor_size.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ladon::weights {
namespace {

// Returns the number of bytes that the shape needs, or the largest integer if the number overflows.
std::uint64_t bytes_of_shape(const files::Tensor& tensor) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (std::ranges::find(tensor.shape, 0U) != tensor.shape.end()) return 0;
  std::uint64_t bytes = bytes_of_element(tensor.dtype);
  for (const std::uint64_t size : tensor.shape) bytes = bytes > most / size ? most : bytes * size;
  return bytes;
}

}  // namespace

std::uint64_t bytes_of_element(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::uint64_t> sizes[] = {
      {"F64", 8}, {"I64", 8}, {"U64", 8},  {"C64", 8}, {"F32", 4}, {"I32", 4},     {"U32", 4},     {"F16", 2},
      {"I16", 2}, {"U16", 2}, {"BF16", 2}, {"I8", 1},  {"U8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};
  for (const auto& [name, size] : sizes)
    if (name == dtype) return size;
  return 0;
}

std::string size_complaint(const files::Tensor& tensor) {
  const std::uint64_t found = tensor.end - tensor.begin, expected = bytes_of_shape(tensor);
  if (bytes_of_element(tensor.dtype) == 0 || found == expected) return "";
  return "expected " + std::to_string(expected) + " bytes of data, found " + std::to_string(found);
}

bool merges_to(const files::Tensor& tensor, std::span<const std::uint64_t> shape) {
  auto next = tensor.shape.begin();
  for (const std::uint64_t extent : shape) {
    std::uint64_t product = 1;
    while (product < extent && next != tensor.shape.end()) {
      if (*next == 0 || *next > extent / product) return false;
      product *= *next++;
    }
    if (product != extent) return false;
  }
  return std::all_of(next, tensor.shape.end(), [](std::uint64_t extent) { return extent == 1; });
}

}  // namespace ladon::weights
