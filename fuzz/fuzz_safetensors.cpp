// Fuzzes the reader of safetensors files, and `take`. The reader must accept any bytes as a file, or throw
// files::Error. `take` must make a part of any tensor, or throw files::Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ladon/safetensors.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "file_error.hpp"
#include "list.hpp"
#include "safetensors.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

namespace weights = ladon::weights;

namespace {

using files::Safetensors, files::Tensor, ladon_fuzz::require, ladon_fuzz::require_shown;

// Reads all bytes. Returns their sum, so that the compiler cannot remove the reads.
std::size_t sum_of(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0},
                         [](std::size_t sum, std::byte byte) { return sum + std::to_integer<std::size_t>(byte); });
}

// Returns the number of floats of a shape, or nothing if std::size_t cannot hold their size in bytes.
// Safetensors::tensor does not check whether the product of the extents overflows, because a program knows the shape of
// its tensor. This fuzzer takes each shape from the file instead, and must therefore leave out shapes whose product
// overflows.
std::optional<std::size_t> floats_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t floats = 1;
  for (const std::uint64_t size : shape)
    if (__builtin_mul_overflow(floats, size, &floats)) return std::nullopt;
  return floats <= SIZE_MAX / sizeof(float) ? std::optional<std::size_t>(floats) : std::nullopt;
}

const float* values_of(const Safetensors& file, const std::string& name, const std::vector<std::uint64_t>& shape) {
  switch (shape.size()) {
    case 0:
      return file.tensor(name, {});
    case 1:
      return file.tensor(name, {shape[0]});
    case 2:
      return file.tensor(name, {shape[0], shape[1]});
    default:
      return file.tensor(name, {shape[0], shape[1], shape[2]});
  }
}

void check_values(const Safetensors& file, const std::string& name, const Tensor& tensor) {
  const auto floats = floats_of(tensor.shape);
  if (!floats || tensor.shape.size() > 3) return;
  try {
    const auto values = std::as_bytes(std::span(values_of(file, name, tensor.shape), *floats));
    require(tensor.dtype == "F32" || tensor.dtype == "F16" || tensor.dtype == "BF16", "floats are given as floats");
    const std::size_t sum = sum_of(values);  // reads all values, also widened values
    require(tensor.dtype != "F32" || sum == sum_of(file.bytes(tensor)), "a tensor's values are the tensor's bytes");
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error of a tensor");
  }
}

template <class View>
void read(const View& view) {
  if constexpr (requires { view.data; }) {
    const auto values = std::as_bytes(std::span(view.data, View::size));
    require(view.data != nullptr && sum_of(values) <= 255 * values.size(), "bytes are bytes");
  }
}

// Takes a part, and reads all values.
template <class Part>
void check_part(const Safetensors& file, const std::string& name) {
  Part part{};
  try {
    ladon::safetensors::take(file, name, part);
    if constexpr (requires { part.weight; }) {
      read(part.weight);
      read(part.bias);
    } else {
      read(part);
    }
    if constexpr (requires { part.scale; }) {
      read(part.scale);
      read(part.row_sum);
    }
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error of a part");
  }
}

template <class Precision>
using Linear = ladon::Linear<2, 8, ladon::Order::out_in, ladon::Bias::without, Precision>;

void check_parts(const Safetensors& file, const std::string& name) {
  check_part<Linear<ladon::precision::Float32>>(file, name);
  check_part<Linear<ladon::precision::BFloat16>>(file, name);
  check_part<Linear<ladon::precision::Int8<8>>>(file, name);
  check_part<Linear<ladon::precision::Int8<8, true>>>(file, name);
  check_part<ladon::Linear<2, 3, ladon::Order::in_out>>(file, name);
  check_part<ladon::Norm<2>>(file, name);
  check_part<ladon::MatrixView<const float, 2, 3>>(file, name);
}

void check(const Safetensors& file, std::size_t file_size) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    const auto data = file.bytes(tensor);
    bytes += data.size();
    require(sum_of(data) <= 255 * data.size(), "bytes are bytes");
    check_values(file, name, tensor);
    check_parts(file, name);
    if (name.ends_with(".weight")) check_parts(file, name.substr(0, name.rfind('.')));
  }
  require(bytes <= file_size, "all tensors lie in the file");
  const std::string list = weights::list(file);
  require_shown(list, "a list of tensors");
  require(static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n')) == file.tensors().size() + 1,
          "a list has a line for each tensor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ladon_fuzz::MemoryFile input({reinterpret_cast<const char*>(data), size});
  try {
    check(Safetensors(input.path()), size);
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
