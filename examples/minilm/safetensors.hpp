#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.hpp"

namespace minilm {

// The tensors of a safetensors file, used where they lie in the mapped file:
//
//   8 bytes  length of the header, little-endian
//   header   JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..}
//   data     the tensors end to end, row-major, little-endian; offsets count from here
//
// (https://github.com/huggingface/safetensors, "Format".) A file may come from anywhere: nothing in
// it is believed before it is checked, and what is wrong is a ModelError.
class Safetensors {
 public:
  // Checks the header, and that the data of all tensors fill the file, without hole or overlap.
  explicit Safetensors(const std::filesystem::path& file);

  // The first of the tensor's values. Throws unless it is there, is F32, has this very shape and
  // the bytes that the shape needs, and begins at a multiple of 4 bytes.
  // Valid as long as this object.
  [[nodiscard]] const float* tensor(std::string_view name, std::initializer_list<std::size_t> shape) const;

 private:
  struct Entry {
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t begin;  // bytes, from the beginning of the data
    std::uint64_t end;
  };

  void read_header_length();
  void read_header();
  void check_offsets() const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(std::string_view tensor, const std::string& what) const;

  std::string name_;  // the file's, for messages
  examples::MappedFile file_;
  std::size_t data_begin_ = 0;  // bytes, from the beginning of the file
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace minilm
