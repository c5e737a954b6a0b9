// SPDX-License-Identifier: Apache-2.0
// The class Folder opens a model as Hugging Face's save_pretrained writes it: config.json, and one safetensors file or
// an index and its shards.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <ladon/safetensors/file.hpp>

namespace ladon::safetensors {

class Folder {
 public:
  // Throws Error if the folder lacks config.json, or if the File of the folder is wrong.
  explicit Folder(const std::filesystem::path& folder, Access access = Access::map);

  // Returns the tensors of all shards. The File lives as long as the Folder.
  [[nodiscard]] const File& file() const noexcept { return file_; }

  // Returns a tensor, or null if the folder has no tensor of this name.
  [[nodiscard]] const Tensor* find(std::string_view name) const;

  // Returns the text of config.json.
  [[nodiscard]] const std::string& config() const noexcept { return config_; }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  std::string config_;
  File file_;
};

}  // namespace ladon::safetensors
