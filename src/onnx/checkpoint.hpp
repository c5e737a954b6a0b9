// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <ladon/safetensors/file.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "graph.hpp"
#include "mapped_file.hpp"
#include "parameters.hpp"
#include "tensor_data.hpp"

namespace ladon::onnx {

// Returns the ONNX file of a model's folder, model.onnx or onnx/model.onnx, if the folder has no model.safetensors.
std::optional<std::filesystem::path> file_in(const std::filesystem::path& folder);

// Presents the parameters in an ONNX file as the safetensors file that save_pretrained would have written.
class Checkpoint {
 public:
  using Tensors = std::map<std::string, safetensors::Tensor, std::less<>>;
  using Names = std::function<bool(std::string_view)>;

  // `is_in_out` says which weights a state dict has as (in, out). All others are (out, in). Throws Error if the file is
  // wrong, or if a node is not understood.
  Checkpoint(const std::filesystem::path& file, const Names& is_in_out);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  // of the file, for errors
  [[nodiscard]] const Tensors& tensors() const noexcept { return tensors_; }
  [[nodiscard]] const Epsilons& epsilons() const noexcept { return parameters_.epsilons; }
  // Returns a text for the error that a tensor is missing: "; no name and no node tells which tensor is ..", or "".
  [[nodiscard]] std::string unknown_constants() const;
  // The numbers of a tensor in the order of its shape.
  [[nodiscard]] std::string values(const std::string& name);
  // Writes a safetensors file of the tensors that `chosen` accepts.
  void write(const std::filesystem::path& path, const Names& chosen);

 private:
  std::string name_;
  files::MappedFile file_;
  Graph graph_;
  Parameters parameters_;
  TensorData data_;
  std::map<std::string, bool, std::less<>> transposed_;
  Tensors tensors_;
};

}  // namespace ladon::onnx
