// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace files {

// How the bytes of a file come into memory.
//
// map: the system reads a page when the page is first used. Start-up is fast, and processes share the pages. The bytes
// are those of the file as long as nobody changes the file. If another process changes the file in place, the bytes
// change. If another process truncates the file, a read behind the new end stops this process (SIGBUS on POSIX), and no
// check in this process can prevent that. A file that is replaced by renaming (replace_file.hpp) is safe: the mapping
// keeps the old file. Windows refuses to truncate a mapped file.
//
// copy: the constructor reads the whole file into memory of its own. Later changes of the file have no effect. A file
// whose size changes while it is read is an error. A change of content during the reading is not detected.
enum class Load { map, copy };

// The bytes of a file in memory, read-only, for as long as the object lives. The bytes start at the beginning of a
// page, so the alignment of an address is the alignment of the file offset.
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
  const std::byte* data_ = nullptr;  // null for an empty file, which no system maps
  std::size_t size_ = 0;
  Load load_ = Load::map;
};

}  // namespace files
