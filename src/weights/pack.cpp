// SPDX-License-Identifier: Apache-2.0
#include "pack.hpp"

#include <algorithm>
#include <cstdint>
#include <ladon/bfloat16.hpp>
#include <utility>

#include "file_error.hpp"
#include "member_bytes.hpp"

namespace ladon::weights {
namespace {

constexpr std::size_t alignment = 64;  // bytes: the width of the widest vectors, and the usual cache line

std::string underscored(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::string constant(const std::string& name, std::size_t value) {
  return "inline constexpr unsigned long " + name + " = " + std::to_string(value) + ";\n";
}

std::string beginning(const Found& found, const Origin& origin) {
  return "// Made by ladon-weights from " + files::in_quotes(origin.file) + ", prefix " +
         files::in_quotes(origin.prefix) + ", with the tensor names of " + std::string(found.convention) +
         ".\n// The offset of each tensor in the data, in elements of the tensor.\n#pragma once\n\nnamespace " +
         origin.name_space + " {\n\n";
}

// Appends tensors to the packed data, each at a multiple of `alignment`. For each tensor, also adds a constant with the
// offset of the tensor to the C++ header.
class Packer {
 public:
  explicit Packer(Packed packed) : packed_(std::move(packed)) {}

  void add(const std::string& name, const std::string& tensor, std::size_t bytes_of_element) {
    packed_.data.resize((packed_.data.size() + alignment - 1) / alignment * alignment, '\0');
    packed_.offsets += constant(underscored(name), packed_.data.size() / bytes_of_element);
    packed_.data += tensor;
  }
  Packed end(const Origin& origin) {
    packed_.offsets += constant("floats", packed_.data.size() / sizeof(float));
    packed_.offsets += "\n}  // namespace " + origin.name_space + "\n";
    return std::move(packed_);
  }

 private:
  Packed packed_;
};

}  // namespace

Packed pack(const files::Safetensors& file, const Spec& spec, const Found& found, const Origin& origin) try {
  Packer packer({"", beginning(found, origin)});
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const Member& member = spec.members[i];
    if (member.is_quantised()) {
      const Int8Member int8 = int8_member(file, member, found.members[i]);
      packer.add(member.name, int8.weight, sizeof(std::int8_t));
      packer.add(member.name + "_scale", int8.scale, sizeof(float));
      packer.add(member.name + "_row_sum", int8.row_sum, sizeof(std::int32_t));
    } else if (member.element == Element::bfloat16) {
      packer.add(member.name, bytes_of_member(file, member, found.members[i]), sizeof(ladon::BFloat16));
    } else {
      packer.add(member.name, bytes_of_member(file, member, found.members[i]), sizeof(float));
    }
  }
  return packer.end(origin);
} catch (const files::Error& error) {
  throw files::Error(origin.file + ": " + error.what());
}

}  // namespace ladon::weights
