// SPDX-License-Identifier: Apache-2.0
#include "mapped_file.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "file_error.hpp"
#include "utf8.hpp"

#ifdef _WIN32
#ifndef NOMINMAX  // some compilers define NOMINMAX themselves
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

namespace ladon::files {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(utf8_of(file) + ": " + what);
}

// Returns the system's message for the last error.
std::string reason_of_last_error() {
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

// The memory for a copy of a file begins at a multiple of `page` bytes, so that a copy is aligned like a mapping.
constexpr std::align_val_t page{4096};
struct Delete {
  void operator()(const std::byte* data) const noexcept { ::operator delete(const_cast<std::byte*>(data), page); }
};
using Memory = std::unique_ptr<std::byte, Delete>;

Memory allocate(const std::filesystem::path& file, std::size_t size) {
  void* const data = size == 0 ? nullptr : ::operator new(size, page, std::nothrow);
  if (size != 0 && data == nullptr)
    fail(file, "is too large to copy: cannot allocate " + std::to_string(size) + " bytes");
  return Memory(static_cast<std::byte*>(data));
}

constexpr std::size_t most_at_once = std::size_t{1} << 30;  // macOS cannot read 2 GB in one call

#ifdef _WIN32

struct Handle {
  HANDLE value;
  ~Handle() {
    if (value != nullptr && value != INVALID_HANDLE_VALUE) CloseHandle(value);
  }
};

struct Opened {
  explicit Opened(const std::filesystem::path& file)
      : handle{CreateFileW(file.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL,
                           nullptr)} {
    if (handle.value == INVALID_HANDLE_VALUE) fail(file, "cannot be opened: " + reason_of_last_error());
    LARGE_INTEGER length{};
    if (!GetFileSizeEx(handle.value, &length)) fail(file, "has no size: " + reason_of_last_error());
    size = checked_size(file, static_cast<std::uintmax_t>(length.QuadPart));
  }
  Handle handle;
  std::size_t size;
};

// Reads at most `most` bytes into `to`. Returns the number of bytes, which is 0 only at the end of the file.
std::size_t read_some(const Opened& opened, const std::filesystem::path& file, std::byte* to, std::size_t most) {
  DWORD count = 0;
  if (!ReadFile(opened.handle.value, to, static_cast<DWORD>(std::min(most, most_at_once)), &count, nullptr))
    fail(file, "cannot be read: " + reason_of_last_error());
  return count;
}

Mapping map(const std::filesystem::path& file) {
  const Opened opened(file);
  const std::size_t size = opened.size;
  if (size == 0) return {nullptr, 0};
  const Handle mapping{CreateFileMappingW(opened.handle.value, nullptr, PAGE_READONLY, 0, 0, nullptr)};
  if (mapping.value == nullptr) fail(file, "cannot be mapped: " + reason_of_last_error());
  const void* data = MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) fail(file, "cannot be mapped: " + reason_of_last_error());
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

struct Opened {
  explicit Opened(const std::filesystem::path& file) : descriptor{open(file.c_str(), O_RDONLY | O_CLOEXEC)} {
    if (descriptor.value < 0) fail(file, "cannot be opened: " + reason_of_last_error());
    struct stat status{};
    if (fstat(descriptor.value, &status) != 0) fail(file, "has no size: " + reason_of_last_error());
    size = checked_size(file, static_cast<std::uintmax_t>(status.st_size));
  }
  Descriptor descriptor;
  std::size_t size = 0;
};

// Reads at most `most` bytes into `to`. Returns the number of bytes, which is 0 only at the end of the file.
std::size_t read_some(const Opened& opened, const std::filesystem::path& file, std::byte* to, std::size_t most) {
  while (true) {
    const ssize_t count = read(opened.descriptor.value, to, std::min(most, most_at_once));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail(file, "cannot be read: " + reason_of_last_error());
  }
}

Mapping map(const std::filesystem::path& file) {
  const Opened opened(file);
  const std::size_t size = opened.size;
  if (size == 0) return {nullptr, 0};
  const void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.descriptor.value, 0);
  if (data == MAP_FAILED) fail(file, "cannot be mapped: " + reason_of_last_error());
  return {static_cast<const std::byte*>(data), size};
}

void unmap(const std::byte* data, std::size_t size) noexcept { munmap(const_cast<std::byte*>(data), size); }

#endif

Mapping copy(const std::filesystem::path& file) {
  const Opened opened(file);
  Memory memory = allocate(file, opened.size);
  const std::string expected = "changed while it was read: expected " + std::to_string(opened.size) + " bytes, found ";
  for (std::size_t have = 0; have < opened.size;) {
    const std::size_t more = read_some(opened, file, memory.get() + have, opened.size - have);
    if (more == 0) fail(file, expected + std::to_string(have));
    have += more;
  }
  std::byte behind_the_end{};
  if (read_some(opened, file, &behind_the_end, 1) != 0) fail(file, expected + "more");
  return {memory.release(), opened.size};
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file, Load load) : load_(load) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, "no such file");
  // Checks the kind of the file before the file is opened, because opening a named pipe would wait for a writer.
  if (!std::filesystem::is_regular_file(status)) fail(file, "is not a regular file");
  const Mapping mapping = load == Load::map ? map(file) : copy(file);
  data_ = mapping.data;
  size_ = mapping.size;
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  if (load_ == Load::map) {
    unmap(data_, size_);
  } else {
    Delete()(data_);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), load_(other.load_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(load_, other.load_);
  return *this;
}

}  // namespace ladon::files
