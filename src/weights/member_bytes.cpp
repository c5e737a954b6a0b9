// SPDX-License-Identifier: Apache-2.0
#include "member_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ladon/bfloat16.hpp>
#include <ladon/mask/relative.hpp>
#include <ladon/quantise.hpp>
#include <limits>
#include <vector>

#include "byte_order.hpp"
#include "file_error.hpp"
#include "floats.hpp"
#include "int8_weights.hpp"

namespace ladon::weights {
namespace {

std::size_t columns_of(const Piece& piece) {
  return piece.shape.size() == 2 ? static_cast<std::size_t>(piece.shape[1]) : 1;
}

float constant_of(const Member& member) { return member.role.ends_with("_bias") ? 0.0f : 1.0f; }

template <class T>
void append_value(const T& value, std::string& to) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

float softplus(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }

// Reads rows of a float tensor, also if they are columns in the file.
class FloatRows {
 public:
  FloatRows(const files::Safetensors& file, const Piece& piece)
      : piece_(piece),
        dtype_(file.tensors().at(piece.tensor).dtype),
        bytes_(file.bytes(file.tensors().at(piece.tensor))),
        values_(columns_of(piece)) {
    if (!piece.scaling.empty()) read_factors(file);
  }

  const std::vector<float>& operator[](std::uint64_t row) {
    const std::size_t width = bytes_of_float(dtype_), number = static_cast<std::size_t>(piece_.first_row + row),
                      rows = static_cast<std::size_t>(piece_.shape[0]);
    if (!piece_.in_out) {
      read_floats(dtype_, bytes_.subspan(number * values_.size() * width, values_.size() * width), values_);
    } else {
      for (std::size_t i = 0; i < values_.size(); ++i)
        read_floats(dtype_, bytes_.subspan((i * rows + number) * width, width), std::span(values_).subspan(i, 1));
    }
    if (!factors_.empty())
      for (float& value : values_) value *= factors_[number % factors_.size()];
    return values_;
  }

 private:
  // Computes softplus(scaling) * log2(e) / sqrt(size).
  void read_factors(const files::Safetensors& file) {
    const files::Tensor& scaling = file.tensors().at(piece_.scaling);
    factors_.resize(static_cast<std::size_t>(scaling.shape[0]));
    read_floats(scaling.dtype, file.bytes(scaling), factors_);
    for (float& factor : factors_)
      factor = softplus(factor) * 1.442695041f / std::sqrt(static_cast<float>(factors_.size()));
  }

  const Piece& piece_;
  std::string_view dtype_;
  std::span<const std::byte> bytes_;
  std::vector<float> values_, factors_;
};

// Calls visit(values) for each row of `piece`. Throws files::Error if a value is NaN, or if its magnitude is above
// `most`.
template <class Visit>
void for_finite_rows(const files::Safetensors& file, const Piece& piece, float most, const Visit& visit) {
  FloatRows rows(file, piece);
  for (std::uint64_t row = 0; row < piece.rows; ++row) {
    const std::vector<float>& values = rows[row];
    const auto what = finite_complaint(values, static_cast<std::size_t>(piece.first_row + row), 0, most);
    if (!what.empty()) throw files::Error("tensor " + files::in_quotes(piece.tensor) + ": " + what);
    visit(values);
  }
}

// Appends the rows of `piece` as float32.
void append_rows(const files::Safetensors& file, const Member& member, const Piece& piece, std::string& data) {
  if (piece.absent) {
    for (std::uint64_t i = 0; i < piece.rows * columns_of(piece); ++i) append_value(constant_of(member), data);
  } else if (piece.in_out || !piece.scaling.empty()) {
    FloatRows rows(file, piece);
    for (std::uint64_t row = 0; row < piece.rows; ++row)
      for (const float value : rows[row]) append_value(value, data);
  } else {
    append_floats(file.tensors().at(piece.tensor).dtype, rows_of(file, piece), data);
  }
}

// Appends the rows of `piece` as bfloat16.
void append_bfloat16_rows(const files::Safetensors& file, const Piece& piece, std::string& bytes) {
  if (file.tensors().at(piece.tensor).dtype == "BF16" && !piece.in_out && piece.scaling.empty()) {
    const auto rows = rows_of(file, piece);
    const std::size_t before = bytes.size();
    bytes.append(reinterpret_cast<const char*>(rows.data()), rows.size());
    files::swap_if_big_endian(std::as_writable_bytes(std::span(bytes).subspan(before)), sizeof(ladon::BFloat16));
    return;
  }
  for_finite_rows(file, piece, largest_for_bfloat16, [&](const std::vector<float>& values) {
    for (const float value : values) append_value(ladon::to_bfloat16(value), bytes);
  });
}

std::vector<float> as_floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Returns the bytes of an (inputs, outputs) matrix from the bytes of the (outputs, inputs) matrix.
std::string transposed(const std::string& bytes, std::size_t columns) {
  const std::vector<float> values = as_floats(bytes);
  const std::size_t rows = values.size() / columns;
  std::string result;
  result.reserve(bytes.size());
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = 0; row < rows; ++row) append_value(values[row * columns + column], result);
  return result;
}

// The two numbers of xIELU, which the activation of a layer reads: softplus(alpha_p) and 1/2 + softplus(alpha_n).
std::string activation_bytes(const std::string& bytes) {
  const std::vector<float> alpha = as_floats(bytes);
  std::string result;
  append_value(softplus(alpha.at(0)), result);
  append_value(0.5f + softplus(alpha.at(1)), result);
  return result;
}

// The numbers of BEiT's distances for each pair of tokens (Naming::distances_of_image), and zeros for further tokens.
std::string attention_bias_bytes(const Member& member, const Piece& table, const std::string& bytes) {
  const auto heads = static_cast<std::size_t>(member.shape[0]),
             room = static_cast<std::size_t>(integer_root(member.shape[1])),
             side = static_cast<std::size_t>((integer_root(table.shape[0] - 3) + 1) / 2), tokens = side * side + 1;
  std::vector<float> bias(heads * tokens * tokens), spaced(heads * room * room);
  ladon::fill_image_bias(bias.data(), as_floats(bytes).data(), heads, side, side);
  for (std::size_t row = 0; row < heads * tokens; ++row)
    std::copy_n(bias.begin() + static_cast<std::ptrdiff_t>(row * tokens), tokens,
                spaced.begin() + static_cast<std::ptrdiff_t>((row / tokens * room + row % tokens) * room));
  return {reinterpret_cast<const char*>(spaced.data()), spaced.size() * sizeof(float)};
}

// Quantises the rows of a float weight, and appends the results to the tensors of `to`. `Weight` is std::int8_t, or
// std::uint8_t for 4 bits.
template <class Weight>
void append_quantised(const files::Safetensors& file, const Piece& piece, bool rotated, Int8Member& to) {
  std::vector<Weight> integers(ladon::detail::quantised_row_bytes<Weight>(columns_of(piece)));
  constexpr float most = std::numeric_limits<float>::max();  // sums of eight rotated weights must stay finite
  for_finite_rows(file, piece, rotated ? most / 8 : most, [&](const std::vector<float>& values) {
    append_value(rotated ? ladon::detail::quantise_row<true>(values.data(), values.size(), 1, integers.data())
                         : ladon::detail::quantise_row<false>(values.data(), values.size(), 1, integers.data()),
                 to.scale);
    to.weight.append(reinterpret_cast<const char*>(integers.data()), integers.size());
  });
}

}  // namespace

