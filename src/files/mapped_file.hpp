// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <ladon/safetensors/access.hpp>
#include <span>

namespace ladon::files {

using Load = safetensors::Access;

// Gives read-only access to the bytes of a file, for as long as the object lives. In memory, the bytes start at the
// beginning of a page, so a value is aligned if its offset in the file is aligned.
class MappedFile {
 public:
  // Throws Error if the file is missing, is not a regular file, or cannot be mapped or read. The error has the system's
  // reason.
  explicit MappedFile(const std::filesystem::path& file, Load load = Load::map);
  ~MappedFile();

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;  // null for an empty file, because no system maps an empty file
  std::size_t size_ = 0;
  Load load_ = Load::map;
};

}  // namespace ladon::files

namespace files = ladon::files;
