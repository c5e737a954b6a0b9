// SPDX-License-Identifier: Apache-2.0
#include "shard.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "byte_order.hpp"
#include "other_files.hpp"
#include "strict_json.hpp"
#include "utf8.hpp"

namespace ladon::files {
namespace {

using nlohmann::json;

// Appends the unsigned integers of a JSON list to `sizes`. Returns false if `values` is anything else than a list of
// unsigned integers.
bool read_sizes(const json& values, std::vector<std::uint64_t>& sizes) {
  if (!values.is_array()) return false;
  for (const json& value : values) {
    if (!value.is_number_unsigned()) return false;
    sizes.push_back(value.get<std::uint64_t>());
  }
  return true;
}

}  // namespace

Shard::Shard(const std::filesystem::path& file, Load access, std::size_t number, Tensors& tensors)
    : name_(utf8_of(file)), file_(file, access) {
  read_header_length();
  Tensors found = read_header(number);
  check_offsets(found);
  tensors.merge(found);
  if (!found.empty()) fail(found.begin()->first, "expected this tensor in one shard only, found it in two");
}

void Shard::read_header_length() {
  const auto bytes = file_.bytes();
  if (bytes.size() < length_bytes)
    fail("expected the header's length in 8 bytes, found a file of " + std::to_string(bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  length = swapped_if_big_endian(length);
  if (const auto kind = weights::kind_of_content(bytes); length > largest_header && !kind.empty())
    fail("expected a safetensors file, found " + kind);
  const std::uint64_t largest = std::min(largest_header, std::uint64_t{bytes.size() - length_bytes});
  if (length > largest)
    fail("expected a header of at most " + std::to_string(largest) + " bytes, found a length of " +
         std::to_string(length) + " (is the file truncated, or not a safetensors file?)");
  data_begin_ = length_bytes + static_cast<std::size_t>(length);
}

Shard::Tensors Shard::read_header(std::size_t number) {
  json header;
  try {
    header = parse_strictly(file_.bytes().subspan(length_bytes, data_begin_ - length_bytes));
  } catch (const std::exception& error) {
    fail("expected a header in JSON, found: " + in_quotes(error.what()));
  }
  if (!header.is_object()) fail("expected a JSON object as header, found " + shown_json(header));
  Tensors tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") {
      metadata_ = value.dump();
      continue;
    }
    const json dtype = member(value, "dtype");
    if (!dtype.is_string()) fail(name, "expected a \"dtype\", found " + shown_json(value));
    std::vector<std::uint64_t> shape;
    if (!read_sizes(member(value, "shape"), shape))
      fail(name, "expected a \"shape\" of sizes, found " + shown_json(value));
    std::vector<std::uint64_t> offsets;
    if (!read_sizes(member(value, "data_offsets"), offsets) || offsets.size() != 2)
      fail(name, "expected two \"data_offsets\", found " + shown_json(value));
    tensors.emplace(name, Tensor{dtype.get<std::string>(), std::move(shape), offsets[0], offsets[1], number});
  }
  return tensors;
}

// Checks the tensors in the order of their data, so that the error about a truncated file names the first truncated
// tensor.
void Shard::check_offsets(const Tensors& tensors) const {
  std::vector<std::pair<std::string_view, const Tensor*>> by_offset;
  by_offset.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) by_offset.emplace_back(name, &tensor);
  std::ranges::sort(by_offset, {}, [](const auto& named) { return std::pair(named.second->begin, named.second->end); });

  const std::uint64_t size = file_.bytes().size() - data_begin_;
  std::uint64_t expected_begin = 0;
  for (const auto& [name, tensor] : by_offset) {
    const std::string found = shown({tensor->begin, tensor->end});
    if (tensor->begin != expected_begin)
      fail(name, "expected data that begins at byte " + std::to_string(expected_begin) +
                     ", where the tensor before it ends, found data_offsets " + found);
    if (tensor->end < tensor->begin)
      fail(name, "expected data that ends behind its beginning, found data_offsets " + found);
    if (tensor->end > size)
      fail(name, "expected data at data_offsets " + found + ", found a file that ends at byte " + std::to_string(size) +
                     " of the data (truncated?)");
    expected_begin = tensor->end;
  }
  if (expected_begin != size)
    fail("expected " + std::to_string(expected_begin) + " bytes of data, found " + std::to_string(size));
}

std::span<const std::byte> Shard::bytes(const Tensor& tensor) const {
  return file_.bytes().subspan(data_begin_ + static_cast<std::size_t>(tensor.begin),
                               static_cast<std::size_t>(tensor.end - tensor.begin));
}

void Shard::fail(const std::string& what) const { throw Error(name_ + ": " + what); }

void Shard::fail(std::string_view tensor, const std::string& what) const {
  fail("tensor " + in_quotes(tensor) + ": " + what);
}

}  // namespace ladon::files
