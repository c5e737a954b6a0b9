#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace files {

// A file mapped into memory, read-only, for as long as the object lives.
// The mapping starts at the beginning of a page, so a file offset's alignment is its address'.
class MappedFile {
 public:
  // Throws Error when the file is missing, not a regular file, or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;  // null for an empty file, which no system maps
  std::size_t size_ = 0;
};

}  // namespace files
