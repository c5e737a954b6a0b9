// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.hpp"

namespace files {

// What the header says of a tensor.
struct Tensor {
  std::string dtype;                 // F32, F16, BF16, I64, ..
  std::vector<std::uint64_t> shape;  // empty for a scalar
  std::uint64_t begin;               // bytes, from the beginning of the data
  std::uint64_t end;
};

// What comes from a file is shown in ASCII, with JSON's escapes, so that nothing in it can steer a terminal: quoted and
// not at any length, or whole and bare.
std::string in_quotes(std::string_view text);
std::string escaped(std::string_view text);

// [2,3]
std::string shown(const std::vector<std::uint64_t>& shape);

// The tensors of a safetensors file, used where they lie in the mapped file, or in a copy of it:
//
//   8 bytes  length of the header, little-endian
//   header   JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..}
//   data     the tensors end to end, row-major, little-endian; offsets count from here
//
// (https://github.com/huggingface/safetensors, "Format".) A file may come from anywhere: nothing in
// it is believed before it is checked, and what is wrong is an Error.
class Safetensors {
 public:
  // Checks the header, and that the data of all tensors fill the file, without hole or overlap.
  // `load` is explained at files::Load: a mapped file must not be truncated by another process.
  explicit Safetensors(const std::filesystem::path& file, Load load = Load::map);

  // All there are, by name.
  [[nodiscard]] const std::map<std::string, Tensor, std::less<>>& tensors() const noexcept { return tensors_; }

  // The JSON text of the header's "__metadata__", or "" if the header has none. Throws unless it is an object of texts.
  [[nodiscard]] std::string metadata() const;

  // A tensor's bytes, at any alignment. Valid as long as this object.
  [[nodiscard]] std::span<const std::byte> bytes(const Tensor& tensor) const;

  // The first of the tensor's values. Throws unless it is there, is F32, has this very shape and
  // the bytes that the shape needs, and begins at a multiple of 4 bytes.
  // Valid as long as this object.
  [[nodiscard]] const float* tensor(std::string_view name, std::initializer_list<std::size_t> shape) const;
  // Does the same for dtype I8, at any alignment.
  [[nodiscard]] const std::int8_t* int8_tensor(std::string_view name, std::initializer_list<std::size_t> shape) const;

 private:
  void read_header_length();
  void read_header();
  void check_offsets() const;
  [[nodiscard]] const std::byte* checked(std::string_view name, std::string_view dtype, std::size_t element_bytes,
                                         std::initializer_list<std::size_t> shape) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(std::string_view tensor, const std::string& what) const;

  std::string name_;  // the file's, for messages
  MappedFile file_;
  std::size_t data_begin_ = 0;  // bytes, from the beginning of the file
  std::string metadata_;        // as JSON
  std::map<std::string, Tensor, std::less<>> tensors_;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Returns what stands before the data of a safetensors file: the length of the header and the header, filled up with
// spaces so that the data begin at a multiple of 8 bytes. The header names the tensors in the given order. `metadata`
// is what Safetensors::metadata returns. Throws Error if the header is longer than a reader accepts.
std::string safetensors_header(std::span<const NamedTensor> tensors, const std::string& metadata);

}  // namespace files
