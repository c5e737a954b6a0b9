// Fuzzes ladon-weights quantise and convert. For any checkpoint and any selection, each of the two conversions must
// throw files::Error, or keep the promises of src/weights/convert.hpp.
//
// An input is a byte, followed by the checkpoint. The lowest bit of the byte sets --embeddings. The other bits choose
// --keep from a list of regular expressions in this file. The input itself contains no regular expression, because
// std::regex needs exponential time for some patterns.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert.hpp"
#include "file_error.hpp"
#include "safetensors.hpp"
#include "support/float_values.hpp"
#include "support/memory_file.hpp"
#include "support/require.hpp"

namespace weights = ladon::weights;

namespace {

using files::Safetensors, files::Tensor;
using ladon_fuzz::MemoryFile, ladon_fuzz::require, ladon_fuzz::require_shown, ladon_fuzz::value_of,
    ladon_fuzz::width_of;
using weights::ConversionPlan, weights::Selection, weights::Target;

Selection selection_of(std::uint8_t choice) {
  static const std::vector<std::vector<std::regex>> keep{{},
                                                         {std::regex("^a")},
                                                         {std::regex(R"(\.1\.)"), std::regex("head")},
                                                         {std::regex("(q|k)_proj[^b]*t$")},
                                                         {std::regex(".")}};
  return {keep[(choice >> 1) % keep.size()], (choice & 1) != 0};
}

// Checks one row of a quantised weight. Let u = 2^-24, the largest relative error of rounding to float32. The scale is
// the largest magnitude of the row divided by 127, rounded to float32. So |weight / scale| is at most 127 / (1 - u).
// Rounding this quotient to float32 adds an error below 128 u, and rounding to an integer adds at most 1/2. So weight
// and scale * integer differ by at most (1/2 + 128 u) * scale.
void check_row(std::span<const float> row, std::span<const std::int8_t> integers, float scale) {
  constexpr double most = 0.5 + 128 * 0x1p-24;
  float largest = 0;
  int largest_integer = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    require(integers[i] >= -127, "an int8 weight is from -127 to 127");
    require(std::abs(double{row[i]} - double{scale} * integers[i]) <= most * double{scale},
            "an int8 weight is at most half a scale from the weight");
    largest = std::max(largest, std::abs(row[i]));
    largest_integer = std::max(largest_integer, std::abs(int{integers[i]}));
  }
  if (largest < 127 * 0x1p-126f) {
    require(scale == 1 && largest_integer == 0, "a row of tiny weights becomes zeros with the scale 1");
  } else {
    require(largest_integer == 127, "the largest weight of a row becomes 127 or -127");
  }
}

void check_int8(const Safetensors& file, const std::string& name, const Safetensors& output) {
  const Tensor &weight = file.tensors().at(name), &quantised = output.tensors().at(name);
  require(quantised.dtype == "I8", "a tensor keeps its dtype or becomes int8");
  const auto rows = static_cast<std::size_t>(weight.shape.at(0)),
             columns = static_cast<std::size_t>(weight.shape.at(1));
  const auto from = file.bytes(weight), to = output.bytes(quantised);
  const std::size_t width = width_of(weight.dtype);
  require(!to.empty() && to.size() == rows * columns, "an int8 weight has elements, and a byte for each");
  require(from.size() == to.size() * width, "an accepted weight has the bytes that its shape needs");
  const float* const scale = output.tensor(name + "_scale", {rows, 1});
  std::vector<float> row(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < columns; ++i) row[i] = value_of(weight.dtype, from.subspan((r * columns + i) * width));
    check_row(row, {reinterpret_cast<const std::int8_t*>(to.data()) + r * columns, columns}, scale[r]);
  }
}

