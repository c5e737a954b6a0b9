// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ladon/bfloat16.hpp>
#include <ladon/quantise.hpp>
#include <limits>
#include <span>
#include <string_view>

#include "file_error.hpp"
#include "floats.hpp"
#include "table.hpp"

namespace ladon::weights {
namespace {

namespace detail = ladon::detail;
using files::Safetensors, files::Tensor;

constexpr std::size_t values_at_once = std::size_t{1} << 16, bytes_at_once = std::size_t{1} << 20;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Collects the output and passes it to the sink in blocks of up to bytes_at_once bytes, because many small pieces would
// be slow. Passes a piece that is larger than bytes_at_once directly to the sink.
class Buffer {
 public:
  explicit Buffer(const files::Sink& sink) : sink_(sink) { bytes_.reserve(bytes_at_once); }

  void write(std::string_view bytes) {
    if (bytes.size() > bytes_at_once - bytes_.size()) flush();
    if (bytes.size() > bytes_at_once) {
      sink_(bytes);
    } else {
      bytes_ += bytes;
    }
  }

  void flush() {
    sink_(bytes_);
    bytes_.clear();
  }

 private:
  const files::Sink& sink_;
  std::string bytes_;
};

static_assert(values_at_once % detail::rotated_block == 0);

// Reads a weight of the input as float32, one part of a row at a time. If `rotated` is true, rotates the rows
// (ladon/detail/panel/rows.hpp).
class Matrix {
 public:
  Matrix(const Safetensors& file, const Tensor& tensor, bool rotated)
      : rotated_(rotated),
        dtype_(tensor.dtype),
        bytes_(file.bytes(tensor)),
        rows_(static_cast<std::size_t>(tensor.shape[0])),
        columns_(static_cast<std::size_t>(tensor.shape[1])),
        values_(std::min(columns_, values_at_once)) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t values_of_part() const { return values_.size(); }  // the largest number of values in a part

  // Calls visit(values, column) for each part of the row. `column` is the column of the first value. Stops if `visit`
  // returns false.
  template <class Visit>
  void for_each_part(std::size_t row, const Visit& visit) {
    const std::size_t width = bytes_of_float(dtype_);
    for (std::size_t column = 0; column < columns_; column += values_.size()) {
      const std::span values = std::span(values_).first(std::min(values_.size(), columns_ - column));
      read_floats(dtype_, bytes_.subspan((row * columns_ + column) * width, values.size() * width), values);
      if (rotated_) detail::rotate_blocks(values.data(), values.size(), 1, values.data());
      if (!visit(std::span<const float>(values), column)) return;
    }
  }

 private:
  bool rotated_;
  std::string_view dtype_;
  std::span<const std::byte> bytes_;
  std::size_t rows_, columns_;
  std::vector<float> values_;
};

float largest_magnitude(std::span<const float> values) {
  return detail::largest_magnitude<false>(values.data(), values.size(), 1);
}

// Returns the largest magnitude of a row, or NaN if a weight is infinite or NaN.
float largest_magnitude(Matrix& matrix, std::size_t row) {
  float largest = 0;
  matrix.for_each_part(row, [&](std::span<const float> values, std::size_t) {
    const float of_part = largest_magnitude(values);
    largest = of_part <= largest ? largest : of_part;
    return !std::isnan(largest);
  });
  return largest;
}

// Returns the largest magnitude that a weight may have. A weight above this limit could become infinite in the
// conversion. For rotated weights, the limit is an eighth of the largest float, because a rotation adds eight weights.
float largest_weight(Target target, bool rotated) {
  constexpr float largest_bfloat16 = 0x1.fep127f;
  static_assert(ladon::to_float(ladon::to_bfloat16(largest_for_bfloat16)) == largest_bfloat16);
  static_assert(ladon::to_float(ladon::to_bfloat16(0x1.ffp127f)) == std::numeric_limits<float>::infinity());
  constexpr float most = std::numeric_limits<float>::max();
  return target == Target::bfloat16 ? largest_for_bfloat16 : rotated ? most / detail::rotated_block : most;
}

// Rounds the weights of a row to int8. `largest` is the largest magnitude of the row. If `rotated` is true, the class
// Matrix has already rotated the weights, and the results are for layout::RotatedInt8.
class ToInt8 {
 public:
  using Element = std::int8_t;
  ToInt8(float largest, bool rotated) : scale_(detail::row_scale(largest)), rotated_(rotated) {}
  [[nodiscard]] Element round(float weight) const {
    return rotated_ ? detail::quantised_weight<true>(weight, scale_) : detail::quantised_weight<false>(weight, scale_);
  }
  [[nodiscard]] double value(Element element) const { return double{rotated_ ? -scale_ : scale_} * element; }
  // The scale of the row in the output, which is negative for rotated weights.
  [[nodiscard]] float stored_scale() const { return rotated_ ? detail::stored_scale<true>(scale_) : scale_; }

