#include "write_file.hpp"

#include <algorithm>
#include <cerrno>

#ifdef _WIN32
#include <io.h>
#include <cstdio>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace files {
namespace {

namespace fs = std::filesystem;

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

#ifdef _WIN32

namespace {

std::error_code write_and_close(std::FILE* file, std::string_view content) {
  std::error_code error;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() && std::fflush(file) == 0;
  if (!written) error = last_error();
  if (!error) static_cast<void>(_commit(_fileno(file)));  // fails for devices
  if (std::fclose(file) != 0 && !error) error = last_error();
  return error;
}

}  // namespace

std::error_code write_new_file(const fs::path& file, std::string_view content, std::optional<fs::perms>) {
  std::FILE* made = _wfopen(file.c_str(), L"wbx");
  if (made == nullptr) return last_error();
  const std::error_code error = write_and_close(made, content);
  if (error) _wremove(file.c_str());
  return error;
}

std::error_code write_into(const fs::path& device, std::string_view content) {
  std::FILE* opened = _wfopen(device.c_str(), L"wb");
  return opened == nullptr ? last_error() : write_and_close(opened, content);
}

std::error_code synchronise_folder(const fs::path&) { return {}; }

#else

namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

std::error_code write_all(const Descriptor& to, std::string_view rest) {
  constexpr std::size_t most = std::size_t{1} << 30;  // macOS refuses 2 GB
  while (!rest.empty()) {
    const ssize_t count = write(to.value, rest.data(), std::min(rest.size(), most));
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

// A file system that cannot synchronise is not an error.
std::error_code synchronise(const Descriptor& opened) {
  if (fsync(opened.value) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return last_error();
}

}  // namespace

std::error_code write_new_file(const fs::path& file, std::string_view content, std::optional<fs::perms> permissions) {
  // A file that gets permissions is private until it has them.
  const mode_t first_mode = permissions ? 0600 : 0666;
  const Descriptor made{open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first_mode)};
  if (made.value < 0) return last_error();
  std::error_code error = write_all(made, content);
  if (!error && permissions && fchmod(made.value, static_cast<mode_t>(*permissions)) != 0) error = last_error();
  if (!error) error = synchronise(made);
  if (error) unlink(file.c_str());
  return error;
}

std::error_code write_into(const fs::path& device, std::string_view content) {
  const Descriptor opened{open(device.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)};
  return opened.value < 0 ? last_error() : write_all(opened, content);
}

std::error_code synchronise_folder(const fs::path& folder) {
  const Descriptor opened{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  return opened.value < 0 ? std::error_code() : synchronise(opened);
}

#endif

}  // namespace files
