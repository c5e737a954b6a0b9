#include "quantise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ladon/quantise.hpp>
#include <span>
#include <string_view>

#include "file_error.hpp"
#include "floats.hpp"
#include "int8_weights.hpp"
#include "table.hpp"

namespace weights {
namespace {

namespace detail = ladon::detail;
using files::Safetensors, files::Tensor;

constexpr std::size_t values_at_once = std::size_t{1} << 16, bytes_at_once = std::size_t{1} << 20;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Collects small pieces for a sink.
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

// A weight of the input as float32, a part of a row at a time.
class Matrix {
 public:
  Matrix(const Safetensors& file, const Tensor& tensor)
      : dtype_(tensor.dtype),
        bytes_(file.bytes(tensor)),
        rows_(static_cast<std::size_t>(tensor.shape[0])),
        columns_(static_cast<std::size_t>(tensor.shape[1])),
        values_(std::min(columns_, values_at_once)) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }

  // Calls visit(values, column) for each part of the row. `column` is that of the first value. A visit that returns
  // false is the last.
  template <class Visit>
  void for_each_part(std::size_t row, const Visit& visit) {
    const std::size_t width = bytes_of_float(dtype_);
    for (std::size_t column = 0; column < columns_; column += values_.size()) {
      const std::span values = std::span(values_).first(std::min(values_.size(), columns_ - column));
      read_floats(dtype_, bytes_.subspan((row * columns_ + column) * width, values.size() * width), values);
      if (!visit(std::span<const float>(values), column)) return;
    }
  }

 private:
  std::string_view dtype_;
  std::span<const std::byte> bytes_;
  std::size_t rows_, columns_;
  std::vector<float> values_;
};

float largest_magnitude(std::span<const float> values) {
  return detail::largest_magnitude(values.data(), values.size(), 1);
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

[[noreturn]] void fail(const std::string& file_name, const OutputTensor& output, const std::string& what) {
  throw files::Error(file_name + ": tensor " + files::in_quotes(output.named.name) + ": " + what);
}

[[noreturn]] void fail_not_finite(const std::string& file_name, const OutputTensor& output, Matrix& matrix,
                                  std::size_t row) {
  std::string complaint;
  matrix.for_each_part(row, [&](std::span<const float> values, std::size_t first_column) {
    complaint = finite_complaint(values, row, first_column);
    return complaint.empty();
  });
  fail(file_name, output, complaint);
}

class Writer {
 public:
  Writer(const Safetensors& file, const std::string& file_name, const files::Sink& sink)
      : file_(file), file_name_(file_name), buffer_(sink) {}

  void write(std::string_view bytes) { buffer_.write(bytes); }
  void flush() { buffer_.flush(); }

  void write_scale(const OutputTensor& output) {
    Matrix matrix(file_, *output.source);
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
      const float scale = detail::row_scale(largest_magnitude(matrix, row));
      write(as_text(std::as_bytes(std::span(&scale, 1))));
    }
  }

  Deviation write_weight(const OutputTensor& output) {
    Matrix matrix(file_, *output.source);
    Sums sums;
    for (std::size_t row = 0; row < matrix.rows(); ++row) {
      const float largest = largest_magnitude(matrix, row);
      matrix.for_each_part(row, [&](std::span<const float> values, std::size_t) {
        if (!(largest_magnitude(values) <= largest)) fail(file_name_, output, "changed while it was read");
        write_part(values, detail::row_scale(largest), sums);
        return true;
      });
      sums.largest = std::max(sums.largest, double{largest});
    }
    if (sums.largest == 0) return {0, 0};
    return {std::sqrt(sums.squared_errors / sums.squares), sums.largest_error / sums.largest};
  }

 private:
  struct Sums {
    double squares = 0, squared_errors = 0, largest = 0, largest_error = 0;
  };

  void write_part(std::span<const float> values, float scale, Sums& sums) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      quantised_[i] = detail::quantised_weight(values[i], scale);
      const double value = values[i], error = std::abs(value - double{scale} * quantised_[i]);
      sums.squares += value * value;
      sums.squared_errors += error * error;
      sums.largest_error = std::max(sums.largest_error, error);
    }
    write(as_text(std::as_bytes(std::span(quantised_).first(values.size()))));
  }

  const Safetensors& file_;
  const std::string& file_name_;
  Buffer buffer_;
  std::vector<std::int8_t> quantised_ = std::vector<std::int8_t>(values_at_once);
};

std::string fixed(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6f", value);
  return text.data();
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string totals(const QuantisationPlan& plan) {
  std::uint64_t before = 0;
  for (const OutputTensor& output : plan.tensors)
    if (output.making != Making::scale) before += output.source->end - output.source->begin;
  std::string text = counted(plan.quantised, "tensor") + " quantised, " + std::to_string(plan.copied) + " copied";
  if (plan.already_quantised != 0)
    text += " (among them " + counted(plan.already_quantised, "weight") + " that already " +
            (plan.already_quantised == 1 ? "was" : "were") + " int8)";
  return text + "; " + std::to_string(before) + " bytes before, " +
         std::to_string(plan.tensors.back().named.tensor.end) + " after\n";
}

}  // namespace

void check_finite(const Safetensors& file, const std::string& file_name, const QuantisationPlan& plan) {
  for (const OutputTensor& output : plan.tensors) {
    if (output.making != Making::weight) continue;
    Matrix matrix(file, *output.source);
    for (std::size_t row = 0; row < matrix.rows(); ++row)
      if (std::isnan(largest_magnitude(matrix, row))) fail_not_finite(file_name, output, matrix, row);
  }
}

std::vector<Deviation> write_quantised(const Safetensors& file, const std::string& file_name,
                                       const QuantisationPlan& plan, const files::Sink& sink) {
  Writer writer(file, file_name, sink);
  writer.write(plan.header);
  std::vector<Deviation> deviations;
  for (const OutputTensor& output : plan.tensors) {
    if (output.making == Making::copy) writer.write(as_text(file.bytes(*output.source)));
    if (output.making == Making::scale) writer.write_scale(output);
    if (output.making == Making::weight) deviations.push_back(writer.write_weight(output));
  }
  writer.flush();
  return deviations;
}

std::string report(const QuantisationPlan& plan, const std::vector<Deviation>& deviations) {
  std::vector<Cells> rows{{"name", "shape", "relative RMS", "largest error"}};
  std::size_t i = 0;
  for (const OutputTensor& output : plan.tensors) {
    if (output.making != Making::weight) continue;
    rows.push_back({files::escaped(output.named.name), files::shown(output.named.tensor.shape),
                    fixed(deviations[i].relative_rms), fixed(deviations[i].largest_error)});
    ++i;
  }
  return table(rows) + totals(plan);
}

}  // namespace weights
