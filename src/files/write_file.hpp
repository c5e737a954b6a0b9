// SPDX-License-Identifier: Apache-2.0
// Steps of replacing a file, as the system offers them. Each returns the error that stopped it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace ladon::files {

// A file that is open for writing. The destructor closes the file.
class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Creates a file. An existing file or link is an error, std::errc::file_exists, and stays as it is. A private file is
  // for its owner only; any other file gets the permissions of a new file.
  std::error_code create(const std::filesystem::path& file, bool is_private);

  // Opens an existing device or pipe.
  std::error_code open_device(const std::filesystem::path& device);

  // Appends the bytes.
  std::error_code write(std::string_view bytes);

  // Sets the permissions, if there are any, and waits until the storage device has the content of a file. Then closes.
  // No other call follows.
  std::error_code finish(std::optional<std::filesystem::perms> permissions);

 private:
#ifdef _WIN32
  void* file_ = nullptr;  // a FILE*
#else
  int descriptor_ = -1;
  bool is_device_ = false;
#endif
};

// Waits until the storage device has the folder's new names. Does nothing where the folder cannot be opened.
std::error_code synchronise_folder(const std::filesystem::path& folder);

}  // namespace ladon::files
