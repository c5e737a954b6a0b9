// SPDX-License-Identifier: Apache-2.0
#include "tensor_data.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <system_error>

#include "safetensors.hpp"
#include "utf8.hpp"

namespace ladon::onnx {
namespace {

std::uint64_t width_of(std::int32_t type) { return type == float32 ? 4 : 2; }

// Returns the bytes of a tensor of floats, or nothing if the number is too large.
std::optional<std::uint64_t> size_of(const Tensor& tensor) {
  if (std::ranges::find(tensor.shape, 0U) != tensor.shape.end()) return 0;
  std::uint64_t size = width_of(tensor.type);
  for (const std::uint64_t extent : tensor.shape) {
    if (size > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    size *= extent;
  }
  return size;
}

// Returns whether a name is that of a file in a folder, or in a folder inside it. An ONNX file may come from an
// untrusted source, and must not name other files.
bool is_inside(std::string_view location) {
  if (location.empty() || location.find_first_of(std::string_view("\\:\0", 3)) != location.npos) return false;
  const std::filesystem::path path = files::path_of(location);
  return path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

}  // namespace

std::string dtype_of(std::int32_t type) {
  return type == float32 ? "F32" : type == float16 ? "F16" : type == bfloat16 ? "BF16" : "";
}

std::span<const std::byte> TensorData::bytes(const Tensor& tensor) {
  const auto size = size_of(tensor);
  if (!size) fail(tensor, "has the shape " + files::shown(tensor.shape) + ", which is too large");
  if (tensor.is_external) return external(tensor, *size);
  const std::string_view numbers = tensor.numbers.value_or("");
  if (numbers.size() != *size)
    fail(tensor, "expected " + std::to_string(*size) + " bytes of raw_data or float_data for the shape " +
                     files::shown(tensor.shape) + ", found " + std::to_string(numbers.size()));
  return std::as_bytes(std::span(numbers));
}

std::span<const std::byte> TensorData::external(const Tensor& tensor, std::uint64_t size) {
  if (!is_inside(tensor.location))
    fail(tensor, "expected external data in the folder of the ONNX file, found " + files::in_quotes(tensor.location));
  if (const std::uint64_t length = tensor.length.value_or(size); length != size)
    fail(tensor, "expected " + std::to_string(size) + " bytes of external data for the shape " +
                     files::shown(tensor.shape) + ", found " + std::to_string(length));
  auto file = files_.find(tensor.location);
  if (file == files_.end()) {
    const std::filesystem::path path = file_.parent_path() / files::path_of(tensor.location);
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      fail(tensor, "there is no file " + files::in_quotes(tensor.location) + " of external data");
    file = files_.emplace(tensor.location, files::MappedFile(path)).first;
  }
  const auto all = file->second.bytes();
  if (tensor.offset > all.size() || size > all.size() - tensor.offset)
    fail(tensor, "expected " + std::to_string(size) + " bytes behind byte " + std::to_string(tensor.offset) + " of " +
                     files::in_quotes(tensor.location) + ", found a file of " + std::to_string(all.size()));
  return all.subspan(static_cast<std::size_t>(tensor.offset), static_cast<std::size_t>(size));
}

void TensorData::fail(const Tensor& tensor, const std::string& what) const {
  throw files::Error(files::escaped(files::utf8_of(file_)) + ": tensor " + files::in_quotes(tensor.name) + ": " + what);
}

}  // namespace ladon::onnx
