// SPDX-License-Identifier: Apache-2.0
// Implements the steps in which a program replaces a file. The functions call the operating system. Each function
// returns the error that stopped the function, or an empty error code.
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

  // Creates a file. If the path already exists, as a file or as a link, returns std::errc::file_exists and changes
  // nothing. If `is_private` is true, only the owner may read and write the file. Otherwise, the file gets the usual
  // permissions of a new file (umask). Windows ignores `is_private`.
  std::error_code create(const std::filesystem::path& file, bool is_private);

  // Opens an existing device or pipe.
  std::error_code open_device(const std::filesystem::path& device);

  // Appends the bytes.
  std::error_code write(std::string_view bytes);

  // Sets the permissions, if `permissions` has a value. Waits until the storage device has the content of the file, and
  // closes the file. Must be the last call. Windows ignores the permissions.
  std::error_code finish(std::optional<std::filesystem::perms> permissions);

 private:
#ifdef _WIN32
  void* file_ = nullptr;  // a FILE*
#else
  int descriptor_ = -1;
  bool is_device_ = false;
#endif
};

// Waits until renamed and new files of the folder are recorded on the storage device. Does nothing on Windows, or if
// the folder cannot be opened.
std::error_code synchronise_folder(const std::filesystem::path& folder);

}  // namespace ladon::files
