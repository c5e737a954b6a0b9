// SPDX-License-Identifier: Apache-2.0
#include "write_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#ifdef _WIN32
#include <io.h>
#include <cstdio>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace ladon::files {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

#ifdef _WIN32

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(static_cast<std::FILE*>(file_));
}

std::error_code OutputFile::create(const fs::path& file, bool) {
  file_ = _wfopen(file.c_str(), L"wbx");
  return file_ == nullptr ? last_error() : std::error_code();
}

std::error_code OutputFile::open_device(const fs::path& device) {
  file_ = _wfopen(device.c_str(), L"wb");
  return file_ == nullptr ? last_error() : std::error_code();
}

std::error_code OutputFile::write(std::string_view bytes) {
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), static_cast<std::FILE*>(file_)) == bytes.size();
  return written ? std::error_code() : last_error();
}

std::error_code OutputFile::finish(std::optional<fs::perms>) {
  std::FILE* const file = static_cast<std::FILE*>(std::exchange(file_, nullptr));
  std::error_code error;
  if (std::fflush(file) != 0) error = last_error();
  if (!error) static_cast<void>(_commit(_fileno(file)));  // the result is ignored, because _commit fails for devices
  if (std::fclose(file) != 0 && !error) error = last_error();
  return error;
}

std::error_code synchronise_folder(const fs::path&) { return {}; }

#else

namespace {

// Waits until the storage device has the data. Returns no error if the file system does not support fsync.
std::error_code synchronise(int descriptor) {
  if (fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return last_error();
}

}  // namespace

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::error_code OutputFile::create(const fs::path& file, bool is_private) {
  const mode_t mode = is_private ? 0600 : 0666;
  descriptor_ = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  return descriptor_ < 0 ? last_error() : std::error_code();
}

std::error_code OutputFile::open_device(const fs::path& device) {
  is_device_ = true;
  descriptor_ = open(device.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return descriptor_ < 0 ? last_error() : std::error_code();
}

std::error_code OutputFile::write(std::string_view bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // macOS cannot write 2 GB in one call
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most));
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

std::error_code OutputFile::finish(std::optional<fs::perms> permissions) {
  std::error_code error;
  if (permissions && fchmod(descriptor_, static_cast<mode_t>(*permissions)) != 0) error = last_error();
  if (!error && !is_device_) error = synchronise(descriptor_);
  close(std::exchange(descriptor_, -1));
  return error;
}

std::error_code synchronise_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const std::error_code error = synchronise(descriptor);
  close(descriptor);
  return error;
}

#endif

}  // namespace ladon::files
