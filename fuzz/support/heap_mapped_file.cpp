// In fuzzers, replaces files::MappedFile with a copy of the file on the heap. AddressSanitizer then reports a read of
// the first byte behind the file. With a mapping, reads up to the end of the last page would not be reported. The
// object file of this source comes before the library with the mapping, so the linker takes MappedFile from the object
// file.
#include <fstream>
#include <new>
#include <utility>

#include "file_error.hpp"
#include "mapped_file.hpp"

namespace ladon::files {
namespace {

constexpr std::align_val_t page{4096};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file, Load load) : load_(load) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) throw Error(file.string() + ": cannot be opened");
  const auto size = static_cast<std::size_t>(in.tellg());
  if (size == 0) return;
  auto* const bytes = static_cast<std::byte*>(::operator new(size, page));
  in.seekg(0).read(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(size));
  data_ = bytes;
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::operator delete(const_cast<std::byte*>(data_), page);
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