std::span<const std::byte> rows_of(const files::Safetensors& file, const Piece& piece) {
  const auto tensor = file.bytes(file.tensors().at(piece.tensor));
  const auto row = tensor.size() / static_cast<std::size_t>(piece.shape[0]);
  return tensor.subspan(row * static_cast<std::size_t>(piece.first_row), row * static_cast<std::size_t>(piece.rows));
}

bool is_one_tensor(const Member& member, const Source& source) {
  const Piece& piece = source.front();
  return source.size() == 1 && member.role != "attention_bias" && !piece.absent && piece.scaling.empty() &&
         piece.in_out == (member.in_out && piece.shape.size() == 2) && (!piece.in_out || piece.rows == piece.shape[0]);
}

std::string key_of(const Member& member, const Source& source) {
  constexpr const char* elements[] = {"float32", "bfloat16", "int8", "int4"};
  std::string key = elements[static_cast<int>(member.element)];
  key += member.rotated ? " rotated" : member.in_out ? " in_out" : member.role == "activation" ? " activation" : "";
  if (member.role == "attention_bias") key += " attention_bias " + std::to_string(member.shape[1]);
  for (const Piece& piece : source) {
    const std::string name = piece.absent ? std::to_string(constant_of(member)) : piece.tensor;
    for (const std::string& part :
         {std::to_string(piece.absent ? 0 : piece.first_row),
          std::to_string(piece.rows * (piece.absent ? columns_of(piece) : 1)),
          std::to_string(name.size() + (piece.absent ? 1 : 0)), (piece.absent ? "=" : "") + name, piece.scaling})
      key.append(" ").append(part);
  }
  return key;
}

std::string bytes_of_member(const files::Safetensors& file, const Member& member, const Source& source) {
  std::string bytes;
  for (const Piece& piece : source) {
    if (member.element == Element::bfloat16)
      append_bfloat16_rows(file, piece, bytes);
    else
      append_rows(file, member, piece, bytes);
  }
  if (member.role == "activation") return activation_bytes(bytes);
  if (member.role == "attention_bias") return attention_bias_bytes(member, source.front(), bytes);
  return member.in_out && member.shape.size() == 2 ? transposed(bytes, static_cast<std::size_t>(member.shape[1]))
                                                   : bytes;
}

Int8Member int8_member(const files::Safetensors& file, const Member& member, const Source& source) {
  Int8Member int8;
  const bool has_4_bits = member.element == Element::int4;
  for (const Piece& piece : source) {
    const std::string& dtype = file.tensors().at(piece.tensor).dtype;
    if (dtype == "I8" || dtype == "U8") {
      const auto rows = rows_of(file, piece);
      int8.weight.append(reinterpret_cast<const char*>(rows.data()), rows.size());
      append_rows(file, member, {scale_name(piece.tensor), piece.shape, piece.first_row, piece.rows}, int8.scale);
    } else if (has_4_bits) {
      append_quantised<std::uint8_t>(file, piece, member.rotated, int8);
    } else {
      append_quantised<std::int8_t>(file, piece, member.rotated, int8);
    }
  }
  const std::size_t columns = columns_of(source.front());
  const std::size_t row_bytes = has_4_bits ? ladon::int4_row_bytes(columns) : columns;
  for (std::size_t begin = 0; begin < int8.weight.size(); begin += row_bytes) {
    const char* const row = int8.weight.data() + begin;
    append_value(has_4_bits ? ladon::detail::sum_of_row(reinterpret_cast<const std::uint8_t*>(row), columns)
                            : ladon::detail::sum_of_row(reinterpret_cast<const std::int8_t*>(row), columns),
                 int8.row_sum);
  }
  return int8;
}

}  // namespace ladon::weights