 private:
  float scale_;
  bool rotated_;
};

// Rounds the weights of a row to bfloat16.
struct ToBFloat16 {
  using Element = ladon::BFloat16;
  ToBFloat16(float /* largest */, bool /* rotated */) {}
  [[nodiscard]] static Element round(float weight) { return ladon::to_bfloat16(weight); }
  [[nodiscard]] static double value(Element element) { return ladon::to_float(element); }
};

[[noreturn]] void fail(const std::string& file_name, const OutputTensor& output, const std::string& what) {
  throw files::Error(file_name + ": tensor " + files::in_quotes(output.named.name) + ": " + what);
}

[[noreturn]] void fail_value(const std::string& file_name, const OutputTensor& output, Matrix& matrix, std::size_t row,
                             float most) {
  std::string complaint;
  matrix.for_each_part(row, [&](std::span<const float> values, std::size_t first_column) {
    complaint = finite_complaint(values, row, first_column, most);
    return complaint.empty();
  });
  fail(file_name, output, complaint);
}

class Writer {
 public:
  Writer(const Safetensors& file, const std::string& file_name, Target target, const files::Sink& sink)
      : file_(file), file_name_(file_name), target_(target), buffer_(sink) {}

  void write(std::string_view bytes) { buffer_.write(bytes); }
  void flush() { buffer_.flush(); }

  void write_scale(const OutputTensor& output) {
    if (output.type == Target::int4) return write_int4_scale(output);
    Matrix matrix(file_, *output.source, output.rotated);
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
      const float scale = ToInt8(largest_magnitude(matrix, row), output.rotated).stored_scale();
      write(as_text(std::as_bytes(std::span(&scale, 1))));
    }
  }

  void write_widened(const OutputTensor& output) {
    const auto bytes = file_.bytes(*output.source);
    const std::size_t width = bytes_of_float(output.source->dtype), most = values_at_once * width;
    std::vector<float> values(values_at_once);
    for (std::size_t at = 0; at < bytes.size(); at += most) {
      const auto part = bytes.subspan(at, std::min(most, bytes.size() - at));
      const auto widened = std::span(values).first(part.size() / width);
      read_floats(output.source->dtype, part, widened);
      write(as_text(std::as_bytes(widened)));
    }
  }

  Deviation write_weight(const OutputTensor& output) {
    if (output.type == Target::int4) return write_int4(output);
    return output.type == Target::int8 ? write_rounded<ToInt8>(output) : write_rounded<ToBFloat16>(output);
  }

 private:
  struct Sums {
    double squares = 0, squared_errors = 0, largest = 0, largest_error = 0;

    void add(double value, double error) {
      squares += value * value;
      squared_errors += error * error;
      largest = std::max(largest, std::abs(value));
      largest_error = std::max(largest_error, error);
    }
    [[nodiscard]] Deviation deviation() const {
      if (largest == 0) return {0, 0};
      return {std::sqrt(squared_errors / squares), largest_error / largest};
    }
  };

  // Calls visit(values, codes, scale) for each row of an int4 weight. The row is not rotated.
  template <class Visit>
  void for_each_int4_row(const OutputTensor& output, const Visit& visit) {
    Matrix matrix(file_, *output.source, false);
    std::vector<std::uint8_t> codes(ladon::int4_row_bytes(matrix.values_of_part()));
    for (std::size_t row = 0; row < matrix.rows(); ++row)
      matrix.for_each_part(row, [&](std::span<const float> values, std::size_t) {
        if (!(largest_magnitude(values) <= largest_weight(Target::int4, output.rotated)))
          fail(file_name_, output, "changed while it was read");
        visit(values, codes,
              output.rotated ? detail::quantise_row<true>(values.data(), values.size(), 1, codes.data())
                             : detail::quantise_row<false>(values.data(), values.size(), 1, codes.data()));
        return true;
      });
  }

  void write_int4_scale(const OutputTensor& output) {
    for_each_int4_row(output, [&](std::span<const float>, const std::vector<std::uint8_t>&, float scale) {
      write(as_text(std::as_bytes(std::span(&scale, 1))));
    });
  }

