// SPDX-License-Identifier: Apache-2.0
// The class File gives access to the tensors of a safetensors file in place. A program that uses the class must link
// the library ladon::safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ladon/safetensors/access.hpp>
#include <ladon/safetensors/error.hpp>

namespace ladon::safetensors {

class File;

namespace detail {

// Returns the address of the values of each tensor that the text `members` lists, in the order of its lines. An int8
// weight has three addresses: of the weights, their scales and the sums of their rows. src/weights/spec.hpp explains
// the lines.
std::vector<const std::byte*> find(const File& file, const std::string& members, const std::string& prefix, bool strict,
                                   bool states_epsilon);

// Does the same for the tensors of one linear map or norm of this name. The lines have the roles linear1 or norm1.
std::vector<const std::byte*> find_part(const File& file, const std::string& name, const std::string& members);

// Returns whether a line of `members` is one of `int8_members` (LoadOptions).
bool is_int8_member(const std::string& line, const std::vector<std::string>& int8_members);

// Returns the lines `members` with int8 in place of int4 in the lines of `int8_members`. Throws Error if one of
// `int8_members` is no linear map with 4-bit weights.
std::string with_int8_members(const std::string& members, const std::vector<std::string>& int8_members);

// Returns the address of the float32 values of the tensor NAME, or else NAME.weight.
const std::byte* find_view(const File& file, const std::string& name, std::span<const std::size_t> shape);

}  // namespace detail

// The properties of a tensor that the header of a file states.
struct Tensor {
  std::string dtype;                 // F32, F16, BF16, I64, ..
  std::vector<std::uint64_t> shape;  // empty for a scalar
  std::uint64_t begin;               // bytes, from the beginning of the data of its shard
  std::uint64_t end;
  std::size_t shard = 0;  // number of the shard; 0 if the checkpoint is one file
};

// The dtype that File::tensor<T> accepts. <ladon/safetensors.hpp> adds BF16 for ladon::BFloat16.
template <class T>
inline constexpr std::string_view dtype_of = "";
template <>
inline constexpr std::string_view dtype_of<float> = "F32";
template <>
inline constexpr std::string_view dtype_of<std::int8_t> = "I8";
template <>
inline constexpr std::string_view dtype_of<std::uint8_t> = "U8";

// Gives access to the tensors of a safetensors file, or of all shards of a checkpoint. A file consists of:
//
//   8 bytes  length of the header, little-endian
//   header   JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ..}
//   data     the tensors end to end, row-major, little-endian; data_offsets count from the beginning of the data
//
// The README of https://github.com/huggingface/safetensors defines the format. A file may come from an untrusted
// source. The class checks all numbers of the header before using them, and throws Error for a wrong file. All pointers
// into the file are valid during the lifetime of the File. A File can be moved, and the pointers stay valid.
class File {
 public:
  // Checks the header. Also checks that the data of all tensors fill the file, without gap or overlap. `file` may also
  // be the index of a sharded checkpoint (its name ends in .index.json), or a folder: then its model.safetensors, its
  // model.safetensors.index.json, or its only safetensors file is read.
  explicit File(const std::filesystem::path& file, Access access = Access::map);
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  // Returns a pointer to the first value of a tensor. T is float (dtype F32), std::int8_t (I8) or std::uint8_t (U8).
  // With <ladon/safetensors.hpp>, T may also be ladon::BFloat16 (BF16). Throws Error if the file does not have the
  // tensor; the error lists similar names. Also throws Error if the tensor has another dtype, another shape, or a wrong
  // number of bytes for the shape. If T is float, the dtype may also be F16 or BF16: the File then holds the values as
  // float32. The File also holds a copy of values whose address in the file is not aligned for T.
  template <class T = float>
  [[nodiscard]] const T* tensor(std::string_view name, std::initializer_list<std::size_t> shape) const {
    static_assert(!dtype_of<T>.empty(), "ladon: no dtype of safetensors is read as this type");
    return reinterpret_cast<const T*>(values(name, dtype_of<T>, sizeof(T), {shape.begin(), shape.size()}));
  }

  // Returns the address of the first value of a tensor, after the checks of `tensor`. `element_bytes` is the size of a
  // value, and the address is a multiple of this size.
  [[nodiscard]] const std::byte* values(std::string_view name, std::string_view dtype, std::size_t element_bytes,
                                        std::span<const std::size_t> shape) const;

  // Returns all tensors by name.
  [[nodiscard]] const std::map<std::string, Tensor, std::less<>>& tensors() const noexcept { return tensors_; }

  // Returns the bytes of a tensor, at any alignment.
  [[nodiscard]] std::span<const std::byte> bytes(const Tensor& tensor) const;

  // Returns the JSON text of the header's "__metadata__", or "" if the header has none. Throws Error if the metadata
  // are not an object whose values are strings.
  [[nodiscard]] std::string metadata() const;

  // Returns the path, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  class Contents;
  friend std::vector<const std::byte*> detail::find(const File&, const std::string&, const std::string&, bool, bool);
  friend std::vector<const std::byte*> detail::find_part(const File&, const std::string&, const std::string&);

  // Returns the address of the bytes that `make` returned for this key. Calls `make` only once for each key. Several
  // threads may call this function at the same time.
  const std::byte* kept(const std::string& key, const std::function<std::string()>& make) const;

  [[nodiscard]] std::string similar_names(std::string_view name) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(std::string_view tensor, const std::string& what) const;

  std::string name_;
  std::unique_ptr<Contents> contents_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace ladon::safetensors
