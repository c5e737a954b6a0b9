// SPDX-License-Identifier: Apache-2.0
// Reads one safetensors file, which may be a shard of a checkpoint, and finds the shards of a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mapped_file.hpp"
#include "safetensors.hpp"

namespace ladon::files {

inline constexpr std::size_t length_bytes = 8;
// The longest header that is accepted. The reference implementation of the format has the same limit. With the limit, a
// damaged length cannot make the reader allocate gigabytes.
inline constexpr std::uint64_t largest_header = 100'000'000;

// Checks a safetensors file (class File) and gives access to its bytes.
class Shard {
 public:
  using Tensors = std::map<std::string, Tensor, std::less<>>;

  // Adds the tensors of the file to `tensors`, with `number` as their shard. Throws Error if the file is wrong, or has
  // a tensor that `tensors` already has.
  Shard(const std::filesystem::path& file, Load access, std::size_t number, Tensors& tensors);

  [[nodiscard]] std::span<const std::byte> bytes(const Tensor& tensor) const;
  // The JSON text of the header's "__metadata__", or "".
  [[nodiscard]] const std::string& metadata() const noexcept { return metadata_; }

 private:
  void read_header_length();
  [[nodiscard]] Tensors read_header(std::size_t number);
  void check_offsets(const Tensors& tensors) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(std::string_view tensor, const std::string& what) const;

  std::string name_;
  MappedFile file_;
  std::size_t data_begin_ = 0;  // bytes, from the beginning of the file
  std::string metadata_;
};

// Which files make a checkpoint.
struct Shards {
  std::vector<std::filesystem::path> files;
  std::map<std::string, std::size_t> places;  // the shard of each tensor, as the index says; empty without an index
};

// Returns the files of a checkpoint: a safetensors file, or the shards that an index names (a file whose name ends in
// .index.json). A folder stands for its model.safetensors, its model.safetensors.index.json, or its only safetensors
// file. Throws Error if the index is wrong, or if a shard is missing.
Shards shards_of(const std::filesystem::path& path);

}  // namespace ladon::files
