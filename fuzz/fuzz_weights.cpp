// Fuzzes ladon-weights pack. For any SPEC (the list of a kernel's tensors), prefix and checkpoint, ladon-weights must
// pack the tensors or throw files::Error. The packed data must have the values of the checkpoint. For each int8 tensor
// of the SPEC, the data must have integers, finite scales, and the sums of the rows. Scales of rotated weights are
// negative, and all other scales are positive.
//
// An input consists of a line with the prefix, the lines of the SPEC, an empty line, and the checkpoint.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "file_error.hpp"
#include "find_tensors.hpp"
#include "pack.hpp"
#include "safetensors.hpp"
#include "spec.hpp"
#include "support/float_values.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

namespace weights = ladon::weights;

namespace {

using ladon_fuzz::MemoryFile, ladon_fuzz::require, ladon_fuzz::require_shown, ladon_fuzz::value_of,
    ladon_fuzz::width_of;

// Returns the text before the first `separator`. Removes the returned text and the separator from `text`. Without a
// separator, returns the whole text.
std::string_view take_until(std::string_view separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + separator.size());
  return taken;
}

bool holds(float packed, std::string_view dtype, std::span<const std::byte> bytes) {
  const float expected = value_of(dtype, bytes);
  if (dtype == "F16" && std::isnan(expected)) return std::isnan(packed);
  return std::bit_cast<std::uint32_t>(packed) == std::bit_cast<std::uint32_t>(expected);
}

// Returns the value of the constant `name` in the C++ header that ladon-weights writes.
std::size_t constant(const std::string& header, std::string name) {
  std::ranges::replace(name, '.', '_');
  const std::string before = "inline constexpr unsigned long " + name + " = ";
  const std::size_t at = header.find(before);
  require(at != header.npos, "the header has a constant for each member");
  return std::stoul(header.substr(at + before.size()));
}

// Checks the values of one float32 member (a tensor of the kernel) in the packed data. `first` is the index of the
// member's first value in the data. Returns the index after the member's last value.
std::size_t check_member(const files::Safetensors& file, const weights::Source& source, const std::string& data,
                         std::size_t first) {
  for (const weights::Piece& piece : source) {
    const files::Tensor& tensor = file.tensors().at(piece.tensor);
    const auto bytes = file.bytes(tensor);
    const std::size_t width = width_of(tensor.dtype);
    const std::size_t columns = piece.shape.size() == 2 ? piece.shape[1] : 1;
    const std::size_t values = piece.rows * columns;
    require((first + values) * sizeof(float) <= data.size(), "a member lies in the data");
    for (std::size_t i = 0; i < values; ++i) {
      float packed = 0;
      std::memcpy(&packed, data.data() + (first + i) * sizeof(float), sizeof(packed));
      require(holds(packed, tensor.dtype, bytes.subspan((piece.first_row * columns + i) * width, width)),
              "the packed data are the checkpoint's values");
    }
    first += values;
  }
  return first;
}

template <class T>
T element(const std::string& data, std::size_t index) {
  T value{};
  require((index + 1) * sizeof(T) <= data.size(), "a tensor lies in the data");
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Checks the values of a bfloat16 member (a tensor of the kernel) in the packed data. `first` is the index of the
// member's first value in the data. Returns the index after the member's last value.
std::size_t check_bfloat16(const files::Safetensors& file, const weights::Source& source, const std::string& data,
                           std::size_t first) {
  for (const weights::Piece& piece : source) {
    const files::Tensor& tensor = file.tensors().at(piece.tensor);
    const auto bytes = file.bytes(tensor);
    const std::size_t width = width_of(tensor.dtype), columns = piece.shape[1], values = piece.rows * columns;
    for (std::size_t i = 0; i < values; ++i, ++first) {
      const float value = value_of(tensor.dtype, bytes.subspan((piece.first_row * columns + i) * width));
      const float packed = std::bit_cast<float>(std::uint32_t{element<std::uint16_t>(data, first)} << 16);
      const bool overflows = std::abs(value) >= std::ldexp(511.0f, 119);  // halfway from the largest bfloat16 to 2^128
      const bool is_right = std::isnan(value) ? std::isnan(packed)
                            : overflows       ? std::isinf(packed) && std::signbit(packed) == std::signbit(value)
                                              : ladon_fuzz::is_nearest_bfloat16(packed, value);
      require(is_right, "the packed data are the checkpoint's values, rounded");
    }
  }
  return first;
}

// Checks the weights, the scales and the row sums of an int8 member (a tensor of the kernel). In the packed data, the
// previous member ends at byte `end`. Returns the byte at which this member ends.
std::size_t check_int8(const weights::Member& member, const weights::Packed& packed, std::size_t end) {
  const std::size_t rows = member.shape[0], columns = member.shape[1];
  const std::size_t weight = constant(packed.offsets, member.name),
                    scale = constant(packed.offsets, member.name + "_scale"),
                    row_sum = constant(packed.offsets, member.name + "_row_sum");
  require(weight % 64 == 0 && weight >= end, "int8 weights begin at a multiple of 64 bytes");
  require(scale % 16 == 0 && scale * sizeof(float) >= weight + rows * columns, "scales follow the weights");
  require(row_sum % 16 == 0 && row_sum >= scale + rows, "sums follow the scales");
  for (std::size_t row = 0; row < rows; ++row) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += element<std::int8_t>(packed.data, weight + row * columns + i);
    require(element<std::int32_t>(packed.data, row_sum + row) == sum, "the data hold the sum of each row");
    const float row_scale = element<float>(packed.data, scale + row);
    require(std::isfinite(row_scale), "scales are finite");
    require(member.rotated ? row_scale < 0 : row_scale > 0, "scales are positive, or negative if weights are rotated");
  }
  return (row_sum + rows) * sizeof(std::int32_t);
}

void check(const files::Safetensors& file, const weights::Spec& spec, const weights::Found& found,
           const weights::Packed& packed) {
  require_shown(packed.offsets, "the packed header");
  require(found.members.size() == spec.members.size(), "all members of the SPEC are found");
  std::size_t end = 0;  // bytes
  for (std::size_t i = 0; i < spec.members.size(); ++i) {
    const weights::Member& member = spec.members[i];
    if (member.element == weights::Element::int8) {
      end = check_int8(member, packed, end);
      continue;
    }
    const bool is_bfloat16 = member.element == weights::Element::bfloat16;
    const std::size_t width = is_bfloat16 ? sizeof(std::uint16_t) : sizeof(float);
    const std::size_t first = constant(packed.offsets, member.name), begin = first * width;
    require(begin % 64 == 0 && begin >= end, "members lie one behind the other, at multiples of 64 bytes");
    const auto check_values = is_bfloat16 ? check_bfloat16 : check_member;
    end = width * check_values(file, found.members[i], packed.data, first);
  }
  require(end == packed.data.size(), "the data end with the last member");
  require(constant(packed.offsets, "floats") == end / sizeof(float), "the header says how many floats there are");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string prefix(take_until("\n", rest));
  const MemoryFile spec_file(take_until("\n\n", rest)), checkpoint(rest);
  try {
    const weights::Spec spec = weights::read_spec(spec_file.path());
    const files::Safetensors file(checkpoint.path());
    const weights::Found found = weights::find_tensors(file, "checkpoint", spec, prefix);
    check(file, spec, found, weights::pack(file, spec, found, {"checkpoint", prefix, "offsets"}));
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
