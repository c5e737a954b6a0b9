// SPDX-License-Identifier: Apache-2.0
#include <ladon/safetensors/folder.hpp>

#include "mapped_file.hpp"

namespace ladon::safetensors {
namespace {

std::string text_of(const std::filesystem::path& file) {
  const files::MappedFile read(file, Access::copy);
  return {reinterpret_cast<const char*>(read.bytes().data()), read.bytes().size()};
}

}  // namespace

Folder::Folder(const std::filesystem::path& folder, Access access)
    : path_(folder), config_(text_of(folder / "config.json")), file_(folder, access) {}

const Tensor* Folder::find(std::string_view name) const {
  const auto found = file_.tensors().find(name);
  return found == file_.tensors().end() ? nullptr : &found->second;
}

}  // namespace ladon::safetensors
