#include "mapped_file.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "file_error.hpp"

#ifdef _WIN32
#ifndef NOMINMAX  // some compilers set it themselves
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#endif

namespace files {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(file.string() + ": " + what);
}

// How a system says what went wrong last.
std::string last_error() {
#ifdef _WIN32
  const int code = static_cast<int>(GetLastError());
#else
  const int code = errno;
#endif
  return std::system_category().message(code);
}

struct Mapping {
  const std::byte* data;
  std::size_t size;
};

std::size_t checked_size(const std::filesystem::path& file, std::uintmax_t size) {
  if (size > std::numeric_limits<std::size_t>::max()) fail(file, "is too large to map here");
  return static_cast<std::size_t>(size);
}

#ifdef _WIN32

struct Handle {
  HANDLE value;
  ~Handle() {
    if (value != nullptr && value != INVALID_HANDLE_VALUE) CloseHandle(value);
  }
};

Mapping map(const std::filesystem::path& file) {
  const Handle opened{
      CreateFileW(file.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr)};
  if (opened.value == INVALID_HANDLE_VALUE) fail(file, "cannot be opened: " + last_error());
  LARGE_INTEGER length{};
  if (!GetFileSizeEx(opened.value, &length)) fail(file, "has no size: " + last_error());
  const std::size_t size = checked_size(file, static_cast<std::uintmax_t>(length.QuadPart));
  if (size == 0) return {nullptr, 0};
  const Handle mapping{CreateFileMappingW(opened.value, nullptr, PAGE_READONLY, 0, 0, nullptr)};
  if (mapping.value == nullptr) fail(file, "cannot be mapped: " + last_error());
  const void* data = MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) fail(file, "cannot be mapped: " + last_error());
  return {static_cast<const std::byte*>(data), size};
}

void unmap(const std::byte* data, std::size_t) noexcept { UnmapViewOfFile(data); }

#else

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

Mapping map(const std::filesystem::path& file) {
  const Descriptor opened{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (opened.value < 0) fail(file, "cannot be opened: " + last_error());
  struct stat status{};
  if (fstat(opened.value, &status) != 0) fail(file, "has no size: " + last_error());
  const std::size_t size = checked_size(file, static_cast<std::uintmax_t>(status.st_size));
  if (size == 0) return {nullptr, 0};
  const void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.value, 0);
  if (data == MAP_FAILED) fail(file, "cannot be mapped: " + last_error());
  return {static_cast<const std::byte*>(data), size};
}

void unmap(const std::byte* data, std::size_t size) noexcept { munmap(const_cast<std::byte*>(data), size); }

#endif

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, "no such file");
  // Asked before it is opened: opening a named pipe would wait for a writer.
  if (!std::filesystem::is_regular_file(status)) fail(file, "is not a regular file");
  const Mapping mapping = map(file);
  data_ = mapping.data;
  size_ = mapping.size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) unmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace files
