// SPDX-License-Identifier: Apache-2.0
// Compares results with recorded results, for the arguments CHECK of ladon_add_kernel and ladon_add_model.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace c_kernel {

// Returns the largest error that a result may have, as a fraction of the largest recorded magnitude. Float32 errors are
// roundings. Errors of other precisions depend on the weights, so their bounds detect a wrong model, not a bad
// rounding.
constexpr double tolerance_of(std::string_view precision) {
  if (precision == "float32") return 2e-5;
  return precision == "bfloat16" ? 0.05 : 0.2;
}

// The largest difference of results from recorded results. A result that is infinite or NaN differs infinitely.
class Difference {
 public:
  void add(float recorded, float found) {
    const double value = static_cast<double>(recorded), off = std::abs(value - static_cast<double>(found));
    largest_off_ = std::max(largest_off_, std::isfinite(off) ? off : std::numeric_limits<double>::infinity());
    largest_ = std::max(largest_, std::abs(value));
  }
  // The largest difference, divided by the largest recorded magnitude.
  [[nodiscard]] double relative() const { return largest_off_ == 0 ? 0 : largest_off_ / largest_; }

 private:
  double largest_off_ = 0, largest_ = 0;
};

}  // namespace c_kernel
