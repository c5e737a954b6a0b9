// SPDX-License-Identifier: Apache-2.0
// The tensors in the folder of a model, which has safetensors files or an ONNX file.
#pragma once

#include <filesystem>
#include <optional>

#include "checkpoint.hpp"
#include "program.hpp"

namespace ladon::import {

// Throws Error if `folder` is not the folder of a model.
void expect_model_folder(const std::filesystem::path& folder);

// Returns whether the folder has a tokenizer.json. Throws Error if the file is not JSON.
bool has_tokenizer(const std::filesystem::path& folder);

class ModelFolder {
 public:
  // Without `reads_weights`, there are no tensors. Otherwise throws Error if the folder has no such file, or a wrong
  // one.
  ModelFolder(std::filesystem::path folder, bool reads_weights);

  // All tensors. Those of folders inside the folder have the name of their folder in front, such as
  // "2_Dense/linear.weight" (sentence-transformers).
  [[nodiscard]] const families::Tensors& tensors() const noexcept { return tensors_; }
  [[nodiscard]] bool is_onnx() const noexcept { return onnx_.has_value(); }

  // Returns a text for the error that a tensor is missing: the constants of an ONNX file that are not understood, or
  // "".
  [[nodiscard]] std::string behind_missing() const { return onnx_ ? onnx_->unknown_constants() : ""; }

  // Throws Error if the checkpoint lacks a tensor of the layers, or if a norm of an ONNX file has another epsilon than
  // the program. Does nothing without a checkpoint. write_weights checks the tensors of an ONNX file.
  void expect_layers(const Program& program) const;

  // Writes the tensors that `program` uses into the folder `out`/weights, as save_pretrained would have written them.
  // Only for a folder with an ONNX file.
  void write_weights(const std::filesystem::path& out, const Program& program);

 private:
  void write_into(const std::filesystem::path& weights, const Program& program);

  std::filesystem::path folder_;
  std::optional<onnx::Checkpoint> onnx_;
  families::Tensors tensors_;
};

}  // namespace ladon::import