void check_bfloat16(const Safetensors& file, const std::string& name, const Safetensors& output) {
  const Tensor &weight = file.tensors().at(name), &rounded = output.tensors().at(name);
  require(rounded.dtype == "BF16", "a tensor keeps its dtype or becomes BF16");
  const auto from = file.bytes(weight), to = output.bytes(rounded);
  const std::size_t width = width_of(weight.dtype), size = to.size() / 2;
  require(size != 0 && from.size() == size * width, "a BF16 weight has as many elements as the weight");
  for (std::size_t i = 0; i < size; ++i) {
    const float value = value_of(weight.dtype, from.subspan(i * width)), result = value_of("BF16", to.subspan(i * 2));
    require(ladon_fuzz::is_nearest_bfloat16(result, value), "a BF16 weight is the nearest to the weight");
  }
}

bool may_be_converted(const std::string& name, const Selection& selection) {
  return (selection.embeddings || name.find("embed") == name.npos) &&
         std::ranges::none_of(selection.keep, [&](const std::regex& keep) { return std::regex_search(name, keep); });
}

// Checks the output for an accepted checkpoint. If reading the output throws, the output is wrong. check_output is
// noexcept, so that such an exception ends the program, and libFuzzer reports a finding.
void check_output(const Safetensors& file, const Selection& selection, const ConversionPlan& plan) noexcept {
  std::string content;
  const auto deviations =
      weights::write_converted(file, "checkpoint", plan, [&](std::string_view bytes) { content += bytes; });
  require_shown(weights::report(plan, deviations), "the report");
  const MemoryFile output_file(content);
  const Safetensors output(output_file.path());
  require(output.metadata() == file.metadata(), "the output has the metadata of the checkpoint");
  const bool is_int8 = plan.target == Target::int8;
  std::size_t converted = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    require(output.tensors().contains(name), "the output has all tensors of the checkpoint");
    const Tensor& made = output.tensors().find(name)->second;
    require(made.shape == tensor.shape, "a tensor keeps its shape");
    if (made.dtype == tensor.dtype) {
      require(std::ranges::equal(output.bytes(made), file.bytes(tensor)), "a copied tensor has the same bytes");
    } else {
      require(may_be_converted(name, selection), "a tensor that is to be kept is copied");
      (is_int8 ? check_int8 : check_bfloat16)(file, name, output);
      ++converted;
    }
  }
  require(output.tensors().size() == file.tensors().size() + (is_int8 ? converted : 0),
          "the output has no further tensors but scales");
  require(deviations.size() == converted, "each converted weight has a deviation");
  for (const auto& [relative_rms, largest_error] : deviations)
    require(relative_rms >= 0 && relative_rms <= 1 && largest_error >= 0 && largest_error <= 1,
            "a deviation is a fraction");
}

void check_conversion(const Safetensors& file, const Selection& selection, Target target) {
  try {
    const ConversionPlan plan = weights::plan_conversion(file, "checkpoint", target, selection);
    weights::check_values(file, "checkpoint", plan);
    check_output(file, selection, plan);
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
}

// Writes a checkpoint with int4 weights, and opens the output.
void check_int4(const Safetensors& file, const Selection& selection) {
  try {
    const ConversionPlan plan = weights::plan_conversion(file, "checkpoint", Target::int4, selection);
    weights::check_values(file, "checkpoint", plan);
    std::string content;
    const auto deviations =
        weights::write_converted(file, "checkpoint", plan, [&](std::string_view bytes) { content += bytes; });
    require(deviations.size() == plan.converted, "each converted weight has a deviation");
    static_cast<void>(Safetensors(MemoryFile(content).path()));
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Selection selection = selection_of(data[0]);
  const MemoryFile checkpoint({reinterpret_cast<const char*>(data) + 1, size - 1});
  try {
    const Safetensors file(checkpoint.path());
    for (const Target target : {Target::int8, Target::bfloat16}) check_conversion(file, selection, target);
    check_int4(file, selection);
  } catch (const files::Error& error) {
    require_shown(error.what(), "an error");
  }
  return 0;
}
