// Makes valid and invalid safetensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "byte_order.hpp"

namespace ladon::files {

inline std::string with_length(std::uint64_t length, const std::string& header, const std::string& data) {
  std::string bytes(sizeof(length), '\0');
  length = swapped_if_big_endian(length);
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

// Returns the bytes of a safetensors file. Spaces after the header align the data to 8 bytes, as in the files that
// other programs write.
inline std::string safetensors(std::string header, const std::string& data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return with_length(header.size(), header, data);
}

inline std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  swap_if_big_endian(std::as_writable_bytes(std::span(bytes)), sizeof(float));
  return bytes;
}

inline std::vector<float> counted(std::size_t size, float first) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Returns whether `values` are the memory `in_file`. On a big-endian machine, where a File copies numbers, returns
// whether the first values are equal.
template <class T>
bool is_in_file(const T* values, const T* in_file) {
  return is_little_endian ? values == in_file : std::memcmp(values, in_file, sizeof(T)) == 0;
}

// Builds the bytes of a safetensors file, tensor by tensor.
class Checkpoint {
 public:
  Checkpoint& add(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& bytes) {
    // The header is appended piece by piece, because g++ 12 takes "x" + string for an overlapping copy (GCC bug
    // 105651).
    header_.append(header_.empty() ? "\"" : ",\"").append(name);
    header_.append(R"(":{"dtype":")").append(dtype).append(R"(","shape":)").append(shape);
    header_.append(R"(,"data_offsets":[)").append(std::to_string(data_.size()));
    header_.append(",").append(std::to_string(data_.size() + bytes.size())).append("]}");
    data_ += bytes;
    return *this;
  }

  // Adds an F32 tensor with the numbers first, first + 1, and so on.
  Checkpoint& add(const std::string& name, std::size_t rows, std::size_t columns, float first) {
    return add(name, "F32", "[" + std::to_string(rows) + "," + std::to_string(columns) + "]",
               floats(counted(rows * columns, first)));
  }
  Checkpoint& add(const std::string& name, std::size_t size, float first) {
    return add(name, "F32", "[" + std::to_string(size) + "]", floats(counted(size, first)));
  }

  // Sets the header's "__metadata__", as JSON.
  Checkpoint& metadata(const std::string& json) {
    metadata_.assign("\"__metadata__\":").append(json).append(",");
    return *this;
  }

  [[nodiscard]] std::string content() const { return safetensors("{" + metadata_ + header_ + "}", data_); }

 private:
  std::string metadata_;
  std::string header_;
  std::string data_;
};

}  // namespace ladon::files