  Deviation write_int4(const OutputTensor& output) {
    std::vector<float> exact(output.source->shape[1]);
    std::vector<std::int8_t> integers(detail::int4_groups(exact.size()) * detail::int4_group);
    Sums sums;
    for_each_int4_row(output, [&](std::span<const float> values, const std::vector<std::uint8_t>& codes, float scale) {
      std::ranges::copy(values, exact.begin());
      if (output.rotated) detail::rotate_blocks(exact.data(), exact.size(), 1, exact.data());
      detail::expand_int4_row(codes.data(), exact.size(), integers.data());
      const double factor = output.rotated ? double{scale} * detail::rotated_block : double{scale};
      for (std::size_t i = 0; i < exact.size(); ++i) sums.add(exact[i], std::abs(exact[i] - factor * integers[i]));
      write(as_text(std::as_bytes(std::span(codes))));
    });
    return sums.deviation();
  }

  template <class Rounding>
  Deviation write_rounded(const OutputTensor& output) {
    Matrix matrix(file_, *output.source, output.rotated);
    std::vector<typename Rounding::Element> rounded(matrix.values_of_part());
    Sums sums;
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
      const float largest = largest_magnitude(matrix, row);
      const Rounding rounding(largest, output.rotated);
      matrix.for_each_part(row, [&](std::span<const float> values, std::size_t) {
        if (!(largest_magnitude(values) <= largest && largest <= largest_weight(target_, false)))
          fail(file_name_, output, "changed while it was read");
        write_part(values, rounding, std::span(rounded).first(values.size()), sums);
        return true;
      });
    }
    return sums.deviation();
  }

  template <class Rounding>
  void write_part(std::span<const float> values, const Rounding& rounding,
                  std::span<typename Rounding::Element> rounded, Sums& sums) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      rounded[i] = rounding.round(values[i]);
      sums.add(values[i], std::abs(values[i] - rounding.value(rounded[i])));
    }
    write(as_text(std::as_bytes(rounded)));
  }

  const Safetensors& file_;
  const std::string& file_name_;
  Target target_;
  Buffer buffer_;
};

std::string fixed(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6f", value);
  return text.data();
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string totals(const ConversionPlan& plan) {
  std::uint64_t before = 0;
  for (const OutputTensor& output : plan.tensors)
    if (output.making != Making::scale) before += output.source->end - output.source->begin;
  const ConversionWords of_target = words(plan.target);
  std::string text = counted(plan.converted, "tensor").append(" ").append(of_target.participle);
  if (plan.widened != 0) text += ", " + std::to_string(plan.widened) + " widened to F32";
  text += ", " + std::to_string(plan.copied) + " copied";
  if (plan.already_converted != 0)
    text += " (among them " + counted(plan.already_converted, "weight") + " that already " +
            (plan.already_converted == 1 ? "was " : "were ") + of_target.element + ")";
  return text + "; " + std::to_string(before) + " bytes before, " +
         std::to_string(plan.tensors.back().named.tensor.end) + " after\n";
}

}  // namespace

void check_values(const Safetensors& file, const std::string& file_name, const ConversionPlan& plan) {
  for (const OutputTensor& output : plan.tensors) {
    if (output.making != Making::weight) continue;
    const float most = largest_weight(plan.target, output.rotated);
    Matrix matrix(file, *output.source, false);
    for (std::size_t row = 0; row < matrix.rows(); ++row)
      if (!(largest_magnitude(matrix, row) <= most)) fail_value(file_name, output, matrix, row, most);
  }
}

std::vector<Deviation> write_converted(const Safetensors& file, const std::string& file_name,
                                       const ConversionPlan& plan, const files::Sink& sink) {
  Writer writer(file, file_name, plan.target, sink);
  writer.write(plan.header);
  std::vector<Deviation> deviations;
  for (const OutputTensor& output : plan.tensors) {
    if (output.making == Making::copy) writer.write(as_text(file.bytes(*output.source)));
    if (output.making == Making::scale) writer.write_scale(output);
    if (output.making == Making::widened) writer.write_widened(output);
    if (output.making == Making::weight) deviations.push_back(writer.write_weight(output));
  }
  writer.flush();
  return deviations;
}

std::string report(const ConversionPlan& plan, const std::vector<Deviation>& deviations) {
  std::vector<Cells> rows{{"name", "shape", "relative RMS", "largest error"}};
  std::size_t i = 0;
  for (const OutputTensor& output : plan.tensors) {
    if (output.making != Making::weight) continue;
    rows.push_back({files::escaped(output.named.name), files::shown(output.source->shape),
                    fixed(deviations[i].relative_rms), fixed(deviations[i].largest_error)});
    ++i;
  }
  return table(rows) + totals(plan);
}

}  // namespace ladon::weights
