// SPDX-License-Identifier: Apache-2.0
// Writes the int8 or BF16 version of a checkpoint. Memory holds neither the output nor a whole tensor.
#pragma once

#include <string>
#include <vector>

#include "conversion_plan.hpp"
#include "replace_file.hpp"
#include "safetensors.hpp"

namespace ladon::weights {

// How far the converted weight is from the weight. Both are 0 for a weight of zeros.
struct Deviation {
  double relative_rms;   // root of (sum of squared errors) / (sum of squared weights)
  double largest_error;  // as a fraction of the weight's largest magnitude
};

// Throws files::Error, whose text begins with `file_name`, if a weight that is to be converted is infinite or NaN, or
// would become infinite.
void check_values(const files::Safetensors& file, const std::string& file_name, const ConversionPlan& plan);

// Passes the output to the sink: header, then data. The int8 weights and the scales are those of ladon::quantise, and
// the BF16 weights are those of ladon::to_bfloat16. Returns the deviation of each converted weight, in the order of
// the plan. Precondition: check_values has passed. If another process changes the file meanwhile, the function throws
// files::Error, or the output mixes old and new weights.
std::vector<Deviation> write_converted(const files::Safetensors& file, const std::string& file_name,
                                       const ConversionPlan& plan, const files::Sink& sink);

// Returns a line for each converted weight, and a line with the numbers of tensors and the bytes of their data. Names
// are escaped.
std::string report(const ConversionPlan& plan, const std::vector<Deviation>& deviations);

}  // namespace ladon::weights
