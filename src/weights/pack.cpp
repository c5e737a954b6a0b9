#include "pack.hpp"

#include <algorithm>

#include "floats.hpp"

namespace weights {
namespace {

constexpr std::size_t alignment = 64;  // bytes: the widest vector, and a line of every cache there is

std::string underscored(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

std::string constant(const std::string& name, std::size_t value) {
  return "inline constexpr unsigned long " + name + " = " + std::to_string(value) + ";\n";
}

std::string beginning(const Found& found, const Origin& origin) {
  return "// Made by ladon-weights from " + files::in_quotes(origin.file) + ", prefix " +
         files::in_quotes(origin.prefix) + ", whose names are " + std::string(found.convention) +
         "'s.\n// Where each tensor begins in the data beside it, in floats.\n#pragma once\n\nnamespace " +
         origin.name_space + " {\n\n";
}

void append_rows(const files::Safetensors& file, const Piece& piece, std::string& data) {
  const files::Tensor& tensor = file.tensors().at(piece.tensor);
  const auto bytes = file.bytes(tensor);
  const auto row = bytes.size() / static_cast<std::size_t>(piece.shape[0]);  // sizes are checked, and none is 0
  append_floats(
      tensor.dtype,
      bytes.subspan(row * static_cast<std::size_t>(piece.first_row), row * static_cast<std::size_t>(piece.rows)), data);
}

}  // namespace

Packed pack(const files::Safetensors& file, const Spec& spec, const Found& found, const Origin& origin) {
  Packed packed{"", beginning(found, origin)};
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    packed.data.resize((packed.data.size() + alignment - 1) / alignment * alignment, '\0');
    packed.offsets += constant(underscored(spec.members[i].name), packed.data.size() / sizeof(float));
    for (const Piece& piece : found.members[i]) append_rows(file, piece, packed.data);
  }
  packed.offsets += constant("floats", packed.data.size() / sizeof(float));
  packed.offsets += "\n}  // namespace " + origin.name_space + "\n";
  return packed;
}

}  // namespace weights
