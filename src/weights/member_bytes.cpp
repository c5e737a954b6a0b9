// SPDX-License-Identifier: Apache-2.0
#include "member_bytes.hpp"

#include <ladon/bfloat16.hpp>

#include "file_error.hpp"
#include "floats.hpp"

namespace ladon::weights {
namespace {

// Appends the rows of `piece` as bfloat16.
void append_bfloat16_rows(const files::Safetensors& file, const Piece& piece, std::string& bytes) {
  if (file.tensors().at(piece.tensor).dtype == "BF16") {
    const auto rows = rows_of(file, piece);
    bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size());
    return;
  }
  for_finite_rows(file, piece, largest_for_bfloat16, [&](const std::vector<float>& values) {
    for (const float value : values) {
      const ladon::BFloat16 rounded = ladon::to_bfloat16(value);
      bytes.append(reinterpret_cast<const char*>(&rounded), sizeof(rounded));
    }
  });
}

}  // namespace

std::span<const std::byte> rows_of(const files::Safetensors& file, const Piece& piece) {
  const auto tensor = file.bytes(file.tensors().at(piece.tensor));
  const auto row = tensor.size() / static_cast<std::size_t>(piece.shape[0]);
  return tensor.subspan(row * static_cast<std::size_t>(piece.first_row), row * static_cast<std::size_t>(piece.rows));
}

void append_rows(const files::Safetensors& file, const Piece& piece, std::string& data) {
  append_floats(file.tensors().at(piece.tensor).dtype, rows_of(file, piece), data);
}

void for_finite_rows(const files::Safetensors& file, const Piece& piece, float most,
                     const std::function<void(const std::vector<float>&)>& visit) {
  const auto rows = rows_of(file, piece);
  const std::size_t row_bytes = rows.size() / static_cast<std::size_t>(piece.rows);
  std::vector<float> values(static_cast<std::size_t>(piece.shape[1]));
  for (std::size_t row = 0; row < piece.rows; ++row) {
    read_floats(file.tensors().at(piece.tensor).dtype, rows.subspan(row * row_bytes, row_bytes), values);
    const auto what = finite_complaint(values, static_cast<std::size_t>(piece.first_row) + row, 0, most);
    if (!what.empty()) throw files::Error("tensor " + files::in_quotes(piece.tensor) + ": " + what);
    visit(values);
  }
}

std::string bytes_of_member(const files::Safetensors& file, const Member& member, const Source& source) {
  std::string bytes;
  for (const Piece& piece : source)
    (member.element == Element::bfloat16 ? append_bfloat16_rows : append_rows)(file, piece, bytes);
  return bytes;
}

}  // namespace ladon::weights
