// Defines the tensors of the conformance files, and compares results with expected tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace conformance {

// Thrown if a case is wrong or its result differs from the expected result. The case then counts as failed.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A tensor in row-major order. Booleans are stored as 0 and 1.
struct Tensor {
  std::vector<std::size_t> dims;
  std::string dtype;
  std::vector<float> data;

  // Returns a dimension, counted from the last: from_last(0) is the last dimension. Returns 1 if the tensor has fewer
  // dimensions, because a dimension of 1 is broadcast.
  std::size_t from_last(std::size_t place) const { return place < dims.size() ? dims[dims.size() - 1 - place] : 1; }
};

// Reads a tensor from JSON with the members dims, dtype and data. In `data`, the strings "nan", "inf" and "-inf" stand
// for NaN and the infinities, because JSON has no such numbers.
Tensor tensor(const nlohmann::json& stored);
// Reads the tensor `name`. Returns nothing if the tensor is absent or null.
std::optional<Tensor> optional_tensor(const nlohmann::json& of, const std::string& name);

// Whether a case passed, and its largest error.
struct Outcome {
  float largest_error = 0;  // relative if the expected magnitude exceeds 1, else absolute
  std::string failure;      // empty if the case passed
  bool passed() const { return failure.empty(); }
};

// Compares the output `name` of a case with the expected numbers, and updates `outcome`. NaN and infinity must be at
// the same places in `got` and `expected`.
void compare(const std::string& name, const std::vector<float>& got, const std::vector<float>& expected,
             float tolerance, Outcome& outcome);

// Returns `value` as text with at most nine significant digits.
std::string text(double value);

}  // namespace conformance
