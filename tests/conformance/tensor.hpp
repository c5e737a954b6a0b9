// Tensors of the conformance files, and the comparison of what came out with what they expect.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace conformance {

// What is wrong with a case, or with what came of it: the case counts as failed.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Row-major. Booleans are 0 and 1.
struct Tensor {
  std::vector<std::size_t> dims;
  std::string dtype;
  std::vector<float> data;

  // The dimension so many places before the last; 1 where there is none, which broadcasts.
  std::size_t from_last(std::size_t place) const { return place < dims.size() ? dims[dims.size() - 1 - place] : 1; }
};

// {dims, dtype, data}, where "nan", "inf" and "-inf" stand as strings.
Tensor tensor(const nlohmann::json& stored);
// The tensor of that name, unless it is absent or null.
std::optional<Tensor> optional_tensor(const nlohmann::json& of, const std::string& name);

// The result of one case.
struct Outcome {
  float largest_error = 0;  // relative for expected values beyond 1, else absolute
  std::string failure;      // empty where all is well
  bool passed() const { return failure.empty(); }
};

// Adds one output to the outcome. NaN and infinity are expected as such.
void compare(const std::string& name, const std::vector<float>& got, const std::vector<float>& expected,
             float tolerance, Outcome& outcome);

// A number as short as it can be told.
std::string text(double value);

}  // namespace conformance
