// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "graph.hpp"
#include "mapped_file.hpp"

namespace ladon::onnx {

// Returns the dtype of safetensors files for a type, or "" if it is not a type of floats.
std::string dtype_of(std::int32_t type);

// Gives access to the numbers of constants, in the file of the graph and in files of external data.
class TensorData {
 public:
  // `file` is the file of the graph. External data must be in its folder, or in a folder inside this folder.
  explicit TensorData(std::filesystem::path file) : file_(std::move(file)) {}

  // Returns the numbers of a tensor of floats. Throws Error if the file does not have exactly the bytes of the shape.
  std::span<const std::byte> bytes(const Tensor& tensor);

 private:
  std::span<const std::byte> external(const Tensor& tensor, std::uint64_t size);
  [[noreturn]] void fail(const Tensor& tensor, const std::string& what) const;

  std::filesystem::path file_;
  std::map<std::string, files::MappedFile, std::less<>> files_;
};

}  // namespace ladon::onnx
