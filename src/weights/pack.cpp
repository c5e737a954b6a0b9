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

// Returns the bytes of the rows that `piece` names. `tensor` holds the bytes of the whole tensor. The caller has
// checked the size of the tensor, and no extent is 0.
std::span<const std::byte> rows_of(std::span<const std::byte> tensor, const Piece& piece) {
  const auto row = tensor.size() / static_cast<std::size_t>(piece.shape[0]);
  return tensor.subspan(row * static_cast<std::size_t>(piece.first_row), row * static_cast<std::size_t>(piece.rows));
}

void append_rows(const files::Safetensors& file, const std::string& name, const Piece& piece, std::string& data) {
  const files::Tensor& tensor = file.tensors().at(name);
  append_floats(tensor.dtype, rows_of(file.bytes(tensor), piece), data);
}

template <class T>
void append_bytes(const T& value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Calls visit(values) for each row of `piece`, which is some rows of a float weight. Throws files::Error if a value is
// NaN, or if its magnitude is above `most`.
template <class Visit>
void for_finite_rows(const files::Safetensors& file, const Piece& piece, float most, const Visit& visit) {
  const files::Tensor& tensor = file.tensors().at(piece.tensor);
  const auto rows = rows_of(file.bytes(tensor), piece);
  const std::size_t row_bytes = rows.size() / static_cast<std::size_t>(piece.rows);
  std::vector<float> values(static_cast<std::size_t>(piece.shape[1]));
  for (std::size_t row = 0; row < piece.rows; ++row) {
    read_floats(tensor.dtype, rows.subspan(row * row_bytes, row_bytes), values);
    const auto what = finite_complaint(values, static_cast<std::size_t>(piece.first_row) + row, 0, most);
    if (!what.empty()) throw files::Error("tensor " + files::in_quotes(piece.tensor) + ": " + what);
    visit(values);
  }
}

// Returns the bytes of a bfloat16 member. A source of dtype BF16 keeps its bits.
std::string bfloat16_member(const files::Safetensors& file, const Source& source) {
  std::string bytes;
  for (const Piece& piece : source) {
    const files::Tensor& tensor = file.tensors().at(piece.tensor);
    if (tensor.dtype == "BF16") {
      const auto rows = rows_of(file.bytes(tensor), piece);
      bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size());
    } else {
      for_finite_rows(file, piece, largest_for_bfloat16, [&](const std::vector<float>& values) {
        for (const float value : values) append_bytes(ladon::to_bfloat16(value), bytes);
      });
    }
  }
  return bytes;
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
      const auto rows = rows_of(file.bytes(tensor), piece);
      member.weight.append(reinterpret_cast<const char*>(rows.data()), rows.size());
      append_rows(file, scale_name(piece.tensor), piece, member.scale);
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
      packer.add(member.name, bfloat16_member(file, found.members[i]), sizeof(ladon::BFloat16));
    } else {
      std::string floats;
      for (const Piece& piece : found.members[i]) append_rows(file, piece.tensor, piece, floats);
      packer.add(member.name, floats, sizeof(float));
    }
  }
  return packer.end(origin);
} catch (const files::Error& error) {
  throw files::Error(origin.file + ": " + error.what());
}

}  // namespace ladon::weights
