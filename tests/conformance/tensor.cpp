#include "tensor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace conformance {

using nlohmann::json;

namespace {

float number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0f : 0.0f;
  if (!value.is_string()) return static_cast<float>(value.get<double>());
  const std::string word = value;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (word == "nan") return std::numeric_limits<float>::quiet_NaN();
  if (word == "inf") return infinity;
  if (word == "-inf") return -infinity;
  throw Failure("'" + word + "' is not a number");
}

float error_of(float got, float expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const float error = std::abs(got - expected) / std::max(1.0f, std::abs(expected));
  return std::isfinite(error) ? error : std::numeric_limits<float>::infinity();
}

}  // namespace

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

Tensor tensor(const json& stored) {
  Tensor result{stored.at("dims").get<std::vector<std::size_t>>(), stored.at("dtype"), {}};
  std::size_t size = 1;
  for (const std::size_t dim : result.dims) size *= dim;
  result.data.reserve(size);
  for (const json& value : stored.at("data")) result.data.push_back(number(value));
  if (result.data.size() != size) {
    throw Failure("a tensor has " + std::to_string(result.data.size()) + " numbers, but its dims give " +
                  std::to_string(size));
  }
  return result;
}

std::optional<Tensor> optional_tensor(const json& of, const std::string& name) {
  const auto found = of.find(name);
  if (found == of.end() || found->is_null()) return std::nullopt;
  return tensor(*found);
}

void compare(const std::string& name, const std::vector<float>& got, const std::vector<float>& expected,
             float tolerance, Outcome& outcome) {
  if (got.size() != expected.size()) {
    outcome.failure = name + " has " + std::to_string(got.size()) + " numbers, but " + std::to_string(expected.size()) +
                      " are expected";
    return;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float error = error_of(got[i], expected[i]);
    outcome.largest_error = std::max(outcome.largest_error, error);
    if (error > tolerance && outcome.failure.empty()) {
      outcome.failure = name + "[" + std::to_string(i) + "] is " + text(got[i]) + ", but " + text(expected[i]) +
                        " is expected within " + text(tolerance);
    }
  }
}

}  // namespace conformance
