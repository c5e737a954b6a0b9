// SPDX-License-Identifier: Apache-2.0
#include "pack.hpp"

#include <algorithm>
#include <cstdint>
#include <ladon/bfloat16.hpp>
#include <ladon/quantise.hpp>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "file_error.hpp"
#include "floats.hpp"
#include "int8_weights.hpp"
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

template <class T>
void append_bytes(const T& value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The bytes of the three tensors that the packed data contain for one int8 tensor of the kernel.
struct Int8Member {
  std::string weight, scale, row_sum;
};

// Quantises the rows of a float weight, and appends the results to the tensors of `member`.
void append_quantised(const files::Safetensors& file, const Piece& piece, bool rotated, Int8Member& member) {
  std::vector<std::int8_t> integers(static_cast<std::size_t>(piece.shape[1]));
  constexpr float most = std::numeric_limits<float>::max();  // sums of eight rotated weights must stay finite
  for_finite_rows(file, piece, rotated ? most / 8 : most, [&](const std::vector<float>& values) {
    const auto quantise = rotated ? ladon::detail::quantise_row<true> : ladon::detail::quantise_row<false>;
    append_bytes(quantise(values.data(), values.size(), 1, integers.data()), member.scale);
    member.weight.append(reinterpret_cast<const char*>(integers.data()), integers.size());
  });
}

void append_row_sums(std::size_t columns, Int8Member& member) {
  const auto* const weight = reinterpret_cast<const std::int8_t*>(member.weight.data());
  for (std::size_t begin = 0; begin < member.weight.size(); begin += columns)
    append_bytes(ladon::detail::sum_of_row(weight + begin, columns), member.row_sum);
}

Int8Member int8_member(const files::Safetensors& file, const Source& source, bool rotated) {
  Int8Member member;
  for (const Piece& piece : source) {
    const files::Tensor& tensor = file.tensors().at(piece.tensor);
    if (tensor.dtype == "I8") {
      const auto rows = rows_of(file, piece);
      member.weight.append(reinterpret_cast<const char*>(rows.data()), rows.size());
      append_rows(file, {scale_name(piece.tensor), piece.shape, piece.first_row, piece.rows}, member.scale);
    } else {
      append_quantised(file, piece, rotated, member);
    }
  }
  append_row_sums(static_cast<std::size_t>(source.front().shape[1]), member);
  return member;
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
    if (member.element == Element::int8) {
      const Int8Member int8 = int8_member(file, found.members[i], member.rotated);
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
